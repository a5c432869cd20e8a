//! What may change between a run and its continuation.

use super::{Auto, ConfigError, RunConfig};
use std::num::NonZeroUsize;
use toml::{Table, Value};

/// Keys that do not influence what has already been computed.
const FREE: &[&str] = &["iterations", "threads", "checkpoint_every"];

/// What may be changed when a run is resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// More iterations than before.
    pub iterations: Option<u64>,
    /// Another number of threads.
    pub threads: Option<NonZeroUsize>,
    /// Another interval between checkpoints.
    pub checkpoint_every: Option<u64>,
    /// Go on in the run's own copy of the task although the files it came from have changed.
    pub own_task: bool,
    /// Go on although logs are not what the run wrote, with the lines that can be read.
    pub accept_logs: bool,
}

impl RunConfig {
    /// The same configuration with some changes; the result must be a valid configuration.
    pub fn changed(&self, changes: Changes) -> Result<Self, ConfigError> {
        let mut config = (**self).clone();
        config.iterations = changes.iterations.unwrap_or(config.iterations);
        config.threads = changes.threads.map_or(config.threads, |threads| Auto::Value(threads.get()));
        config.checkpoint_every = changes.checkpoint_every.unwrap_or(config.checkpoint_every);
        Self::new(config)
    }
}

impl RunConfig {
    /// The first setting that differs, with its value here and there.
    pub fn difference(&self, other: &Self) -> Option<(String, String, String)> {
        differing(&self.to_table(), &other.to_table(), "", &[])
    }

    /// Whether both describe the same search: everything but what affects only the running time is equal.
    pub fn same_search(&self, other: &Self) -> bool {
        let plain = |config: &Self| {
            let mut table = config.to_table();
            table.retain(|key, _| !["threads", "checkpoint_every"].contains(&key));
            table
        };
        plain(self) == plain(other)
    }
}

/// Checks that `new` continues the run made with `old`: only `iterations` (upwards), `threads` and
/// `checkpoint_every` may differ.
pub fn check_resume(old: &RunConfig, new: &RunConfig) -> Result<(), ConfigError> {
    if new.iterations < old.iterations {
        return Err(ConfigError::ResumeFewer { old: old.iterations, new: new.iterations });
    }
    match differing(&old.to_table(), &new.to_table(), "", FREE) {
        None => Ok(()),
        Some((key, old, new)) => Err(ConfigError::ResumeChanged { key, old, new }),
    }
}

/// The first key whose value differs, apart from some at the top. Both tables come from complete configurations and
/// have the same keys.
fn differing(old: &Table, new: &Table, prefix: &str, but: &[&str]) -> Option<(String, String, String)> {
    old.iter().filter(|(name, _)| !but.contains(&name.as_str())).find_map(|(name, a)| {
        let key = format!("{prefix}{name}");
        match (a, new.get(name)?) {
            (Value::Table(a), Value::Table(b)) => differing(a, b, &format!("{key}."), &[]),
            (a, b) if a == b => None,
            (a, b) => Some((key, a.to_string(), b.to_string())),
        }
    })
}
