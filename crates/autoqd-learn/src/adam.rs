//! Adam (Kingma and Ba), over all parameters of a network.

use serde::{Deserialize, Serialize};

use crate::real::Real;
use crate::wide::wide;

const BETA: [f64; 2] = [0.9, 0.999];
const EPSILON: f64 = 1e-8;

/// The optimiser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adam<T = f32> {
    learning_rate: T,
    /// Largest norm of the gradient; a longer one is shortened to it.
    clip: Option<T>,
    step: u64,
    first: Vec<T>,
    second: Vec<T>,
}

impl<T: Real> Adam<T> {
    /// A fresh optimiser of so many parameters.
    pub fn new(parameters: usize, learning_rate: f64, clip: Option<T>) -> Self {
        let (first, second) = (vec![T::ZERO; parameters], vec![T::ZERO; parameters]);
        Self { learning_rate: T::of(learning_rate), clip, step: 0, first, second }
    }

    /// One step down the gradient.
    pub fn step(&mut self, parameters: &mut [T], gradient: &[T]) {
        self.step += 1;
        let beta = BETA.map(T::of);
        let correction = beta.map(|b| T::ONE - T::power(b, self.step));
        let (factor, rate, epsilon) = (self.factor(gradient), self.learning_rate, T::of(EPSILON));
        let (first, second) = (&mut self.first, &mut self.second);
        wide(
            #[inline(always)]
            || {
                let moments = first.iter_mut().zip(second.iter_mut());
                for ((value, g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
                    let g = *g * factor;
                    *m = beta[0] * *m + (T::ONE - beta[0]) * g;
                    *v = beta[1] * *v + (T::ONE - beta[1]) * g * g;
                    let denominator = T::root(*v / correction[1]) + epsilon;
                    *value -= rate * (*m / correction[0]) / denominator;
                }
            },
        );
    }

    /// Forgets the moments, but not how many steps were taken.
    pub fn forget(&mut self) {
        self.first.fill(T::ZERO);
        self.second.fill(T::ZERO);
    }

    /// Back to the state before the first step.
    pub fn restart(&mut self) {
        self.forget();
        self.step = 0;
    }

    /// First and second moments.
    pub fn moments(&self) -> (&[T], &[T]) {
        (&self.first, &self.second)
    }

    /// The optimiser with these moments after so many steps; none if there are not as many as parameters.
    pub fn continued(mut self, step: u64, moments: (Vec<T>, Vec<T>)) -> Option<Self> {
        let len = self.first.len();
        if moments.0.len() != len || moments.1.len() != len {
            return None;
        }
        (self.step, (self.first, self.second)) = (step, moments);
        Some(self)
    }

    /// How many parameters it is for.
    pub fn len(&self) -> usize {
        self.first.len()
    }
}

impl<T: Real> Adam<T> {
    fn factor(&self, gradient: &[T]) -> T {
        let Some(limit) = self.clip else { return T::ONE };
        let squares = gradient.iter().fold(0.0, |sum, g| sum + g.wide() * g.wide());
        let norm = T::of(squares.sqrt());
        if norm > limit { limit / norm } else { T::ONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas of the paper, in double precision.
    #[test]
    fn steps_are_those_of_the_formulas() {
        let gradients: [[f32; 2]; 3] = [[0.5, -2.0], [0.1, 3.0], [-0.7, 0.0]];
        let mut adam = Adam::new(2, 0.01, None);
        let mut parameters = [1.0f32, -1.0];
        let (mut expected, mut m, mut v) = ([1.0f64, -1.0], [0.0; 2], [0.0; 2]);
        for (t, gradient) in gradients.iter().enumerate() {
            adam.step(&mut parameters, gradient);
            let t = t as i32 + 1;
            for i in 0..2 {
                let g = f64::from(gradient[i]);
                m[i] = 0.9 * m[i] + 0.1 * g;
                v[i] = 0.999 * v[i] + 0.001 * g * g;
                let (m, v): (f64, f64) = (m[i] / (1.0 - 0.9f64.powi(t)), v[i] / (1.0 - 0.999f64.powi(t)));
                expected[i] -= 0.01 * m / (v.sqrt() + 1e-8);
            }
        }
        assert!(parameters.iter().zip(expected).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6));
    }

    #[test]
    fn a_long_gradient_is_shortened_and_a_short_one_is_not() {
        let adam = Adam::new(2, 0.01, Some(1.0f32));
        assert_eq!(adam.factor(&[3.0, 4.0]), 0.2);
        assert_eq!(adam.factor(&[0.3, 0.4]), 1.0);
        assert_eq!(Adam::new(2, 0.01, None).factor(&[3.0f32, 4.0]), 1.0);
    }

    #[test]
    fn without_memory_the_step_is_the_sign_times_a_growing_factor() {
        // 0.1 / (1 - 0.9^t) * sqrt(1 - 0.999^t) / sqrt(0.001)
        for (t, factor) in [(1, 1.0), (10, 0.48), (100, 0.98), (500, 1.98), (1000, 2.52), (2000, 2.94)] {
            let fresh = (vec![0.0; 2], vec![0.0; 2]);
            let mut adam = Adam::<f64>::new(2, 0.05, None).continued(t - 1, fresh).unwrap();
            let mut moved = [0.0; 2];
            adam.step(&mut moved, &[-3.0, 200.0]);
            assert!((moved[0] / 0.05 - factor).abs() < 0.006, "t = {t}: {moved:?}");
            assert!((moved[0] + moved[1]).abs() < 1e-6);
        }
    }
}
