//! A complete configuration file in which every key is explained.

use super::reference::wrapped;
use super::{Catalog, Config, Field, RunConfig, fields};
use std::fmt::Write;
use toml::{Table, Value};

/// A configuration as a TOML file with the documentation of every key.
///
/// Keys keep the value they were `written` with, so that one that follows from others (`auto`) still does when those are
/// changed in the file; what it is in this run, as `resolved`, stands beside it.
///
/// ```
/// use autoqd::config::{Layers, TaskFacts, commented_toml};
/// use autoqd::registry::Registry;
/// let registry = Registry::default();
/// let config = Layers::new(&registry).flag("task", "hopper", "TASK")?.build()?;
/// let facts = TaskFacts { observation_size: 11, action_size: 5, objective_min: 0.0, measures: vec![[0.0, 1.0]] };
/// let text = commented_toml(&config, &config.resolve(&facts, &registry)?, &registry);
/// assert!(text.contains("# In this run: 4.0\nbandwidth = \"auto\"\n"));
/// assert_eq!(Layers::new(&registry).toml(&text, "config.toml")?.build()?, config);
/// # Ok::<(), autoqd::config::ConfigError>(())
/// ```
pub fn commented_toml(written: &Config, resolved: &RunConfig, catalog: &impl AsRef<Catalog>) -> String {
    let [written, resolved] = [written.to_toml(), resolved.to_toml()].map(|text| parsed(&text));
    let mut text = String::new();
    let put = |field: &Field, name: &str, text: &mut String| {
        write_field(text, field, name, find(&written, &field.key), find(&resolved, &field.key));
    };
    for field in fields(catalog).iter().filter(|field| !field.key.contains('.')) {
        put(field, &field.key, &mut text);
    }
    for (section, doc) in &catalog.as_ref().keys().sections {
        let _ = write!(text, "\n{}[{section}]\n", wrapped(doc, "# "));
        for field in fields(catalog) {
            if let Some(name) = field.key.strip_prefix(&format!("{section}.")) {
                put(field, name, &mut text);
            }
        }
    }
    text.trim_start().to_owned()
}

fn parsed(text: &str) -> Table {
    text.parse().unwrap_or_default()
}

fn find<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((section, rest)) => find(table.get(section)?.as_table()?, rest),
    }
}

fn write_field(
    text: &mut String,
    field: &Field,
    name: &str,
    written: Option<&Value>,
    resolved: Option<&Value>,
) {
    let Field { expected, default, doc, choices, .. } = field;
    let _ = write!(text, "\n{}", wrapped(doc, "# "));
    if choices.is_empty() {
        text.push_str(&wrapped(&format!("Takes {expected}."), "# "));
    }
    for (word, doc) in choices {
        text.push_str(&wrapped(&format!("\"{word}\": {doc}"), "#   "));
    }
    let value = written.map_or_else(|| default.clone(), Value::to_string);
    if value != *default && default != "\"\"" {
        let _ = writeln!(text, "# Default: {default}");
    }
    if let Some(resolved) = resolved.filter(|resolved| written.is_some_and(|w| w != *resolved)) {
        let _ = writeln!(text, "# In this run: {resolved}");
    }
    let _ = writeln!(text, "{name} = {value}");
}
