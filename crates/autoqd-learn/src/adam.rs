//! Adam (Kingma and Ba), over all parameters of a network.

const BETA: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;

/// The optimiser.
pub struct Adam {
    learning_rate: f32,
    /// Largest norm of the gradient; a longer one is shortened to it.
    clip: Option<f32>,
    step: i32,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Adam {
    /// A fresh optimiser of so many parameters.
    pub fn new(parameters: usize, learning_rate: f64, clip: Option<f32>) -> Self {
        let (first, second) = (vec![0.0; parameters], vec![0.0; parameters]);
        Self { learning_rate: learning_rate as f32, clip, step: 0, first, second }
    }

    /// One step down the gradient.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32]) {
        self.step += 1;
        let correction = BETA.map(|b| 1.0 - libm::powf(b, self.step as f32));
        let factor = self.factor(gradient);
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((value, g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
            let g = g * factor;
            *m = BETA[0] * *m + (1.0 - BETA[0]) * g;
            *v = BETA[1] * *v + (1.0 - BETA[1]) * g * g;
            let denominator = (*v / correction[1]).sqrt() + EPSILON;
            *value -= self.learning_rate * (*m / correction[0]) / denominator;
        }
    }

    fn factor(&self, gradient: &[f32]) -> f32 {
        let Some(limit) = self.clip else { return 1.0 };
        let squares = gradient.iter().fold(0.0, |sum, g| sum + f64::from(*g) * f64::from(*g));
        let norm = squares.sqrt() as f32;
        if norm > limit { limit / norm } else { 1.0 }
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
        let adam = Adam::new(2, 0.01, Some(1.0));
        assert_eq!(adam.factor(&[3.0, 4.0]), 0.2);
        assert_eq!(adam.factor(&[0.3, 0.4]), 1.0);
        assert_eq!(Adam::new(2, 0.01, None).factor(&[3.0, 4.0]), 1.0);
    }
}
