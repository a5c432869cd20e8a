//! Merging of preset, file, `--set` and flags.

use super::schema::{fields, sections};
use super::{Config, ConfigError, preset};
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Table, Value};

/// Values collected from several places; the later one wins.
///
/// ```
/// use autoqd::config::Layers;
/// let layers = Layers::new().toml("seed = 3\nepisodes = 2", "run.toml")?.set("episodes=4")?;
/// let config = layers.build()?;
/// assert_eq!((config.seed, config.episodes), (3, 4));
/// # Ok::<(), autoqd::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Layers {
    merged: Table,
    /// Where each key got its value, for error messages.
    origins: BTreeMap<String, String>,
}

impl Layers {
    /// Nothing but defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a preset.
    pub fn preset(self, name: &str) -> Result<Self, ConfigError> {
        self.toml(preset(name)?, &format!("preset {name}"))
    }

    /// Adds a TOML file.
    pub fn file(self, path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        self.toml(&text, &path.display().to_string())
    }

    /// Adds TOML text; `origin` is named in errors.
    pub fn toml(mut self, text: &str, origin: &str) -> Result<Self, ConfigError> {
        let table: Table = toml::from_str(text).map_err(|e| ConfigError::Syntax {
            origin: origin.to_owned(),
            message: e.to_string().trim_end().to_owned(),
        })?;
        self.merge(table, "", origin)?;
        Ok(self)
    }

    /// Adds one `key=value` with a dotted key. A value that is not TOML is taken as text, so words need no quotes.
    pub fn set(self, assignment: &str) -> Result<Self, ConfigError> {
        let (key, value) = assignment
            .split_once('=')
            .ok_or_else(|| ConfigError::NotKeyValue { given: assignment.to_owned() })?;
        let value = value.trim();
        let value = value.parse::<Value>().unwrap_or_else(|_| Value::String(value.to_owned()));
        self.flag(key.trim(), value, &format!("--set {}", key.trim()))
    }

    /// Adds one value under a dotted key; `origin` is named in errors.
    pub fn flag(mut self, key: &str, value: impl Into<Value>, origin: &str) -> Result<Self, ConfigError> {
        self.insert(key.to_owned(), value.into(), origin)?;
        Ok(self)
    }

    /// The configuration with all layers applied.
    pub fn build(self) -> Result<Config, ConfigError> {
        serde_path_to_error::deserialize(Value::Table(self.merged.clone())).map_err(|e| {
            let path = e.path().to_string();
            self.type_error(&path, e.inner())
        })
    }

    fn merge(&mut self, table: Table, prefix: &str, origin: &str) -> Result<(), ConfigError> {
        for (name, value) in table {
            let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            self.insert(key, value, origin)?;
        }
        Ok(())
    }

    fn insert(&mut self, key: String, value: Value, origin: &str) -> Result<(), ConfigError> {
        if sections().iter().any(|(name, _)| *name == key) {
            return match value {
                Value::Table(table) => self.merge(table, &key, origin),
                value => Err(section_error(key, &value, origin)),
            };
        }
        if !fields().iter().any(|f| f.key == key) {
            return Err(unknown_key(key, origin));
        }
        self.origins.insert(key.clone(), origin.to_owned());
        match key.split_once('.') {
            None => self.merged.insert(key, value),
            Some((section, name)) => {
                let entry = self.merged.entry(section).or_insert_with(|| Value::Table(Table::new()));
                entry.as_table_mut().and_then(|t| t.insert(name.to_owned(), value))
            }
        };
        Ok(())
    }

    fn type_error(&self, path: &str, error: &toml::de::Error) -> ConfigError {
        let owns = |key: &str| {
            path.strip_prefix(key).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        let field = fields().iter().filter(|f| owns(&f.key)).max_by_key(|f| f.key.len());
        let key = field.map_or(path, |f| f.key.as_str());
        let value = key.split('.').try_fold(&self.merged, |table, name| match table.get(name) {
            Some(Value::Table(inner)) => Ok(inner),
            other => Err(other),
        });
        ConfigError::Type {
            key: key.to_owned(),
            origin: self.origins.get(key).cloned().unwrap_or_else(|| "configuration".to_owned()),
            value: value.map_or_else(|v| v.map_or_else(String::new, Value::to_string), Table::to_string),
            expected: field.map_or_else(|| error.message().to_owned(), |f| f.expected.clone()),
        }
    }
}

fn section_error(key: String, value: &Value, origin: &str) -> ConfigError {
    let prefix = format!("{key}.");
    let keys: Vec<_> =
        fields().iter().filter(|f| f.key.starts_with(&prefix)).map(|f| f.key.as_str()).collect();
    ConfigError::Type {
        origin: origin.to_owned(),
        value: value.to_string(),
        expected: format!("a section with the keys {}", keys.join(", ")),
        key,
    }
}

fn unknown_key(key: String, origin: &str) -> ConfigError {
    let suggestion = match nearest(&key) {
        Some(near) => format!("; did you mean '{near}'?"),
        None => "; 'autoqd run --help' lists all keys".to_owned(),
    };
    ConfigError::UnknownKey { key, origin: origin.to_owned(), suggestion }
}

/// The key that looks most like the given one, by its whole name or its last part.
fn nearest(key: &str) -> Option<&'static str> {
    let wanted = key.replace('-', "_");
    let last = |k: &'static str| k.rsplit('.').next().unwrap_or(k);
    let score = |k: &'static str| {
        let whole = strsim::normalized_damerau_levenshtein(&wanted, k);
        whole.max(strsim::normalized_damerau_levenshtein(&wanted, last(k)) - 0.01)
    };
    let scored = fields().iter().map(|f| (score(&f.key), f.key.as_str()));
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(s, _)| *s > 0.5).map(|(_, k)| k)
}
