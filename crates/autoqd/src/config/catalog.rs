//! What the configuration knows about the parts that a program registers: their names, facts and sections.

use super::rules::Check;
use super::schema::{Field, Keys};
use super::{Config, ConfigError, Section, TaskFacts};
use serde_json::Value;
use std::sync::OnceLock;
use toml::Table;

/// Where the measures of a method come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuresOf {
    /// The task's own: their number and bounds are the task's.
    Task,
    /// Learned ones: their number is a setting, and they are calibrated to about [-1, 1].
    Method,
}

/// What the configuration needs to know about a method.
#[derive(Clone, Debug)]
pub struct MethodFacts {
    /// What it does, for help and reference page.
    pub doc: String,
    /// Where its measures come from.
    pub measures: MeasuresOf,
    /// Whether it is fitted to the elites on schedule.
    pub refits: bool,
    /// Whether its features are embeddings among which distances mean something (`dns.space = "psi"`).
    pub embeddings: bool,
    /// Further conditions on a configuration that uses it.
    pub check: fn(&Config) -> Check,
    /// What presets set for this method instead of their own values: name of the preset, and TOML.
    pub presets: &'static [(&'static str, &'static str)],
}

impl MethodFacts {
    /// A method that learns its measures and is refitted.
    pub fn learned(doc: &str) -> Self {
        let (measures, refits, embeddings) = (MeasuresOf::Method, true, false);
        Self { doc: doc.to_owned(), measures, refits, embeddings, check: |_| Ok(()), presets: &[] }
    }

    /// A method that takes the task's own measures.
    pub fn of_task(doc: &str) -> Self {
        Self { measures: MeasuresOf::Task, refits: false, ..Self::learned(doc) }
    }
}

/// What the configuration needs to know about an emitter or an evaluator.
#[derive(Clone, Debug)]
pub struct PartFacts {
    /// What it does, for help and reference page.
    pub doc: String,
    /// Conditions on a configuration that uses it.
    pub check: fn(&Config) -> Check,
}

impl PartFacts {
    /// A part that takes any configuration.
    pub fn new(doc: &str) -> Self {
        Self { doc: doc.to_owned(), check: |_| Ok(()) }
    }
}

/// A registered section, with its type erased.
#[derive(Clone, Debug)]
pub(super) struct SectionKind {
    pub name: &'static str,
    pub schema: fn() -> Value,
    /// The table with every value in place; an error of the parser with the key.
    pub read: fn(&Table) -> Result<Table, (String, String)>,
    /// Fills in what depends on the task and checks.
    pub resolve: fn(&Table, &TaskFacts) -> Result<Table, ConfigError>,
}

impl SectionKind {
    fn of<S: Section>() -> Self {
        Self {
            name: S::NAME,
            schema: || schemars::schema_for!(S).to_value(),
            read: |table| Ok(written(&parse::<S>(table)?)),
            resolve: |table, task| {
                let mut section = typed::<S>(table)?;
                section.fill(task);
                section.check()?;
                Ok(written(&section))
            },
        }
    }

    pub fn defaults(&self) -> Table {
        (self.read)(&Table::new()).unwrap_or_default()
    }
}

fn parse<S: Section>(table: &Table) -> Result<S, (String, String)> {
    serde_path_to_error::deserialize(table.clone())
        .map_err(|e| (e.path().to_string(), e.inner().message().to_owned()))
}

/// A section from its table.
pub(super) fn typed<S: Section>(table: &Table) -> Result<S, ConfigError> {
    parse(table).map_err(|(key, expected)| ConfigError::Type {
        value: table.get(&key).map_or_else(String::new, toml::Value::to_string),
        key: format!("{}.{key}", S::NAME),
        origin: "configuration".to_owned(),
        expected,
    })
}

fn written<S: Section>(section: &S) -> Table {
    Table::try_from(section).unwrap_or_default()
}

/// Names, facts and sections of the parts that a program knows. A [`Registry`](crate::registry::Registry) holds them
/// and passes for them wherever the configuration asks for parts.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    methods: Vec<(String, MethodFacts)>,
    emitters: Vec<(String, PartFacts)>,
    evaluators: Vec<(String, PartFacts)>,
    sections: Vec<SectionKind>,
    keys: OnceLock<Keys>,
}

impl AsRef<Catalog> for Catalog {
    fn as_ref(&self) -> &Catalog {
        self
    }
}

impl Catalog {
    /// No part at all: names are taken as they are, and only the keys outside registered sections are known.
    pub(super) fn none() -> &'static Self {
        static NONE: OnceLock<Catalog> = OnceLock::new();
        NONE.get_or_init(Self::default)
    }

    /// Adds, or replaces, a method.
    pub fn add_method(&mut self, name: &str, facts: MethodFacts) {
        self.keys.take();
        put(&mut self.methods, name, facts);
    }

    /// Adds, or replaces, an emitter.
    pub fn add_emitter(&mut self, name: &str, facts: PartFacts) {
        self.keys.take();
        put(&mut self.emitters, name, facts);
    }

    /// Adds, or replaces, an evaluator.
    pub fn add_evaluator(&mut self, name: &str, facts: PartFacts) {
        self.keys.take();
        put(&mut self.evaluators, name, facts);
    }

    /// Adds, or replaces, a section.
    pub fn add_section<S: Section>(&mut self) {
        self.keys.take();
        let kind = SectionKind::of::<S>();
        match self.sections.iter_mut().find(|known| known.name == S::NAME) {
            Some(known) => *known = kind,
            None => self.sections.push(kind),
        }
    }

    /// The facts of a method.
    pub fn method(&self, name: &str) -> Result<&MethodFacts, ConfigError> {
        find(&self.methods, "method", name)
    }

    /// The facts of an emitter.
    pub fn emitter(&self, name: &str) -> Result<&PartFacts, ConfigError> {
        find(&self.emitters, "emitter", name)
    }

    /// The facts of an evaluator.
    pub fn evaluator(&self, name: &str) -> Result<&PartFacts, ConfigError> {
        find(&self.evaluators, "evaluator", name)
    }

    /// Names of the methods, in the order of registration.
    pub fn method_names(&self) -> impl Iterator<Item = &str> {
        self.methods.iter().map(|(name, _)| name.as_str())
    }

    /// Names of the emitters, in the order of registration.
    pub fn emitter_names(&self) -> impl Iterator<Item = &str> {
        self.emitters.iter().map(|(name, _)| name.as_str())
    }

    /// Names of the evaluators, in the order of registration.
    pub fn evaluator_names(&self) -> impl Iterator<Item = &str> {
        self.evaluators.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn sections(&self) -> &[SectionKind] {
        &self.sections
    }

    pub(super) fn section(&self, name: &str) -> Option<&SectionKind> {
        self.sections.iter().find(|kind| kind.name == name)
    }

    /// The keys that take the name of a part, each with the names there are and what they mean.
    pub(super) fn names(&self) -> [(&'static str, Vec<(&str, &str)>); 3] {
        fn docs(list: &[(String, PartFacts)]) -> Vec<(&str, &str)> {
            list.iter().map(|(name, facts)| (name.as_str(), facts.doc.as_str())).collect()
        }
        let methods = self.methods.iter().map(|(name, facts)| (name.as_str(), facts.doc.as_str())).collect();
        [("method", methods), ("evaluator", docs(&self.evaluators)), ("emitter", docs(&self.emitters))]
    }

    pub(super) fn keys(&self) -> &Keys {
        self.keys.get_or_init(|| Keys::of(self))
    }

    pub(super) fn fields(&self) -> &[Field] {
        &self.keys().fields
    }
}

fn put<T>(list: &mut Vec<(String, T)>, name: &str, facts: T) {
    match list.iter_mut().find(|(known, _)| known == name) {
        Some(known) => known.1 = facts,
        None => list.push((name.to_owned(), facts)),
    }
}

fn find<'a, T>(list: &'a [(String, T)], key: &str, name: &str) -> Result<&'a T, ConfigError> {
    list.iter()
        .find(|(known, _)| known == name)
        .map(|(_, facts)| facts)
        .ok_or_else(|| unknown_name(key, name, list.iter().map(|(known, _)| known.as_str()), "configuration"))
}

/// The error of a name that nothing is registered under.
pub(super) fn unknown_name<'a>(
    key: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    origin: &str,
) -> ConfigError {
    let score = |known: &str| strsim::normalized_damerau_levenshtein(name, known);
    let nearest = known.clone().map(|k| (score(k), k)).max_by(|a, b| a.0.total_cmp(&b.0));
    let suggestion = match nearest {
        Some((score, near)) if score > 0.4 => format!("; did you mean \"{near}\"?"),
        _ => String::new(),
    };
    let words: Vec<String> = known.map(|word| format!("\"{word}\"")).collect();
    ConfigError::Type {
        key: key.to_owned(),
        origin: origin.to_owned(),
        value: format!("\"{name}\""),
        expected: format!("one of {}{suggestion}", words.join(", ")),
    }
}
