//! What makes scores comparable, and the file that keeps it.

use std::path::Path;

use autoqd_env::EnvSpec;
use serde::{Deserialize, Serialize};

use crate::error::MeasureError;
use crate::protocol::Protocol;
use crate::store::save_json;
use autoqd::embedding::Normalizer;

/// Format version of a reference file.
const VERSION: u32 = 2;

/// Beyond the return of any episode; the sum over the cells of a grid still prints.
const LARGEST_RETURN: f64 = 1e15;

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
        let reference: Self = serde_json::from_value(value).map_err(|e| wrong(e.to_string()))?;
        reference.check_numbers().map_err(|what| {
            wrong(format!(
                "{what}; take an unchanged one, or make it again with `autoqd eval --write-reference`"
            ))
        })?;
        Ok(reference)
    }

    /// Rejects numbers that `autoqd eval` never writes, and under which scores would mean nothing.
    fn check_numbers(&self) -> Result<(), String> {
        let Protocol { episodes, recheck_episodes, features, gamma, normalizer_policies, .. } = self.protocol;
        let counts = [
            ("episodes", episodes),
            ("recheck_episodes", recheck_episodes),
            ("features", features),
            ("normalizer_policies", normalizer_policies),
        ];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(format!("{name} is 0, and must be at least 1"));
        }
        if !(gamma > 0.0 && gamma < 1.0) {
            return Err(format!("gamma is {gamma:e}, and must lie between 0 and 1"));
        }
        let widths = [
            ("bandwidth", self.bandwidth),
            ("bandwidth_length_normalized", self.bandwidth_length_normalized),
        ];
        for (name, width) in widths {
            if let Some(width) = width.filter(|width| !(width.is_normal() && *width > 0.0)) {
                return Err(format!("{name} is {width:e}, and must be above 0"));
            }
        }
        let sizes = [("qd_offset", Some(self.qd_offset)), ("best_mean", self.best_mean)];
        for (name, value) in sizes {
            if let Some(value) = value.filter(|value| !(value.abs() <= LARGEST_RETURN)) {
                return Err(format!("{name} is {value:e}, which is no return of an episode"));
            }
        }
        let (mean, std) = (self.normalizer.mean(), self.normalizer.std());
        if !mean.iter().all(|x| x.is_finite()) || !std.iter().all(|x| x.is_finite() && *x >= 0.0) {
            return Err(
                "its normalizer has a mean that is not finite, or a std that is not finite or below 0"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Writes a reference file.
    pub fn write(&self, path: &Path) -> Result<(), MeasureError> {
        Ok(save_json(path, self)?)
    }

    /// Rejects a reference of another task.
    pub fn check(&self, path: &Path, spec: &EnvSpec) -> Result<(), MeasureError> {
        let (sees, size) = (self.normalizer.size(), spec.observation_size);
        let reason = if self.task != spec.name {
            format!("is of task '{}', but the runs are of '{}'", self.task, spec.name)
        } else if sees != size {
            format!(
                "normalizes observations of {sees} numbers, but those of task '{}' have {size}",
                self.task
            )
        } else {
            return Ok(());
        };
        let reason = format!("{reason}; leave it out or make one");
        Err(MeasureError::Reference { path: path.to_owned(), reason })
    }
}
