//! The vector type in the registers of x86-64.

use super::vector::Vector;
use std::arch::x86_64::*;

/// Implements [`Vector`] for one register type. `$double` and its operations hold half as many lanes.
macro_rules! register {
    (
        $name:ident, $narrow:ident, $register:ty, $lanes:literal, $doc:literal,
        $set1:ident, $loadu:ident, $storeu:ident, $add:ident, $sub:ident, $mul:ident, $div:ident, $min:ident,
        $max:ident, $to_int:ident, $shift:ident, $xor_int:ident, $to_float:ident,
        $set1_d:ident, $loadu_d:ident, $storeu_d:ident, $add_d:ident, $mul_d:ident, $widen:expr
    ) => {
        #[doc = $doc]
        #[derive(Clone, Copy)]
        pub(crate) struct $name($register);

        // SAFETY: values are made only by kernels compiled with, and dispatched on, the instruction set.
        unsafe impl Vector for $name {
            type Narrow = $narrow;

            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(x: f32) -> Self {
                // SAFETY: the instruction set is present.
                Self(unsafe { $set1(x) })
            }

            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self {
                // SAFETY: the instruction set is present, and the caller vouches for the pointer.
                Self(unsafe { $loadu(from) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut f32) {
                // SAFETY: the instruction set is present, and the caller vouches for the pointer.
                unsafe { $storeu(to, self.0) }
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: the instruction set is present.
                Self(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                // SAFETY: the instruction set is present.
                Self(unsafe { $sub(self.0, other.0) })
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                // SAFETY: the instruction set is present.
                Self(unsafe { $mul(self.0, other.0) })
            }

            #[inline(always)]
            fn div(self, other: Self) -> Self {
                // SAFETY: the instruction set is present.
                Self(unsafe { $div(self.0, other.0) })
            }

            #[inline(always)]
            fn lower(self, other: Self) -> Self {
                // SAFETY: the instruction set is present.
                Self(unsafe { $min(self.0, other.0) })
            }

            #[inline(always)]
            fn higher(self, other: Self) -> Self {
                // SAFETY: the instruction set is present.
                Self(unsafe { $max(self.0, other.0) })
            }

            #[inline(always)]
            fn negate_where_odd(self, parity: Self) -> Self {
                // SAFETY: the instruction set is present.
                Self(unsafe { $to_float($xor_int($to_int(self.0), $shift::<31>(parity.0))) })
            }

            #[inline(always)]
            unsafe fn accumulate<const T: usize>(steps: [Self; T], weights: &[f64; T], sums: *mut f64) {
                // SAFETY: the instruction set is present, and the caller vouches for the pointer.
                unsafe {
                    let upper = sums.add($lanes / 2);
                    let mut sum = [$loadu_d(sums), $loadu_d(upper)];
                    for (step, weight) in steps.into_iter().zip(weights) {
                        let halves = $widen(step.0);
                        for (sum, half) in sum.iter_mut().zip(halves) {
                            *sum = $add_d(*sum, $mul_d($set1_d(*weight), half));
                        }
                    }
                    $storeu_d(sums, sum[0]);
                    $storeu_d(upper, sum[1]);
                }
            }
        }
    };
}

#[inline(always)]
unsafe fn shift_128<const N: i32>(x: __m128) -> __m128i {
    // SAFETY: baseline instruction.
    unsafe { _mm_slli_epi32::<N>(_mm_castps_si128(x)) }
}

#[inline(always)]
unsafe fn shift_256<const N: i32>(x: __m256) -> __m256i {
    // SAFETY: the caller runs with AVX2.
    unsafe { _mm256_slli_epi32::<N>(_mm256_castps_si256(x)) }
}

#[inline(always)]
unsafe fn shift_512<const N: u32>(x: __m512) -> __m512i {
    // SAFETY: the caller runs with AVX-512F.
    unsafe { _mm512_slli_epi32::<N>(_mm512_castps_si512(x)) }
}

#[inline(always)]
unsafe fn widen_128(x: __m128) -> [__m128d; 2] {
    // SAFETY: baseline instructions.
    unsafe { [_mm_cvtps_pd(x), _mm_cvtps_pd(_mm_movehl_ps(x, x))] }
}

#[inline(always)]
unsafe fn widen_256(x: __m256) -> [__m256d; 2] {
    // SAFETY: the caller runs with AVX2.
    unsafe { [_mm256_cvtps_pd(_mm256_castps256_ps128(x)), _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x))] }
}

#[inline(always)]
unsafe fn widen_512(x: __m512) -> [__m512d; 2] {
    // SAFETY: the caller runs with AVX-512F. The upper half moves as four doubles: that form is in AVX-512F.
    unsafe {
        let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(x)));
        [_mm512_cvtps_pd(_mm512_castps512_ps256(x)), _mm512_cvtps_pd(high)]
    }
}

register! {
    Sse2, Sse2, __m128, 4, "Four numbers in an SSE register.",
    _mm_set1_ps, _mm_loadu_ps, _mm_storeu_ps, _mm_add_ps, _mm_sub_ps, _mm_mul_ps, _mm_div_ps, _mm_min_ps,
    _mm_max_ps, _mm_castps_si128, shift_128, _mm_xor_si128, _mm_castsi128_ps,
    _mm_set1_pd, _mm_loadu_pd, _mm_storeu_pd, _mm_add_pd, _mm_mul_pd, widen_128
}
register! {
    Avx2, Avx2, __m256, 8, "Eight numbers in an AVX register.",
    _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps,
    _mm256_div_ps, _mm256_min_ps, _mm256_max_ps, _mm256_castps_si256, shift_256, _mm256_xor_si256,
    _mm256_castsi256_ps, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_add_pd, _mm256_mul_pd,
    widen_256
}
register! {
    Avx512, Avx2, __m512, 16, "Sixteen numbers in an AVX-512 register.",
    _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps,
    _mm512_div_ps, _mm512_min_ps, _mm512_max_ps, _mm512_castps_si512, shift_512, _mm512_xor_si512,
    _mm512_castsi512_ps, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd, _mm512_mul_pd,
    widen_512
}
