//! Where in a task file a mistake is.

use super::task_file::{Goal, Health, JointNoise, Measure, Observation, Placed, Reward};
use crate::EnvError;
use serde::de::DeserializeOwned;

/// An error in one of the tables of a task file.
pub(super) struct Located {
    /// The table's header, empty for the file as a whole.
    table: &'static str,
    /// Which of the tables with this header.
    index: usize,
    error: EnvError,
}

impl From<EnvError> for Located {
    fn from(error: EnvError) -> Self {
        Self { table: "", index: 0, error }
    }
}

/// Says in which table an error is.
pub(super) fn in_table(table: &'static str) -> impl Fn(EnvError) -> Located {
    move |error| Located { table, index: 0, error }
}

/// Resolves every table with a header.
pub(super) fn each<A, B>(
    table: &'static str,
    items: &[A],
    mut resolve: impl FnMut(&A) -> Result<B, EnvError>,
) -> Result<Vec<B>, Located> {
    let one = |(index, item)| resolve(item).map_err(|error| Located { table, index, error });
    items.iter().enumerate().map(one).collect()
}

impl Located {
    /// The error with the file and the line.
    pub fn at(self, text: &str, path: &str) -> EnvError {
        let Self { table, index, error } = self;
        let place = match line_of(text, table, index, &error) {
            Some(line) if table.is_empty() => format!("line {line}: "),
            Some(line) => format!("line {line}, {table}: "),
            None => String::new(),
        };
        EnvError::TaskFile { path: path.to_string(), message: format!("{place}{error}") }
    }
}

/// An error about a field of the file as a whole.
pub(super) fn at_field(field: &str, error: &EnvError, text: &str, path: &str) -> EnvError {
    let line = line_in(text, "", 0, |line| field_of(line) == Some(field));
    let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    EnvError::TaskFile { path: path.to_string(), message: format!("{place}{error}") }
}

/// The line of the name or field that an error is about, else that of its table.
fn line_of(text: &str, table: &str, index: usize, error: &EnvError) -> Option<usize> {
    let said = error.to_string();
    let is_about = |line: &str| match error {
        EnvError::UnknownName { name, .. } => line.contains(&format!("\"{name}\"")),
        _ => field_of(line).is_some_and(|field| {
            [format!("{field} ="), format!("`{field}`")].iter().any(|form| said.contains(form))
        }),
    };
    line_in(text, table, index, is_about)
}

/// The field that a line gives a value to.
fn field_of(line: &str) -> Option<&str> {
    line.split_once('=').map(|(field, _)| field.trim()).filter(|field| !field.is_empty())
}

/// The first line of a table that something is about, else that of the table.
fn line_in(text: &str, table: &str, index: usize, is_about: impl Fn(&str) -> bool) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let key = table.trim_matches(['[', ']']);
    let is_own = |line: &str| {
        let name = line.trim_start_matches('[').split(']').next().unwrap_or_default().trim();
        name == key || name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'))
    };
    let is_header = |line: &str| line.trim_start().starts_with('[');
    let (first, end) = if table.is_empty() {
        (0, lines.len())
    } else {
        let own = |(_, line): &(usize, &&str)| is_header(line) && is_own(line.trim_start());
        let first = lines.iter().enumerate().filter(own).nth(index)?.0;
        // One table of many ends with the next header; a single one goes on through the tables within it.
        let ends = |line: &&str| is_header(line) && (table.starts_with("[[") || !is_own(line.trim_start()));
        (first, lines[first + 1..].iter().position(ends).map_or(lines.len(), |length| first + 1 + length))
    };
    let found = (first..end).find(|&i| is_about(lines[i]));
    found.or((!table.is_empty()).then_some(first)).map(|i| i + 1)
}

/// Place and message of the first table of a list that cannot be read. The parser itself only knows where the list begins.
pub(super) fn unreadable_table(text: &str) -> Option<String> {
    let file: toml::Table = toml::from_str(text).ok()?;
    let reset = file.get("reset").and_then(toml::Value::as_table);
    let (table, index, message) = first_unreadable::<Observation>(&file, "[[observation]]")
        .or_else(|| first_unreadable::<Reward>(&file, "[[reward]]"))
        .or_else(|| first_unreadable::<Health>(&file, "[[health]]"))
        .or_else(|| first_unreadable::<Measure>(&file, "[[measure]]"))
        .or_else(|| first_unreadable::<JointNoise>(reset?, "[[reset.noise]]"))
        .or_else(|| first_unreadable::<Placed>(reset?, "[[reset.place]]"))
        .or_else(|| first_unreadable::<Goal>(reset?, "[[reset.goal]]"))?;
    // What is wrong is the first word that the parser quotes.
    let word = message.split('`').nth(1).unwrap_or_default();
    let quoted = format!("\"{word}\"");
    let is_about = |line: &str| field_of(line) == Some(word) || line.contains(&quoted);
    let line = line_in(text, table, index, is_about)?;
    Some(format!("line {line}, {table}: {message}"))
}

/// The first table with a header that cannot be read as what it is: its number, and the message.
fn first_unreadable<T: DeserializeOwned>(
    tables: &toml::Table,
    header: &'static str,
) -> Option<(&'static str, usize, String)> {
    let key = header.trim_matches(['[', ']']).rsplit('.').next()?;
    let items = tables.get(key)?.as_array()?.iter().enumerate();
    let words = |error: toml::de::Error| error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    items
        .map(|(index, item)| (index, item.clone().try_into::<T>()))
        .find_map(|(index, read)| Some((header, index, words(read.err()?))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "name = \"x\"\nfloor = \"grund\"\n[reset]\nkeyframe = \"a\"\n[[reset.place]]\njoints = [\"hip\"]\n\
                        [[reward]]\nkind = \"healthy\"\n[[reward]]\nkind = \"value\"\nof = { joint = \"knee\" }\nscale = 0.0\n";

    fn unknown(name: &str) -> EnvError {
        let (task, known) = ("x".to_string(), "y".to_string());
        EnvError::UnknownName { task, kind: "joint", name: name.to_string(), known }
    }

    #[test]
    fn what_a_parser_cannot_read_is_in_its_own_table_and_not_in_the_first_of_its_kind() {
        let file = "[[reward]]\nkind = \"healthy\"\n\n[[reward]]\nkind = \"upright\"\nbody = \"trunk\"\n";
        for (line, said) in [
            ("shape = \"cubic\"", "line 7, [[reward]]: unknown variant `cubic`"),
            ("wieght = 1.0", "line 7, [[reward]]: unknown field `wieght`"),
            ("weight = \"much\"", "line 4, [[reward]]: invalid type"),
        ] {
            let message = unreadable_table(&format!("{file}{line}\n")).unwrap();
            assert!(message.starts_with(said), "{message}");
        }
        assert_eq!(unreadable_table(file), None);
    }

    #[test]
    fn a_mistake_is_on_the_line_of_its_name_or_field_else_at_its_table() {
        let value =
            |message: &str| EnvError::TaskValue { task: "x".to_string(), message: message.to_string() };
        for (table, index, error, line) in [
            ("", 0, unknown("grund"), Some(2)),
            ("[reset]", 0, unknown("hip"), Some(6)),
            ("[reset]", 0, unknown("else"), Some(3)),
            ("[[reward]]", 1, unknown("knee"), Some(11)),
            ("[[reward]]", 1, value("scale = 0; give a positive number"), Some(12)),
            ("[[reward]]", 0, value("something else"), Some(7)),
            ("[[health]]", 0, value("something else"), None),
        ] {
            assert_eq!(line_of(FILE, table, index, &error), line, "{table} {index} {error}");
        }
        let shown =
            Located { table: "[[reward]]", index: 1, error: unknown("knee") }.at(FILE, "t.toml").to_string();
        assert!(shown.contains("t.toml") && shown.contains("line 11, [[reward]]: "), "{shown}");
    }
}
