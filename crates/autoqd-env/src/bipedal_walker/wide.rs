//! One single-precision number per world.
//!
//! Plain arrays that the compiler turns into vector code where it is allowed to; every operation is the IEEE one of
//! the scalar type, so a lane holds what Box2D would compute alone. Loops and no closures: closures are not inlined
//! before the instruction set is enabled. Kept separate from the lanes of `autoqd-lanes`, which are eight `f64` with
//! fused multiply-adds behind a trait: sixteen `f32` without fusing share no operation with them.

use std::ops::{Add, Mul, Neg, Sub};

/// Worlds that are solved together. Two registers per number, so that one's work hides the other's latency.
pub const LANES: usize = 16;

/// One number per lane.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Wide(pub [f32; LANES]);

/// All ones or all zeros per lane, as wide as the numbers so that selections vectorise.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Mask([u32; LANES]);

macro_rules! lanes {
    ($zero:expr, $i:ident => $e:expr) => {{
        let mut out = [$zero; LANES];
        for ($i, out) in out.iter_mut().enumerate() {
            *out = $e;
        }
        out
    }};
}

#[inline(always)]
fn word(condition: bool) -> u32 {
    u32::from(condition).wrapping_neg()
}

impl Mask {
    pub const NONE: Self = Self([0; LANES]);

    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        Self(lanes!(0, i => self.0[i] & other.0[i]))
    }

    #[inline(always)]
    pub fn or(self, other: Self) -> Self {
        Self(lanes!(0, i => self.0[i] | other.0[i]))
    }

    #[inline(always)]
    pub fn not(self) -> Self {
        Self(lanes!(0, i => !self.0[i]))
    }

    /// `a` where the mask is set, else `b`.
    #[inline(always)]
    pub fn select(mask: Self, a: Self, b: Self) -> Self {
        Self(lanes!(0, i => (mask.0[i] & a.0[i]) | (!mask.0[i] & b.0[i])))
    }

    pub fn any(self) -> bool {
        self.0 != [0; LANES]
    }

    pub fn set(&mut self, lane: usize, condition: bool) {
        self.0[lane] = word(condition);
    }
}

impl Wide {
    pub const ZERO: Self = Self([0.0; LANES]);
    /// Leaves any number unchanged when added, negative zero too.
    pub const NEGATIVE_ZERO: Self = Self([-0.0; LANES]);

    /// `self` where it is smaller, else `other`: Box2D's `b2Min`.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        Self(lanes!(0.0, i => if self.0[i] < other.0[i] { self.0[i] } else { other.0[i] }))
    }

    /// `self` where it is larger, else `other`: Box2D's `b2Max`.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        Self(lanes!(0.0, i => if self.0[i] > other.0[i] { self.0[i] } else { other.0[i] }))
    }

    #[inline(always)]
    pub fn is_negative(self) -> Mask {
        Mask(lanes!(0, i => word(self.0[i] < 0.0)))
    }

    #[inline(always)]
    pub fn is_positive(self) -> Mask {
        Mask(lanes!(0, i => word(self.0[i] > 0.0)))
    }

    /// At least zero; false for NaN.
    #[inline(always)]
    pub fn is_at_least_zero(self) -> Mask {
        Mask(lanes!(0, i => word(self.0[i] >= 0.0)))
    }

    /// `a` where the mask is set, else `b`. (Asks for the sign: that is what the blend instruction looks at.)
    #[inline(always)]
    pub fn select(mask: Mask, a: Self, b: Self) -> Self {
        Self(lanes!(0.0, i => if (mask.0[i] as i32) < 0 { a.0[i] } else { b.0[i] }))
    }

    /// One over every number that is not zero.
    #[inline(always)]
    pub fn inverse_unless_zero(self) -> Self {
        Self(lanes!(0.0, i => if self.0[i] == 0.0 { self.0[i] } else { 1.0 / self.0[i] }))
    }
}

macro_rules! binary {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Wide {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(lanes!(0.0, i => self.0[i] $op other.0[i]))
            }
        }
    };
}

binary!(Add, add, +);
binary!(Sub, sub, -);
binary!(Mul, mul, *);

impl Neg for Wide {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(lanes!(0.0, i => -self.0[i]))
    }
}
