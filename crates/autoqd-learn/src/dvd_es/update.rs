//! The joint update of all agents: from returns and determinants to a step of Adam.

use super::diversity::{SOFTENING, standardize};
use crate::adam::Adam;

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

/// What a step of Adam up the gradient adds to the parameters.
pub fn ascend(adam: &mut Adam<f64>, gradient: &[f64]) -> Vec<f64> {
    let down: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut step = vec![0.0; gradient.len()];
    adam.step(&mut step, &down);
    step
}

#[cfg(test)]
mod tests {
    use super::*;

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
