//! One world alone.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Mask, Wide};

/// One number.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct One(f32);

impl Mask for bool {
    const NONE: Self = false;

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
    #[inline(always)]
    fn of(bits: u32) -> Self {
        bits & 1 == 1
    }
    #[inline(always)]
    fn get(&self, _lane: usize) -> bool {
        *self
    }
    #[inline(always)]
    fn set(&mut self, _lane: usize, condition: bool) {
        *self = condition;
    }
}

macro_rules! binary {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for One {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $op other.0)
            }
        }
    };
}
binary!(Add, add, +);
binary!(Sub, sub, -);
binary!(Mul, mul, *);
binary!(Div, div, /);

impl Neg for One {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Wide for One {
    type Mask = bool;
    const ZERO: Self = Self(0.0);
    const NEGATIVE_ZERO: Self = Self(-0.0);

    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self(x)
    }
    #[inline(always)]
    fn lanes(&self) -> &[f32] {
        std::slice::from_ref(&self.0)
    }
    #[inline(always)]
    fn lanes_mut(&mut self) -> &mut [f32] {
        std::slice::from_mut(&mut self.0)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    #[inline(always)]
    fn is_less(self, other: Self) -> bool {
        self.0 < other.0
    }
    #[inline(always)]
    fn is_at_most(self, other: Self) -> bool {
        self.0 <= other.0
    }
    #[inline(always)]
    fn is_equal(self, other: Self) -> bool {
        self.0 == other.0
    }
    #[inline(always)]
    fn differs(self, other: Self) -> bool {
        self.0.to_bits() != other.0.to_bits()
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self.0 < other.0 { self } else { other }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self.0 > other.0 { self } else { other }
    }
    #[inline(always)]
    fn select(mask: bool, a: Self, b: Self) -> Self {
        if mask { a } else { b }
    }
}
