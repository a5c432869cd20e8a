//! Merging of preset, file, `--set` and flags.

use super::catalog::unknown_name;
use super::{Catalog, Config, ConfigError, preset, preset_names};
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Table, Value};

/// Values collected from several places; the later one wins.
///
/// ```
/// use autoqd::config::Layers;
/// use autoqd::registry::Registry;
/// let registry = Registry::default();
/// let layers = Layers::new(&registry).toml("seed = 3\nepisodes = 2", "run.toml")?.set("episodes=4")?;
/// let config = layers.build()?;
/// assert_eq!((config.seed, config.episodes), (3, 4));
/// # Ok::<(), autoqd::config::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Layers<'a> {
    catalog: &'a Catalog,
    /// Whether sections that no part has registered are kept as they are.
    lenient: bool,
    merged: Table,
    /// Where each key got its value, for error messages.
    origins: BTreeMap<String, String>,
    /// The preset, for what the method sets in it.
    preset: Option<&'static str>,
}

impl<'a> Layers<'a> {
    /// Nothing but defaults; the keys are those of the configuration itself and of the sections of registered parts.
    pub fn new(catalog: &'a impl AsRef<Catalog>) -> Self {
        let (merged, origins) = (Table::new(), BTreeMap::new());
        Self { catalog: catalog.as_ref(), lenient: false, merged, origins, preset: None }
    }

    /// For a configuration that some program has checked before: names of parts are taken as they are, and sections
    /// are kept unread, so that a run folder can be looked at by a program that does not have all its parts.
    pub(super) fn stored() -> Layers<'static> {
        Layers { lenient: true, ..Layers::new(Catalog::none()) }
    }

    /// Adds a preset. Where the method has values of its own for it, [`Layers::build`] takes those.
    pub fn preset(mut self, name: &str) -> Result<Self, ConfigError> {
        let text = preset(name)?;
        self.preset = preset_names().find(|known| *known == name);
        self.toml(text, &origin_of_preset(name))
    }

    /// Lets the method's own values of the preset take the place of the preset's, and of nothing else.
    fn preset_of_method(&mut self) -> Result<(), ConfigError> {
        let method = self.merged.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (Some(preset), Ok(facts)) = (self.preset, self.catalog.method(&method)) else { return Ok(()) };
        let own = facts.presets.iter().filter(|(name, _)| *name == preset);
        let below = origin_of_preset(preset);
        for (_, text) in own {
            let layer = Layers::new(self.catalog).toml(text, &format!("{below} of method {method}"))?;
            for (key, origin) in &layer.origins {
                let free = self.origins.get(key).is_none_or(|origin| *origin == below);
                if let Some(value) = layer.value(key).filter(|_| free).cloned() {
                    self.insert(key.clone(), value, origin)?;
                }
            }
        }
        Ok(())
    }

    /// The value of a dotted key.
    fn value(&self, key: &str) -> Option<&Value> {
        match key.split_once('.') {
            None => self.merged.get(key),
            Some((section, name)) => self.merged.get(section)?.get(name),
        }
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
            message: shortened(e.to_string().trim_end()),
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
    pub fn build(mut self) -> Result<Config, ConfigError> {
        self.preset_of_method()?;
        let known = |name: &str| self.catalog.section(name).is_some() || !self.is_core(name);
        let (own, core): (Table, Table) = self.merged.clone().into_iter().partition(|(name, _)| known(name));
        let mut config: Config = serde_path_to_error::deserialize(Value::Table(core))
            .map_err(|e| self.type_error(&e.path().to_string(), e.inner().message()))?;
        self.check_names(&config)?;
        for kind in self.catalog.sections() {
            let written = own.get(kind.name).and_then(Value::as_table).cloned().unwrap_or_default();
            let table = (kind.read)(&written)
                .map_err(|(key, message)| self.type_error(&format!("{}.{key}", kind.name), &message))?;
            config.sections.0.insert(kind.name.to_owned(), table);
        }
        let unread = own.into_iter().filter(|(name, _)| self.catalog.section(name).is_none());
        let unread = unread.filter_map(|(name, value)| Some((name, value.as_table()?.clone())));
        config.sections.0.extend(unread);
        Ok(config)
    }

    /// Whether a key outside any section is one of the configuration itself.
    fn is_core(&self, name: &str) -> bool {
        let keys = self.catalog.keys();
        keys.sections.iter().any(|(section, _)| section == name) || keys.fields.iter().any(|f| f.key == name)
    }

    fn check_names(&self, config: &Config) -> Result<(), ConfigError> {
        let given = [&config.method, &config.evaluator, &config.emitter];
        for ((key, names), given) in self.catalog.names().iter().zip(given) {
            let known = names.iter().map(|(name, _)| *name);
            if !names.is_empty() && known.clone().all(|name| name != given) {
                let origin = self.origins.get(*key).map_or("configuration", String::as_str);
                return Err(unknown_name(key, given, known, origin));
            }
        }
        Ok(())
    }

    fn merge(&mut self, table: Table, prefix: &str, origin: &str) -> Result<(), ConfigError> {
        for (name, value) in table {
            let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            self.insert(key, value, origin)?;
        }
        Ok(())
    }

    fn insert(&mut self, key: String, value: Value, origin: &str) -> Result<(), ConfigError> {
        let keys = self.catalog.keys();
        if keys.sections.iter().any(|(name, _)| *name == key) {
            return match value {
                Value::Table(table) => self.merge(table, &key, origin),
                value => Err(self.section_error(key, &value, origin)),
            };
        }
        if self.lenient && value.is_table() && !key.contains('.') {
            self.merged.insert(key, value);
            return Ok(());
        }
        if !keys.fields.iter().any(|f| f.key == key) {
            return Err(self.unknown_key(key, origin));
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

    fn type_error(&self, path: &str, message: &str) -> ConfigError {
        let owns = |key: &str| {
            path.strip_prefix(key).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        let field = self.catalog.fields().iter().filter(|f| owns(&f.key)).max_by_key(|f| f.key.len());
        let key = field.map_or(path, |f| f.key.as_str());
        let value = key.split('.').try_fold(&self.merged, |table, name| match table.get(name) {
            Some(Value::Table(inner)) => Ok(inner),
            other => Err(other),
        });
        ConfigError::Type {
            key: key.to_owned(),
            origin: self.origins.get(key).cloned().unwrap_or_else(|| "configuration".to_owned()),
            value: value.map_or_else(|v| v.map_or_else(String::new, Value::to_string), Table::to_string),
            expected: field.map_or_else(|| message.to_owned(), |f| f.expected.clone()),
        }
    }

    fn section_error(&self, key: String, value: &Value, origin: &str) -> ConfigError {
        let prefix = format!("{key}.");
        let fields = self.catalog.fields().iter().filter(|f| f.key.starts_with(&prefix));
        let keys: Vec<_> = fields.map(|f| f.key.as_str()).collect();
        ConfigError::Type {
            origin: origin.to_owned(),
            value: value.to_string(),
            expected: format!("a section with the keys {}", keys.join(", ")),
            key,
        }
    }

    fn unknown_key(&self, key: String, origin: &str) -> ConfigError {
        let suggestion = match self.nearest(&key) {
            Some(near) => format!("; did you mean '{near}'?"),
            None => "; 'autoqd run --help' lists all keys".to_owned(),
        };
        ConfigError::UnknownKey { key, origin: origin.to_owned(), suggestion }
    }

    /// The key that looks most like the given one, by its whole name or its last part.
    fn nearest(&self, key: &str) -> Option<&'a str> {
        let wanted = key.replace('-', "_");
        let last = |k: &'a str| k.rsplit('.').next().unwrap_or(k);
        let score = |k: &'a str| {
            let whole = strsim::normalized_damerau_levenshtein(&wanted, k);
            whole.max(strsim::normalized_damerau_levenshtein(&wanted, last(k)) - 0.01)
        };
        let scored = self.catalog.fields().iter().map(|f| (score(&f.key), f.key.as_str()));
        scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(s, _)| *s > 0.5).map(|(_, k)| k)
    }
}

/// The first lines of a parser's message, which quotes what it cannot read however long that is.
fn shortened(message: &str) -> String {
    const LINES: usize = 8;
    const WIDTH: usize = 160;
    let cut = |line: &str| match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    };
    message.lines().take(LINES).map(cut).collect::<Vec<_>>().join("\n")
}

/// Where the values of a preset are said to come from.
fn origin_of_preset(name: &str) -> String {
    format!("preset {name}")
}
