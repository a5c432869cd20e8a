//! Random Fourier features of a few steps at once, summed in double precision.

use super::vector::{Plain, Vector};
use super::{Aligned, Instructions, PAD, cosine::cosine_vector, padded};

/// Steps that go through the weights together: each weight is then read once for all of them.
pub(crate) const STEPS: usize = 4;

/// Weights in blocks of [`PAD`] features; within a block one row of features per input. Phases are padded in the same
/// way.
#[derive(Clone, Debug)]
pub(crate) struct FourierLayout {
    inputs: usize,
    weights: Aligned,
    phases: Aligned,
}

impl FourierLayout {
    /// Packs weights (one row of inputs per feature) and phases, each rounded once to single precision.
    pub(crate) fn new(inputs: usize, weights: &[f64], phases: &[f64]) -> Self {
        let features = padded(phases.len());
        let mut packed = Aligned::zeros(inputs * features);
        for (feature, row) in weights.chunks_exact(inputs).enumerate() {
            let block = feature / PAD * PAD * inputs + feature % PAD;
            row.iter().enumerate().for_each(|(input, w)| packed[block + input * PAD] = *w as f32);
        }
        let mut rounded = Aligned::zeros(features);
        rounded.iter_mut().zip(phases).for_each(|(rounded, phase)| *rounded = *phase as f32);
        Self { inputs, weights: packed, phases: rounded }
    }

    /// Length of the sums, padding included.
    pub(crate) fn padded_features(&self) -> usize {
        self.phases.len()
    }
}

/// `sums[d] += discounts[t] * cos(phase_d + x_t0 w_d0 + x_t1 w_d1 + ..)` for the steps t in order.
///
/// `inputs` holds the steps one after the other.
pub(crate) fn fourier_steps(
    instructions: Instructions,
    layout: &FourierLayout,
    inputs: &[f32],
    discounts: &[f64],
    sums: &mut [f64],
) {
    assert_eq!(inputs.len(), discounts.len() * layout.inputs);
    assert_eq!(sums.len(), layout.phases.len());
    // SAFETY: sizes were checked above, and a set that is not supported falls back to plain code.
    unsafe {
        match instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 if instructions.supported() => steps_avx512(layout, inputs, discounts, sums),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 if instructions.supported() => steps_avx2(layout, inputs, discounts, sums),
            #[cfg(target_arch = "x86_64")]
            Instructions::Sse2 => steps_in::<super::x86::Sse2, 2>(layout, inputs, discounts, sums),
            _ => steps_in::<Plain, 2>(layout, inputs, discounts, sums),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn steps_avx2(layout: &FourierLayout, inputs: &[f32], discounts: &[f64], sums: &mut [f64]) {
    // SAFETY: forwarded.
    unsafe { steps_in::<super::x86::Avx2, 2>(layout, inputs, discounts, sums) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn steps_avx512(layout: &FourierLayout, inputs: &[f32], discounts: &[f64], sums: &mut [f64]) {
    // SAFETY: forwarded.
    unsafe { steps_in::<super::x86::Avx512, 1>(layout, inputs, discounts, sums) }
}

/// Groups of [`STEPS`] steps, then the rest one by one.
///
/// # Safety
/// Sizes as [`fourier_steps`] checks them, and `V`'s instructions present.
#[inline(always)]
unsafe fn steps_in<V: Vector, const R: usize>(
    layout: &FourierLayout,
    inputs: &[f32],
    discounts: &[f64],
    sums: &mut [f64],
) {
    let whole = discounts.len() / STEPS * STEPS;
    for t in (0..whole).step_by(STEPS) {
        let discounts: &[f64; STEPS] = discounts[t..t + STEPS].try_into().expect("STEPS discounts");
        // SAFETY: forwarded.
        unsafe { group::<V, R, STEPS>(layout, &inputs[t * layout.inputs..], discounts, sums) };
    }
    for t in whole..discounts.len() {
        // SAFETY: forwarded.
        unsafe { group::<V, R, 1>(layout, &inputs[t * layout.inputs..], &[discounts[t]], sums) };
    }
}

/// All features of `T` steps.
///
/// # Safety
/// As [`steps_in`]; `inputs` must hold `T` steps.
#[inline(always)]
unsafe fn group<V: Vector, const R: usize, const T: usize>(
    layout: &FourierLayout,
    inputs: &[f32],
    discounts: &[f64; T],
    sums: &mut [f64],
) {
    for feature in (0..layout.phases.len()).step_by(R * V::LANES) {
        // SAFETY: PAD is a multiple of R * LANES, so a block of registers lies within one block of weights.
        unsafe { block::<V, R, T>(layout, feature, inputs, discounts, sums) };
    }
}

/// `R` registers of features from `feature`, for `T` steps.
///
/// # Safety
/// As [`group`].
#[inline(always)]
unsafe fn block<V: Vector, const R: usize, const T: usize>(
    layout: &FourierLayout,
    feature: usize,
    inputs: &[f32],
    discounts: &[f64; T],
    sums: &mut [f64],
) {
    // SAFETY: the caller vouches for the sizes.
    unsafe {
        // No closures here: they would be compiled without the instruction set of the kernel.
        let mut angles = [[V::splat(0.0); T]; R];
        for (r, angle) in angles.iter_mut().enumerate() {
            *angle = [V::load(layout.phases.as_ptr().add(feature + r * V::LANES)); T];
        }
        let mut weights = layout.weights.as_ptr().add(feature / PAD * PAD * layout.inputs + feature % PAD);
        for i in 0..layout.inputs {
            for (r, angle) in angles.iter_mut().enumerate() {
                let w = V::load(weights.add(r * V::LANES));
                for (t, a) in angle.iter_mut().enumerate() {
                    let x = V::splat(*inputs.get_unchecked(t * layout.inputs + i));
                    *a = a.add(x.mul(w));
                }
            }
            weights = weights.wrapping_add(PAD);
        }
        for (r, mut angle) in angles.into_iter().enumerate() {
            for a in &mut angle {
                *a = cosine_vector(*a);
            }
            V::accumulate(angle, discounts, sums.as_mut_ptr().add(feature + r * V::LANES));
        }
    }
}
