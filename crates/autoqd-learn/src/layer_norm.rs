//! Layer normalisation (Ba, Kiros and Hinton, 2016): every sample's sums of a layer get mean 0 and variance 1, and then a
//! scale and a shift that are learned for each unit.

use crate::real::{Real, zeros};

/// Keeps the deviation of equal sums above 0, as in PyTorch.
const SOFTENING: f64 = 1e-5;

/// What the backward pass needs of a forward pass.
#[derive(Clone, Debug)]
pub struct Normalized<T> {
    /// The sums with mean 0 and variance 1, one row per sample.
    values: Vec<T>,
    /// One over the deviation of each sample's sums.
    inverse: Vec<T>,
}

impl<T> Default for Normalized<T> {
    fn default() -> Self {
        Self { values: Vec::new(), inverse: Vec::new() }
    }
}

impl<T: Real> Normalized<T> {
    /// Normalises rows of sums in place.
    pub fn forward(&mut self, scale: &[T], shift: &[T], y: &mut [T]) {
        let width = scale.len();
        let share = T::of(1.0 / width as f64);
        zeros(&mut self.values, y.len());
        self.inverse.clear();
        for (row, values) in y.chunks_exact_mut(width).zip(self.values.chunks_exact_mut(width)) {
            let mean = row.iter().fold(T::ZERO, |sum, y| sum + *y) * share;
            let variance = row.iter().fold(T::ZERO, |sum, y| sum + (*y - mean) * (*y - mean)) * share;
            let inverse = T::ONE / T::root(variance + T::of(SOFTENING));
            self.inverse.push(inverse);
            for (((y, value), scale), shift) in row.iter_mut().zip(values).zip(scale).zip(shift) {
                *value = (*y - mean) * inverse;
                *y = *value * *scale + *shift;
            }
        }
    }

    /// Adds the gradients of scale and shift, from that of the normalised outputs.
    pub fn backward(&self, gradient: &[T], of_scale: &mut [T], of_shift: &mut [T]) {
        let width = of_scale.len();
        for (row, values) in gradient.chunks_exact(width).zip(self.values.chunks_exact(width)) {
            for (((g, value), scale), shift) in
                row.iter().zip(values).zip(of_scale.iter_mut()).zip(of_shift.iter_mut())
            {
                *scale += *g * *value;
                *shift += *g;
            }
        }
    }

    /// Turns the gradient of the normalised outputs into that of the sums.
    pub fn backward_to_sums(&self, scale: &[T], gradient: &mut [T]) {
        let width = scale.len();
        let share = T::of(1.0 / width as f64);
        let rows = gradient.chunks_exact_mut(width).zip(self.values.chunks_exact(width));
        for ((row, values), inverse) in rows.zip(&self.inverse) {
            let (mut mean, mut along) = (T::ZERO, T::ZERO);
            for ((g, value), scale) in row.iter_mut().zip(values).zip(scale) {
                *g *= *scale;
                mean += *g;
                along += *g * *value;
            }
            let (mean, along) = (mean * share, along * share);
            row.iter_mut().zip(values).for_each(|(g, value)| *g = *inverse * (*g - mean - *value * along));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differences::assert_gradient;
    use crate::random::Stream;

    fn random(count: usize, stream: &mut Stream) -> Vec<f64> {
        (0..count).map(|_| f64::from(stream.symmetric(2.0))).collect()
    }

    #[test]
    fn rows_get_mean_0_and_variance_1_and_equal_sums_stay_finite() {
        let mut y = vec![1.0, 2.0, 6.0, 5.0, 5.0, 5.0];
        Normalized::default().forward(&[1.0; 3], &[0.0; 3], &mut y);
        let expected = [-0.925_820, -0.462_910, 1.388_730, 0.0, 0.0, 0.0];
        assert!(y.iter().zip(expected).all(|(a, b): (&f64, f64)| (a - b).abs() < 2e-6), "{y:?}");
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let mut stream = Stream::new(6);
        let (sums, scale) = (random(4 * 5, &mut stream), random(5, &mut stream));
        let (shift, weights) = (random(5, &mut stream), random(4 * 5, &mut stream));
        let value = |sums: &[f64], scale: &[f64], shift: &[f64]| {
            let mut y = sums.to_vec();
            Normalized::default().forward(scale, shift, &mut y);
            y.iter().zip(&weights).map(|(y, w)| y * w).sum::<f64>()
        };
        let (mut normalized, mut y) = (Normalized::default(), sums.clone());
        normalized.forward(&scale, &shift, &mut y);
        let (mut of_scale, mut of_shift) = (vec![0.0; 5], vec![0.0; 5]);
        normalized.backward(&weights, &mut of_scale, &mut of_shift);
        let mut of_sums = weights.clone();
        normalized.backward_to_sums(&scale, &mut of_sums);
        assert_gradient(&scale, &of_scale, |moved| value(&sums, moved, &shift));
        assert_gradient(&shift, &of_shift, |moved| value(&sums, &scale, moved));
        assert_gradient(&sums, &of_sums, |moved| value(moved, &scale, &shift));
    }
}
