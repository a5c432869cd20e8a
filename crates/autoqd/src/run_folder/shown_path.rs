//! Paths in files and answers for people and programs.

use serde::Serializer;
use std::path::Path;

/// Writes a path as text, for `#[serde(serialize_with = "...")]`. JSON is UTF-8 and the names of folders need not be: what is
/// not becomes U+FFFD, as on the screen, so that a name costs nobody a long measurement.
pub fn serialize_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}
