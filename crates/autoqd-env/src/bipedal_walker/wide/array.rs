//! Plain arrays that the compiler turns into vector code where it can.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Mask, Wide};

/// `N` numbers.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Array<const N: usize>([f32; N]);

/// All ones or all zeros per lane, as wide as the numbers so that selections vectorise.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Words<const N: usize>([u32; N]);

macro_rules! lanes {
    ($zero:expr, $i:ident => $e:expr) => {{
        let mut out = [$zero; N];
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

impl<const N: usize> Mask for Words<N> {
    const NONE: Self = Self([0; N]);

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
    fn any(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) != 0
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        let mut bits = 0;
        for (i, word) in self.0.iter().enumerate() {
            bits |= word & (1 << i);
        }
        bits
    }
    #[inline(always)]
    fn of(bits: u32) -> Self {
        Self(lanes!(0, i => word(bits & (1 << i) != 0)))
    }
    #[inline(always)]
    fn get(&self, lane: usize) -> bool {
        self.0[lane] != 0
    }
    #[inline(always)]
    fn set(&mut self, lane: usize, condition: bool) {
        self.0[lane] = word(condition);
    }
}

macro_rules! binary {
    ($trait:ident, $method:ident, $op:tt) => {
        impl<const N: usize> $trait for Array<N> {
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

impl<const N: usize> Neg for Array<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(lanes!(0.0, i => -self.0[i]))
    }
}

impl<const N: usize> Wide for Array<N> {
    type Mask = Words<N>;
    const ZERO: Self = Self([0.0; N]);
    const NEGATIVE_ZERO: Self = Self([-0.0; N]);

    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self([x; N])
    }
    #[inline(always)]
    fn lanes(&self) -> &[f32] {
        &self.0
    }
    #[inline(always)]
    fn lanes_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(lanes!(0.0, i => self.0[i].sqrt()))
    }
    #[inline(always)]
    fn is_less(self, other: Self) -> Words<N> {
        Words(lanes!(0, i => word(self.0[i] < other.0[i])))
    }
    #[inline(always)]
    fn is_at_most(self, other: Self) -> Words<N> {
        Words(lanes!(0, i => word(self.0[i] <= other.0[i])))
    }
    #[inline(always)]
    fn is_equal(self, other: Self) -> Words<N> {
        Words(lanes!(0, i => word(self.0[i] == other.0[i])))
    }
    #[inline(always)]
    fn differs(self, other: Self) -> Words<N> {
        Words(lanes!(0, i => word(self.0[i].to_bits() != other.0[i].to_bits())))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(lanes!(0.0, i => if self.0[i] < other.0[i] { self.0[i] } else { other.0[i] }))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(lanes!(0.0, i => if self.0[i] > other.0[i] { self.0[i] } else { other.0[i] }))
    }
    /// Asks for the sign: that is what the blend instruction looks at.
    #[inline(always)]
    fn select(mask: Words<N>, a: Self, b: Self) -> Self {
        Self(lanes!(0.0, i => if (mask.0[i] as i32) < 0 { a.0[i] } else { b.0[i] }))
    }
}
