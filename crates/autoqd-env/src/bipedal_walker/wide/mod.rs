//! One single-precision number per world.
//!
//! Every operation is the IEEE one of the scalar type and nothing is fused, so a lane holds what Box2D would compute
//! alone, with every instruction set. Code is generic over [`Wide`], marked `#[inline(always)]`, and becomes vector code
//! where it is inlined into one of the functions of `kernels.rs`, which enable an instruction set. No closures over lanes:
//! a closure cannot be marked so, and would stay a call of baseline code. Kept separate from the lanes of `autoqd-lanes`,
//! which are eight `f64` with fused multiply-adds: sixteen `f32` without fusing share no operation with them.

#[cfg(any(walkers_portable, test))]
mod array;
#[cfg(lanes_avx2)]
mod avx2;
#[cfg(lanes_avx512)]
mod avx512;
mod one;

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::EnvError;

#[cfg(any(walkers_portable, test))]
pub use array::Array;
#[cfg(lanes_avx2)]
pub use avx2::Avx2;
#[cfg(lanes_avx512)]
pub use avx512::Avx512;
pub use one::One;

/// Worlds that are solved together. The same for every back end, so that nothing depends on it.
pub const LANES: usize = 16;

/// One truth value per lane.
pub trait Mask: Copy + Debug + Send {
    /// No lane.
    const NONE: Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn not(self) -> Self;
    /// One bit per lane.
    fn bits(self) -> u32;
    /// The lanes whose bits are set.
    fn of(bits: u32) -> Self;
    fn get(&self, lane: usize) -> bool;
    fn set(&mut self, lane: usize, condition: bool);

    #[inline(always)]
    fn any(self) -> bool {
        self.bits() != 0
    }
}

/// One number per lane.
pub trait Wide:
    Copy
    + Debug
    + Send
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    type Mask: Mask;
    const ZERO: Self;
    /// Leaves any number unchanged when added, negative zero too.
    const NEGATIVE_ZERO: Self;

    /// The same number in all lanes.
    fn splat(x: f32) -> Self;
    /// The numbers of all lanes.
    fn lanes(&self) -> &[f32];
    fn lanes_mut(&mut self) -> &mut [f32];
    fn sqrt(self) -> Self;
    fn is_less(self, other: Self) -> Self::Mask;
    fn is_at_most(self, other: Self) -> Self::Mask;
    fn is_equal(self, other: Self) -> Self::Mask;
    /// Other bits than `other`.
    fn differs(self, other: Self) -> Self::Mask;
    /// `self` where it is smaller, else `other`: Box2D's `b2Min`.
    fn min(self, other: Self) -> Self;
    /// `self` where it is larger, else `other`: Box2D's `b2Max`.
    fn max(self, other: Self) -> Self;
    /// `a` where the mask is set, else `b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;

    #[inline(always)]
    fn get(&self, lane: usize) -> f32 {
        self.lanes()[lane]
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, x: f32) {
        self.lanes_mut()[lane] = x;
    }

    /// Neither zero nor minus zero.
    #[inline(always)]
    fn is_not_zero(self) -> Self::Mask {
        self.is_equal(Self::ZERO).not()
    }

    /// Not below zero and not above `limit`, which NaN is not either.
    #[inline(always)]
    fn is_within(self, limit: Self) -> Self::Mask {
        self.is_negative().or(limit.is_less(self)).not()
    }

    #[inline(always)]
    fn is_negative(self) -> Self::Mask {
        self.is_less(Self::ZERO)
    }

    #[inline(always)]
    fn is_positive(self) -> Self::Mask {
        Self::ZERO.is_less(self)
    }

    /// At least zero; false for NaN.
    #[inline(always)]
    fn is_at_least_zero(self) -> Self::Mask {
        Self::ZERO.is_at_most(self)
    }

    /// One over every number that is positive, else zero.
    #[inline(always)]
    fn inverse_if_positive(self) -> Self {
        Self::select(self.is_positive(), Self::splat(1.0) / self, Self::ZERO)
    }

    /// One over every number that is not zero.
    #[inline(always)]
    fn inverse_unless_zero(self) -> Self {
        Self::select(self.is_equal(Self::ZERO), self, Self::splat(1.0) / self)
    }
}

/// An instruction set that this is compiled for, as `autoqd-lanes` is. All give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// One 512-bit register per number.
    #[cfg(lanes_avx512)]
    Avx512,
    /// Two 256-bit registers per number.
    #[cfg(lanes_avx2)]
    Avx2,
    /// Plain arrays, vectorised by the compiler.
    #[cfg(walkers_portable)]
    Portable,
}

impl Backend {
    /// Those of them that this CPU has, fastest first.
    pub fn available() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(lanes_avx512)]
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
        {
            all.push(Self::Avx512);
        }
        #[cfg(lanes_avx2)]
        if is_x86_feature_detected!("avx2") {
            all.push(Self::Avx2);
        }
        #[cfg(walkers_portable)]
        all.push(Self::Portable);
        all
    }

    /// The fastest one.
    pub fn best(task: &str) -> Result<Self, EnvError> {
        Self::available().first().copied().ok_or_else(|| EnvError::OtherCpu { task: task.to_owned() })
    }
}

/// An expression in which `$lane` is the lane type of a back end, which must be one that this CPU has.
macro_rules! with_backend {
    ($backend:expr, $lane:ident => $e:expr) => {
        match $backend {
            #[cfg(lanes_avx512)]
            $crate::bipedal_walker::wide::Backend::Avx512 => {
                type $lane = $crate::bipedal_walker::wide::Avx512;
                $e
            }
            #[cfg(lanes_avx2)]
            $crate::bipedal_walker::wide::Backend::Avx2 => {
                type $lane = $crate::bipedal_walker::wide::Avx2;
                $e
            }
            #[cfg(walkers_portable)]
            $crate::bipedal_walker::wide::Backend::Portable => {
                type $lane = $crate::bipedal_walker::wide::Array<{ $crate::bipedal_walker::wide::LANES }>;
                $e
            }
        }
    };
}
pub(super) use with_backend;

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [f32; 8] = [0.0, -0.0, 1.5, -2.25, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-42];

    /// Every operation on every pair of numbers, as bits.
    fn all<F: Wide>() -> Vec<u32> {
        let mut out = Vec::new();
        for (i, &x) in NUMBERS.iter().enumerate() {
            let (mut a, mut b) = (F::splat(x), F::ZERO);
            for lane in 0..LANES {
                b.set(lane, NUMBERS[(i + lane) % NUMBERS.len()]);
            }
            a.set(3, 7.0);
            let numbers = [
                a + b,
                a - b,
                a * b,
                a / b,
                -b,
                b.sqrt(),
                a.min(b),
                a.max(b),
                b.inverse_if_positive(),
                b.inverse_unless_zero(),
                F::select(a.is_less(b), a, b),
                F::select(F::Mask::of(0b1010_0110_0101_1100), a, b),
            ];
            // A NaN may have any sign.
            let bits = |x: &f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
            out.extend(numbers.iter().flat_map(|x| x.lanes().iter().map(bits).collect::<Vec<_>>()));
            let mut set = a.is_less(b);
            (0..LANES).for_each(|lane| set.set(lane, set.get((lane + 1) % LANES)));
            let masks = [
                set,
                a.is_at_most(b),
                a.is_equal(b),
                a.differs(b),
                b.is_not_zero(),
                a.is_within(b),
                b.is_negative(),
                b.is_positive(),
                b.is_at_least_zero(),
                a.is_less(b).and(a.is_equal(b).not()),
                a.is_less(b).or(b.is_less(a)),
                F::Mask::NONE,
            ];
            out.extend(masks.map(|mask| mask.bits()));
            out.extend(masks.map(|mask| u32::from(mask.any())));
        }
        out
    }

    #[test]
    fn every_operation_gives_the_same_bits_with_every_instruction_set() {
        let expected = all::<Array<LANES>>();
        for backend in Backend::available() {
            assert_eq!(with_backend!(backend, F => all::<F>()), expected, "{backend:?}");
        }
    }
}
