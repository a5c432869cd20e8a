//! One step of the crowd: Box2D's `b2Island::Solve` for all lanes, in its order of operations.

use std::f32::consts::PI;

use super::super::solver::{Batch, JOINT_ORDER, WideContact, WideJoint};
use super::super::vector::{Rotation, clockwise, cross, dot, minus, negative, plus, scale};
use super::super::wide::{LANES, Mask, Wide, dispatch};
use super::super::world::{self, BODIES};
use super::geometry::{ANGULAR_SLOP, SKIN, SLOP};
use super::lane::{Contact, Lane, TIME_STEP};
use super::manifold::Manifold;
use super::robot::{Hinge, Part, Robot, parent};

type Vec2 = [Wide; 2];

const GRAVITY: f32 = -10.0;
/// Of a step.
const POSITION_ITERATIONS: usize = 60;
/// Of the rest of a step after an impact.
const IMPACT_ITERATIONS: usize = 20;
/// Share of an overlap that one iteration takes away.
const CORRECTION: f32 = 0.2;
const IMPACT_CORRECTION: f32 = 0.75;
/// Overlaps at which Box2D is content.
const CONTENT: f32 = -3.0 * SLOP;
const IMPACT_CONTENT: f32 = -1.5 * SLOP;
const MOST_CORRECTION: f32 = 0.2;
const MOST_ANGULAR_CORRECTION: f32 = 8.0 / 180.0 * PI;
const MOST_TRANSLATION: f32 = 2.0;
const MOST_ROTATION: f32 = 0.5 * PI;
/// Condition number of two contact points beyond which one of them is left out.
const MOST_CONDITION: f32 = 1000.0;

/// Place of one body in every lane.
#[derive(Clone, Copy, Debug)]
pub struct Pose {
    center: Vec2,
    angle: Wide,
    /// Of `turned`, which is the angle unless that has just changed.
    rotation: Rotation<Wide>,
    turned: Wide,
}

/// Where one body touches one edge, in every lane that has such a contact.
#[derive(Clone, Copy, Debug)]
struct WideManifold {
    on_body: Mask,
    normal: Vec2,
    point: Vec2,
    locals: [Vec2; 2],
    /// Whether the first and the second point exist.
    present: [Mask; 2],
    any: [bool; 2],
}

/// The numbers of the body in a contact.
#[derive(Clone, Copy)]
struct Weight {
    local_center: Vec2,
    inverse_mass: Wide,
    inverse_inertia: Wide,
}

/// The steps of all lanes.
#[derive(Debug)]
pub struct Constraints {
    batch: Batch,
    poses: [Pose; BODIES],
    /// Of lanes whose positions are final.
    placed: [Pose; BODIES],
    manifolds: [Vec<WideManifold>; BODIES],
    /// Force on the hull.
    push: Wide,
    /// Of this step's length to the last one's.
    ratio: Wide,
    /// One bit per lane.
    active: u32,
    solved: u32,
    weights: [WeightOf; BODIES],
    hinges: [Hinge; 4],
}

/// As [`Weight`], the same for all lanes.
#[derive(Clone, Copy, Debug)]
struct WeightOf {
    local_center: [f32; 2],
    inverse_mass: f32,
    inverse_inertia: f32,
}

impl WeightOf {
    fn new(part: &Part) -> Self {
        Self {
            local_center: part.local_center,
            inverse_mass: part.inverse_mass,
            inverse_inertia: part.inverse_inertia,
        }
    }

    #[inline(always)]
    fn wide(&self) -> Weight {
        Weight {
            local_center: self.local_center.map_wide(),
            inverse_mass: Wide::splat(self.inverse_mass),
            inverse_inertia: Wide::splat(self.inverse_inertia),
        }
    }
}

/// The same vector in all lanes.
trait MapWide {
    fn map_wide(self) -> Vec2;
}

impl MapWide for [f32; 2] {
    #[inline(always)]
    fn map_wide(self) -> Vec2 {
        [Wide::splat(self[0]), Wide::splat(self[1])]
    }
}

#[inline(always)]
fn put(to: &mut Vec2, lane: usize, from: [f32; 2]) {
    (to[0].0[lane], to[1].0[lane]) = (from[0], from[1]);
}

#[inline(always)]
fn get(from: &Vec2, lane: usize) -> [f32; 2] {
    [from[0].0[lane], from[1].0[lane]]
}

#[inline(always)]
fn select(mask: Mask, a: Vec2, b: Vec2) -> Vec2 {
    [Wide::select(mask, a[0], b[0]), Wide::select(mask, a[1], b[1])]
}

#[inline(always)]
fn clamp(x: Wide, low: f32, high: f32) -> Wide {
    Wide::splat(low).max(x.min(Wide::splat(high)))
}

/// The ground's frame, in which it also is: written out so that zeros keep their signs.
#[inline(always)]
fn grounded(v: Vec2) -> Vec2 {
    Rotation { sin: Wide::ZERO, cos: Wide::splat(1.0) }.apply(v)
}

impl Pose {
    const ZERO: Self = Self {
        center: [Wide::ZERO; 2],
        angle: Wide::ZERO,
        rotation: Rotation { sin: Wide::ZERO, cos: Wide::ZERO },
        turned: Wide::ZERO,
    };

    /// Brings the rotation of these lanes up to the angle.
    #[inline(always)]
    fn turn(&mut self, lanes: u32) {
        let changed = self.angle.differs(self.turned).bits() & lanes;
        if changed != 0 {
            world::rotations(&self.angle.0, changed, &mut self.rotation.sin.0, &mut self.rotation.cos.0);
            self.turned = Wide::select(Mask::of(changed), self.angle, self.turned);
        }
    }

    #[inline(always)]
    fn select(mask: Mask, a: &Self, b: &Self) -> Self {
        Self {
            center: select(mask, a.center, b.center),
            angle: Wide::select(mask, a.angle, b.angle),
            rotation: Rotation {
                sin: Wide::select(mask, a.rotation.sin, b.rotation.sin),
                cos: Wide::select(mask, a.rotation.cos, b.rotation.cos),
            },
            turned: Wide::select(mask, a.turned, b.turned),
        }
    }

    /// Of the body's origin.
    #[inline(always)]
    fn position(&self, local_center: Vec2) -> Vec2 {
        minus(self.center, self.rotation.apply(local_center))
    }
}

impl WideManifold {
    const ZERO: Self = Self {
        on_body: Mask::NONE,
        normal: [Wide::ZERO; 2],
        point: [Wide::ZERO; 2],
        locals: [[Wide::ZERO; 2]; 2],
        present: [Mask::NONE; 2],
        any: [false; 2],
    };

    fn load(&mut self, lane: usize, from: &Manifold) {
        self.on_body.set(lane, from.on_body);
        put(&mut self.normal, lane, from.normal);
        put(&mut self.point, lane, from.point);
        for (j, point) in from.points[..from.count].iter().enumerate() {
            put(&mut self.locals[j], lane, point.local);
            self.present[j].set(lane, true);
            self.any[j] = true;
        }
    }

    /// Normal towards the body, and the `j`-th point and what its distance is measured from.
    #[inline(always)]
    fn place(&self, j: usize, pose: &Pose, local_center: Vec2) -> (Vec2, Vec2, Vec2) {
        let (q, p) = (pose.rotation, pose.position(local_center));
        let normal = select(self.on_body, q.apply(self.normal), grounded(self.normal));
        let of_body = |v: Vec2| plus(q.apply(v), p);
        let of_ground = |v: Vec2| plus(grounded(v), [Wide::ZERO; 2]);
        let plane = select(self.on_body, of_body(self.point), of_ground(self.point));
        let local = self.locals[j];
        let clip = select(self.on_body, of_ground(local), of_body(local));
        (normal, plane, clip)
    }

    /// Box2D's normals point from the ground to the body.
    #[inline(always)]
    fn outward(&self, normal: Vec2) -> Vec2 {
        select(self.on_body, negative(normal), normal)
    }

    /// Velocity constraints at the present pose, with the impulses that `contact` holds already.
    #[inline(always)]
    fn prepare(&self, contact: &mut WideContact, pose: &Pose, weight: &Weight) {
        let (m, i) = (weight.inverse_mass, weight.inverse_inertia);
        let mut arms_cross_normal = [Wide::ZERO; 2];
        for j in 0..2 {
            if !self.any[j] {
                continue;
            }
            let (normal, plane, clip) = self.place(j, pose, weight.local_center);
            let skin = Wide::splat(SKIN);
            let near = plus(clip, scale(skin - dot(minus(clip, plane), normal), normal));
            let far = minus(clip, scale(skin, normal));
            let point = scale(Wide::splat(0.5), plus(near, far));
            let normal = self.outward(normal);
            contact.normal = normal;
            let to = &mut contact.points[j];
            to.ground = [Wide::NEGATIVE_ZERO * point[1], Wide::ZERO * point[0]];
            to.lever.arm = minus(point, pose.center);
            (to.lever.inverse_mass, to.lever.inverse_inertia) = (m, i);
            let rn = cross(to.lever.arm, normal);
            arms_cross_normal[j] = rn;
            to.normal_mass = (m + i * rn * rn).inverse_if_positive();
            let rt = cross(to.lever.arm, clockwise(normal));
            to.tangent_mass = (m + i * rt * rt).inverse_if_positive();
            to.velocity_bias = Wide::ZERO;
        }
        (contact.one_point, contact.two_points) = (self.present[0], Mask::NONE);
        if self.any[1] {
            let [a, b] = arms_cross_normal;
            let (k11, k22, k12) = (m + i * a * a, m + i * b * b, m + i * a * b);
            let fine = (k11 * k11).is_less(Wide::splat(MOST_CONDITION) * (k11 * k22 - k12 * k12));
            contact.k = [[k11, k12], [k12, k22]];
            let det = (k11 * k22 - k12 * k12).inverse_unless_zero();
            contact.normal_mass = [[det * k22, -det * k12], [-det * k12, det * k11]];
            contact.two_points = self.present[1].and(fine);
            contact.one_point = self.present[0].and(contact.two_points.not());
        }
        contact.any_one = contact.one_point.any();
        contact.any_two = contact.two_points.any();
    }

    /// Takes away a part of the overlaps; returns the deepest so far.
    #[inline(always)]
    fn push_out(&self, pose: &mut Pose, weight: &Weight, share: f32, lanes: u32, deepest: Wide) -> Wide {
        let mut deepest = deepest;
        for j in 0..2 {
            if !self.any[j] {
                continue;
            }
            pose.turn(lanes);
            let (normal, plane, clip) = self.place(j, pose, weight.local_center);
            let skin = Wide::splat(SKIN);
            let separation = dot(minus(clip, plane), normal) - skin - skin;
            let normal = self.outward(normal);
            let arm = minus(clip, pose.center);
            let present = self.present[j];
            deepest = Wide::select(present, deepest.min(separation), deepest);
            let overlap = Wide::splat(share) * (separation + Wide::splat(SLOP));
            let wanted = clamp(overlap, -MOST_CORRECTION, 0.0);
            let rn = cross(arm, normal);
            let k = weight.inverse_mass + weight.inverse_inertia * rn * rn;
            let impulse = Wide::select(k.is_positive(), -wanted / k, Wide::ZERO);
            let push = scale(impulse, normal);
            let center = plus(pose.center, scale(weight.inverse_mass, push));
            let angle = pose.angle + weight.inverse_inertia * cross(arm, push);
            pose.center = select(present, center, pose.center);
            pose.angle = Wide::select(present, angle, pose.angle);
        }
        deepest
    }
}

/// The two bodies of a joint and its place in them.
struct Pair {
    m: [Wide; 2],
    i: [Wide; 2],
    arms: [Vec2; 2],
    reference: Wide,
}

impl Pair {
    #[inline(always)]
    fn new(hinge: &Hinge, parent: &WeightOf, leg: &WeightOf) -> Self {
        Self {
            m: [Wide::splat(parent.inverse_mass), Wide::splat(leg.inverse_mass)],
            i: [Wide::splat(parent.inverse_inertia), Wide::splat(leg.inverse_inertia)],
            arms: hinge.arms.map(MapWide::map_wide),
            reference: Wide::splat(hinge.reference),
        }
    }

    /// Velocity constraints at the present poses.
    #[inline(always)]
    fn prepare(&self, joint: &mut WideJoint, poses: [&Pose; 2], limits: [f32; 2]) {
        let ([ma, mb], [ia, ib]) = (self.m, self.i);
        let [ra, rb] = [poses[0].rotation.apply(self.arms[0]), poses[1].rotation.apply(self.arms[1])];
        for (lever, j) in [(&mut joint.parent, 0), (&mut joint.leg, 1)] {
            (lever.inverse_mass, lever.inverse_inertia) = (self.m[j], self.i[j]);
            lever.arm = [ra, rb][j];
        }
        let xx = ma + mb + ra[1] * ra[1] * ia + rb[1] * rb[1] * ib;
        let xy = -ra[1] * ra[0] * ia - rb[1] * rb[0] * ib;
        let xz = -ra[1] * ia - rb[1] * ib;
        let yy = ma + mb + ra[0] * ra[0] * ia + rb[0] * rb[0] * ib;
        let yz = ra[0] * ia + rb[0] * ib;
        joint.mass = [[xx, xy, xz], [xy, yy, yz], [xz, yz, ia + ib]];
        joint.motor_mass = (ia + ib).inverse_if_positive();
        let angle = poses[1].angle - poses[0].angle - self.reference;
        let lower = angle.is_at_most(Wide::splat(limits[0]));
        let upper = Wide::splat(limits[1]).is_at_most(angle).and(lower.not());
        // An impulse of the limit lasts as long as the joint stays at it.
        let was_lower = joint.limited.and(joint.lower);
        let was_upper = joint.limited.and(joint.lower.not());
        let stays = lower.and(was_lower).or(upper.and(was_upper));
        joint.impulse[2] = Wide::select(stays, joint.impulse[2], Wide::ZERO);
        joint.lower = lower;
        joint.limited = lower.or(upper);
    }

    /// Takes away a part of the error of a joint; returns which lanes are content with it.
    #[inline(always)]
    fn pull_together(&self, joint: &WideJoint, limits: [f32; 2], poses: [&mut Pose; 2], lanes: u32) -> Mask {
        let ([ma, mb], [ia, ib]) = (self.m, self.i);
        let [a, b] = poses;
        let mut content = Mask::of(u32::MAX);
        let slop = Wide::splat(ANGULAR_SLOP);
        if joint.any_limited {
            let angle = b.angle - a.angle - self.reference;
            let below = angle - Wide::splat(limits[0]);
            let above = angle - Wide::splat(limits[1]);
            let error = Wide::select(joint.lower, -below, above);
            let back = clamp(below + slop, -MOST_ANGULAR_CORRECTION, 0.0);
            let forth = clamp(above - slop, 0.0, MOST_ANGULAR_CORRECTION);
            let impulse = -joint.motor_mass * Wide::select(joint.lower, back, forth);
            a.angle = Wide::select(joint.limited, a.angle - ia * impulse, a.angle);
            b.angle = Wide::select(joint.limited, b.angle + ib * impulse, b.angle);
            content = joint.limited.not().or(error.is_at_most(slop));
        }
        a.turn(lanes);
        b.turn(lanes);
        let [ra, rb] = [a.rotation.apply(self.arms[0]), b.rotation.apply(self.arms[1])];
        let gap = minus(minus(plus(b.center, rb), a.center), ra);
        content = content.and(dot(gap, gap).sqrt().is_at_most(Wide::splat(SLOP)));
        let xx = ma + mb + ia * ra[1] * ra[1] + ib * rb[1] * rb[1];
        let xy = -ia * ra[0] * ra[1] - ib * rb[0] * rb[1];
        let yy = ma + mb + ia * ra[0] * ra[0] + ib * rb[0] * rb[0];
        let det = (xx * yy - xy * xy).inverse_unless_zero();
        let x = [det * (yy * gap[0] - xy * gap[1]), det * (xx * gap[1] - xy * gap[0])];
        let impulse = negative(x);
        a.center = minus(a.center, scale(ma, impulse));
        a.angle = a.angle - ia * cross(ra, impulse);
        b.center = plus(b.center, scale(mb, impulse));
        b.angle = b.angle + ib * cross(rb, impulse);
        content
    }
}

/// Moves a body for `time` seconds, not farther than Box2D lets it.
#[inline(always)]
fn integrate(pose: &mut Pose, velocity: &mut super::super::solver::Velocity, time: Wide) {
    let translation = scale(time, velocity.linear);
    let squared = dot(translation, translation);
    let fast = Wide::splat(MOST_TRANSLATION * MOST_TRANSLATION).is_less(squared);
    if fast.any() {
        let ratio = Wide::splat(MOST_TRANSLATION) / squared.sqrt();
        let slower = [velocity.linear[0] * ratio, velocity.linear[1] * ratio];
        velocity.linear = select(fast, slower, velocity.linear);
    }
    let turn = time * velocity.angular;
    let fast = Wide::splat(MOST_ROTATION * MOST_ROTATION).is_less(turn * turn);
    if fast.any() {
        let ratio = Wide::splat(MOST_ROTATION) / Wide::select(turn.is_positive(), turn, -turn);
        velocity.angular = Wide::select(fast, velocity.angular * ratio, velocity.angular);
    }
    pose.center = plus(pose.center, scale(time, velocity.linear));
    pose.angle = pose.angle + time * velocity.angular;
}

impl Constraints {
    pub fn new(robot: &Robot) -> Self {
        Self {
            batch: Batch::new(),
            poses: [Pose::ZERO; BODIES],
            placed: [Pose::ZERO; BODIES],
            manifolds: Default::default(),
            push: Wide::ZERO,
            ratio: Wide::ZERO,
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
                (manifold.present, manifold.any) = ([Mask::NONE; 2], [false; 2]);
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
            pose.angle.0[lane] = body.sweep.to_angle;
            pose.turned.0[lane] = body.sweep.to_angle;
            pose.rotation.sin.0[lane] = body.frame.rotation.sin;
            pose.rotation.cos.0[lane] = body.frame.rotation.cos;
            put(&mut velocity.linear, lane, body.velocity);
            velocity.angular.0[lane] = body.spin;
        }
        for (k, joint) in from.joints.iter().enumerate() {
            let to = &mut self.batch.joints[k];
            for (to, from) in to.impulse.iter_mut().zip(joint.impulse) {
                to.0[lane] = from;
            }
            to.motor_impulse.0[lane] = joint.motor_impulse;
            to.motor_speed.0[lane] = speed[k];
            to.motor_limit.0[lane] = TIME_STEP * torque[k];
            to.lower.set(lane, joint.limit < 0);
            to.limited.set(lane, joint.limit != 0);
        }
        self.push.0[lane] = if from.fresh { from.push } else { 0.0 };
        self.ratio.0[lane] = if from.fresh { 0.0 } else { (1.0 / TIME_STEP) * TIME_STEP };
        for body in 0..BODIES {
            for (slot, i) in from.touching(body).enumerate() {
                self.load_contact(lane, body, slot, &from.contacts[i], self.ratio.0[lane]);
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
            to.normal_impulse.0[lane] = ratio * point.normal_impulse;
            to.tangent_impulse.0[lane] = ratio * point.tangent_impulse;
        }
    }

    /// Sets the friction of every contact, which depends on the body alone.
    fn rub(&mut self, robot: &Robot) {
        for (body, part) in robot.parts.iter().enumerate() {
            for contact in &mut self.batch.contacts[body][..self.batch.depth[body]] {
                contact.friction = Wide::splat(part.friction);
            }
        }
    }

    /// Makes the step of all lanes that are loaded.
    pub fn solve(&mut self, robot: &Robot) {
        self.rub(robot);
        fn run(constraints: &mut Constraints) {
            dispatch!(Constraints::step(constraints: &mut Constraints))
        }
        run(self);
    }

    #[inline(always)]
    fn step(&mut self) {
        let h = Wide::splat(TIME_STEP);
        let v = &mut self.batch.velocity;
        for (i, velocity) in v.iter_mut().enumerate() {
            let force = if i == 0 { self.push } else { Wide::ZERO };
            let m = Wide::splat(self.weights[i].inverse_mass);
            velocity.linear[0] = velocity.linear[0] + h * (Wide::ZERO + m * force);
            velocity.linear[1] = velocity.linear[1] + h * (Wide::splat(GRAVITY) + m * Wide::ZERO);
            velocity.angular =
                velocity.angular + h * Wide::splat(self.weights[i].inverse_inertia) * Wide::ZERO;
        }
        self.prepare_contacts();
        self.prepare_joints();
        self.batch.iterate();
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
            let mut deepest = Wide::ZERO;
            for body in 0..BODIES {
                let weight = self.weights[body].wide();
                for manifold in &self.manifolds[body][..self.batch.depth[body]] {
                    let pose = &mut self.poses[body];
                    deepest = manifold.push_out(pose, &weight, CORRECTION, running, deepest);
                }
            }
            let mut content = Wide::splat(CONTENT).is_at_most(deepest);
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
        let mask = Mask::of(lanes);
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
            (body.sweep.to, body.sweep.to_angle) = (get(&pose.center, lane), pose.angle.0[lane]);
            (body.velocity, body.spin) = (get(&velocity.linear, lane), velocity.angular.0[lane]);
            rotations[i] = Rotation { sin: pose.rotation.sin.0[lane], cos: pose.rotation.cos.0[lane] };
        }
        for (k, joint) in to.joints.iter_mut().enumerate() {
            let from = &self.batch.joints[k];
            joint.impulse = std::array::from_fn(|i| from.impulse[i].0[lane]);
            joint.motor_impulse = from.motor_impulse.0[lane];
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
                        to.normal_impulse = from.normal_impulse.0[lane];
                        to.tangent_impulse = from.tangent_impulse.0[lane];
                    }
                    slot += 1;
                }
            }
        }
        to.arrive(robot, rotations, self.solved & (1 << lane) != 0);
    }
}

/// The rest of a step after an impact, for any number of lanes: one body of each, which may be another one in every
/// lane, and its contacts.
#[derive(Debug)]
pub struct Aftermath {
    batch: Batch,
    pose: Pose,
    manifolds: Vec<WideManifold>,
    weight: [Wide; 4],
    /// Seconds that are left.
    time: Wide,
    /// Where the motion of the rest of the step starts.
    start: Pose,
    active: u32,
}

impl Aftermath {
    pub fn new() -> Self {
        Self {
            batch: Batch::new(),
            pose: Pose::ZERO,
            manifolds: Vec::new(),
            weight: [Wide::ZERO; 4],
            time: Wide::ZERO,
            start: Pose::ZERO,
            active: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.active == 0
    }

    pub fn clear(&mut self) {
        for manifold in &mut self.manifolds[..self.batch.depth[0]] {
            (manifold.present, manifold.any) = ([Mask::NONE; 2], [false; 2]);
        }
        self.batch.depth[0] = 0;
        self.active = 0;
    }

    pub fn load(&mut self, lane: usize, from: &Lane, impact: &super::continuous::Impact, part: &Part) {
        self.active |= 1 << lane;
        let body = &from.bodies[impact.body];
        let (pose, velocity) = (&mut self.pose, &mut self.batch.velocity[0]);
        put(&mut pose.center, lane, body.sweep.to);
        pose.angle.0[lane] = body.sweep.to_angle;
        pose.turned.0[lane] = body.sweep.to_angle;
        pose.rotation.sin.0[lane] = body.frame.rotation.sin;
        pose.rotation.cos.0[lane] = body.frame.rotation.cos;
        put(&mut velocity.linear, lane, body.velocity);
        velocity.angular.0[lane] = body.spin;
        let [x, y] = part.local_center;
        for (to, from) in self.weight.iter_mut().zip([x, y, part.inverse_mass, part.inverse_inertia]) {
            to.0[lane] = from;
        }
        self.time.0[lane] = (1.0 - impact.time) * TIME_STEP;
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
            contacts[slot].friction.0[lane] = part.friction;
            for point in &mut contacts[slot].points {
                (point.normal_impulse.0[lane], point.tangent_impulse.0[lane]) = (0.0, 0.0);
            }
        }
    }

    pub fn solve(&mut self) {
        fn run(aftermath: &mut Aftermath) {
            dispatch!(Aftermath::step(aftermath: &mut Aftermath))
        }
        run(self);
    }

    #[inline(always)]
    fn step(&mut self) {
        let [x, y, inverse_mass, inverse_inertia] = self.weight;
        let weight = Weight { local_center: [x, y], inverse_mass, inverse_inertia };
        let depth = self.batch.depth[0];
        let mut running = self.active;
        for _ in 0..IMPACT_ITERATIONS {
            let mut deepest = Wide::ZERO;
            for manifold in &self.manifolds[..depth] {
                deepest = manifold.push_out(&mut self.pose, &weight, IMPACT_CORRECTION, running, deepest);
            }
            let done = Wide::splat(IMPACT_CONTENT).is_at_most(deepest).bits() & running;
            running &= !done;
            self.start = Pose::select(Mask::of(done), &self.pose, &self.start);
            if running == 0 {
                break;
            }
        }
        self.start = Pose::select(Mask::of(running), &self.pose, &self.start);
        self.start.turn(self.active);
        let contacts = &mut self.batch.contacts[0][..depth];
        for (contact, manifold) in contacts.iter_mut().zip(&self.manifolds) {
            manifold.prepare(contact, &self.start, &weight);
        }
        self.batch.iterate_contacts(0);
        self.pose = self.start;
        integrate(&mut self.pose, &mut self.batch.velocity[0], self.time);
    }

    pub fn store(&self, lane: usize, to: &mut Lane, impact: &super::continuous::Impact, part: &Part) {
        if self.active & (1 << lane) == 0 {
            return;
        }
        let body = &mut to.bodies[impact.body];
        body.sweep.from = get(&self.start.center, lane);
        body.sweep.from_angle = self.start.angle.0[lane];
        body.sweep.to = get(&self.pose.center, lane);
        body.sweep.to_angle = self.pose.angle.0[lane];
        let velocity = &self.batch.velocity[0];
        (body.velocity, body.spin) = (get(&velocity.linear, lane), velocity.angular.0[lane]);
        to.arrive_after_impact(impact.body, part);
    }
}

const _: () = assert!(LANES <= 32, "lanes are bits of a word");
