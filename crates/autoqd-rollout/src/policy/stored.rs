//! The shape of a policy as it is stored: JSON with a version.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{FilterSpec, LayerSpec, PolicySpec, Squash};
use crate::Error;

const VERSION: u32 = 1;

/// What is written; a later version may add fields.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    version: u32,
    observation_size: usize,
    filter: Option<FilterSpec>,
    layers: Vec<LayerSpec>,
    squash: Squash,
    action_low: Vec<f64>,
    action_high: Vec<f64>,
}

impl From<PolicySpec> for Stored {
    fn from(spec: PolicySpec) -> Self {
        let PolicySpec { observation_size, filter, layers, squash, action_low, action_high } = spec;
        Self { version: VERSION, observation_size, filter, layers, squash, action_low, action_high }
    }
}

impl TryFrom<Stored> for PolicySpec {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self, Error> {
        check_version(stored.version)?;
        let Stored { observation_size, filter, layers, squash, action_low, action_high, .. } = stored;
        let spec = Self { observation_size, filter, layers, squash, action_low, action_high };
        spec.validate()?;
        Ok(spec)
    }
}

fn check_version(version: u32) -> Result<(), Error> {
    match version {
        VERSION => Ok(()),
        _ => Err(Error::invalid(
            "version of the stored shape of the policies",
            version,
            "1; a newer autoqd wrote it, use that one",
        )),
    }
}

impl PolicySpec {
    /// The shape as run folders keep it.
    pub fn to_json(&self) -> Value {
        json!(self)
    }

    /// A shape that a run folder keeps, checked.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let unreadable = |e: serde_json::Error| {
            Error::invalid("the stored shape of the policies", e, "JSON as `autoqd run` writes it")
        };
        // First by itself: what a later version wrote may not be readable at all.
        let Version { version } = serde_json::from_str(text).map_err(unreadable)?;
        check_version(version)?;
        serde_json::from_str(text).map_err(unreadable)
    }
}
