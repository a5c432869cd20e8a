//! The form of a recording.

use crate::{EnvError, Perturbation, Seed};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

#[derive(Deserialize)]
pub(super) struct Recording {
    pub env: String,
    pub max_episode_steps: usize,
    #[cfg(feature = "mujoco")]
    #[serde(default)]
    pub model: BTreeMap<String, Numbers>,
    pub rollouts: Vec<Rollout>,
}

/// A number or a list of numbers.
#[cfg(feature = "mujoco")]
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Numbers {
    One(f64),
    Many(Vec<f64>),
}

#[cfg(feature = "mujoco")]
impl Numbers {
    pub fn as_slice(&self) -> &[f64] {
        match self {
            Numbers::One(value) => std::slice::from_ref(value),
            Numbers::Many(values) => values,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Rollout {
    #[serde(default)]
    pub kind: String,
    pub action_dtype: Dtype,
    pub friction: Option<f64>,
    #[serde(alias = "mass_scale")]
    pub mass: Option<f64>,
    pub friction_scale: Option<f64>,
    #[serde(default)]
    pub margin: crate::Margin,
    pub episodes: Vec<Episode>,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Dtype {
    Float32,
    Float64,
}

impl Rollout {
    pub fn perturbation(&self) -> Perturbation {
        Perturbation {
            friction_scale: self.friction_scale.unwrap_or(1.0),
            mass_scale: self.mass.unwrap_or(1.0),
            friction: self.friction,
            margin: self.margin,
            ..Perturbation::default()
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Episode {
    /// Kept as text: seeds may be wider than any number type. Null continues the random stream.
    pub reset_seed: Option<Box<RawValue>>,
    pub rng_after_reset: Option<Generator>,
    pub obs0: Vec<f64>,
    pub qpos0: Option<Vec<f64>>,
    pub qvel0: Option<Vec<f64>>,
    pub terrain_y: Option<Vec<f64>>,
    pub hull0: Option<Vec<f64>>,
    pub steps: usize,
    #[serde(rename = "return")]
    pub total: f64,
    pub descriptor: Option<Vec<f64>>,
    pub action: Vec<Vec<f64>>,
    pub obs: Vec<Vec<f64>>,
    pub reward: Vec<f64>,
    pub terminated: Vec<Flag>,
    pub truncated: Vec<Flag>,
    pub feet: Option<Vec<Vec<f64>>>,
    #[serde(default)]
    pub info: BTreeMap<String, Vec<f64>>,
    pub qpos: Option<Vec<Vec<f64>>>,
    pub qvel: Option<Vec<Vec<f64>>>,
    pub hull: Option<Vec<Vec<f64>>>,
}

/// 0 or 1, or a boolean.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
pub(super) enum Flag {
    Bool(bool),
    Number(u8),
}

impl From<Flag> for f64 {
    fn from(flag: Flag) -> f64 {
        match flag {
            Flag::Bool(value) => f64::from(u8::from(value)),
            Flag::Number(value) => f64::from(value),
        }
    }
}

/// State of numpy's generator.
#[derive(Deserialize)]
pub(super) struct Generator {
    pub state: String,
    pub inc: String,
    pub has_uint32: u8,
    pub uinteger: u32,
}

impl Episode {
    pub fn seed(&self) -> Result<Option<Seed>, EnvError> {
        match self.reset_seed.as_deref().map(RawValue::get) {
            None | Some("null") => Ok(None),
            Some(text) => text.trim_matches('"').parse().map(Some),
        }
    }

    /// Rejects lists of different lengths, so that the replay can index them.
    fn check(&self) -> Result<(), String> {
        let lists = [
            ("action", Some(self.action.len())),
            ("obs", Some(self.obs.len())),
            ("reward", Some(self.reward.len())),
            ("terminated", Some(self.terminated.len())),
            ("truncated", Some(self.truncated.len())),
            ("feet", self.feet.as_ref().map(Vec::len)),
            ("qpos", self.qpos.as_ref().map(Vec::len)),
            ("qvel", self.qvel.as_ref().map(Vec::len)),
            ("hull", self.hull.as_ref().map(Vec::len)),
        ];
        let info = self.info.iter().map(|(name, values)| (name.as_str(), Some(values.len())));
        match lists.into_iter().chain(info).find(|(_, length)| length.is_some_and(|n| n != self.steps)) {
            Some((name, Some(length))) => {
                Err(format!("'{name}' has {length} entries for {} steps", self.steps))
            }
            _ => Ok(()),
        }
    }
}

/// Reads a plain or gzipped recording.
pub(super) fn read(path: &Path) -> Result<Recording, EnvError> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|reason| EnvError::ReadFile { path: shown.clone(), reason })?;
    parse(&shown, bytes)
}

/// A recording from its bytes; `name` is for messages.
pub(super) fn parse(name: &str, bytes: Vec<u8>) -> Result<Recording, EnvError> {
    let golden = |message: String| EnvError::Golden { path: name.to_owned(), message };
    let text = if bytes.starts_with(&[0x1f, 0x8b]) { gunzip(&bytes).map_err(golden)? } else { bytes };
    let recording: Recording = serde_json::from_slice(&text).map_err(|e| golden(e.to_string()))?;
    recording.rollouts.iter().flat_map(|r| &r.episodes).try_for_each(Episode::check).map_err(golden)?;
    Ok(recording)
}

fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).map_err(|e| format!("not gzip: {e}"))?;
    Ok(text)
}
