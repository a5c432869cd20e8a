//! How points of bodies move at the last evaluation, read from one lane.

use crate::compile::Compiled;
use crate::kinematics_planar::Planar;
use crate::kinematics_spatial::Spatial;
use crate::rigid::{self, Vec3, cross};
use crate::simd::Lane;

impl<F: Lane> Planar<F> {
    /// Angular velocity of a moving body, and the velocity it gives a point.
    pub(crate) fn velocity_at(&self, model: &Compiled, body: usize, point: Vec3, lane: usize) -> [Vec3; 2] {
        let root = self.positions[model.bodies[body].root].map(|x| x.get(lane));
        let [turning, u, v] = self.velocities[body].map(|x| x.get(lane));
        let mut angular = [0.0; 3];
        angular[model.plane().normal] = turning;
        let from = model.plane().embed(root);
        moved(angular, model.plane().embed([u, v]), from, point)
    }

    /// Acceleration of a point of a moving body, with that of free fall taken away.
    pub(crate) fn acceleration_at(
        &self,
        model: &Compiled,
        body: usize,
        point: Vec3,
        qacc: &[F],
        lane: usize,
    ) -> Vec3 {
        let mut a = self.accelerations[body].map(|x| x.get(lane));
        for (k, qacc) in qacc.iter().enumerate() {
            if model.bodies[body].chain >> k & 1 == 1 {
                (0..3).for_each(|i| a[i] += self.axes[k][i].get(lane) * qacc.get(lane));
            }
        }
        let root = self.positions[model.bodies[body].root].map(|x| x.get(lane));
        let mut turning = [0.0; 3];
        turning[model.plane().normal] = a[0];
        let from = model.plane().embed(root);
        let [_, linear] = moved(turning, model.plane().embed([a[1], a[2]]), from, point);
        let [spin, speed] = self.velocity_at(model, body, point, lane);
        rigid::add(linear, cross(spin, speed))
    }
}

impl<F: Lane> Spatial<F> {
    /// Angular velocity of a moving body, and the velocity it gives a point.
    pub(crate) fn velocity_at(&self, model: &Compiled, body: usize, point: Vec3, lane: usize) -> [Vec3; 2] {
        let root = self.positions[model.bodies[body].root].map(|x| x.get(lane));
        let v = self.velocities[body].map(|x| x.get(lane));
        moved([v[0], v[1], v[2]], [v[3], v[4], v[5]], root, point)
    }

    /// Acceleration of a point of a moving body, with that of free fall taken away.
    pub(crate) fn acceleration_at(
        &self,
        model: &Compiled,
        body: usize,
        point: Vec3,
        qacc: &[F],
        lane: usize,
    ) -> Vec3 {
        let mut a = self.accelerations[body].map(|x| x.get(lane));
        for (k, qacc) in qacc.iter().enumerate() {
            if model.bodies[body].chain >> k & 1 == 1 {
                (0..6).for_each(|i| a[i] += self.axes[k][i].get(lane) * qacc.get(lane));
            }
        }
        let root = self.positions[model.bodies[body].root].map(|x| x.get(lane));
        let [_, linear] = moved([a[0], a[1], a[2]], [a[3], a[4], a[5]], root, point);
        let [spin, speed] = self.velocity_at(model, body, point, lane);
        rigid::add(linear, cross(spin, speed))
    }
}

/// A motion known at `from`: its angular velocity, and the velocity at `to`.
fn moved(angular: Vec3, linear: Vec3, from: Vec3, to: Vec3) -> [Vec3; 2] {
    let turned = cross(angular, rigid::add(to, rigid::scale(from, -1.0)));
    [angular, rigid::add(linear, turned)]
}
