//! Places of bodies in all lanes, and vectors of lanes.

use super::super::kernels::Kernels;
use super::super::solver::Velocity;
use super::super::vector::{Rotation, dot, minus, plus, scale};
use super::super::wide::{Mask, Wide};
use super::super::world;
use std::f32::consts::PI;

/// A vector in every lane.
pub type Vec2<F> = [F; 2];

const MOST_TRANSLATION: f32 = 2.0;
const MOST_ROTATION: f32 = 0.5 * PI;

/// Place of one body in every lane.
#[derive(Clone, Copy, Debug)]
pub struct Pose<F: Wide> {
    pub center: Vec2<F>,
    pub angle: F,
    /// Of `turned`, which is the angle unless that has just changed.
    pub rotation: Rotation<F>,
    pub turned: F,
}

/// The same vector in all lanes.
#[inline(always)]
pub fn splat<F: Wide>(v: [f32; 2]) -> Vec2<F> {
    [F::splat(v[0]), F::splat(v[1])]
}

#[inline(always)]
pub fn put<F: Wide>(to: &mut Vec2<F>, lane: usize, from: [f32; 2]) {
    to[0].set(lane, from[0]);
    to[1].set(lane, from[1]);
}

#[inline(always)]
pub fn get<F: Wide>(from: &Vec2<F>, lane: usize) -> [f32; 2] {
    [from[0].get(lane), from[1].get(lane)]
}

#[inline(always)]
pub fn select<F: Wide>(mask: F::Mask, a: Vec2<F>, b: Vec2<F>) -> Vec2<F> {
    [F::select(mask, a[0], b[0]), F::select(mask, a[1], b[1])]
}

#[inline(always)]
pub fn clamp<F: Wide>(x: F, low: f32, high: f32) -> F {
    F::splat(low).max(x.min(F::splat(high)))
}

/// The ground's frame, in which it also is: written out so that zeros keep their signs.
#[inline(always)]
pub fn grounded<F: Wide>(v: Vec2<F>) -> Vec2<F> {
    Rotation { sin: F::ZERO, cos: F::splat(1.0) }.apply(v)
}

impl<F: Kernels> Pose<F> {
    pub const ZERO: Self = Self {
        center: [F::ZERO; 2],
        angle: F::ZERO,
        rotation: Rotation { sin: F::ZERO, cos: F::ZERO },
        turned: F::ZERO,
    };

    /// Brings the rotation of these lanes up to the angle.
    #[inline(always)]
    pub fn turn(&mut self, lanes: u32) {
        let changed = self.angle.differs(self.turned).bits() & lanes;
        if changed != 0 {
            let Rotation { sin, cos } = &mut self.rotation;
            world::rotations(self.angle.lanes(), changed, sin.lanes_mut(), cos.lanes_mut());
            self.turned = F::select(F::Mask::of(changed), self.angle, self.turned);
        }
    }

    #[inline(always)]
    pub fn select(mask: F::Mask, a: &Self, b: &Self) -> Self {
        Self {
            center: select(mask, a.center, b.center),
            angle: F::select(mask, a.angle, b.angle),
            rotation: Rotation {
                sin: F::select(mask, a.rotation.sin, b.rotation.sin),
                cos: F::select(mask, a.rotation.cos, b.rotation.cos),
            },
            turned: F::select(mask, a.turned, b.turned),
        }
    }

    /// Of the body's origin.
    #[inline(always)]
    pub fn position(&self, local_center: Vec2<F>) -> Vec2<F> {
        minus(self.center, self.rotation.apply(local_center))
    }
}

/// Moves a body for `time` seconds, not farther than Box2D lets it.
#[inline(always)]
pub fn integrate<F: Kernels>(pose: &mut Pose<F>, velocity: &mut Velocity<F>, time: F) {
    let translation = scale(time, velocity.linear);
    let squared = dot(translation, translation);
    let fast = F::splat(MOST_TRANSLATION * MOST_TRANSLATION).is_less(squared);
    if fast.any() {
        let ratio = F::splat(MOST_TRANSLATION) / squared.sqrt();
        let slower = [velocity.linear[0] * ratio, velocity.linear[1] * ratio];
        velocity.linear = select(fast, slower, velocity.linear);
    }
    let turn = time * velocity.angular;
    let fast = F::splat(MOST_ROTATION * MOST_ROTATION).is_less(turn * turn);
    if fast.any() {
        let ratio = F::splat(MOST_ROTATION) / F::select(turn.is_positive(), turn, -turn);
        velocity.angular = F::select(fast, velocity.angular * ratio, velocity.angular);
    }
    pose.center = plus(pose.center, scale(time, velocity.linear));
    pose.angle = pose.angle + time * velocity.angular;
}
