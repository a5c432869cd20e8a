//! Box2D's velocity iterations for several walkers at once.
//!
//! Every lane does the operations of Box2D's sequential impulses, in single precision and in their order, so it gets
//! Box2D's bits. Two things differ and change nothing: what depends on the step alone is computed once instead of in
//! every iteration, and constraints are taken in an order in which neighbours share no body where that is possible (see
//! [`Batch::iterate`]). Ground does not move, so of its part of a relative velocity only signed zeros are left.

use super::kernels::Kernels;
use super::vector::{clockwise, columns_times, cross, cross_3, dot, dot_3, minus, negative, plus, scale};
use super::wide::{LANES, Mask, Wide};
use super::world::{BODIES, BODY_CONTACTS, Contact, Island, Joint, VELOCITY_ITERATIONS};

type Vec2<F> = [F; 2];
type Vec3<F> = [F; 3];

/// The order in which Box2D takes the joints.
pub const JOINT_ORDER: [usize; 4] = [3, 2, 0, 1];

/// The constraints of several islands, one number per lane.
#[derive(Clone, Debug)]
pub struct Batch<F: Wide> {
    pub velocity: [Velocity<F>; BODIES],
    pub joints: [WideJoint<F>; 4],
    pub contacts: [Vec<WideContact<F>>; BODIES],
    /// The largest number of contacts of any lane, per body.
    pub depth: [usize; BODIES],
}

impl<F: Kernels> Batch<F> {
    /// An empty batch.
    pub fn new() -> Self {
        Self {
            velocity: [Velocity::ZERO; BODIES],
            joints: [WideJoint::ZERO; 4],
            contacts: std::array::from_fn(|_| vec![WideContact::ZERO; BODY_CONTACTS]),
            depth: [0; BODIES],
        }
    }

    fn load(&mut self, lane: usize, island: &Island) {
        for (to, [x, y, angular]) in self.velocity.iter_mut().zip(island.velocity) {
            put(&mut to.linear, lane, [x, y]);
            to.angular.set(lane, angular);
        }
        for (to, from) in self.joints.iter_mut().zip(&island.joints) {
            to.load(lane, from);
        }
        for body in 0..BODIES {
            let contacts = island.contacts(body);
            self.depth[body] = self.depth[body].max(contacts.len());
            for (to, from) in self.contacts[body].iter_mut().zip(contacts) {
                to.load(lane, from);
            }
        }
    }

    fn store(&self, lane: usize, island: &mut Island) {
        for (to, from) in island.velocity.iter_mut().zip(&self.velocity) {
            let [x, y] = get(&from.linear, lane);
            *to = [x, y, from.angular.get(lane)];
        }
        for (to, from) in island.joints.iter_mut().zip(&self.joints) {
            from.store(lane, to);
        }
        for body in 0..BODIES {
            for (to, from) in island.contacts_mut(body).iter_mut().zip(&self.contacts[body]) {
                from.store(lane, to);
            }
        }
    }

    /// All iterations over all constraints.
    ///
    /// Box2D takes the joints as [`JOINT_ORDER`] has them, then the contacts. A constraint waits for those before it that
    /// share a body with it and for no others, so contacts of the first leg are taken within the next iteration, and the
    /// knee of one leg next to that of the other: the CPU works on both at a time. Written out: a loop over the order would
    /// cost a tenth.
    #[inline(always)]
    pub fn iterate(&mut self) {
        for joint in &mut self.joints {
            joint.prepare();
        }
        let [mut hull, mut upper_1, mut lower_1, mut upper_2, mut lower_2] = self.velocity;
        let [hip_1, knee_1, hip_2, knee_2] = &mut self.joints;
        let [on_hull, on_upper_1, on_lower_1, on_upper_2, on_lower_2] = &mut self.contacts;
        let on_hull = &mut on_hull[..self.depth[0]];
        let on_upper_1 = &mut on_upper_1[..self.depth[1]];
        let on_lower_1 = &mut on_lower_1[..self.depth[2]];
        let on_upper_2 = &mut on_upper_2[..self.depth[3]];
        let on_lower_2 = &mut on_lower_2[..self.depth[4]];
        for iteration in 0..VELOCITY_ITERATIONS {
            F::solve_joint(knee_2, &mut upper_2, &mut lower_2);
            if iteration > 0 {
                F::solve_contacts(on_upper_1, &mut upper_1);
                F::solve_contacts(on_lower_1, &mut lower_1);
            }
            F::solve_joint(hip_2, &mut hull, &mut upper_2);
            F::solve_joint(hip_1, &mut hull, &mut upper_1);
            F::solve_contacts(on_upper_2, &mut upper_2);
            F::solve_contacts(on_lower_2, &mut lower_2);
            F::solve_contacts(on_hull, &mut hull);
            F::solve_joint(knee_1, &mut upper_1, &mut lower_1);
        }
        F::solve_contacts(on_upper_1, &mut upper_1);
        F::solve_contacts(on_lower_1, &mut lower_1);
        self.velocity = [hull, upper_1, lower_1, upper_2, lower_2];
    }

    /// All iterations over the contacts of one body alone. An iteration that changes nothing would be followed by others
    /// that change nothing.
    #[inline(always)]
    pub fn iterate_contacts(&mut self, body: usize) {
        let contacts = &mut self.contacts[body][..self.depth[body]];
        let mut velocity = self.velocity[body];
        for _ in 0..VELOCITY_ITERATIONS {
            let before = velocity;
            let mut changed = F::Mask::NONE;
            for contact in &mut *contacts {
                let old = contact.impulses();
                contact.solve(&mut velocity);
                let new = contact.impulses();
                for i in 0..4 {
                    changed = changed.or(old[i].differs(new[i]));
                }
            }
            changed = changed
                .or(before.linear[0].differs(velocity.linear[0]))
                .or(before.linear[1].differs(velocity.linear[1]))
                .or(before.angular.differs(velocity.angular));
            if !changed.any() {
                break;
            }
        }
        self.velocity[body] = velocity;
    }
}

/// One iteration over contacts of one body.
#[inline(always)]
pub fn solve_contacts<F: Kernels>(contacts: &mut [WideContact<F>], velocity: &mut Velocity<F>) {
    for contact in contacts {
        contact.solve(velocity);
    }
}

/// A batch of any lane type.
pub trait Solver: Send {
    /// Solves the velocity constraints of the lanes that have any.
    fn solve(&mut self, islands: &mut [Option<&mut Island>; LANES]);
}

impl<F: Kernels> Solver for Batch<F> {
    fn solve(&mut self, islands: &mut [Option<&mut Island>; LANES]) {
        self.depth = [0; BODIES];
        self.contacts.iter_mut().flatten().for_each(WideContact::clear);
        for (lane, island) in islands.iter().enumerate() {
            island.iter().for_each(|island| self.load(lane, island));
        }
        F::iterate(self);
        for (lane, island) in islands.iter_mut().enumerate() {
            island.iter_mut().for_each(|island| self.store(lane, island));
        }
    }
}

/// Of one body.
#[derive(Clone, Copy, Debug)]
pub struct Velocity<F: Wide> {
    pub linear: Vec2<F>,
    pub angular: F,
}

/// The effect of a unit impulse on a body, and where it acts.
#[derive(Clone, Copy, Debug)]
pub struct Lever<F: Wide> {
    pub inverse_mass: F,
    pub inverse_inertia: F,
    pub arm: Vec2<F>,
}

/// Velocity constraints of one joint.
#[derive(Clone, Copy, Debug)]
pub struct WideJoint<F: Wide> {
    pub parent: Lever<F>,
    pub leg: Lever<F>,
    /// Columns of the effective mass, the cross product of the last two, and the inverses of its determinants.
    pub mass: [Vec3<F>; 3],
    pub cross: Vec3<F>,
    pub inverse_3: F,
    pub inverse_2: F,
    pub motor_mass: F,
    pub motor_speed: F,
    pub motor_limit: F,
    pub lower: F::Mask,
    pub limited: F::Mask,
    pub any_limited: bool,
    pub impulse: Vec3<F>,
    pub motor_impulse: F,
}

/// One of the points where a body touches the ground.
#[derive(Clone, Copy, Debug)]
pub struct Point<F: Wide> {
    pub lever: Lever<F>,
    /// What remains of the ground's velocity: zeros with their signs.
    pub ground: Vec2<F>,
    pub normal_impulse: F,
    pub tangent_impulse: F,
    pub normal_mass: F,
    pub tangent_mass: F,
    pub velocity_bias: F,
}

/// Velocity constraints of one contact of a body with the ground.
#[derive(Clone, Copy, Debug)]
pub struct WideContact<F: Wide> {
    pub points: [Point<F>; 2],
    pub normal: Vec2<F>,
    pub normal_mass: [Vec2<F>; 2],
    pub k: [Vec2<F>; 2],
    pub friction: F,
    pub one_point: F::Mask,
    pub two_points: F::Mask,
    pub any_one: bool,
    pub any_two: bool,
}

/// Writes one lane of some numbers.
fn put<F: Wide, const N: usize>(to: &mut [F; N], lane: usize, from: [f32; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        to.set(lane, from);
    }
}

/// One lane of some numbers.
fn get<F: Wide, const N: usize>(from: &[F; N], lane: usize) -> [f32; N] {
    std::array::from_fn(|i| from[i].get(lane))
}

#[inline(always)]
fn clamp<F: Wide>(x: F, limit: F) -> F {
    (-limit).max(x.min(limit))
}

impl<F: Kernels> Velocity<F> {
    pub const ZERO: Self = Self { linear: [F::ZERO; 2], angular: F::ZERO };

    /// What the rotation adds at `arm`.
    #[inline(always)]
    fn turning(&self, arm: Vec2<F>) -> Vec2<F> {
        [-self.angular * arm[1], self.angular * arm[0]]
    }

    /// Of the point of the body at `arm`.
    #[inline(always)]
    fn at(&self, arm: Vec2<F>) -> Vec2<F> {
        plus(self.linear, self.turning(arm))
    }

    #[inline(always)]
    fn select(mask: F::Mask, a: Self, b: Self) -> Self {
        Self {
            linear: [F::select(mask, a.linear[0], b.linear[0]), F::select(mask, a.linear[1], b.linear[1])],
            angular: F::select(mask, a.angular, b.angular),
        }
    }
}

impl<F: Kernels> Lever<F> {
    const ZERO: Self = Self { inverse_mass: F::ZERO, inverse_inertia: F::ZERO, arm: [F::ZERO; 2] };

    /// The velocity after an impulse at the arm.
    #[inline(always)]
    fn push(&self, v: Velocity<F>, impulse: Vec2<F>) -> Velocity<F> {
        Velocity {
            linear: plus(v.linear, scale(self.inverse_mass, impulse)),
            angular: v.angular + self.inverse_inertia * cross(self.arm, impulse),
        }
    }
}

impl<F: Kernels> WideJoint<F> {
    const ZERO: Self = Self {
        parent: Lever::ZERO,
        leg: Lever::ZERO,
        mass: [[F::ZERO; 3]; 3],
        cross: [F::ZERO; 3],
        inverse_3: F::ZERO,
        inverse_2: F::ZERO,
        motor_mass: F::ZERO,
        motor_speed: F::ZERO,
        motor_limit: F::ZERO,
        lower: F::Mask::NONE,
        limited: F::Mask::NONE,
        any_limited: false,
        impulse: [F::ZERO; 3],
        motor_impulse: F::ZERO,
    };

    fn load(&mut self, lane: usize, from: &Joint) {
        for (lever, i) in [(&mut self.parent, 0), (&mut self.leg, 1)] {
            lever.inverse_mass.set(lane, from.inverse_mass[i]);
            lever.inverse_inertia.set(lane, from.inverse_inertia[i]);
            put(&mut lever.arm, lane, from.arm[i]);
        }
        for (to, column) in self.mass.iter_mut().zip(from.mass) {
            put(to, lane, column);
        }
        self.motor_mass.set(lane, from.motor_mass);
        self.motor_speed.set(lane, from.motor_speed);
        self.motor_limit.set(lane, from.motor_limit);
        self.lower.set(lane, from.limit < 0.0);
        self.limited.set(lane, from.limit != 0.0);
        put(&mut self.impulse, lane, from.impulse);
        self.motor_impulse.set(lane, from.motor_impulse);
    }

    fn store(&self, lane: usize, to: &mut Joint) {
        to.impulse = get(&self.impulse, lane);
        to.motor_impulse = self.motor_impulse.get(lane);
    }

    /// What stays the same in all iterations of a step.
    #[inline(always)]
    fn prepare(&mut self) {
        self.any_limited = self.limited.any();
        let [x, y, z] = self.mass;
        self.cross = cross_3(y, z);
        self.inverse_3 = dot_3(x, self.cross).inverse_unless_zero();
        self.inverse_2 = (x[0] * y[1] - y[0] * x[1]).inverse_unless_zero();
    }

    /// Applies the impulses of the last step, changed by the ratio of the lengths of both steps.
    #[inline(always)]
    pub fn warm_start(&mut self, ratio: F, parent: &mut Velocity<F>, leg: &mut Velocity<F>) {
        let [x, y, z] = self.impulse;
        self.impulse = [x * ratio, y * ratio, z * ratio];
        self.motor_impulse = self.motor_impulse * ratio;
        let impulse = [self.impulse[0], self.impulse[1]];
        let (arms, motor) = ([self.parent.arm, self.leg.arm], self.motor_impulse);
        let turn = [
            cross(arms[0], impulse) + motor + self.impulse[2],
            cross(arms[1], impulse) + motor + self.impulse[2],
        ];
        parent.linear = minus(parent.linear, scale(self.parent.inverse_mass, impulse));
        parent.angular = parent.angular - self.parent.inverse_inertia * turn[0];
        leg.linear = plus(leg.linear, scale(self.leg.inverse_mass, impulse));
        leg.angular = leg.angular + self.leg.inverse_inertia * turn[1];
    }

    #[inline(always)]
    pub fn solve(&mut self, parent: &mut Velocity<F>, leg: &mut Velocity<F>) {
        self.drive(parent, leg);
        let slip = minus(minus(leg.at(self.leg.arm), parent.linear), parent.turning(self.parent.arm));
        let wanted = negative(slip);
        let (impulse, turn) =
            if self.any_limited { self.limit(slip, wanted, *parent, *leg) } else { self.free(wanted) };
        parent.linear = minus(parent.linear, scale(self.parent.inverse_mass, impulse));
        parent.angular =
            parent.angular - self.parent.inverse_inertia * (cross(self.parent.arm, impulse) + turn);
        leg.linear = plus(leg.linear, scale(self.leg.inverse_mass, impulse));
        leg.angular = leg.angular + self.leg.inverse_inertia * (cross(self.leg.arm, impulse) + turn);
    }

    /// The motor.
    #[inline(always)]
    fn drive(&mut self, parent: &mut Velocity<F>, leg: &mut Velocity<F>) {
        let error = leg.angular - parent.angular - self.motor_speed;
        let impulse = clamp(self.motor_impulse + -self.motor_mass * error, self.motor_limit);
        let change = impulse - self.motor_impulse;
        self.motor_impulse = impulse;
        parent.angular = parent.angular - self.parent.inverse_inertia * change;
        leg.angular = leg.angular + self.leg.inverse_inertia * change;
    }

    #[inline(always)]
    fn free(&mut self, wanted: Vec2<F>) -> (Vec2<F>, F) {
        let impulse = self.solve_2(wanted);
        self.impulse[0] = self.impulse[0] + impulse[0];
        self.impulse[1] = self.impulse[1] + impulse[1];
        (impulse, F::NEGATIVE_ZERO)
    }

    /// Impulses of a joint that is at a limit in some lanes, where the angular impulse may only push away from it.
    #[inline(always)]
    fn limit(
        &mut self,
        slip: Vec2<F>,
        wanted: Vec2<F>,
        parent: Velocity<F>,
        leg: Velocity<F>,
    ) -> (Vec2<F>, F) {
        let full = self.solve_3([slip[0], slip[1], leg.angular - parent.angular]);
        let full = [-full[0], -full[1], -full[2]];
        let angular = self.impulse[2] + full[2];
        // What the angular impulse does not decide comes first: all else waits for it.
        let column = [self.mass[2][0], self.mass[2][1]];
        let rest = plus(wanted, scale(self.impulse[2], column));
        let right =
            [F::select(self.limited, rest[0], wanted[0]), F::select(self.limited, rest[1], wanted[1])];
        let reduced = self.solve_2(right);
        // A free joint has no angular impulse at all.
        let let_go = F::select(self.limited, -self.impulse[2], F::NEGATIVE_ZERO);
        let kept = F::select(self.limited, F::ZERO, self.impulse[2]);
        let pulls = F::select(self.lower, angular, -angular).is_negative();
        let held = self.limited.and(pulls.not());
        let impulse = [F::select(held, full[0], reduced[0]), F::select(held, full[1], reduced[1])];
        let turn = F::select(held, full[2], let_go);
        self.impulse[0] = self.impulse[0] + impulse[0];
        self.impulse[1] = self.impulse[1] + impulse[1];
        self.impulse[2] = F::select(held, angular, kept);
        (impulse, turn)
    }

    #[inline(always)]
    fn solve_2(&self, b: Vec2<F>) -> Vec2<F> {
        let [x, y, _] = &self.mass;
        [self.inverse_2 * (y[1] * b[0] - y[0] * b[1]), self.inverse_2 * (x[0] * b[1] - x[1] * b[0])]
    }

    #[inline(always)]
    fn solve_3(&self, b: Vec3<F>) -> Vec3<F> {
        let [x, y, z] = self.mass;
        [
            self.inverse_3 * dot_3(b, self.cross),
            self.inverse_3 * dot_3(x, cross_3(b, z)),
            self.inverse_3 * dot_3(x, cross_3(y, b)),
        ]
    }
}

impl<F: Kernels> Point<F> {
    const ZERO: Self = Self {
        lever: Lever::ZERO,
        ground: [F::ZERO; 2],
        normal_impulse: F::ZERO,
        tangent_impulse: F::ZERO,
        normal_mass: F::ZERO,
        tangent_mass: F::ZERO,
        velocity_bias: F::ZERO,
    };

    #[inline(always)]
    fn slip(&self, v: &Velocity<F>) -> Vec2<F> {
        minus(v.at(self.lever.arm), self.ground)
    }

    #[inline(always)]
    fn rub(&mut self, v: Velocity<F>, tangent: Vec2<F>, friction: F, mask: F::Mask) -> Velocity<F> {
        let change = self.tangent_mass * -dot(self.slip(&v), tangent);
        let impulse = clamp(self.tangent_impulse + change, friction * self.normal_impulse);
        let pushed = self.lever.push(v, scale(impulse - self.tangent_impulse, tangent));
        self.tangent_impulse = F::select(mask, impulse, self.tangent_impulse);
        Velocity::select(mask, pushed, v)
    }

    /// The velocity after the point has been pushed out of the ground, and its impulse then.
    #[inline(always)]
    fn press(&self, v: Velocity<F>, normal: Vec2<F>) -> (Velocity<F>, F) {
        let change = -self.normal_mass * (dot(self.slip(&v), normal) - self.velocity_bias);
        let impulse = (self.normal_impulse + change).max(F::ZERO);
        (self.lever.push(v, scale(impulse - self.normal_impulse, normal)), impulse)
    }
}

impl<F: Kernels> WideContact<F> {
    pub const ZERO: Self = Self {
        points: [Point::ZERO; 2],
        normal: [F::ZERO; 2],
        normal_mass: [[F::ZERO; 2]; 2],
        k: [[F::ZERO; 2]; 2],
        friction: F::ZERO,
        one_point: F::Mask::NONE,
        two_points: F::Mask::NONE,
        any_one: false,
        any_two: false,
    };

    fn clear(&mut self) {
        (self.one_point, self.two_points) = (F::Mask::NONE, F::Mask::NONE);
        (self.any_one, self.any_two) = (false, false);
    }

    fn load(&mut self, lane: usize, from: &Contact) {
        let points = from.point_count as usize;
        self.one_point.set(lane, points == 1);
        self.two_points.set(lane, points == 2);
        self.any_one |= points == 1;
        self.any_two |= points == 2;
        put(&mut self.normal, lane, from.normal);
        self.friction.set(lane, from.friction);
        for (to, from) in self.points.iter_mut().zip(&from.points).take(points) {
            put(&mut to.lever.arm, lane, from.arm);
            put(&mut to.ground, lane, [-0.0 * from.ground_arm[1], 0.0 * from.ground_arm[0]]);
            to.normal_impulse.set(lane, from.normal_impulse);
            to.tangent_impulse.set(lane, from.tangent_impulse);
            to.normal_mass.set(lane, from.normal_mass);
            to.tangent_mass.set(lane, from.tangent_mass);
            to.velocity_bias.set(lane, from.velocity_bias);
        }
        for point in &mut self.points {
            point.lever.inverse_mass.set(lane, from.inverse_mass);
            point.lever.inverse_inertia.set(lane, from.inverse_inertia);
        }
        for i in 0..2 {
            put(&mut self.normal_mass[i], lane, from.normal_mass[i]);
            put(&mut self.k[i], lane, from.k[i]);
        }
    }

    fn store(&self, lane: usize, to: &mut Contact) {
        for (from, to) in self.points.iter().zip(&mut to.points) {
            to.normal_impulse = from.normal_impulse.get(lane);
            to.tangent_impulse = from.tangent_impulse.get(lane);
        }
    }

    /// Applies the impulses that the points have already.
    #[inline(always)]
    pub fn warm_start(&self, body: &mut Velocity<F>) {
        let tangent = clockwise(self.normal);
        let present = [self.one_point.or(self.two_points), self.two_points];
        for (point, present) in self.points.iter().zip(present) {
            let normal = scale(point.normal_impulse, self.normal);
            let impulse = plus(normal, scale(point.tangent_impulse, tangent));
            *body = Velocity::select(present, point.lever.push(*body, impulse), *body);
        }
    }

    #[inline(always)]
    fn impulses(&self) -> [F; 4] {
        let [p, q] = &self.points;
        [p.normal_impulse, p.tangent_impulse, q.normal_impulse, q.tangent_impulse]
    }

    /// Friction first, then non-penetration. What one point does and what two do depend on nothing of each other.
    #[inline(always)]
    fn solve(&mut self, body: &mut Velocity<F>) {
        let tangent = clockwise(self.normal);
        let present = self.one_point.or(self.two_points);
        let first = self.points[0].rub(*body, tangent, self.friction, present);
        let mut v = first;
        if self.any_two {
            let second = self.points[1].rub(first, tangent, self.friction, self.two_points);
            v = self.press_both(second);
        }
        if self.any_one {
            let one = self.points[0].press(first, self.normal);
            self.points[0].normal_impulse = F::select(self.one_point, one.1, self.points[0].normal_impulse);
            v = Velocity::select(self.one_point, one.0, v);
        }
        *body = v;
    }

    /// Both points of a contact together: the first of four cases that fits (a linear complementarity problem in two
    /// numbers).
    #[inline(always)]
    fn press_both(&mut self, v: Velocity<F>) -> Velocity<F> {
        let [p, q] = &self.points;
        let old = [p.normal_impulse, q.normal_impulse];
        let b =
            [dot(p.slip(&v), self.normal) - p.velocity_bias, dot(q.slip(&v), self.normal) - q.velocity_bias];
        let b = minus(b, columns_times(&self.k, old));

        let both = negative(columns_times(&self.normal_mass, b));
        let case_1 = both[0].is_at_least_zero().and(both[1].is_at_least_zero());
        let first = -p.normal_mass * b[0];
        let case_2 = first.is_at_least_zero().and((self.k[0][1] * first + b[1]).is_at_least_zero());
        let second = -q.normal_mass * b[1];
        let case_3 = second.is_at_least_zero().and((self.k[1][0] * second + b[0]).is_at_least_zero());
        let case_4 = b[0].is_at_least_zero().and(b[1].is_at_least_zero());

        let x = [
            F::select(case_1, both[0], F::select(case_2, first, F::ZERO)),
            F::select(case_1, both[1], F::select(case_2, F::ZERO, F::select(case_3, second, F::ZERO))),
        ];
        // Where no case fits, Box2D leaves everything as it is.
        let mask = self.two_points.and(case_1.or(case_2).or(case_3).or(case_4));
        let change = minus(x, old);
        let (p1, p2) = (scale(change[0], self.normal), scale(change[1], self.normal));
        let lever = &p.lever;
        let turn = cross(p.lever.arm, p1) + cross(q.lever.arm, p2);
        let pushed = Velocity {
            linear: plus(v.linear, scale(lever.inverse_mass, plus(p1, p2))),
            angular: v.angular + lever.inverse_inertia * turn,
        };
        for (point, x) in self.points.iter_mut().zip(x) {
            point.normal_impulse = F::select(mask, x, point.normal_impulse);
        }
        Velocity::select(mask, pushed, v)
    }
}

#[cfg(test)]
mod tests {
    use super::super::wide::{Backend, One, with_backend};
    use super::*;

    /// All lanes at once with every instruction set, and every lane alone.
    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        for _ in 0..20 {
            let islands: [Island; LANES] = std::array::from_fn(|_| Island::random(&mut random));
            let mut alone: Box<dyn Solver> = Box::new(Batch::<One>::new());
            let expected = islands.map(|mut island| {
                let mut one = [const { None }; LANES];
                one[0] = Some(&mut island);
                alone.solve(&mut one);
                island.bits()
            });
            for backend in Backend::available() {
                let mut batch = with_backend!(backend, F => Box::new(Batch::<F>::new()) as Box<dyn Solver>);
                let mut solved = islands;
                batch.solve(&mut solved.each_mut().map(Some));
                assert_eq!(solved.map(|island| island.bits()), expected, "{backend:?}");
            }
        }
    }
}
