//! Vectors of two and three numbers, which are those of one world or of all lanes, in Box2D's order of operations.

use std::ops::{Add, Mul, Neg, Sub};

/// One number, or one per lane.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
}

impl<T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Neg<Output = T>> Number for T {}

#[inline(always)]
pub fn dot<T: Number>(a: [T; 2], b: [T; 2]) -> T {
    a[0] * b[0] + a[1] * b[1]
}

#[inline(always)]
pub fn cross<T: Number>(a: [T; 2], b: [T; 2]) -> T {
    a[0] * b[1] - a[1] * b[0]
}

#[inline(always)]
pub fn plus<T: Number>(a: [T; 2], b: [T; 2]) -> [T; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline(always)]
pub fn minus<T: Number>(a: [T; 2], b: [T; 2]) -> [T; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline(always)]
pub fn scale<T: Number>(s: T, a: [T; 2]) -> [T; 2] {
    [s * a[0], s * a[1]]
}

#[inline(always)]
pub fn negative<T: Number>(a: [T; 2]) -> [T; 2] {
    [-a[0], -a[1]]
}

/// Turned clockwise by a quarter.
#[inline(always)]
pub fn clockwise<T: Number>(a: [T; 2]) -> [T; 2] {
    [a[1], -a[0]]
}

#[inline(always)]
pub fn dot_3<T: Number>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub fn cross_3<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Of a matrix by its columns.
#[inline(always)]
pub fn columns_times<T: Number>(m: &[[T; 2]; 2], v: [T; 2]) -> [T; 2] {
    [m[0][0] * v[0] + m[1][0] * v[1], m[0][1] * v[0] + m[1][1] * v[1]]
}

#[derive(Clone, Copy, Debug)]
pub struct Rotation<T> {
    pub sin: T,
    pub cos: T,
}

impl<T: Number> Rotation<T> {
    #[inline(always)]
    pub fn apply(self, v: [T; 2]) -> [T; 2] {
        [self.cos * v[0] - self.sin * v[1], self.sin * v[0] + self.cos * v[1]]
    }

    #[inline(always)]
    pub fn undo(self, v: [T; 2]) -> [T; 2] {
        [self.cos * v[0] + self.sin * v[1], -self.sin * v[0] + self.cos * v[1]]
    }
}

impl Default for Rotation<f32> {
    fn default() -> Self {
        Self { sin: 0.0, cos: 1.0 }
    }
}
