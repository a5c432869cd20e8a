//! Box2D's velocity iterations for several walkers at once.
//!
//! Every lane does the operations of Box2D's sequential impulses, in single precision and in their order, so it gets
//! Box2D's bits. Two things differ and change nothing: what depends on the step alone is computed once instead of in
//! every iteration, and contacts are taken body by body, because contacts with the ground of different bodies share no
//! number. Ground does not move, so of its part of a relative velocity only signed zeros are left.

use super::vector::{clockwise, columns_times, cross, cross_3, dot, dot_3, minus, negative, plus, scale};
use super::wide::{LANES, Mask, Wide, dispatch};
use super::world::{BODIES, BODY_CONTACTS, Contact, Island, Joint, VELOCITY_ITERATIONS};

type Vec2 = [Wide; 2];
type Vec3 = [Wide; 3];

/// The order in which Box2D takes the joints.
pub const JOINT_ORDER: [usize; 4] = [3, 2, 0, 1];

/// The constraints of several islands, one number per lane.
#[derive(Clone, Debug)]
pub struct Batch {
    pub velocity: [Velocity; BODIES],
    pub joints: [WideJoint; 4],
    pub contacts: [Vec<WideContact>; BODIES],
    /// The largest number of contacts of any lane, per body.
    pub depth: [usize; BODIES],
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self {
            velocity: [Velocity::ZERO; BODIES],
            joints: [WideJoint::ZERO; 4],
            contacts: std::array::from_fn(|_| vec![WideContact::ZERO; BODY_CONTACTS]),
            depth: [0; BODIES],
        }
    }

    /// Solves the velocity constraints of the lanes that have any.
    pub fn solve(&mut self, islands: &mut [Option<&mut Island>; LANES]) {
        self.depth = [0; BODIES];
        self.contacts.iter_mut().flatten().for_each(WideContact::clear);
        for (lane, island) in islands.iter().enumerate() {
            island.iter().for_each(|island| self.load(lane, island));
        }
        iterate(self);
        for (lane, island) in islands.iter_mut().enumerate() {
            island.iter_mut().for_each(|island| self.store(lane, island));
        }
    }

    fn load(&mut self, lane: usize, island: &Island) {
        for (to, [x, y, angular]) in self.velocity.iter_mut().zip(island.velocity) {
            put(&mut to.linear, lane, [x, y]);
            to.angular.0[lane] = angular;
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
            *to = [x, y, from.angular.0[lane]];
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
    #[inline(always)]
    pub fn iterate(&mut self) {
        for joint in &mut self.joints {
            joint.prepare();
        }
        for _ in 0..VELOCITY_ITERATIONS {
            for k in JOINT_ORDER {
                let parent = if k % 2 == 0 { 0 } else { k };
                let (mut a, mut b) = (self.velocity[parent], self.velocity[k + 1]);
                self.joints[k].solve(&mut a, &mut b);
                (self.velocity[parent], self.velocity[k + 1]) = (a, b);
            }
            for (body, velocity) in self.velocity.iter_mut().enumerate() {
                for contact in &mut self.contacts[body][..self.depth[body]] {
                    contact.solve(velocity);
                }
            }
        }
    }
}

impl Batch {
    /// All iterations over the contacts of one body alone.
    #[inline(always)]
    pub fn iterate_contacts(&mut self, body: usize) {
        let mut velocity = self.velocity[body];
        for _ in 0..VELOCITY_ITERATIONS {
            for contact in &mut self.contacts[body][..self.depth[body]] {
                contact.solve(&mut velocity);
            }
        }
        self.velocity[body] = velocity;
    }
}

/// [`Batch::iterate`] with the widest registers there are.
fn iterate(batch: &mut Batch) {
    dispatch!(Batch::iterate(batch: &mut Batch))
}

/// Of one body.
#[derive(Clone, Copy, Debug)]
pub struct Velocity {
    pub linear: Vec2,
    pub angular: Wide,
}

/// The effect of a unit impulse on a body, and where it acts.
#[derive(Clone, Copy, Debug)]
pub struct Lever {
    pub inverse_mass: Wide,
    pub inverse_inertia: Wide,
    pub arm: Vec2,
}

/// Velocity constraints of one joint.
#[derive(Clone, Copy, Debug)]
pub struct WideJoint {
    pub parent: Lever,
    pub leg: Lever,
    /// Columns of the effective mass, the cross product of the last two, and the inverses of its determinants.
    pub mass: [Vec3; 3],
    pub cross: Vec3,
    pub inverse_3: Wide,
    pub inverse_2: Wide,
    pub motor_mass: Wide,
    pub motor_speed: Wide,
    pub motor_limit: Wide,
    pub lower: Mask,
    pub limited: Mask,
    pub any_limited: bool,
    pub impulse: Vec3,
    pub motor_impulse: Wide,
}

/// One of the points where a body touches the ground.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub lever: Lever,
    /// What remains of the ground's velocity: zeros with their signs.
    pub ground: Vec2,
    pub normal_impulse: Wide,
    pub tangent_impulse: Wide,
    pub normal_mass: Wide,
    pub tangent_mass: Wide,
    pub velocity_bias: Wide,
}

/// Velocity constraints of one contact of a body with the ground.
#[derive(Clone, Copy, Debug)]
pub struct WideContact {
    pub points: [Point; 2],
    pub normal: Vec2,
    pub normal_mass: [Vec2; 2],
    pub k: [Vec2; 2],
    pub friction: Wide,
    pub one_point: Mask,
    pub two_points: Mask,
    pub any_one: bool,
    pub any_two: bool,
}

/// Writes one lane of some numbers.
fn put<const N: usize>(to: &mut [Wide; N], lane: usize, from: [f32; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        to.0[lane] = from;
    }
}

/// One lane of some numbers.
fn get<const N: usize>(from: &[Wide; N], lane: usize) -> [f32; N] {
    std::array::from_fn(|i| from[i].0[lane])
}

#[inline(always)]
fn clamp(x: Wide, limit: Wide) -> Wide {
    (-limit).max(x.min(limit))
}

impl Velocity {
    pub const ZERO: Self = Self { linear: [Wide::ZERO; 2], angular: Wide::ZERO };

    /// What the rotation adds at `arm`.
    #[inline(always)]
    fn turning(&self, arm: Vec2) -> Vec2 {
        [-self.angular * arm[1], self.angular * arm[0]]
    }

    /// Of the point of the body at `arm`.
    #[inline(always)]
    fn at(&self, arm: Vec2) -> Vec2 {
        plus(self.linear, self.turning(arm))
    }

    #[inline(always)]
    fn select(mask: Mask, a: Self, b: Self) -> Self {
        Self {
            linear: [
                Wide::select(mask, a.linear[0], b.linear[0]),
                Wide::select(mask, a.linear[1], b.linear[1]),
            ],
            angular: Wide::select(mask, a.angular, b.angular),
        }
    }
}

impl Lever {
    const ZERO: Self = Self { inverse_mass: Wide::ZERO, inverse_inertia: Wide::ZERO, arm: [Wide::ZERO; 2] };

    /// The velocity after an impulse at the arm.
    #[inline(always)]
    fn push(&self, v: Velocity, impulse: Vec2) -> Velocity {
        Velocity {
            linear: plus(v.linear, scale(self.inverse_mass, impulse)),
            angular: v.angular + self.inverse_inertia * cross(self.arm, impulse),
        }
    }
}

impl WideJoint {
    const ZERO: Self = Self {
        parent: Lever::ZERO,
        leg: Lever::ZERO,
        mass: [[Wide::ZERO; 3]; 3],
        cross: [Wide::ZERO; 3],
        inverse_3: Wide::ZERO,
        inverse_2: Wide::ZERO,
        motor_mass: Wide::ZERO,
        motor_speed: Wide::ZERO,
        motor_limit: Wide::ZERO,
        lower: Mask::NONE,
        limited: Mask::NONE,
        any_limited: false,
        impulse: [Wide::ZERO; 3],
        motor_impulse: Wide::ZERO,
    };

    fn load(&mut self, lane: usize, from: &Joint) {
        for (lever, i) in [(&mut self.parent, 0), (&mut self.leg, 1)] {
            lever.inverse_mass.0[lane] = from.inverse_mass[i];
            lever.inverse_inertia.0[lane] = from.inverse_inertia[i];
            put(&mut lever.arm, lane, from.arm[i]);
        }
        for (to, column) in self.mass.iter_mut().zip(from.mass) {
            put(to, lane, column);
        }
        self.motor_mass.0[lane] = from.motor_mass;
        self.motor_speed.0[lane] = from.motor_speed;
        self.motor_limit.0[lane] = from.motor_limit;
        self.lower.set(lane, from.limit < 0.0);
        self.limited.set(lane, from.limit != 0.0);
        put(&mut self.impulse, lane, from.impulse);
        self.motor_impulse.0[lane] = from.motor_impulse;
    }

    fn store(&self, lane: usize, to: &mut Joint) {
        to.impulse = get(&self.impulse, lane);
        to.motor_impulse = self.motor_impulse.0[lane];
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
    pub fn warm_start(&mut self, ratio: Wide, parent: &mut Velocity, leg: &mut Velocity) {
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
    fn solve(&mut self, parent: &mut Velocity, leg: &mut Velocity) {
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
    fn drive(&mut self, parent: &mut Velocity, leg: &mut Velocity) {
        let error = leg.angular - parent.angular - self.motor_speed;
        let impulse = clamp(self.motor_impulse + -self.motor_mass * error, self.motor_limit);
        let change = impulse - self.motor_impulse;
        self.motor_impulse = impulse;
        parent.angular = parent.angular - self.parent.inverse_inertia * change;
        leg.angular = leg.angular + self.leg.inverse_inertia * change;
    }

    #[inline(always)]
    fn free(&mut self, wanted: Vec2) -> (Vec2, Wide) {
        let impulse = self.solve_2(wanted);
        self.impulse[0] = self.impulse[0] + impulse[0];
        self.impulse[1] = self.impulse[1] + impulse[1];
        (impulse, Wide::NEGATIVE_ZERO)
    }

    /// Impulses of a joint that is at a limit in some lanes, where the angular impulse may only push away from it.
    #[inline(always)]
    fn limit(&mut self, slip: Vec2, wanted: Vec2, parent: Velocity, leg: Velocity) -> (Vec2, Wide) {
        let full = self.solve_3([slip[0], slip[1], leg.angular - parent.angular]);
        let full = [-full[0], -full[1], -full[2]];
        let angular = self.impulse[2] + full[2];
        let pulls = Mask::select(self.lower, angular.is_negative(), angular.is_positive());
        let released = self.limited.and(pulls);
        let column = [self.mass[2][0], self.mass[2][1]];
        let rest = plus(wanted, scale(self.impulse[2], column));
        let right =
            [Wide::select(self.limited, rest[0], wanted[0]), Wide::select(self.limited, rest[1], wanted[1])];
        let reduced = self.solve_2(right);
        let held = self.limited.and(pulls.not());
        let impulse = [Wide::select(held, full[0], reduced[0]), Wide::select(held, full[1], reduced[1])];
        // A free joint has no angular impulse at all.
        let turn = Wide::select(held, full[2], Wide::select(released, -self.impulse[2], Wide::NEGATIVE_ZERO));
        self.impulse[0] = self.impulse[0] + impulse[0];
        self.impulse[1] = self.impulse[1] + impulse[1];
        let kept = Wide::select(released, Wide::ZERO, self.impulse[2]);
        self.impulse[2] = Wide::select(held, angular, kept);
        (impulse, turn)
    }

    #[inline(always)]
    fn solve_2(&self, b: Vec2) -> Vec2 {
        let [x, y, _] = &self.mass;
        [self.inverse_2 * (y[1] * b[0] - y[0] * b[1]), self.inverse_2 * (x[0] * b[1] - x[1] * b[0])]
    }

    #[inline(always)]
    fn solve_3(&self, b: Vec3) -> Vec3 {
        let [x, y, z] = self.mass;
        [
            self.inverse_3 * dot_3(b, self.cross),
            self.inverse_3 * dot_3(x, cross_3(b, z)),
            self.inverse_3 * dot_3(x, cross_3(y, b)),
        ]
    }
}

impl Point {
    const ZERO: Self = Self {
        lever: Lever::ZERO,
        ground: [Wide::ZERO; 2],
        normal_impulse: Wide::ZERO,
        tangent_impulse: Wide::ZERO,
        normal_mass: Wide::ZERO,
        tangent_mass: Wide::ZERO,
        velocity_bias: Wide::ZERO,
    };

    #[inline(always)]
    fn slip(&self, v: &Velocity) -> Vec2 {
        minus(v.at(self.lever.arm), self.ground)
    }

    #[inline(always)]
    fn rub(&mut self, v: Velocity, tangent: Vec2, friction: Wide, mask: Mask) -> Velocity {
        let change = self.tangent_mass * -dot(self.slip(&v), tangent);
        let impulse = clamp(self.tangent_impulse + change, friction * self.normal_impulse);
        let pushed = self.lever.push(v, scale(impulse - self.tangent_impulse, tangent));
        self.tangent_impulse = Wide::select(mask, impulse, self.tangent_impulse);
        Velocity::select(mask, pushed, v)
    }

    #[inline(always)]
    fn press(&mut self, v: Velocity, normal: Vec2, mask: Mask) -> Velocity {
        let change = -self.normal_mass * (dot(self.slip(&v), normal) - self.velocity_bias);
        let impulse = (self.normal_impulse + change).max(Wide::ZERO);
        let pushed = self.lever.push(v, scale(impulse - self.normal_impulse, normal));
        self.normal_impulse = Wide::select(mask, impulse, self.normal_impulse);
        Velocity::select(mask, pushed, v)
    }
}

impl WideContact {
    pub const ZERO: Self = Self {
        points: [Point::ZERO; 2],
        normal: [Wide::ZERO; 2],
        normal_mass: [[Wide::ZERO; 2]; 2],
        k: [[Wide::ZERO; 2]; 2],
        friction: Wide::ZERO,
        one_point: Mask::NONE,
        two_points: Mask::NONE,
        any_one: false,
        any_two: false,
    };

    fn clear(&mut self) {
        (self.one_point, self.two_points) = (Mask::NONE, Mask::NONE);
        (self.any_one, self.any_two) = (false, false);
    }

    fn load(&mut self, lane: usize, from: &Contact) {
        let points = from.point_count as usize;
        self.one_point.set(lane, points == 1);
        self.two_points.set(lane, points == 2);
        self.any_one |= points == 1;
        self.any_two |= points == 2;
        put(&mut self.normal, lane, from.normal);
        self.friction.0[lane] = from.friction;
        for (to, from) in self.points.iter_mut().zip(&from.points).take(points) {
            put(&mut to.lever.arm, lane, from.arm);
            put(&mut to.ground, lane, [-0.0 * from.ground_arm[1], 0.0 * from.ground_arm[0]]);
            to.normal_impulse.0[lane] = from.normal_impulse;
            to.tangent_impulse.0[lane] = from.tangent_impulse;
            to.normal_mass.0[lane] = from.normal_mass;
            to.tangent_mass.0[lane] = from.tangent_mass;
            to.velocity_bias.0[lane] = from.velocity_bias;
        }
        for point in &mut self.points {
            point.lever.inverse_mass.0[lane] = from.inverse_mass;
            point.lever.inverse_inertia.0[lane] = from.inverse_inertia;
        }
        for i in 0..2 {
            put(&mut self.normal_mass[i], lane, from.normal_mass[i]);
            put(&mut self.k[i], lane, from.k[i]);
        }
    }

    fn store(&self, lane: usize, to: &mut Contact) {
        for (from, to) in self.points.iter().zip(&mut to.points) {
            to.normal_impulse = from.normal_impulse.0[lane];
            to.tangent_impulse = from.tangent_impulse.0[lane];
        }
    }

    /// Applies the impulses that the points have already.
    #[inline(always)]
    pub fn warm_start(&self, body: &mut Velocity) {
        let tangent = clockwise(self.normal);
        let present = [self.one_point.or(self.two_points), self.two_points];
        for (point, present) in self.points.iter().zip(present) {
            let normal = scale(point.normal_impulse, self.normal);
            let impulse = plus(normal, scale(point.tangent_impulse, tangent));
            *body = Velocity::select(present, point.lever.push(*body, impulse), *body);
        }
    }

    /// Friction first, then non-penetration.
    #[inline(always)]
    fn solve(&mut self, body: &mut Velocity) {
        let tangent = clockwise(self.normal);
        let present = self.one_point.or(self.two_points);
        let mut v = *body;
        v = self.points[0].rub(v, tangent, self.friction, present);
        if self.any_two {
            v = self.points[1].rub(v, tangent, self.friction, self.two_points);
            v = self.press_both(v);
        }
        if self.any_one {
            v = self.points[0].press(v, self.normal, self.one_point);
        }
        *body = v;
    }

    /// Both points of a contact together: the first of four cases that fits (a linear complementarity problem in two
    /// numbers).
    #[inline(always)]
    fn press_both(&mut self, v: Velocity) -> Velocity {
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
            Wide::select(case_1, both[0], Wide::select(case_2, first, Wide::ZERO)),
            Wide::select(
                case_1,
                both[1],
                Wide::select(case_2, Wide::ZERO, Wide::select(case_3, second, Wide::ZERO)),
            ),
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
            point.normal_impulse = Wide::select(mask, x, point.normal_impulse);
        }
        Velocity::select(mask, pushed, v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code for any CPU and the code with the widest registers of this one.
    #[test]
    fn both_instruction_sets_give_the_same_bits() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        for _ in 0..20 {
            let mut batch = Batch::new();
            for lane in 0..LANES {
                batch.load(lane, &Island::random(&mut random));
            }
            let mut plain = batch.clone();
            plain.iterate();
            iterate(&mut batch);
            for lane in 0..LANES {
                let (mut a, mut b) = (Island::default(), Island::default());
                batch.store(lane, &mut a);
                plain.store(lane, &mut b);
                let bits = |island: &Island| island.velocity.map(|v| v.map(f32::to_bits));
                assert_eq!(bits(&a), bits(&b));
            }
        }
    }
}
