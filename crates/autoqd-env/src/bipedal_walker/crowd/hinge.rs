//! Joints in all lanes: their velocity constraints, and how gaps are closed.

use std::f32::consts::PI;

use super::super::kernels::Kernels;
use super::super::solver::WideJoint;
use super::super::vector::{cross, dot, minus, negative, plus, scale};
use super::super::wide::{Mask, Wide};
use super::geometry::{ANGULAR_SLOP, SLOP};
use super::pose::{Pose, Vec2, clamp, splat};
use super::robot::Hinge;
use super::touching::WeightOf;

const MOST_ANGULAR_CORRECTION: f32 = 8.0 / 180.0 * PI;

/// The two bodies of a joint and its place in them.
pub struct Pair<F: Wide> {
    m: [F; 2],
    i: [F; 2],
    arms: [Vec2<F>; 2],
    reference: F,
}

impl<F: Kernels> Pair<F> {
    #[inline(always)]
    pub fn new(hinge: &Hinge, parent: &WeightOf, leg: &WeightOf) -> Self {
        Self {
            m: [F::splat(parent.inverse_mass), F::splat(leg.inverse_mass)],
            i: [F::splat(parent.inverse_inertia), F::splat(leg.inverse_inertia)],
            arms: [splat(hinge.arms[0]), splat(hinge.arms[1])],
            reference: F::splat(hinge.reference),
        }
    }

    /// Velocity constraints at the present poses.
    #[inline(always)]
    pub fn prepare(&self, joint: &mut WideJoint<F>, poses: [&Pose<F>; 2], limits: [f32; 2]) {
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
        let lower = angle.is_at_most(F::splat(limits[0]));
        let upper = F::splat(limits[1]).is_at_most(angle).and(lower.not());
        // An impulse of the limit lasts as long as the joint stays at it.
        let was_lower = joint.limited.and(joint.lower);
        let was_upper = joint.limited.and(joint.lower.not());
        let stays = lower.and(was_lower).or(upper.and(was_upper));
        joint.impulse[2] = F::select(stays, joint.impulse[2], F::ZERO);
        joint.lower = lower;
        joint.limited = lower.or(upper);
    }

    /// Takes away a part of the error of a joint; returns which lanes are content with it.
    #[inline(always)]
    pub fn pull_together(
        &self,
        joint: &WideJoint<F>,
        limits: [f32; 2],
        poses: [&mut Pose<F>; 2],
        lanes: u32,
    ) -> F::Mask {
        let ([ma, mb], [ia, ib]) = (self.m, self.i);
        let [a, b] = poses;
        let mut content = F::Mask::of(u32::MAX);
        let slop = F::splat(ANGULAR_SLOP);
        if joint.any_limited {
            let angle = b.angle - a.angle - self.reference;
            let below = angle - F::splat(limits[0]);
            let above = angle - F::splat(limits[1]);
            let error = F::select(joint.lower, -below, above);
            let back = clamp(below + slop, -MOST_ANGULAR_CORRECTION, 0.0);
            let forth = clamp(above - slop, 0.0, MOST_ANGULAR_CORRECTION);
            let impulse = -joint.motor_mass * F::select(joint.lower, back, forth);
            a.angle = F::select(joint.limited, a.angle - ia * impulse, a.angle);
            b.angle = F::select(joint.limited, b.angle + ib * impulse, b.angle);
            content = joint.limited.not().or(error.is_at_most(slop));
        }
        a.turn(lanes);
        b.turn(lanes);
        let [ra, rb] = [a.rotation.apply(self.arms[0]), b.rotation.apply(self.arms[1])];
        let gap = minus(minus(plus(b.center, rb), a.center), ra);
        content = content.and(dot(gap, gap).sqrt().is_at_most(F::splat(SLOP)));
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
