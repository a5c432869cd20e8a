//! What `eval`, `adapt` and `stability` leave in the folder of a run, and how it is read again.
//!
//! Each file is JSON with a format version, the digest of the archive that was measured, and the result. Fields may be
//! added without a new version; changing the meaning of one requires a new version.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adaptation::{Adaptation, AdaptationKnob};
use crate::descriptor_stability::DescriptorStability;
use crate::error::MeasureError;
use crate::evaluation::{RunMetrics, TaskEvaluation};
use crate::reference::Reference;
use crate::run::LoadedRun;
use crate::store::save_json;

/// Format version of all files of measurements.
const VERSION: u64 = 1;

/// A result that is kept in a file of its own, under the folder for results about a run.
pub trait Measurement: Serialize + DeserializeOwned {
    /// The file, from the folder of the results.
    const FILE: &'static str;
    /// The command that writes it.
    const COMMAND: &'static str;
}

/// `eval/metrics.json`: the scores of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEvaluation {
    /// Whether the reference was made from the runs of that evaluation alone.
    pub local: bool,
    /// The scores.
    pub metrics: RunMetrics,
    /// What makes them comparable.
    pub reference: Reference,
}

impl Measurement for RunEvaluation {
    const FILE: &'static str = "eval/metrics.json";
    const COMMAND: &'static str = "eval";
}

/// `adapt/adaptation.json`: the part of a study under changed dynamics that is about one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunAdaptation {
    /// The study, with the curves of this run only.
    pub adaptation: Adaptation,
}

impl Measurement for RunAdaptation {
    const FILE: &'static str = "adapt/adaptation.json";
    const COMMAND: &'static str = "adapt";
}

/// `eval/stability.json`: how stable the run's descriptor is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStability {
    /// The result.
    pub stability: DescriptorStability,
}

impl Measurement for RunStability {
    const FILE: &'static str = "eval/stability.json";
    const COMMAND: &'static str = "stability";
}

impl TaskEvaluation {
    /// The part that is about one run, by its position.
    pub fn of_run(&self, run: usize) -> RunEvaluation {
        RunEvaluation {
            local: self.local,
            metrics: self.runs[run].clone(),
            reference: self.reference.clone(),
        }
    }
}

impl Adaptation {
    /// The part that is about one run, by its position.
    pub fn of_run(&self, run: usize) -> RunAdaptation {
        let knobs = self
            .knobs
            .iter()
            .map(|knob| AdaptationKnob { vary: knob.vary.clone(), curves: vec![knob.curves[run].clone()] });
        RunAdaptation { adaptation: Adaptation { knobs: knobs.collect(), ..self.clone() } }
    }
}

/// A stored measurement, with the digest of what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored<T> {
    /// Digest of the archive that was measured, as `autoqd verify` prints it; files of early versions do not have it.
    pub archive: Option<String>,
    /// The result.
    pub result: T,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    version: u64,
    archive: Option<&'a str>,
    #[serde(flatten)]
    result: &'a T,
}

impl<T: Measurement> Stored<T> {
    /// A result about a run as it is now.
    pub fn new(run: &LoadedRun, result: T) -> Self {
        Self { archive: Some(run.table.digest()), result }
    }

    /// Writes it into the folder for results about the run.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, MeasureError> {
        let path = folder.join(T::FILE);
        let (version, archive) = (VERSION, self.archive.as_deref());
        save_json(&path, &Envelope { version, archive, result: &self.result })?;
        Ok(path)
    }

    /// Reads the result in a folder; `None` if nothing was measured.
    pub fn read(folder: &Path) -> Result<Option<Self>, MeasureError> {
        let path = folder.join(T::FILE);
        let wrong =
            |reason: String| MeasureError::Measurement { path: path.clone(), reason, command: T::COMMAND };
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(wrong(format!("cannot be read: {error}"))),
        };
        let value: Value =
            serde_json::from_slice(&bytes).map_err(|e| wrong(format!("is not a measurement ({e})")))?;
        match value["version"].as_u64() {
            Some(VERSION) => {}
            Some(other) => return Err(wrong(format!("has format version {other}, not {VERSION}"))),
            None => return Err(wrong("has no format version".to_owned())),
        }
        let archive = value["archive"].as_str().map(str::to_owned);
        let result = serde_json::from_value(value).map_err(|e| wrong(format!("is damaged ({e})")))?;
        Ok(Some(Self { archive, result }))
    }

    /// Whether the archive has changed since; unknown for files without a digest.
    pub fn is_stale(&self, archive_digest: &str) -> bool {
        self.archive.as_ref().is_some_and(|measured| measured != archive_digest)
    }
}
