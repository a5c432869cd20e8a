//! How populations are evaluated, the same way for every method.

use std::sync::Arc;

use autoqd_env::EnvSpec;
use serde::{Deserialize, Serialize};

use crate::error::MeasureError;
use autoqd::embedding::{Embedding, FeatureMap, FeatureOptions, Normalizer, PsiOptions};
use autoqd::seeds::{Purpose, derive};
use autoqd_statistics::Pooling;

/// What the evaluation does; the defaults are those of the paper where it gives any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Protocol {
    /// Rollouts of every policy, with the same seeds for all.
    pub episodes: usize,
    /// Fresh rollouts of the best policy, whose first result is optimistic because it was chosen for it.
    pub recheck_episodes: usize,
    /// Random Fourier features of the evaluation embedding.
    pub features: usize,
    /// Discount of the embedding.
    pub gamma: f64,
    /// Policies per run whose rollouts set the normaliser of observations.
    pub normalizer_policies: usize,
    /// How the runs are pooled for the kernel's width.
    pub pooling: Pooling,
    /// Seed of the evaluation; not of any run.
    pub seed: u64,
}

impl Default for Protocol {
    fn default() -> Self {
        Self {
            episodes: 5,
            recheck_episodes: 32,
            features: 1000,
            gamma: 0.999,
            normalizer_policies: 100,
            pooling: Pooling::Equal,
            seed: 0,
        }
    }
}

/// What a set of seeds is for; no two rounds share a seed, and none is a seed of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Round {
    /// First pass, for the normaliser.
    Normalizer = 1,
    /// Every policy.
    Evaluation = 2,
    /// The best policy again.
    Recheck = 3,
    /// Rollouts for the stability of descriptors.
    Stability = 4,
    /// First screening of all policies in a changed task.
    Screening = 5,
    /// The final numbers in a changed task.
    Final = 6,
    /// The same policies on both simulators.
    Simulators = 7,
}

/// The seeds of a round: a pure function, the same for every policy and method.
pub fn round_seeds(seed: u64, round: Round, episodes: usize) -> Vec<u64> {
    (0..episodes as u64).map(|e| derive(seed, Purpose::Evaluation, [round as u64, 0, e])).collect()
}

/// Rejects numbers of episodes whose results do not fit into memory.
pub(crate) fn check_episodes(episodes: usize, features: usize) -> Result<(), MeasureError> {
    let bytes = 8.0 * episodes as f64 * (12.0 + features as f64);
    Ok(autoqd::memory::require(
        "the episodes of a policy",
        bytes,
        "--episodes, or `episodes` of the reference",
    )?)
}

impl Protocol {
    /// Rejects a protocol, as a damaged reference file may hold it, whose numbers do not fit into memory.
    pub(crate) fn check_memory(&self, spec: &EnvSpec) -> Result<(), MeasureError> {
        let inputs = (spec.observation_size + spec.action_size) as f64;
        let bytes = 8.0 * self.features as f64 * inputs;
        autoqd::memory::require("the evaluation embedding", bytes, "`features` of the reference")?;
        check_episodes(self.episodes.max(self.recheck_episodes), self.features)
    }

    /// The evaluation embedding of a task: features from a seed fixed per task, under a frozen normaliser.
    pub fn embedding(&self, spec: &EnvSpec, normalizer: Normalizer) -> Result<Arc<Embedding>, MeasureError> {
        let options = FeatureOptions { dimension: self.features, ..FeatureOptions::default() };
        let inputs = spec.observation_size + spec.action_size;
        let features = FeatureMap::sample(&options, inputs, self.feature_seed(&spec.name))?;
        let psi = PsiOptions { gamma: self.gamma, length_normalized: false };
        Ok(Arc::new(Embedding::new(Arc::new(features), normalizer, psi)?))
    }

    fn feature_seed(&self, task: &str) -> u64 {
        let digest = blake3::hash(task.as_bytes());
        let word = digest.as_bytes()[..8].iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        derive(self.seed, Purpose::Features, [word, 0, 0])
    }
}
