//! Coriolis, centrifugal and gravity forces by recursive Newton-Euler, and the drag of the medium.

use crate::compile::{Compiled, Drag, PlanarPlan};
use crate::inertia::{inertia_times, planar_inertia_times};
use crate::kinematics_planar::Planar;
use crate::kinematics_spatial::Spatial;
use crate::model::JointKind;
use crate::simd::Lane;
use crate::vector::*;

impl<F: Lane> Spatial<F> {
    /// Writes drag minus bias for every degree of freedom.
    #[inline(always)]
    pub(crate) fn bias(&mut self, model: &Compiled, qvel: &[F], force: &mut [F]) {
        self.velocities[0] = [F::zero(); 6];
        self.accelerations[0] = spatial(zero3(), splat3(model.options.gravity.map(|g| -g)));
        for (b, body) in model.bodies.iter().enumerate().skip(1) {
            let mut v = self.velocities[body.parent];
            let mut a = self.accelerations[body.parent];
            for joint in &model.joints[body.joints.clone()] {
                let k = joint.freedom;
                match joint.kind {
                    JointKind::Free => {
                        // The translations of a free body are along x, y and z.
                        for i in 0..3 {
                            v[3 + i] = v[3 + i] + qvel[k + i];
                        }
                        self.rotations_at_once(k + 3, qvel, &mut v, &mut a);
                    }
                    JointKind::Ball => self.rotations_at_once(k, qvel, &mut v, &mut a),
                    JointKind::Slide | JointKind::Hinge => {
                        a = accelerate(a, &v, &self.axes[k], qvel[k]);
                        v = advance(v, &self.axes[k], qvel[k]);
                    }
                }
            }
            self.velocities[b] = v;
            self.accelerations[b] = a;
            let mut f = newton_euler(
                &inertia_times(&self.inertias[b], &a),
                &inertia_times(&self.inertias[b], &v),
                &v,
            );
            if let Some(drag) = &body.drag {
                let reference = self.positions[body.root];
                let drag = spatial_drag(drag, &self.principal[b], sub3(self.centers[b], reference), &v);
                for (x, y) in f.iter_mut().zip(drag) {
                    *x = *x - y;
                }
            }
            if let Some((mass, center)) = body.lifted {
                // The weight it does not have to carry, at its centre.
                let up = splat3(model.options.gravity.map(|g| g * mass));
                let at = place(&self.rotations[b], &center, self.positions[b]);
                let lift = spatial(cross(sub3(at, self.positions[body.root]), up), up);
                for (x, y) in f.iter_mut().zip(lift) {
                    *x = *x + y;
                }
            }
            self.forces[b] = f;
        }
        for (b, body) in model.bodies.iter().enumerate().skip(1).rev() {
            if body.parent > 0 {
                let (before, own) = self.forces.split_at_mut(b);
                for (sum, x) in before[body.parent].iter_mut().zip(&own[0]) {
                    *sum = *sum + *x;
                }
            }
        }
        for (k, freedom) in model.freedoms.iter().enumerate() {
            force[k] = -dot6(&self.axes[k], &self.forces[freedom.body]);
        }
    }

    /// Acceleration of a point of a body without accelerations of coordinates (free fall taken away), angular acceleration
    /// and angular velocity.
    #[inline(always)]
    pub(crate) fn drift_of(&self, model: &Compiled, body: usize, point: V3<F>) -> [V3<F>; 3] {
        let (v, a) = (&self.velocities[body], &self.accelerations[body]);
        let (w, alpha) = (angular(v), angular(a));
        let offset = sub3(point, self.positions[model.bodies[body].root]);
        let speed = cross_add(w, offset, linear(v));
        [cross_add(w, speed, cross_add(alpha, offset, linear(a))), alpha, w]
    }

    /// Three rotations of one joint: all axes turn with the velocity before the joint.
    #[inline(always)]
    fn rotations_at_once(&self, k: usize, qvel: &[F], v: &mut V6<F>, a: &mut V6<F>) {
        let before = *v;
        for i in k..k + 3 {
            *a = accelerate(*a, &before, &self.axes[i], qvel[i]);
            *v = advance(*v, &self.axes[i], qvel[i]);
        }
    }
}

/// v + s rate
#[inline(always)]
fn advance<F: Lane>(mut v: V6<F>, s: &V6<F>, rate: F) -> V6<F> {
    for i in 0..6 {
        v[i] = s[i].mul_add(rate, v[i]);
    }
    v
}

/// a + (v x s) rate: the axis turns with the velocity v.
#[inline(always)]
fn accelerate<F: Lane>(a: V6<F>, v: &V6<F>, s: &V6<F>, rate: F) -> V6<F> {
    let turning = cross(angular(v), angular(s));
    let moving = cross_add(angular(v), linear(s), cross(linear(v), angular(s)));
    spatial(scale_add3(turning, rate, angular(&a)), scale_add3(moving, rate, linear(&a)))
}

/// I a + v x* (I v)
#[inline(always)]
fn newton_euler<F: Lane>(inertial: &V6<F>, momentum: &V6<F>, v: &V6<F>) -> V6<F> {
    let (w, l) = (angular(v), linear(v));
    let torque = cross_add(w, angular(momentum), cross_add(l, linear(momentum), angular(inertial)));
    spatial(torque, cross_add(w, linear(momentum), linear(inertial)))
}

/// The wrench of the medium on a body, at the reference point; `d` leads from there to the centre of mass.
#[inline(always)]
fn spatial_drag<F: Lane>(drag: &Drag, principal: &M3<F>, d: V3<F>, v: &V6<F>) -> V6<F> {
    let w = transposed_vector(principal, angular(v));
    let u = transposed_vector(principal, cross_add(angular(v), d, linear(v)));
    let (mut torque, mut push) = (zero3(), zero3());
    for k in 0..3 {
        torque[k] = resistance(w[k], drag.linear_torque, drag.quadratic_torque[k]);
        push[k] = resistance(u[k], drag.linear_force, drag.quadratic_force[k]);
    }
    let force = multiply_vector(principal, push);
    spatial(cross_add(d, force, multiply_vector(principal, torque)), force)
}

/// -(linear + quadratic |x|) x
#[inline(always)]
fn resistance<F: Lane>(x: F, linear: f64, quadratic: f64) -> F {
    -(x * x.abs().mul_add(F::splat(quadratic), F::splat(linear)))
}

impl<F: Lane> Planar<F> {
    /// Writes drag minus bias for every degree of freedom.
    #[inline(always)]
    pub(crate) fn bias(&mut self, model: &Compiled, plan: &PlanarPlan, qvel: &[F], force: &mut [F]) {
        self.velocities[0] = zero3();
        self.accelerations[0] = [F::zero(), F::splat(-plan.gravity[0]), F::splat(-plan.gravity[1])];
        for (b, body) in model.bodies.iter().enumerate().skip(1) {
            let mut v = self.velocities[body.parent];
            let mut a = self.accelerations[body.parent];
            for k in body.freedoms.clone() {
                let (s, rate) = (self.axes[k], qvel[k]);
                let u_rate = s[0].mul_add(v[2], -(v[0] * s[2]));
                let v_rate = s[0].neg_mul_add(v[1], v[0] * s[1]);
                a = [a[0], u_rate.mul_add(rate, a[1]), v_rate.mul_add(rate, a[2])];
                v = scale_add3(s, rate, v);
            }
            self.velocities[b] = v;
            self.accelerations[b] = a;
            let mass = F::splat(body.mass.mass);
            let inertial = planar_inertia_times(&self.inertias[b], mass, &a);
            let momentum = planar_inertia_times(&self.inertias[b], mass, &v);
            let mut f = [
                v[1].mul_add(momentum[2], v[2].neg_mul_add(momentum[1], inertial[0])),
                v[0].neg_mul_add(momentum[2], inertial[1]),
                v[0].mul_add(momentum[1], inertial[2]),
            ];
            if let Some(drag) = &plan.bodies[b].drag {
                f = sub3(f, planar_drag(drag, self.rotations[b], self.centers[b], v));
            }
            self.forces[b] = f;
        }
        for (b, body) in model.bodies.iter().enumerate().skip(1).rev() {
            if body.parent > 0 {
                let (before, own) = self.forces.split_at_mut(b);
                for (sum, x) in before[body.parent].iter_mut().zip(&own[0]) {
                    *sum = *sum + *x;
                }
            }
        }
        for (k, freedom) in model.freedoms.iter().enumerate() {
            force[k] = -dot3(self.axes[k], self.forces[freedom.body]);
        }
    }
}

#[inline(always)]
fn planar_drag<F: Lane>(drag: &crate::compile::PlanarDrag, rotation: V2<F>, d: V2<F>, v: V3<F>) -> V3<F> {
    let axis = place2(rotation, drag.axis, [F::zero(); 2]);
    let at_center = [v[0].neg_mul_add(d[1], v[1]), v[0].mul_add(d[0], v[2])];
    let along = dot2(axis, at_center);
    let across = axis[0].mul_add(at_center[1], -(axis[1] * at_center[0]));
    let f = resistance(along, drag.linear_force, drag.quadratic_force[0]);
    let g = resistance(across, drag.linear_force, drag.quadratic_force[1]);
    let torque = resistance(v[0], drag.linear_torque, drag.quadratic_torque);
    let force = [axis[0].mul_add(f, -(axis[1] * g)), axis[1].mul_add(f, axis[0] * g)];
    [d[0].mul_add(force[1], d[1].neg_mul_add(force[0], torque)), force[0], force[1]]
}
