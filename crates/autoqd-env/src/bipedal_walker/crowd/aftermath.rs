//! The rest of a step after an impact: Box2D's `b2Island::SolveTOI`.

use super::super::kernels::Kernels;
use super::super::solver::{Batch, WideContact};
use super::super::wide::{Mask, Wide};
use super::continuous::Impact;
use super::geometry::SLOP;
use super::lane::{Lane, TIME_STEP};
use super::pose::{Pose, get, integrate, put};
use super::robot::Part;
use super::touching::{Weight, WideManifold};

const ITERATIONS: usize = 20;
/// Share of an overlap that one iteration takes away.
const CORRECTION: f32 = 0.75;
/// Overlap at which Box2D is content.
const CONTENT: f32 = -1.5 * SLOP;

/// The rest of a step after an impact, for any number of lanes: one body of each, which may be another one in every
/// lane, and its contacts.
#[derive(Debug)]
pub struct Aftermath<F: Wide> {
    batch: Batch<F>,
    pose: Pose<F>,
    manifolds: Vec<WideManifold<F>>,
    weight: [F; 4],
    /// Seconds that are left.
    time: F,
    /// Where the motion of the rest of the step starts.
    start: Pose<F>,
    active: u32,
}

impl<F: Kernels> Aftermath<F> {
    pub fn new() -> Self {
        Self {
            batch: Batch::new(),
            pose: Pose::ZERO,
            manifolds: Vec::new(),
            weight: [F::ZERO; 4],
            time: F::ZERO,
            start: Pose::ZERO,
            active: 0,
        }
    }

    pub fn clear(&mut self) {
        for manifold in &mut self.manifolds[..self.batch.depth[0]] {
            manifold.clear();
        }
        self.batch.depth[0] = 0;
        self.active = 0;
    }

    pub fn load(&mut self, lane: usize, from: &Lane, impact: &Impact, part: &Part) {
        self.active |= 1 << lane;
        let body = &from.bodies[impact.body];
        let (pose, velocity) = (&mut self.pose, &mut self.batch.velocity[0]);
        put(&mut pose.center, lane, body.sweep.to);
        pose.angle.set(lane, body.sweep.to_angle);
        pose.turned.set(lane, body.sweep.to_angle);
        pose.rotation.sin.set(lane, body.frame.rotation.sin);
        pose.rotation.cos.set(lane, body.frame.rotation.cos);
        put(&mut velocity.linear, lane, body.velocity);
        velocity.angular.set(lane, body.spin);
        let [x, y] = part.local_center;
        for (to, from) in self.weight.iter_mut().zip([x, y, part.inverse_mass, part.inverse_inertia]) {
            to.set(lane, from);
        }
        self.time.set(lane, (1.0 - impact.time) * TIME_STEP);
        let contacts = &mut self.batch.contacts[0];
        for (slot, i) in impact.contacts.iter().enumerate() {
            while contacts.len() <= slot {
                contacts.push(WideContact::ZERO);
            }
            while self.manifolds.len() <= slot {
                self.manifolds.push(WideManifold::ZERO);
            }
            self.batch.depth[0] = self.batch.depth[0].max(slot + 1);
            self.manifolds[slot].load(lane, &from.contacts[*i].manifold);
            contacts[slot].friction.set(lane, part.friction);
            for point in &mut contacts[slot].points {
                point.normal_impulse.set(lane, 0.0);
                point.tangent_impulse.set(lane, 0.0);
            }
        }
    }

    pub fn solve(&mut self) {
        F::finish(self);
    }

    #[inline(always)]
    pub fn finish(&mut self) {
        let [x, y, inverse_mass, inverse_inertia] = self.weight;
        let weight = Weight { local_center: [x, y], inverse_mass, inverse_inertia };
        let depth = self.batch.depth[0];
        let mut running = self.active;
        for _ in 0..ITERATIONS {
            let mut deepest = F::ZERO;
            for manifold in &self.manifolds[..depth] {
                deepest = manifold.push_out(&mut self.pose, &weight, CORRECTION, running, deepest);
            }
            let done = F::splat(CONTENT).is_at_most(deepest).bits() & running;
            running &= !done;
            self.start = Pose::select(F::Mask::of(done), &self.pose, &self.start);
            if running == 0 {
                break;
            }
        }
        self.start = Pose::select(F::Mask::of(running), &self.pose, &self.start);
        self.start.turn(self.active);
        let contacts = &mut self.batch.contacts[0][..depth];
        for (contact, manifold) in contacts.iter_mut().zip(&self.manifolds) {
            manifold.prepare(contact, &self.start, &weight);
        }
        self.batch.iterate_contacts(0);
        self.pose = self.start;
        integrate(&mut self.pose, &mut self.batch.velocity[0], self.time);
    }

    pub fn store(&self, lane: usize, to: &mut Lane, impact: &Impact, part: &Part) {
        if self.active & (1 << lane) == 0 {
            return;
        }
        let body = &mut to.bodies[impact.body];
        body.sweep.from = get(&self.start.center, lane);
        body.sweep.from_angle = self.start.angle.get(lane);
        body.sweep.to = get(&self.pose.center, lane);
        body.sweep.to_angle = self.pose.angle.get(lane);
        let velocity = &self.batch.velocity[0];
        (body.velocity, body.spin) = (get(&velocity.linear, lane), velocity.angular.get(lane));
        to.arrive_after_impact(impact.body, part);
    }
}
