//! Named starting points, embedded as TOML.

use super::ConfigError;

const PRESETS: &[(&str, &str)] = &[
    ("paper", include_str!("presets/paper.toml")),
    ("best", include_str!("presets/best.toml")),
    ("quick", include_str!("presets/quick.toml")),
];

/// Names of the presets.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// TOML text of a preset.
///
/// ```
/// assert!(autoqd::config::preset("quick").unwrap().contains("iterations"));
/// assert!(autoqd::config::preset("quik").unwrap_err().to_string().contains("quick"));
/// ```
pub fn preset(name: &str) -> Result<&'static str, ConfigError> {
    PRESETS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text).ok_or_else(|| {
        ConfigError::UnknownPreset {
            name: name.to_owned(),
            known: preset_names().collect::<Vec<_>>().join(", "),
        }
    })
}
