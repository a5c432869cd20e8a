//! One 512-bit register per number.
//!
//! Every `unsafe` block below calls an intrinsic that needs AVX-512 F and DQ. Values of these types exist only inside
//! a [`crate::Batch`] built for [`super::Backend::Avx512`], which is rejected on a CPU without those features.

use super::{LANES, Lane, Mask};
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Eight numbers in one register.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Avx512(__m512d);

/// A mask register.
#[derive(Clone, Copy)]
pub(crate) struct BitMask(u8);

impl Mask for BitMask {
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
    fn bits(self) -> u8 {
        self.0
    }
    #[inline(always)]
    fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}

/// An expression of intrinsics as a safe one; the top of the file says why that is sound.
macro_rules! intrinsic {
    ($e:expr) => {
        // SAFETY: the CPU has the features, see the module documentation.
        unsafe { $e }
    };
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
binary!(Add, add, _mm512_add_pd);
binary!(Sub, sub, _mm512_sub_pd);
binary!(Mul, mul, _mm512_mul_pd);
binary!(Div, div, _mm512_div_pd);

impl Neg for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(intrinsic!(_mm512_xor_pd(self.0, _mm512_set1_pd(-0.0))))
    }
}

impl Lane for Avx512 {
    type Mask = BitMask;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self(intrinsic!(_mm512_set1_pd(x)))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(intrinsic!(_mm512_fmadd_pd(self.0, b.0, c.0)))
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(intrinsic!(_mm512_fnmadd_pd(self.0, b.0, c.0)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(intrinsic!(_mm512_sqrt_pd(self.0)))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(intrinsic!(_mm512_abs_pd(self.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(intrinsic!(_mm512_min_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(intrinsic!(_mm512_max_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn round(self) -> Self {
        Self(intrinsic!(_mm512_roundscale_pd::<0>(self.0)))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> BitMask {
        BitMask(intrinsic!(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> BitMask {
        BitMask(intrinsic!(_mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn select(mask: BitMask, a: Self, b: Self) -> Self {
        Self(intrinsic!(_mm512_mask_blend_pd(mask.0, b.0, a.0)))
    }
    #[inline(always)]
    fn keep(self, mask: BitMask) -> Self {
        Self(intrinsic!(_mm512_maskz_mov_pd(mask.0, self.0)))
    }
    #[inline(always)]
    fn lanes_with_bit(words: &[u64; LANES], bit: usize) -> BitMask {
        BitMask(intrinsic!(_mm512_test_epi64_mask(
            _mm512_loadu_epi64(words.as_ptr().cast()),
            _mm512_set1_epi64(1 << bit)
        )))
    }
    #[inline(always)]
    fn to_array(self) -> [f64; LANES] {
        // SAFETY: both are eight `f64` without padding.
        unsafe { std::mem::transmute::<__m512d, [f64; LANES]>(self.0) }
    }
    #[inline(always)]
    fn from_array(values: [f64; LANES]) -> Self {
        Self(intrinsic!(_mm512_loadu_pd(values.as_ptr())))
    }
    #[inline(always)]
    fn get(&self, i: usize) -> f64 {
        // SAFETY: `Avx512` is eight `f64` without padding, aligned more strictly than the array.
        let lanes = unsafe { &*std::ptr::from_ref(self).cast::<[f64; LANES]>() };
        lanes[i]
    }
    #[inline(always)]
    fn set(&mut self, i: usize, x: f64) {
        // SAFETY: `Avx512` is eight `f64` without padding, aligned more strictly than the array.
        let lanes = unsafe { &mut *std::ptr::from_mut(self).cast::<[f64; LANES]>() };
        lanes[i] = x;
    }
}
