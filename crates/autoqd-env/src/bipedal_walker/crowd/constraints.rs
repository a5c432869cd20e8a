//! One step of the crowd: Box2D's `b2Island::Solve` for all lanes, in its order of operations.

use super::super::kernels::Kernels;
use super::super::solver::{Batch, JOINT_ORDER, WideContact};
use super::super::vector::Rotation;
use super::super::wide::{LANES, Mask, Wide};
use super::super::world::BODIES;
use super::geometry::SLOP;
use super::hinge::Pair;
use super::lane::{Contact, Lane, TIME_STEP};
use super::pose::{Pose, get, integrate, put};
use super::robot::{Hinge, Robot, parent};
use super::touching::{WeightOf, WideManifold};

const GRAVITY: f32 = -10.0;
/// Of a step.
const POSITION_ITERATIONS: usize = 60;
/// Share of an overlap that one iteration takes away.
const CORRECTION: f32 = 0.2;
/// Overlap at which Box2D is content.
const CONTENT: f32 = -3.0 * SLOP;

/// The steps of all lanes.
#[derive(Debug)]
pub struct Constraints<F: Wide> {
    batch: Batch<F>,
    poses: [Pose<F>; BODIES],
    /// Of lanes whose positions are final.
    placed: [Pose<F>; BODIES],
    manifolds: [Vec<WideManifold<F>>; BODIES],
    /// Force on the hull.
    push: F,
    /// Of this step's length to the last one's.
    ratio: F,
    /// One bit per lane.
    active: u32,
    solved: u32,
    weights: [WeightOf; BODIES],
    hinges: [Hinge; 4],
}

impl<F: Kernels> Constraints<F> {
    pub fn new(robot: &Robot) -> Self {
        Self {
            batch: Batch::new(),
            poses: [Pose::ZERO; BODIES],
            placed: [Pose::ZERO; BODIES],
            manifolds: Default::default(),
            push: F::ZERO,
            ratio: F::ZERO,
            active: 0,
            solved: 0,
            weights: std::array::from_fn(|i| WeightOf::new(&robot.parts[i])),
            hinges: robot.hinges.clone(),
        }
    }

    /// To be called before the lanes of a step are loaded.
    pub fn clear(&mut self) {
        for (body, manifolds) in self.manifolds.iter_mut().enumerate() {
            for manifold in &mut manifolds[..self.batch.depth[body]] {
                manifold.clear();
            }
        }
        self.batch.depth = [0; BODIES];
        self.active = 0;
    }

    /// Takes over the state of a lane, with what its motors shall do.
    pub fn load(&mut self, lane: usize, from: &Lane, speed: [f32; 4], torque: [f32; 4]) {
        self.active |= 1 << lane;
        for (i, body) in from.bodies.iter().enumerate() {
            let (pose, velocity) = (&mut self.poses[i], &mut self.batch.velocity[i]);
            put(&mut pose.center, lane, body.sweep.to);
            pose.angle.set(lane, body.sweep.to_angle);
            pose.turned.set(lane, body.sweep.to_angle);
            pose.rotation.sin.set(lane, body.frame.rotation.sin);
            pose.rotation.cos.set(lane, body.frame.rotation.cos);
            put(&mut velocity.linear, lane, body.velocity);
            velocity.angular.set(lane, body.spin);
        }
        for (k, joint) in from.joints.iter().enumerate() {
            let to = &mut self.batch.joints[k];
            for (to, from) in to.impulse.iter_mut().zip(joint.impulse) {
                to.set(lane, from);
            }
            to.motor_impulse.set(lane, joint.motor_impulse);
            to.motor_speed.set(lane, speed[k]);
            to.motor_limit.set(lane, TIME_STEP * torque[k]);
            to.lower.set(lane, joint.limit < 0);
            to.limited.set(lane, joint.limit != 0);
        }
        self.push.set(lane, if from.fresh { from.push } else { 0.0 });
        self.ratio.set(lane, if from.fresh { 0.0 } else { (1.0 / TIME_STEP) * TIME_STEP });
        for body in 0..BODIES {
            for (slot, i) in from.touching(body).enumerate() {
                self.load_contact(lane, body, slot, &from.contacts[i], self.ratio.get(lane));
            }
        }
    }

    fn load_contact(&mut self, lane: usize, body: usize, slot: usize, from: &Contact, ratio: f32) {
        let contacts = &mut self.batch.contacts[body];
        let manifolds = &mut self.manifolds[body];
        while contacts.len() <= slot {
            contacts.push(WideContact::ZERO);
        }
        while manifolds.len() <= slot {
            manifolds.push(WideManifold::ZERO);
        }
        self.batch.depth[body] = self.batch.depth[body].max(slot + 1);
        manifolds[slot].load(lane, &from.manifold);
        for (to, point) in contacts[slot].points.iter_mut().zip(&from.manifold.points) {
            to.normal_impulse.set(lane, ratio * point.normal_impulse);
            to.tangent_impulse.set(lane, ratio * point.tangent_impulse);
        }
    }

    /// Sets the friction of every contact, which depends on the body alone.
    fn rub(&mut self, robot: &Robot) {
        for (body, part) in robot.parts.iter().enumerate() {
            for contact in &mut self.batch.contacts[body][..self.batch.depth[body]] {
                contact.friction = F::splat(part.friction);
            }
        }
    }

    /// Makes the step of all lanes that are loaded.
    pub fn solve(&mut self, robot: &Robot) {
        self.rub(robot);
        F::step(self);
    }

    #[inline(always)]
    pub fn step(&mut self) {
        let h = F::splat(TIME_STEP);
        let v = &mut self.batch.velocity;
        for (i, velocity) in v.iter_mut().enumerate() {
            let force = if i == 0 { self.push } else { F::ZERO };
            let m = F::splat(self.weights[i].inverse_mass);
            velocity.linear[0] = velocity.linear[0] + h * (F::ZERO + m * force);
            velocity.linear[1] = velocity.linear[1] + h * (F::splat(GRAVITY) + m * F::ZERO);
            velocity.angular = velocity.angular + h * F::splat(self.weights[i].inverse_inertia) * F::ZERO;
        }
        self.prepare_contacts();
        self.prepare_joints();
        F::iterate(&mut self.batch);
        for (pose, velocity) in self.poses.iter_mut().zip(&mut self.batch.velocity) {
            integrate(pose, velocity, h);
        }
        self.settle();
    }

    #[inline(always)]
    fn prepare_contacts(&mut self) {
        for body in 0..BODIES {
            let depth = self.batch.depth[body];
            let weight = self.weights[body].wide();
            let contacts = &mut self.batch.contacts[body][..depth];
            for (contact, manifold) in contacts.iter_mut().zip(&self.manifolds[body]) {
                manifold.prepare(contact, &self.poses[body], &weight);
                contact.warm_start(&mut self.batch.velocity[body]);
            }
        }
    }

    #[inline(always)]
    fn prepare_joints(&mut self) {
        for k in JOINT_ORDER {
            let (a, b) = (parent(k), k + 1);
            let pair = Pair::new(&self.hinges[k], &self.weights[a], &self.weights[b]);
            let joint = &mut self.batch.joints[k];
            pair.prepare(joint, [&self.poses[a], &self.poses[b]], self.hinges[k].limits);
            let (mut va, mut vb) = (self.batch.velocity[a], self.batch.velocity[b]);
            joint.warm_start(self.ratio, &mut va, &mut vb);
            (self.batch.velocity[a], self.batch.velocity[b]) = (va, vb);
        }
    }

    /// Corrects the positions until contacts and joints hold.
    #[inline(always)]
    fn settle(&mut self) {
        self.solved = 0;
        let mut running = self.active;
        for _ in 0..POSITION_ITERATIONS {
            let mut deepest = F::ZERO;
            for body in 0..BODIES {
                let weight = self.weights[body].wide();
                for manifold in &self.manifolds[body][..self.batch.depth[body]] {
                    let pose = &mut self.poses[body];
                    deepest = manifold.push_out(pose, &weight, CORRECTION, running, deepest);
                }
            }
            let mut content = F::splat(CONTENT).is_at_most(deepest);
            for k in JOINT_ORDER {
                let (i, j) = (parent(k), k + 1);
                let pair = Pair::new(&self.hinges[k], &self.weights[i], &self.weights[j]);
                let (mut a, mut b) = (self.poses[i], self.poses[j]);
                let joint = &self.batch.joints[k];
                let holds = pair.pull_together(joint, self.hinges[k].limits, [&mut a, &mut b], running);
                (self.poses[i], self.poses[j]) = (a, b);
                content = content.and(holds);
            }
            let done = content.bits() & running;
            self.solved |= done;
            running &= !done;
            if done != 0 {
                self.keep(done);
            }
            if running == 0 {
                break;
            }
        }
        if running != 0 {
            self.keep(running);
        }
        self.placed.iter_mut().for_each(|pose| pose.turn(self.active));
    }

    /// The poses of these lanes are final.
    #[inline(always)]
    fn keep(&mut self, lanes: u32) {
        let mask = F::Mask::of(lanes);
        for (to, from) in self.placed.iter_mut().zip(&self.poses) {
            *to = Pose::select(mask, from, to);
        }
    }

    /// Hands the result back to a lane that was loaded.
    pub fn store(&self, lane: usize, to: &mut Lane, robot: &Robot) {
        let mut rotations = [Rotation::default(); BODIES];
        for (i, body) in to.bodies.iter_mut().enumerate() {
            let (pose, velocity) = (&self.placed[i], &self.batch.velocity[i]);
            (body.sweep.from, body.sweep.from_angle) = (body.sweep.to, body.sweep.to_angle);
            (body.sweep.to, body.sweep.to_angle) = (get(&pose.center, lane), pose.angle.get(lane));
            (body.velocity, body.spin) = (get(&velocity.linear, lane), velocity.angular.get(lane));
            rotations[i] = Rotation { sin: pose.rotation.sin.get(lane), cos: pose.rotation.cos.get(lane) };
        }
        for (k, joint) in to.joints.iter_mut().enumerate() {
            let from = &self.batch.joints[k];
            joint.impulse = std::array::from_fn(|i| from.impulse[i].get(lane));
            joint.motor_impulse = from.motor_impulse.get(lane);
            joint.limit = i8::from(from.limited.get(lane)) * if from.lower.get(lane) { -1 } else { 1 };
        }
        for body in 0..BODIES {
            let mut slot = 0;
            for i in (0..to.contacts.len()).rev() {
                let contact = &mut to.contacts[i];
                if contact.body == body && contact.touching && contact.enabled {
                    let from = &self.batch.contacts[body][slot];
                    let points = if from.two_points.get(lane) { 2 } else { 1 };
                    for (to, from) in contact.manifold.points.iter_mut().zip(&from.points).take(points) {
                        to.normal_impulse = from.normal_impulse.get(lane);
                        to.tangent_impulse = from.tangent_impulse.get(lane);
                    }
                    slot += 1;
                }
            }
        }
        to.arrive(robot, rotations, self.solved & (1 << lane) != 0);
    }
}

const _: () = assert!(LANES <= 32, "lanes are bits of a word");
