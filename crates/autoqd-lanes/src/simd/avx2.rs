//! Two 256-bit registers per number.
//!
//! Every `unsafe` block below calls an intrinsic that needs AVX2 or FMA. Values of these types exist only inside a
//! [`crate::Batch`] built for [`super::Backend::Avx2`], which is rejected on a CPU without those features.

use super::{LANES, Lane, Mask};
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Eight numbers in two registers.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Avx2(__m256d, __m256d);

/// All ones or all zeros per lane.
#[derive(Clone, Copy)]
pub(crate) struct WideMask(__m256d, __m256d);

/// An expression of intrinsics as a safe one; the top of the file says why that is sound.
macro_rules! intrinsic {
    ($e:expr) => {
        // SAFETY: the CPU has the features, see the module documentation.
        unsafe { $e }
    };
}

impl Mask for WideMask {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        intrinsic!(Self(_mm256_and_pd(self.0, other.0), _mm256_and_pd(self.1, other.1)))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        intrinsic!(Self(_mm256_or_pd(self.0, other.0), _mm256_or_pd(self.1, other.1)))
    }
    #[inline(always)]
    fn not(self) -> Self {
        let ones = intrinsic!(_mm256_castsi256_pd(_mm256_set1_epi64x(-1)));
        intrinsic!(Self(_mm256_xor_pd(self.0, ones), _mm256_xor_pd(self.1, ones)))
    }
    #[inline(always)]
    fn bits(self) -> u8 {
        intrinsic!(_mm256_movemask_pd(self.0) | (_mm256_movemask_pd(self.1) << 4)) as u8
    }
    #[inline(always)]
    fn from_bits(bits: u8) -> Self {
        Self::with_bits(intrinsic!(_mm256_set1_epi64x(i64::from(bits))))
    }
    #[inline(always)]
    fn any(self) -> bool {
        intrinsic!(_mm256_movemask_pd(_mm256_or_pd(self.0, self.1))) != 0
    }
}

impl WideMask {
    /// Lane `i` is set where bit `i` of the word in every element is set.
    #[inline(always)]
    fn with_bits(word: __m256i) -> Self {
        let (low, high) = intrinsic!((_mm256_set_epi64x(8, 4, 2, 1), _mm256_set_epi64x(128, 64, 32, 16)));
        Self(has_bits(word, low), has_bits(word, high))
    }
}

#[inline(always)]
fn has_bits(words: __m256i, bits: __m256i) -> __m256d {
    intrinsic!(_mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(words, bits), bits)))
}

macro_rules! binary {
    ($trait:ident, $method:ident, $intrinsic:ident) => {
        impl $trait for Avx2 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                intrinsic!(Self($intrinsic(self.0, other.0), $intrinsic(self.1, other.1)))
            }
        }
    };
}
binary!(Add, add, _mm256_add_pd);
binary!(Sub, sub, _mm256_sub_pd);
binary!(Mul, mul, _mm256_mul_pd);
binary!(Div, div, _mm256_div_pd);

impl Neg for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let sign = intrinsic!(_mm256_set1_pd(-0.0));
        intrinsic!(Self(_mm256_xor_pd(self.0, sign), _mm256_xor_pd(self.1, sign)))
    }
}

impl Lane for Avx2 {
    type Mask = WideMask;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        let x = intrinsic!(_mm256_set1_pd(x));
        Self(x, x)
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        intrinsic!(Self(_mm256_fmadd_pd(self.0, b.0, c.0), _mm256_fmadd_pd(self.1, b.1, c.1)))
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        intrinsic!(Self(_mm256_fnmadd_pd(self.0, b.0, c.0), _mm256_fnmadd_pd(self.1, b.1, c.1)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        intrinsic!(Self(_mm256_sqrt_pd(self.0), _mm256_sqrt_pd(self.1)))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        let sign = intrinsic!(_mm256_set1_pd(-0.0));
        intrinsic!(Self(_mm256_andnot_pd(sign, self.0), _mm256_andnot_pd(sign, self.1)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        intrinsic!(Self(_mm256_min_pd(self.0, other.0), _mm256_min_pd(self.1, other.1)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        intrinsic!(Self(_mm256_max_pd(self.0, other.0), _mm256_max_pd(self.1, other.1)))
    }
    #[inline(always)]
    fn round(self) -> Self {
        intrinsic!(Self(_mm256_round_pd::<0>(self.0), _mm256_round_pd::<0>(self.1)))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> WideMask {
        intrinsic!(WideMask(
            _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0),
            _mm256_cmp_pd::<_CMP_LT_OQ>(self.1, other.1)
        ))
    }
    #[inline(always)]
    fn le(self, other: Self) -> WideMask {
        intrinsic!(WideMask(
            _mm256_cmp_pd::<_CMP_LE_OQ>(self.0, other.0),
            _mm256_cmp_pd::<_CMP_LE_OQ>(self.1, other.1)
        ))
    }
    #[inline(always)]
    fn select(mask: WideMask, a: Self, b: Self) -> Self {
        intrinsic!(Self(_mm256_blendv_pd(b.0, a.0, mask.0), _mm256_blendv_pd(b.1, a.1, mask.1)))
    }
    #[inline(always)]
    fn keep(self, mask: WideMask) -> Self {
        intrinsic!(Self(_mm256_and_pd(self.0, mask.0), _mm256_and_pd(self.1, mask.1)))
    }
    #[inline(always)]
    fn lanes_with_bit(words: &[u64; LANES], bit: usize) -> WideMask {
        let bits = intrinsic!(_mm256_set1_epi64x(1 << bit));
        let (low, high) = intrinsic!((
            _mm256_loadu_si256(words.as_ptr().cast()),
            _mm256_loadu_si256(words[4..].as_ptr().cast())
        ));
        WideMask(has_bits(low, bits), has_bits(high, bits))
    }
    #[inline(always)]
    fn to_array(self) -> [f64; LANES] {
        // SAFETY: both are eight `f64` without padding.
        unsafe { std::mem::transmute::<Self, [f64; LANES]>(self) }
    }
    #[inline(always)]
    fn from_array(values: [f64; LANES]) -> Self {
        intrinsic!(Self(_mm256_loadu_pd(values.as_ptr()), _mm256_loadu_pd(values[4..].as_ptr())))
    }
    #[inline(always)]
    fn get(&self, i: usize) -> f64 {
        // SAFETY: `Avx2` is eight `f64` without padding, aligned more strictly than the array.
        let lanes = unsafe { &*std::ptr::from_ref(self).cast::<[f64; LANES]>() };
        lanes[i]
    }
    #[inline(always)]
    fn set(&mut self, i: usize, x: f64) {
        // SAFETY: `Avx2` is eight `f64` without padding, aligned more strictly than the array.
        let lanes = unsafe { &mut *std::ptr::from_mut(self).cast::<[f64; LANES]>() };
        lanes[i] = x;
    }
}
