//! How populations are evaluated, the same way for every method.

use std::path::Path;
use std::sync::Arc;

use autoqd_env::EnvSpec;
use serde::{Deserialize, Serialize};

use crate::bandwidth::Pooling;
use crate::error::MeasureError;
use crate::store::save_json;
use autoqd::embedding::{Embedding, FeatureMap, FeatureOptions, Normalizer, PsiOptions};
use autoqd::seeds::{Purpose, derive};

/// Format version of a reference file.
const VERSION: u32 = 2;

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
        check_episodes(self.episodes.max(self.recheck_episodes), self.features)?;
        let inputs = (spec.observation_size + spec.action_size) as f64;
        let bytes = 8.0 * self.features as f64 * inputs;
        Ok(autoqd::memory::require("the evaluation embedding", bytes, "`features` of the reference")?)
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

/// What makes scores comparable: two evaluations under the same reference have the same normaliser, features, kernel
/// and scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredReference")]
pub struct Reference {
    /// Format version.
    pub version: u32,
    /// Name of the task.
    pub task: String,
    /// How it was evaluated.
    pub protocol: Protocol,
    /// Frozen normaliser of observations.
    pub normalizer: Normalizer,
    /// gamma of exp(-gamma d^2); none if all policies were alike.
    pub bandwidth: Option<f64>,
    /// The same for embeddings divided by 1 - gamma^T, which are on a scale of their own.
    pub bandwidth_length_normalized: Option<f64>,
    /// Subtracted from the objective in the QD score and in the quality weight, as `qd_offset` of a run is.
    pub qd_offset: f64,
    /// Best population mean of a single run, which scales the quality weight; none without a policy.
    pub best_mean: Option<f64>,
}

/// A reference of any version.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredReference {
    #[serde(rename = "version")]
    _version: u32,
    task: String,
    protocol: Protocol,
    normalizer: Normalizer,
    bandwidth: Option<f64>,
    bandwidth_length_normalized: Option<f64>,
    qd_offset: Option<f64>,
    /// Of version 1, which added it.
    offset: Option<f64>,
    best_mean: Option<f64>,
}

impl TryFrom<StoredReference> for Reference {
    type Error = &'static str;

    fn try_from(stored: StoredReference) -> Result<Self, Self::Error> {
        Ok(Self {
            version: VERSION,
            task: stored.task,
            protocol: stored.protocol,
            normalizer: stored.normalizer,
            bandwidth: stored.bandwidth,
            bandwidth_length_normalized: stored.bandwidth_length_normalized,
            qd_offset: stored
                .qd_offset
                .or(stored.offset.map(|added| -added))
                .ok_or("qd_offset is missing")?,
            best_mean: stored.best_mean,
        })
    }
}

impl Reference {
    /// A reference from its parts; the bandwidths are those of the embeddings as they are and length-normalised.
    pub fn new(
        spec: &EnvSpec,
        protocol: Protocol,
        normalizer: Normalizer,
        [bandwidth, bandwidth_length_normalized]: [Option<f64>; 2],
        best_mean: Option<f64>,
    ) -> Self {
        let (task, qd_offset) = (spec.name.clone(), spec.objective_min);
        Self {
            version: VERSION,
            task,
            protocol,
            normalizer,
            bandwidth,
            bandwidth_length_normalized,
            qd_offset,
            best_mean,
        }
    }

    /// Reads a reference file.
    pub fn read(path: &Path) -> Result<Self, MeasureError> {
        let wrong = |reason: String| MeasureError::Reference { path: path.to_owned(), reason };
        let text = std::fs::read(path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(|e| wrong(e.to_string()))?;
        match value["version"].as_u64() {
            Some(found) if found <= u64::from(VERSION) => {}
            Some(found) => return Err(wrong(format!("has format version {found}; update autoqd to use it"))),
            None => {
                return Err(wrong(
                    "is not a reference file; `autoqd eval --write-reference` writes one".to_owned(),
                ));
            }
        }
        serde_json::from_value(value).map_err(|e| wrong(e.to_string()))
    }

    /// Writes a reference file.
    pub fn write(&self, path: &Path) -> Result<(), MeasureError> {
        Ok(save_json(path, self)?)
    }

    /// Rejects a reference of another task.
    pub fn check(&self, path: &Path, spec: &EnvSpec) -> Result<(), MeasureError> {
        if self.task == spec.name && self.normalizer.size() == spec.observation_size {
            return Ok(());
        }
        let reason = format!(
            "is of task '{}', but the runs are of '{}'; leave it out or make one",
            self.task, spec.name
        );
        Err(MeasureError::Reference { path: path.to_owned(), reason })
    }
}
