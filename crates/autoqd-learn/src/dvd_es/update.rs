//! The joint update of all agents: from returns and determinants to a step of Adam.

use serde::{Deserialize, Serialize};

use super::diversity::{SOFTENING, standardize};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// What one iteration's perturbations were worth. Pairs are in order, the positive one of each first.
pub struct Outcomes<'a> {
    /// Returns of each agent's perturbed policies.
    pub returns: &'a [Vec<f64>],
    /// Determinants over the agents; none where diversity does not count or cannot be told yet.
    pub determinants: Option<&'a [f64]>,
    /// Weight of diversity.
    pub lambda: f64,
}

impl Outcomes<'_> {
    /// For each agent the difference of the two joint objectives of each pair. All agents share the determinants.
    pub fn differences(&self) -> Vec<Vec<f64>> {
        let mut shared = self.determinants.unwrap_or_default().to_vec();
        standardize(&mut shared);
        let agent = |returns: &Vec<f64>| {
            let mut own = returns.clone();
            standardize(&mut own);
            let diversity = shared.iter().copied().chain(std::iter::repeat(0.0));
            let joint: Vec<f64> =
                own.iter().zip(diversity).map(|(r, d)| self.lambda * d + (1.0 - self.lambda) * r).collect();
            joint.chunks_exact(2).map(|pair| pair[0] - pair[1]).collect()
        };
        self.returns.iter().map(agent).collect()
    }
}

/// The mean of the perturbations, weighted by their differences; `noise` has one row per pair.
pub fn gradient(differences: &[f64], noise: &[f64], parameters: usize) -> Vec<f64> {
    let mut sum = vec![0.0; parameters];
    for (difference, row) in differences.iter().zip(noise.chunks_exact(parameters)) {
        sum.iter_mut().zip(row).for_each(|(sum, eps)| *sum += difference * eps);
    }
    let n = differences.len() as f64;
    sum.iter_mut().for_each(|sum| *sum /= n);
    sum
}

/// Scales the gradient of all agents to the norm `length`; returns the norm it had.
pub fn scale_to(gradient: &mut [f64], length: usize) -> f64 {
    let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    let divisor = norm / length as f64 + SOFTENING;
    gradient.iter_mut().for_each(|g| *g /= divisor);
    norm
}

/// Adam, upwards, over the parameters of all agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Adam {
    /// Moments of 0.
    pub fn new(parameters: usize) -> Self {
        Self { first: vec![0.0; parameters], second: vec![0.0; parameters] }
    }

    /// What is to be added to the parameters in step `t`, from 1.
    pub fn step(&mut self, gradient: &[f64], t: u64, learning_rate: f64) -> Vec<f64> {
        let correction = |beta: f64| 1.0 - libm::pow(beta, t as f64);
        let (of_first, of_second) = (correction(BETA1), correction(BETA2));
        let moments = self.first.iter_mut().zip(&mut self.second);
        let delta = |((m, v), g): ((&mut f64, &mut f64), &f64)| {
            *m = BETA1 * *m + (1.0 - BETA1) * g;
            *v = BETA2 * *v + (1.0 - BETA2) * g * g;
            learning_rate * (*m / of_first) / ((*v / of_second).sqrt() + EPSILON)
        };
        moments.zip(gradient).map(delta).collect()
    }

    /// Forgets the moments, as the released code does after every step.
    pub fn forget(&mut self) {
        self.first.fill(0.0);
        self.second.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_memory_the_step_is_the_sign_times_a_growing_factor() {
        // 0.1 / (1 - 0.9^t) * sqrt(1 - 0.999^t) / sqrt(0.001)
        for (t, factor) in [(1, 1.0), (10, 0.48), (100, 0.98), (500, 1.98), (1000, 2.52), (2000, 2.94)] {
            let mut adam = Adam::new(2);
            let delta = adam.step(&[3.0, -200.0], t, 0.05);
            assert!((delta[0] / 0.05 - factor).abs() < 0.006, "t = {t}: {delta:?}");
            assert!((delta[0] + delta[1]).abs() < 1e-6);
        }
    }

    #[test]
    fn without_determinants_only_the_share_of_the_returns_counts() {
        let returns = [vec![1.0, 3.0, 2.0, 2.0]];
        let with = |lambda, determinants| Outcomes { returns: &returns, determinants, lambda }.differences();
        let plain = with(0.0, None);
        assert_eq!(with(0.0, Some(&[5.0, 1.0, 0.0, 2.0][..])), plain);
        assert_eq!(with(0.5, Some(&[5.0; 4][..]))[0][0], plain[0][0] / 2.0);
        assert!(plain[0][0] < 0.0 && plain[0][1] == 0.0);
    }
}
