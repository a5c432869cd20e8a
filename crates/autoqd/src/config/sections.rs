//! The values of registered sections.

use super::catalog::typed;
use super::{Config, ConfigError, Section};
use std::collections::BTreeMap;
use toml::Table;

/// The values of the sections that registered parts bring, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections(pub(super) BTreeMap<String, Table>);

impl Config {
    /// The values of a section; its defaults where it was not written.
    pub fn section<S: Section>(&self) -> Result<S, ConfigError> {
        self.sections.0.get(S::NAME).map_or_else(|| Ok(S::default()), typed)
    }

    /// The whole configuration as a table.
    pub fn to_table(&self) -> Table {
        // A Config holds nothing that TOML cannot express, as the checks bound every integer.
        let mut table = Table::try_from(self).unwrap_or_default();
        table.extend(self.sections.0.iter().map(|(name, section)| (name.clone(), section.clone().into())));
        table
    }

    /// The whole configuration as TOML, in the order of the reference page.
    pub fn to_toml(&self) -> String {
        let mut text = toml::to_string(self).unwrap_or_default();
        for (name, section) in &self.sections.0 {
            let one = Table::from_iter([(name.clone(), section.clone().into())]);
            text.push('\n');
            text.push_str(&toml::to_string(&one).unwrap_or_default());
        }
        text
    }
}
