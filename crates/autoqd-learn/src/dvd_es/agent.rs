//! An agent: the weights of a network, and what it has seen.

use autoqd::embedding::RunningStatistics;
use autoqd::policy::PolicySpec;
use autoqd::random::NormalStream;
use serde::{Deserialize, Serialize};

use super::filter;

/// A member of the population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Parameters of the layers.
    pub weights: Vec<f64>,
    /// Statistics of all observations of its rollouts.
    pub seen: RunningStatistics,
}

impl Agent {
    /// A random network: weights normal with 1/sqrt(rows * columns), biases with 1/sqrt(rows).
    pub fn random(policy: &PolicySpec, seed: u64) -> Self {
        let mut stream = NormalStream::new(seed, b"dvd-init");
        let mut weights = Vec::new();
        for layer in policy.shapes() {
            for (count, over) in [
                (layer.weight_count(), layer.inputs * layer.outputs()),
                (layer.bias_count(), layer.outputs()),
            ] {
                let scale = 1.0 / (over as f64).sqrt();
                weights.extend((0..count).map(|_| scale * stream.normal()));
            }
        }
        Self { weights, seen: RunningStatistics::new(policy.observation_size) }
    }

    /// The parameters of its policy: the filter as it is now, then the weights.
    pub fn policy(&self) -> Vec<f64> {
        self.perturbed(&[], 0.0)
    }

    /// The parameters of its policy with `step * noise` added to the weights; no noise is none added.
    pub fn perturbed(&self, noise: &[f64], step: f64) -> Vec<f64> {
        let noise = noise.iter().copied().chain(std::iter::repeat(0.0));
        let moved = self.weights.iter().zip(noise).map(|(w, eps)| w + step * eps);
        filter::parameters(&self.seen).chain(moved).collect()
    }
}
