//! The reference page, generated from the doc comments of [`Config`](super::Config).

use super::schema::{Field, fields, sections};
use std::fmt::Write;

/// The reference page of all keys, in Markdown.
pub fn reference_page() -> String {
    let mut page = String::from(INTRODUCTION);
    for name in super::preset_names() {
        let text = super::preset(name).unwrap_or_default();
        let _ = write!(page, "\n### `{name}`\n\n```toml\n{text}```\n");
    }
    page.push_str("\n## Keys\n");
    fields().iter().filter(|f| !f.key.contains('.')).for_each(|f| write_field(&mut page, f));
    for (section, doc) in sections() {
        let _ = write!(page, "\n## [{section}]\n\n{doc}\n");
        let prefix = format!("{section}.");
        fields().iter().filter(|f| f.key.starts_with(&prefix)).for_each(|f| write_field(&mut page, f));
    }
    page
}

const INTRODUCTION: &str = "# Configuration reference

Generated from the source by `AUTOQD_BLESS=1 cargo test -p autoqd --test config`; do not edit.

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
