//! Eight numbers at a time: the [`Lane`] trait and its back ends.
//!
//! Every operation is the IEEE one of the scalar type, fused multiply-add included, so all back ends give the same
//! bits. Engine code is generic over [`Lane`], marked `#[inline(always)]`, and compiled once per back end inside
//! functions that enable the instruction set (see `kernels.rs`).

#[cfg(any(lanes_portable, test))]
mod array;
#[cfg(lanes_avx2)]
#[allow(unsafe_code)]
mod avx2;
#[cfg(lanes_avx512)]
#[allow(unsafe_code)]
mod avx512;
mod trig;

use std::ops::{Add, Div, Mul, Neg, Sub};

#[cfg(any(lanes_portable, test))]
pub(crate) use array::Array;
#[cfg(lanes_avx2)]
pub(crate) use avx2::Avx2;
#[cfg(lanes_avx512)]
pub(crate) use avx512::Avx512;
pub(crate) use trig::sin_cos;

/// Worlds per batch. The same for every back end, so that a result cannot depend on it.
pub const LANES: usize = 8;

/// One truth value per lane.
pub(crate) trait Mask: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn not(self) -> Self;
    /// Bit `i` is lane `i`.
    fn bits(self) -> u8;
    fn from_bits(bits: u8) -> Self;
    #[inline(always)]
    fn any(self) -> bool {
        self.bits() != 0
    }
}

/// One `f64` per lane.
pub(crate) trait Lane:
    Copy
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    type Mask: Mask;

    fn splat(x: f64) -> Self;
    /// `self * b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `c - self * b`, rounded once.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    /// `self` where it is smaller, else `other` (so a NaN in either gives `other`).
    fn min(self, other: Self) -> Self;
    /// `self` where it is larger, else `other` (so a NaN in either gives `other`).
    fn max(self, other: Self) -> Self;
    /// To the nearest integer, ties to even.
    fn round(self) -> Self;
    fn lt(self, other: Self) -> Self::Mask;
    fn le(self, other: Self) -> Self::Mask;
    /// `a` where the mask is set, else `b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// `self` where the mask is set, else +0, whatever `self` holds there.
    fn keep(self, mask: Self::Mask) -> Self;
    /// The lanes whose word has bit `bit` set.
    fn lanes_with_bit(words: &[u64; LANES], bit: usize) -> Self::Mask;
    fn to_array(self) -> [f64; LANES];
    fn from_array(values: [f64; LANES]) -> Self;
    /// Lane `i`.
    fn get(&self, i: usize) -> f64;
    /// Writes lane `i`.
    fn set(&mut self, i: usize, x: f64);

    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    #[inline(always)]
    fn one() -> Self {
        Self::splat(1.0)
    }
}

/// An instruction set the engine can be compiled for. All give the same bits; `build.rs` says which ones are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// One 512-bit register per number.
    Avx512,
    /// Two 256-bit registers per number, with fused multiply-add.
    Avx2,
    /// Plain arrays, vectorised by the compiler.
    Portable,
}

impl Backend {
    /// The back ends that were compiled and that this CPU can run, fastest first. Empty where there is no fused
    /// multiply-add: without it the bits would differ.
    pub fn available() -> Vec<Self> {
        [Self::Avx512, Self::Avx2, Self::Portable].into_iter().filter(|b| b.is_available()).collect()
    }

    /// The fastest back end of this CPU.
    pub fn best() -> Option<Self> {
        Self::available().first().copied()
    }

    /// Whether the back end was compiled, and this CPU can run it.
    pub fn is_available(self) -> bool {
        self.is_compiled() && self.runs_here()
    }

    /// Why there is no back end where there is none: what to do about it.
    pub fn why_none() -> &'static str {
        match [Self::Avx512, Self::Avx2, Self::Portable].into_iter().any(Self::runs_here) {
            true => {
                "this program was built for other CPUs (AUTOQD_CPUS=host on another machine); build it with AUTOQD_CPUS=all"
            }
            false => "this CPU has no fused multiply-add",
        }
    }

    fn is_compiled(self) -> bool {
        match self {
            Self::Avx512 => cfg!(lanes_avx512),
            Self::Avx2 => cfg!(lanes_avx2),
            Self::Portable => cfg!(lanes_portable),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn runs_here(self) -> bool {
        let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        match self {
            Self::Avx512 => {
                avx2 && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
            }
            Self::Avx2 | Self::Portable => avx2,
        }
    }

    /// 64-bit ARM has fused multiply-add in its base set.
    #[cfg(not(target_arch = "x86_64"))]
    fn runs_here(self) -> bool {
        self == Self::Portable && cfg!(target_arch = "aarch64")
    }
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Avx512 => "AVX-512",
            Self::Avx2 => "AVX2",
            Self::Portable => "portable",
        })
    }
}
