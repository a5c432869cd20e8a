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

/// Replays one file.
pub fn check_file(path: impl AsRef<Path>, options: Options) -> Result<Report, EnvError> {
    let path = path.as_ref();
    let recording = recording::read(path)?;
    replay::replay(&recording, options).map_err(|error| match error {
        golden @ EnvError::Golden { .. } => golden,
        other => EnvError::Golden { path: path.display().to_string(), message: other.to_string() },
    })
}
