//! One single-precision number per world.
//!
//! Plain arrays that the compiler turns into vector code where it is allowed to; every operation is the IEEE one of
//! the scalar type, so a lane holds what Box2D would compute alone. Loops and no closures: closures are not inlined
//! before the instruction set is enabled. Kept separate from the lanes of `autoqd-lanes`, which are eight `f64` with
//! fused multiply-adds behind a trait: sixteen `f32` without fusing share no operation with them.

use std::ops::{Add, Div, Mul, Neg, Sub};

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

    #[inline(always)]
    pub fn any(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) != 0
    }

    /// One bit per lane.
    #[inline(always)]
    pub fn bits(self) -> u32 {
        let mut bits = 0;
        for (i, word) in self.0.iter().enumerate() {
            bits |= word & (1 << i);
        }
        bits
    }

    /// The lanes whose bits are set.
    #[inline(always)]
    pub fn of(bits: u32) -> Self {
        Self(lanes!(0, i => word(bits & (1 << i) != 0)))
    }

    pub fn get(self, lane: usize) -> bool {
        self.0[lane] != 0
    }

    pub fn set(&mut self, lane: usize, condition: bool) {
        self.0[lane] = word(condition);
    }
}

impl Wide {
    pub const ZERO: Self = Self([0.0; LANES]);
    /// Leaves any number unchanged when added, negative zero too.
    pub const NEGATIVE_ZERO: Self = Self([-0.0; LANES]);

    /// The same number in all lanes.
    #[inline(always)]
    pub fn splat(x: f32) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Self(lanes!(0.0, i => self.0[i].sqrt()))
    }

    #[inline(always)]
    pub fn is_less(self, other: Self) -> Mask {
        Mask(lanes!(0, i => word(self.0[i] < other.0[i])))
    }

    #[inline(always)]
    pub fn is_at_most(self, other: Self) -> Mask {
        Mask(lanes!(0, i => word(self.0[i] <= other.0[i])))
    }

    #[inline(always)]
    pub fn is_equal(self, other: Self) -> Mask {
        Mask(lanes!(0, i => word(self.0[i] == other.0[i])))
    }

    /// Neither zero nor minus zero.
    #[inline(always)]
    pub fn is_not_zero(self) -> Mask {
        Mask(lanes!(0, i => word(self.0[i] != 0.0)))
    }

    /// Not below zero and not above `limit`, which NaN is not either.
    #[inline(always)]
    pub fn is_within(self, limit: Self) -> Mask {
        Mask(lanes!(0, i => word(!(self.0[i] < 0.0 || limit.0[i] < self.0[i]))))
    }

    /// Other bits than `other`.
    #[inline(always)]
    pub fn differs(self, other: Self) -> Mask {
        Mask(lanes!(0, i => word(self.0[i].to_bits() != other.0[i].to_bits())))
    }

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

    /// One over every number that is positive, else zero.
    #[inline(always)]
    pub fn inverse_if_positive(self) -> Self {
        Self(lanes!(0.0, i => if self.0[i] > 0.0 { 1.0 / self.0[i] } else { 0.0 }))
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
binary!(Div, div, /);

impl Neg for Wide {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(lanes!(0.0, i => -self.0[i]))
    }
}

/// Calls a function that is `#[inline(always)]` with the widest registers there are. Enabling an instruction set fuses no
/// operations, so all give the same bits.
macro_rules! dispatch {
    ($($function:ident)::+ ($($name:ident: $kind:ty),*) $(-> $result:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
            fn wide($($name: $kind),*) $(-> $result)? {
                $($function)::+($($name),*)
            }
            #[target_feature(enable = "avx2")]
            fn half_wide($($name: $kind),*) $(-> $result)? {
                $($function)::+($($name),*)
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
            {
                // SAFETY: the CPU has these.
                return unsafe { wide($($name),*) };
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the CPU has AVX2.
                return unsafe { half_wide($($name),*) };
            }
        }
        $($function)::+($($name),*)
    }};
}
pub(super) use dispatch;
