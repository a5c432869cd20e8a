//! Plain arrays: the portable back end, and the definition of what the others must compute.

use super::{LANES, Lane, Mask};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// An array with an expression per lane. A loop and not `std::array::from_fn`: closures are not inlined before the
/// instruction set is enabled.
macro_rules! lanes {
    ($zero:expr, $i:ident => $e:expr) => {{
        let mut out = [$zero; LANES];
        for ($i, out) in out.iter_mut().enumerate() {
            *out = $e;
        }
        out
    }};
}

/// Eight numbers in an array.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Array([f64; LANES]);

/// All ones or all zeros per lane, as wide as the numbers so that selections vectorise.
#[derive(Clone, Copy)]
pub(crate) struct ArrayMask([u64; LANES]);

impl Mask for ArrayMask {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(lanes!(0, i => self.0[i] & other.0[i]))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(lanes!(0, i => self.0[i] | other.0[i]))
    }
    #[inline(always)]
    fn not(self) -> Self {
        Self(lanes!(0, i => !self.0[i]))
    }
    #[inline(always)]
    fn bits(self) -> u8 {
        let mut bits = 0;
        for (i, word) in self.0.iter().enumerate() {
            bits |= ((word & 1) as u8) << i;
        }
        bits
    }
    #[inline(always)]
    fn from_bits(bits: u8) -> Self {
        Self(lanes!(0, i => u64::from(bits >> i & 1).wrapping_neg()))
    }
}

macro_rules! binary {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Array {
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

impl Neg for Array {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(lanes!(0.0, i => -self.0[i]))
    }
}

#[inline(always)]
fn word(truth: bool) -> u64 {
    u64::from(truth).wrapping_neg()
}

impl Lane for Array {
    type Mask = ArrayMask;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x; LANES])
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(lanes!(0.0, i => self.0[i].mul_add(b.0[i], c.0[i])))
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(lanes!(0.0, i => (-self.0[i]).mul_add(b.0[i], c.0[i])))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(lanes!(0.0, i => self.0[i].sqrt()))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(lanes!(0.0, i => self.0[i].abs()))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(lanes!(0.0, i => if self.0[i] < other.0[i] { self.0[i] } else { other.0[i] }))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(lanes!(0.0, i => if self.0[i] > other.0[i] { self.0[i] } else { other.0[i] }))
    }
    #[inline(always)]
    fn round(self) -> Self {
        Self(lanes!(0.0, i => self.0[i].round_ties_even()))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> ArrayMask {
        ArrayMask(lanes!(0, i => word(self.0[i] < other.0[i])))
    }
    #[inline(always)]
    fn le(self, other: Self) -> ArrayMask {
        ArrayMask(lanes!(0, i => word(self.0[i] <= other.0[i])))
    }
    #[inline(always)]
    fn select(mask: ArrayMask, a: Self, b: Self) -> Self {
        Self(lanes!(0.0, i => {
            let bits = (a.0[i].to_bits() & mask.0[i]) | (b.0[i].to_bits() & !mask.0[i]);
            f64::from_bits(bits)
        }))
    }
    #[inline(always)]
    fn keep(self, mask: ArrayMask) -> Self {
        Self(lanes!(0.0, i => f64::from_bits(self.0[i].to_bits() & mask.0[i])))
    }
    #[inline(always)]
    fn lanes_with_bit(words: &[u64; LANES], bit: usize) -> ArrayMask {
        ArrayMask(lanes!(0, i => (words[i] >> bit & 1).wrapping_neg()))
    }
    #[inline(always)]
    fn to_array(self) -> [f64; LANES] {
        self.0
    }
    #[inline(always)]
    fn from_array(values: [f64; LANES]) -> Self {
        Self(values)
    }
    #[inline(always)]
    fn get(&self, i: usize) -> f64 {
        self.0[i]
    }
    #[inline(always)]
    fn set(&mut self, i: usize, x: f64) {
        self.0[i] = x;
    }
}
