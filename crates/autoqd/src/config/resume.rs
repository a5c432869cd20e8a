//! What may change between a run and its continuation.

use super::{ConfigError, RunConfig};
use toml::{Table, Value};

/// Keys that do not influence what has already been computed.
const FREE: &[&str] = &["iterations", "threads", "checkpoint_every"];

/// Checks that `new` continues the run made with `old`: only `iterations` (upwards), `threads` and
/// `checkpoint_every` may differ. What differs must be allowed in itself.
pub fn check_resume(old: &RunConfig, new: &RunConfig) -> Result<(), ConfigError> {
    if new.iterations < old.iterations {
        return Err(ConfigError::ResumeFewer { old: old.iterations, new: new.iterations });
    }
    new.to_config().check()?;
    let table = |config: &RunConfig| Table::try_from(config.to_config()).unwrap_or_default();
    match first_difference(&table(old), &table(new), "") {
        None => Ok(()),
        Some((key, old, new)) => Err(ConfigError::ResumeChanged { key, old, new }),
    }
}

/// The first key whose value differs. Both tables come from complete configurations and have the same keys.
fn first_difference(old: &Table, new: &Table, prefix: &str) -> Option<(String, String, String)> {
    old.iter().filter(|(name, _)| !(prefix.is_empty() && FREE.contains(&name.as_str()))).find_map(
        |(name, a)| {
            let key = format!("{prefix}{name}");
            match (a, new.get(name)?) {
                (Value::Table(a), Value::Table(b)) => first_difference(a, b, &format!("{key}.")),
                (a, b) if a == b => None,
                (a, b) => Some((key, a.to_string(), b.to_string())),
            }
        },
    )
}
