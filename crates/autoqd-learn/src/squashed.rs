//! The squashed Gaussian of SAC's actor: a = tanh(mean + deviation * noise).

use crate::real::Real;

/// Limits of the logarithm of the deviation.
const LOG_DEVIATION: [f64; 2] = [-20.0, 2.0];
/// Keeps the logarithm of a slope of 0 finite, as in Stable-Baselines3.
const SOFTENING: f64 = 1e-6;
/// Half the logarithm of 2 pi.
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_7;

/// Actions drawn for a batch, and how likely they were.
#[derive(Clone, Debug)]
pub struct Squashed<T> {
    /// One row per sample.
    pub actions: Vec<T>,
    /// Logarithm of the density at each sample's action.
    pub log_density: Vec<T>,
    /// Per action, deviation times noise: what the action's sum moves by with the logarithm of the deviation.
    stretched: Vec<T>,
}

impl<T> Default for Squashed<T> {
    fn default() -> Self {
        Self { actions: Vec::new(), log_density: Vec::new(), stretched: Vec::new() }
    }
}

impl<T: Real> Squashed<T> {
    /// Draws actions from the actor's outputs: per sample all means, then the logarithms of all deviations.
    pub fn draw(&mut self, outputs: &[T], noise: &[T], size: usize) {
        let [low, high] = LOG_DEVIATION.map(T::of);
        let (half, softening, constant) = (T::of(0.5), T::of(SOFTENING), T::of(HALF_LOG_TAU));
        let Self { actions, log_density, stretched } = self;
        actions.clear();
        log_density.clear();
        stretched.clear();
        for (row, noise) in outputs.chunks_exact(2 * size).zip(noise.chunks_exact(size)) {
            let (means, logs) = row.split_at(size);
            let mut sum = T::ZERO;
            for ((mean, log), xi) in means.iter().zip(logs).zip(noise) {
                let log = limited(*log, low, high);
                let moved = T::exp(log) * *xi;
                let action = T::precise_tanh(*mean + moved);
                let slope = T::ONE - action * action + softening;
                sum += -(half * *xi * *xi) - log - constant - T::ln(slope);
                actions.push(action);
                stretched.push(moved);
            }
            log_density.push(sum);
        }
    }

    /// The gradient by the actor's outputs of a loss whose gradients by the log densities and by the actions are given.
    pub fn backward(&self, outputs: &[T], by_density: T, by_action: &[T], gradient: &mut Vec<T>) {
        let [low, high] = LOG_DEVIATION.map(T::of);
        let (two, softening) = (T::of(2.0), T::of(SOFTENING));
        let size = self.actions.len() / self.log_density.len();
        gradient.clear();
        for (s, row) in outputs.chunks_exact(2 * size).enumerate() {
            let own = s * size..(s + 1) * size;
            let by_sum = |k: usize| {
                let action = self.actions[k];
                let slope = T::ONE - action * action;
                by_density * (two * action * slope / (slope + softening)) + by_action[k] * slope
            };
            gradient.extend(own.clone().map(by_sum));
            for (k, log) in own.zip(&row[size..]) {
                // Beyond the limits the deviation does not move.
                let free = *log >= low && *log <= high;
                gradient.push(if free { by_sum(k) * self.stretched[k] - by_density } else { T::ZERO });
            }
        }
    }
}

fn limited<T: Real>(x: T, low: T, high: T) -> T {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differences::assert_gradient;
    use crate::random::Stream;

    #[test]
    fn the_gradient_of_the_loss_is_that_of_finite_differences() {
        let mut stream = Stream::new(9);
        let mut random = |n: usize| (0..n).map(|_| f64::from(stream.symmetric(1.5))).collect::<Vec<f64>>();
        let (outputs, noise, weights) = (random(2 * 3 * 7), random(3 * 7), random(3 * 7));
        let alpha = 0.3;
        let loss = |outputs: &[f64]| {
            let mut drawn = Squashed::default();
            drawn.draw(outputs, &noise, 3);
            let entropy: f64 = drawn.log_density.iter().map(|l| alpha * l).sum();
            entropy + drawn.actions.iter().zip(&weights).map(|(a, w)| a * w).sum::<f64>()
        };
        let (mut drawn, mut gradient) = (Squashed::default(), Vec::new());
        drawn.draw(&outputs, &noise, 3);
        drawn.backward(&outputs, alpha, &weights, &mut gradient);
        assert_gradient(&outputs, &gradient, loss);
    }

    #[test]
    fn the_density_is_that_of_a_normal_seen_through_tanh() {
        let (mean, log, xi) = (0.4, -0.7, 1.3);
        let mut drawn = Squashed::<f64>::default();
        drawn.draw(&[mean, log], &[xi], 1);
        let u: f64 = mean + log.exp() * xi;
        let normal = (-0.5 * xi * xi).exp() / (log.exp() * (2.0 * std::f64::consts::PI).sqrt());
        let expected = (normal / (1.0 - u.tanh().powi(2) + 1e-6)).ln();
        assert!((drawn.log_density[0] - expected).abs() < 1e-12);
        assert!((drawn.actions[0] - u.tanh()).abs() < 1e-15);
    }
}
