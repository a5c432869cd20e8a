//! One 512-bit register per number.
//!
//! Every `unsafe` block that calls an intrinsic needs AVX-512 F, DQ, VL and BW. Values of these types exist only in what
//! is made for [`super::Backend::Avx512`], which only a CPU with those features offers.

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{LANES, Mask, Wide};

/// Sixteen numbers in one register.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Avx512(__m512);

/// A mask register.
#[derive(Clone, Copy, Debug)]
pub struct Bits(u16);

/// An expression of intrinsics as a safe one; the top of the file says why that is sound.
macro_rules! intrinsic {
    ($e:expr) => {
        // SAFETY: the CPU has the features, see the module documentation.
        unsafe { $e }
    };
}

impl Mask for Bits {
    const NONE: Self = Self(0);

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self.0)
    }
    #[inline(always)]
    fn of(bits: u32) -> Self {
        Self(bits as u16)
    }
    #[inline(always)]
    fn get(&self, lane: usize) -> bool {
        self.0 >> lane & 1 == 1
    }
    #[inline(always)]
    fn set(&mut self, lane: usize, condition: bool) {
        self.0 = self.0 & !(1 << lane) | u16::from(condition) << lane;
    }
}

macro_rules! binary {
    ($trait:ident, $method:ident, $intrinsic:ident) => {
        impl $trait for Avx512 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(intrinsic!($intrinsic(self.0, other.0)))
            }
        }
    };
}
binary!(Add, add, _mm512_add_ps);
binary!(Sub, sub, _mm512_sub_ps);
binary!(Mul, mul, _mm512_mul_ps);
binary!(Div, div, _mm512_div_ps);

impl Neg for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(intrinsic!(_mm512_xor_ps(self.0, _mm512_set1_ps(-0.0))))
    }
}

/// The same number in every lane.
const fn filled(x: f32) -> Avx512 {
    // SAFETY: both are sixteen `f32` without padding.
    unsafe { std::mem::transmute::<[f32; LANES], Avx512>([x; LANES]) }
}

impl Wide for Avx512 {
    type Mask = Bits;
    const ZERO: Self = filled(0.0);
    const NEGATIVE_ZERO: Self = filled(-0.0);

    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self(intrinsic!(_mm512_set1_ps(x)))
    }
    #[inline(always)]
    fn lanes(&self) -> &[f32] {
        // SAFETY: `Avx512` is sixteen `f32` without padding, aligned more strictly than the array.
        unsafe { &*std::ptr::from_ref(self).cast::<[f32; LANES]>() }
    }
    #[inline(always)]
    fn lanes_mut(&mut self) -> &mut [f32] {
        // SAFETY: `Avx512` is sixteen `f32` without padding, aligned more strictly than the array.
        unsafe { &mut *std::ptr::from_mut(self).cast::<[f32; LANES]>() }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(intrinsic!(_mm512_sqrt_ps(self.0)))
    }
    #[inline(always)]
    fn is_less(self, other: Self) -> Bits {
        Bits(intrinsic!(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn is_at_most(self, other: Self) -> Bits {
        Bits(intrinsic!(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn is_equal(self, other: Self) -> Bits {
        Bits(intrinsic!(_mm512_cmp_ps_mask::<_CMP_EQ_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn differs(self, other: Self) -> Bits {
        Bits(intrinsic!(_mm512_cmpneq_epi32_mask(_mm512_castps_si512(self.0), _mm512_castps_si512(other.0))))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(intrinsic!(_mm512_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(intrinsic!(_mm512_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn select(mask: Bits, a: Self, b: Self) -> Self {
        Self(intrinsic!(_mm512_mask_blend_ps(mask.0, b.0, a.0)))
    }
}
