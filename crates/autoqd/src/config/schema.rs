//! The list of all keys, taken from the doc comments and types of [`Config`] and of registered sections.

use super::{Catalog, Config};
use serde_json::{Value, json};

/// One key of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Dotted key, for instance `embedding.gamma`.
    pub key: String,
    /// What the key takes, in words.
    pub expected: String,
    /// Default, as TOML.
    pub default: String,
    /// What it means.
    pub doc: String,
    /// Words to choose from, each with its meaning.
    pub choices: Vec<(String, String)>,
}

/// Every key, and the sections with their descriptions, in order.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    pub fields: Vec<Field>,
    pub sections: Vec<(String, String)>,
}

impl Keys {
    pub fn of(catalog: &Catalog) -> Self {
        let schema = schema_of(catalog);
        let mut defaults = toml::Table::try_from(Config::default()).unwrap_or_default();
        for kind in catalog.sections() {
            defaults.insert(kind.name.to_owned(), kind.defaults().into());
        }
        let mut fields = Vec::new();
        collect(&schema, "", &toml::Value::Table(defaults), &mut fields);
        let sections = properties(&schema).filter(|(_, schema)| schema.get("properties").is_some());
        let sections = sections.map(|(name, schema)| (name.clone(), text(schema, "description"))).collect();
        Self { fields, sections }
    }
}

/// Every key of the configuration, in the order of the reference page.
///
/// ```
/// let registry = autoqd::registry::Registry::default();
/// let gamma = autoqd::config::fields(&registry).iter().find(|f| f.key == "embedding.gamma").unwrap();
/// assert_eq!(gamma.default, "0.999");
/// ```
pub fn fields(catalog: &impl AsRef<Catalog>) -> &[Field] {
    catalog.as_ref().fields()
}

/// The JSON schema of a configuration file, for editors.
pub fn json_schema(catalog: &impl AsRef<Catalog>) -> Value {
    schema_of(catalog.as_ref())
}

fn schema_of(catalog: &Catalog) -> Value {
    let mut schema = schemars::schema_for!(Config).to_value();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return schema };
    for (key, names) in catalog.names() {
        let Some(property) = properties.get_mut(key).filter(|_| !names.is_empty()) else { continue };
        let choices: Vec<Value> =
            names.iter().map(|(name, doc)| json!({"const": name, "description": doc})).collect();
        let default = property.get("default").cloned();
        *property =
            json!({"description": text(property, "description"), "oneOf": choices, "default": default});
    }
    for kind in catalog.sections() {
        let mut section = (kind.schema)();
        if let Some(section) = section.as_object_mut() {
            section.retain(|key, _| !["$schema", "title"].contains(&key.as_str()));
        }
        properties.insert(kind.name.to_owned(), section);
    }
    schema
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn collect(schema: &Value, prefix: &str, defaults: &toml::Value, out: &mut Vec<Field>) {
    for (name, schema) in properties(schema) {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let Some(default) = defaults.get(name) else { continue };
        if schema.get("properties").is_some() {
            collect(schema, &key, default, out);
            continue;
        }
        out.push(Field {
            key,
            expected: expected(schema),
            default: default.to_string(),
            doc: text(schema, "description").replace('\n', " "),
            choices: choices(schema),
        });
    }
}

fn text(schema: &Value, key: &str) -> String {
    schema.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array)
}

fn word(schema: &Value) -> Option<String> {
    Some(schema.get("const")?.as_str()?.to_owned())
}

fn choices(schema: &Value) -> Vec<(String, String)> {
    let own = |s: &Value| word(s).map(|w| (w, text(s, "description").replace('\n', " ")));
    let list: Vec<_> = alternatives(schema).into_iter().flatten().filter_map(own).collect();
    if list.len() > 1 { list } else { Vec::new() }
}

/// What a schema takes, in words.
fn expected(schema: &Value) -> String {
    if let Some(word) = word(schema) {
        return format!("\"{word}\"");
    }
    if let Some(list) = alternatives(schema) {
        let words: Vec<String> = list.iter().map(expected).collect();
        let only_words = list.iter().all(|s| word(s).is_some());
        return if only_words && words.len() > 1 {
            format!("one of {}", words.join(", "))
        } else {
            words.join(" or ")
        };
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => "a whole number".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("string") => "text in quotes".to_owned(),
        Some("array") => format!("a list of {}", plural(schema.get("items"))),
        _ => "a value".to_owned(),
    }
}

fn plural(items: Option<&Value>) -> &'static str {
    match items.and_then(|s| s.get("type")).and_then(Value::as_str) {
        Some("integer") => "whole numbers",
        Some("array") => "[low, high] pairs",
        _ => "numbers",
    }
}
