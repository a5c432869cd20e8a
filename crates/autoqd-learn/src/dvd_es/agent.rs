//! An agent: the weights of a network, and what it has seen.

use autoqd::embedding::RunningStatistics;
use autoqd::evaluator::Evaluation;
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

/// A policy as it was evaluated after an update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// Filter and weights.
    pub parameters: Vec<f64>,
    /// Iteration, from 1.
    pub iteration: u64,
    /// Mean return.
    pub objective: f64,
    /// Population standard deviation of the return.
    pub return_std: f64,
    /// Mean length of the episodes.
    pub length_mean: f64,
    /// The task's measures, mean over the episodes.
    pub measures: Vec<f64>,
    /// Seeds of the episodes.
    pub seeds: Vec<u64>,
    /// Whether an episode diverged.
    pub diverged: bool,
}

impl Evaluated {
    /// A policy and what came of it.
    pub fn new(parameters: &[f64], iteration: u64, evaluation: &Evaluation, seeds: &[u64]) -> Self {
        let returns = evaluation.episodes.iter().map(|episode| episode.total_reward);
        Self {
            parameters: parameters.to_vec(),
            iteration,
            objective: returns.sum::<f64>() / evaluation.episodes.len() as f64,
            return_std: evaluation.return_std(),
            length_mean: evaluation.mean_length(),
            measures: evaluation.measures(),
            seeds: seeds.to_vec(),
            diverged: evaluation.diverged() > 0,
        }
    }

    /// Whether it should replace the best so far. One that diverged replaces nothing.
    pub fn beats(&self, best: &Self) -> bool {
        !self.diverged && (best.diverged || self.objective > best.objective)
    }
}
