//! Two 256-bit registers per number.
//!
//! Every `unsafe` block that calls an intrinsic needs AVX2. Values of these types exist only in what is made for
//! [`super::Backend::Avx2`], which only a CPU with it offers.

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{LANES, Mask, Wide};

/// Sixteen numbers in two registers.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Avx2(__m256, __m256);

/// All ones or all zeros per lane.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Signs(__m256, __m256);

/// An expression of intrinsics as a safe one; the top of the file says why that is sound.
macro_rules! intrinsic {
    ($e:expr) => {
        // SAFETY: the CPU has the features, see the module documentation.
        unsafe { $e }
    };
}

impl Mask for Signs {
    // SAFETY: both are sixteen words without padding.
    const NONE: Self = unsafe { std::mem::transmute::<[u32; LANES], Self>([0; LANES]) };

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        intrinsic!(Self(_mm256_and_ps(self.0, other.0), _mm256_and_ps(self.1, other.1)))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        intrinsic!(Self(_mm256_or_ps(self.0, other.0), _mm256_or_ps(self.1, other.1)))
    }
    #[inline(always)]
    fn not(self) -> Self {
        let ones = intrinsic!(_mm256_castsi256_ps(_mm256_set1_epi32(-1)));
        intrinsic!(Self(_mm256_xor_ps(self.0, ones), _mm256_xor_ps(self.1, ones)))
    }
    #[inline(always)]
    fn any(self) -> bool {
        intrinsic!(_mm256_movemask_ps(_mm256_or_ps(self.0, self.1))) != 0
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        intrinsic!(_mm256_movemask_ps(self.0) | (_mm256_movemask_ps(self.1) << 8)) as u32
    }
    #[inline(always)]
    fn of(bits: u32) -> Self {
        let word = intrinsic!(_mm256_set1_epi32(bits as i32));
        let (low, high) = intrinsic!((
            _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1),
            _mm256_set_epi32(1 << 15, 1 << 14, 1 << 13, 1 << 12, 1 << 11, 1 << 10, 512, 256)
        ));
        Self(has_bits(word, low), has_bits(word, high))
    }
    #[inline(always)]
    fn get(&self, lane: usize) -> bool {
        // SAFETY: `Signs` is sixteen words without padding, aligned more strictly than the array.
        let words = unsafe { &*std::ptr::from_ref(self).cast::<[u32; LANES]>() };
        words[lane] != 0
    }
    #[inline(always)]
    fn set(&mut self, lane: usize, condition: bool) {
        // SAFETY: `Signs` is sixteen words without padding, aligned more strictly than the array.
        let words = unsafe { &mut *std::ptr::from_mut(self).cast::<[u32; LANES]>() };
        words[lane] = u32::from(condition).wrapping_neg();
    }
}

#[inline(always)]
fn has_bits(word: __m256i, bits: __m256i) -> __m256 {
    intrinsic!(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(word, bits), bits)))
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
binary!(Add, add, _mm256_add_ps);
binary!(Sub, sub, _mm256_sub_ps);
binary!(Mul, mul, _mm256_mul_ps);
binary!(Div, div, _mm256_div_ps);

impl Neg for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let sign = intrinsic!(_mm256_set1_ps(-0.0));
        intrinsic!(Self(_mm256_xor_ps(self.0, sign), _mm256_xor_ps(self.1, sign)))
    }
}

macro_rules! compare {
    ($a:expr, $b:expr, $how:ident) => {
        intrinsic!(Signs(_mm256_cmp_ps::<$how>($a.0, $b.0), _mm256_cmp_ps::<$how>($a.1, $b.1)))
    };
}

/// The same number in every lane.
const fn filled(x: f32) -> Avx2 {
    // SAFETY: both are sixteen `f32` without padding.
    unsafe { std::mem::transmute::<[f32; LANES], Avx2>([x; LANES]) }
}

impl Wide for Avx2 {
    type Mask = Signs;
    const ZERO: Self = filled(0.0);
    const NEGATIVE_ZERO: Self = filled(-0.0);

    #[inline(always)]
    fn splat(x: f32) -> Self {
        let x = intrinsic!(_mm256_set1_ps(x));
        Self(x, x)
    }
    #[inline(always)]
    fn lanes(&self) -> &[f32] {
        // SAFETY: `Avx2` is sixteen `f32` without padding, aligned more strictly than the array.
        unsafe { &*std::ptr::from_ref(self).cast::<[f32; LANES]>() }
    }
    #[inline(always)]
    fn lanes_mut(&mut self) -> &mut [f32] {
        // SAFETY: `Avx2` is sixteen `f32` without padding, aligned more strictly than the array.
        unsafe { &mut *std::ptr::from_mut(self).cast::<[f32; LANES]>() }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        intrinsic!(Self(_mm256_sqrt_ps(self.0), _mm256_sqrt_ps(self.1)))
    }
    #[inline(always)]
    fn is_less(self, other: Self) -> Signs {
        compare!(self, other, _CMP_LT_OQ)
    }
    #[inline(always)]
    fn is_at_most(self, other: Self) -> Signs {
        compare!(self, other, _CMP_LE_OQ)
    }
    #[inline(always)]
    fn is_equal(self, other: Self) -> Signs {
        compare!(self, other, _CMP_EQ_OQ)
    }
    #[inline(always)]
    fn differs(self, other: Self) -> Signs {
        let same = intrinsic!(Signs(
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(
                _mm256_castps_si256(self.0),
                _mm256_castps_si256(other.0)
            )),
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(
                _mm256_castps_si256(self.1),
                _mm256_castps_si256(other.1)
            ))
        ));
        same.not()
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        intrinsic!(Self(_mm256_min_ps(self.0, other.0), _mm256_min_ps(self.1, other.1)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        intrinsic!(Self(_mm256_max_ps(self.0, other.0), _mm256_max_ps(self.1, other.1)))
    }
    #[inline(always)]
    fn select(mask: Signs, a: Self, b: Self) -> Self {
        intrinsic!(Self(_mm256_blendv_ps(b.0, a.0, mask.0), _mm256_blendv_ps(b.1, a.1, mask.1)))
    }
}
