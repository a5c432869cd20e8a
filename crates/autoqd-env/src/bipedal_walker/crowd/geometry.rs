//! Points, rotations and boxes in Box2D's arithmetic: single precision, its order of operations, nothing fused.

use std::f32::consts::PI;

pub use super::super::vector::{Rotation, clockwise, cross, dot, minus, negative, plus, scale};
use super::super::world;

/// A point or a vector.
pub type Point = [f32; 2];

/// Below this Box2D takes a length for zero.
pub const EPSILON: f32 = f32::EPSILON;
/// By how much touching shapes may overlap.
pub const SLOP: f32 = 0.005;
/// Shapes have a skin of this thickness.
pub const SKIN: f32 = 2.0 * SLOP;
/// As [`SLOP`], for angles.
pub const ANGULAR_SLOP: f32 = 2.0 / 180.0 * PI;

#[inline(always)]
pub fn length(a: Point) -> f32 {
    dot(a, a).sqrt()
}

/// `b2Min`: not `f32::min`, which treats NaN otherwise.
#[inline(always)]
pub const fn lesser(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// `b2Max`.
#[inline(always)]
pub const fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The unit vector and the length, or the vector itself and zero if it has hardly any.
pub fn normalized(a: Point) -> (Point, f32) {
    let length = length(a);
    if length < EPSILON {
        return (a, 0.0);
    }
    (scale(1.0 / length, a), length)
}

/// With the sine and cosine that Box2D takes.
pub fn rotation(angle: f32) -> Rotation<f32> {
    let (mut sin, mut cos) = ([0.0], [0.0]);
    world::rotations(&[angle], 1, &mut sin, &mut cos);
    Rotation { sin: sin[0], cos: cos[0] }
}

/// Where a body is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    pub position: Point,
    pub rotation: Rotation<f32>,
}

impl Frame {
    /// Of a body whose centre of mass, `local_center` from its origin, is at `center`.
    #[inline(always)]
    pub fn around(center: Point, rotation: Rotation<f32>, local_center: Point) -> Self {
        Self { position: minus(center, rotation.apply(local_center)), rotation }
    }

    #[inline(always)]
    pub fn apply(&self, v: Point) -> Point {
        plus(self.rotation.apply(v), self.position)
    }

    #[inline(always)]
    pub fn undo(&self, v: Point) -> Point {
        self.rotation.undo(minus(v, self.position))
    }
}

/// An axis-parallel box.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    pub lower: Point,
    pub upper: Point,
}

impl Bounds {
    /// Of points with a skin.
    #[inline(always)]
    pub fn of(points: &[Point]) -> Self {
        let mut bounds = Self { lower: points[0], upper: points[0] };
        for v in &points[1..] {
            bounds = bounds.and(&Self { lower: *v, upper: *v });
        }
        bounds.wider(SKIN)
    }

    #[inline(always)]
    pub fn wider(&self, by: f32) -> Self {
        Self { lower: minus(self.lower, [by; 2]), upper: plus(self.upper, [by; 2]) }
    }

    /// Of both.
    #[inline(always)]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            lower: [lesser(self.lower[0], other.lower[0]), lesser(self.lower[1], other.lower[1])],
            upper: [greater(self.upper[0], other.upper[0]), greater(self.upper[1], other.upper[1])],
        }
    }

    #[inline(always)]
    pub fn contains(&self, other: &Self) -> bool {
        self.lower[0] <= other.lower[0]
            && self.lower[1] <= other.lower[1]
            && other.upper[0] <= self.upper[0]
            && other.upper[1] <= self.upper[1]
    }

    #[inline(always)]
    pub fn overlaps(&self, other: &Self) -> bool {
        let (d, e) = (minus(other.lower, self.upper), minus(self.lower, other.upper));
        !(d[0] > 0.0 || d[1] > 0.0 || e[0] > 0.0 || e[1] > 0.0)
    }
}
