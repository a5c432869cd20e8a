//! The reference page and the help text of all keys, generated from the doc comments of [`Config`](super::Config) and of
//! registered sections.

use super::{Catalog, Field, fields};
use std::fmt::Write;

/// The reference page of all keys, in Markdown.
pub fn reference_page(catalog: &impl AsRef<Catalog>) -> String {
    let fields = fields(catalog);
    let mut page = String::from(INTRODUCTION);
    for name in super::preset_names() {
        let text = super::preset(name).unwrap_or_default();
        let _ = write!(page, "\n### `{name}`\n\n```toml\n{text}```\n");
    }
    page.push_str("\n## Keys\n");
    fields.iter().filter(|f| !f.key.contains('.')).for_each(|f| write_field(&mut page, f));
    for (section, doc) in &catalog.as_ref().keys().sections {
        let _ = write!(page, "\n## [{section}]\n\n{doc}\n");
        let prefix = format!("{section}.");
        fields.iter().filter(|f| f.key.starts_with(&prefix)).for_each(|f| write_field(&mut page, f));
    }
    page
}

/// Every key with its default and meaning as plain text, for the help of a program.
///
/// ```
/// let help = autoqd::config::settings_help(&autoqd::registry::Registry::default());
/// assert!(help.contains("  embedding.gamma = 0.999\n"));
/// ```
pub fn settings_help(catalog: &impl AsRef<Catalog>) -> String {
    let mut help = String::from("Settings, for --set and configuration files, with their defaults:\n");
    for Field { key, expected, default, doc, choices } in fields(catalog) {
        let _ = write!(help, "\n  {key} = {default}\n{}", indented(doc, 6));
        if choices.is_empty() {
            help.push_str(&indented(&format!("Takes {expected}."), 6));
        }
        for (word, doc) in choices {
            help.push_str(&indented(&format!("\"{word}\": {doc}"), 8));
        }
    }
    help
}

/// Widest line of the help text, narrow enough for most terminals.
const HELP_WIDTH: usize = 100;

/// A paragraph broken into lines that all begin with the same number of spaces.
fn indented(text: &str, spaces: usize) -> String {
    wrapped(text, &" ".repeat(spaces))
}

/// A paragraph broken into lines that all begin with `prefix`.
pub(super) fn wrapped(text: &str, prefix: &str) -> String {
    let (mut out, mut line) = (String::new(), prefix.to_owned());
    for word in text.split_whitespace() {
        if line.len() > prefix.len() && line.len() + 1 + word.len() > HELP_WIDTH {
            let _ = writeln!(out, "{line}");
            prefix.clone_into(&mut line);
        }
        if line.len() > prefix.len() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
    out
}

const INTRODUCTION: &str = "# Configuration reference

Generated from the source by `AUTOQD_BLESS=1 cargo test -p autoqd-learn --test settings`; do not edit.

A run is configured by layers, the later one winning: defaults, `--preset NAME`, `--config FILE.toml`,
`--set key=value` (dotted keys, any number of times), and the flags of `autoqd run`. The complete result is written
to `config.toml` in the run folder and can be used as a configuration file again.

A resumed run may change `iterations` (upwards), `threads` and `checkpoint_every`, nothing else.

## Presets
";

fn write_field(page: &mut String, field: &Field) {
    let Field { key, expected, default, doc, choices } = field;
    let default = if default == "\"\"" { "none, must be given".to_owned() } else { format!("`{default}`") };
    let _ = write!(page, "\n### `{key}`\n\n{doc}\n\nDefault: {default}.");
    if choices.is_empty() {
        let _ = write!(page, " Takes {expected}.");
    }
    page.push('\n');
    for (i, (word, doc)) in choices.iter().enumerate() {
        let _ = writeln!(page, "{}* `\"{word}\"`: {doc}", if i == 0 { "\n" } else { "" });
    }
}
