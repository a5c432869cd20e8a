//! The vector type the kernels are generic over.
//!
//! Kept separate from the lanes of `autoqd-lanes` (eight `f64` with fused multiply-adds, one per world): here a
//! register is as wide as the instruction set allows, holds `f32` of one policy, and never fuses.

/// A register of single-precision numbers. Every operation is elementwise and rounds once.
///
/// # Safety
/// Implementations may use instructions that not every CPU has: values may only be made in code that runs
/// after the instruction set was detected.
pub(crate) unsafe trait Vector: Copy {
    /// The vector for layers of few outputs.
    type Narrow: Vector;

    /// Numbers per register.
    const LANES: usize;

    /// All lanes equal.
    fn splat(x: f32) -> Self;

    /// Reads `LANES` numbers.
    ///
    /// # Safety
    /// `from` must be readable for `LANES` numbers; no alignment is needed.
    unsafe fn load(from: *const f32) -> Self;

    /// Writes `LANES` numbers.
    ///
    /// # Safety
    /// `to` must be writable for `LANES` numbers; no alignment is needed.
    unsafe fn store(self, to: *mut f32);

    /// Sum.
    fn add(self, other: Self) -> Self;

    /// Difference.
    fn sub(self, other: Self) -> Self;

    /// Product.
    fn mul(self, other: Self) -> Self;

    /// Quotient.
    fn div(self, other: Self) -> Self;

    /// `self` where it is smaller, else `other`; so `bound.lower(x)` keeps a NaN in `x`.
    fn lower(self, other: Self) -> Self;

    /// `self` where it is larger, else `other`; so `bound.higher(x)` keeps a NaN in `x`.
    fn higher(self, other: Self) -> Self;

    /// Flips the sign of each lane whose counterpart in `parity` has its lowest mantissa bit set.
    fn negate_where_odd(self, parity: Self) -> Self;

    /// `sums[lane] += weights[t] * steps[t][lane]` for t in order, in double precision.
    ///
    /// # Safety
    /// `sums` must be readable and writable for `LANES` numbers.
    unsafe fn accumulate<const T: usize>(steps: [Self; T], weights: &[f64; T], sums: *mut f64);

    /// Each lane limited to `-limit..=limit`; a NaN stays.
    #[inline(always)]
    fn limited(self, limit: f32) -> Self {
        Self::splat(limit).lower(Self::splat(-limit).higher(self))
    }
}

/// Four numbers in plain code.
#[derive(Clone, Copy)]
pub(crate) struct Plain([f32; 4]);

#[inline(always)]
fn zip(a: Plain, b: Plain, f: impl Fn(f32, f32) -> f32) -> Plain {
    Plain(std::array::from_fn(|i| f(a.0[i], b.0[i])))
}

// SAFETY: no special instruction is used.
unsafe impl Vector for Plain {
    type Narrow = Self;

    const LANES: usize = 4;

    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self([x; 4])
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for four numbers.
        Self(unsafe { from.cast::<[f32; 4]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for four numbers.
        unsafe { to.cast::<[f32; 4]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        zip(self, other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        zip(self, other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        zip(self, other, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        zip(self, other, |a, b| a / b)
    }

    #[inline(always)]
    fn lower(self, other: Self) -> Self {
        zip(self, other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn higher(self, other: Self) -> Self {
        zip(self, other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn negate_where_odd(self, parity: Self) -> Self {
        zip(self, parity, |a, p| f32::from_bits(a.to_bits() ^ (p.to_bits() << 31)))
    }

    #[inline(always)]
    unsafe fn accumulate<const T: usize>(steps: [Self; T], weights: &[f64; T], sums: *mut f64) {
        // SAFETY: the caller vouches for four numbers.
        let sums = unsafe { &mut *sums.cast::<[f64; 4]>() };
        for (step, weight) in steps.iter().zip(weights) {
            sums.iter_mut().zip(step.0).for_each(|(sum, x)| *sum += weight * f64::from(x));
        }
    }
}
