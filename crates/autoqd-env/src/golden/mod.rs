//! Replays recordings of Gymnasium and compares every number, bit for bit.
//!
//! A recording is a plain or gzipped JSON file: one environment, its compiled constants, and rollouts with seeds,
//! actions and everything that was returned. [`check_file`] feeds the actions to our environment and reports what
//! differs.

#[cfg(feature = "mujoco")]
mod constants;
mod recording;
mod replay;
mod report;
mod world;

pub use report::Report;

use crate::EnvError;
use std::path::Path;

/// How recordings are replayed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// One environment for all rollouts of a file instead of a new one for each; the answers must be the same.
    pub reuse: bool,
}

/// Two short episodes of each of Gymnasium's tasks, cut from the recordings that the tests replay whole.
const SHIPPED: &[(&str, &[u8])] = &[
    #[cfg(feature = "mujoco")]
    ("Ant-v5", include_bytes!("../../recordings/Ant-v5.json.gz")),
    #[cfg(feature = "box2d")]
    ("BipedalWalker-v3", include_bytes!("../../recordings/BipedalWalker-v3.json.gz")),
    #[cfg(feature = "mujoco")]
    ("HalfCheetah-v5", include_bytes!("../../recordings/HalfCheetah-v5.json.gz")),
    #[cfg(feature = "mujoco")]
    ("Hopper-v5", include_bytes!("../../recordings/Hopper-v5.json.gz")),
    #[cfg(feature = "mujoco")]
    ("Swimmer-v5", include_bytes!("../../recordings/Swimmer-v5.json.gz")),
    #[cfg(feature = "mujoco")]
    ("Walker2d-v5", include_bytes!("../../recordings/Walker2d-v5.json.gz")),
];

/// Replays the recordings that are part of the program, each with its name.
pub fn check_shipped(options: Options) -> Result<Vec<(&'static str, Report)>, EnvError> {
    let one = |(name, bytes): &(&'static str, &[u8])| {
        let recording = recording::parse(name, bytes.to_vec())?;
        Ok((*name, replay::replay(&recording, options)?))
    };
    SHIPPED.iter().map(one).collect()
}

/// Replays one file.
pub fn check_file(path: impl AsRef<Path>, options: Options) -> Result<Report, EnvError> {
    let path = path.as_ref();
    let recording = recording::read(path)?;
    replay::replay(&recording, options).map_err(|error| match error {
        golden @ EnvError::Golden { .. } => golden,
        other => EnvError::Golden { path: path.display().to_string(), message: other.to_string() },
    })
}
