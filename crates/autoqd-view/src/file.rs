//! Files that are either complete or absent.

use std::io::Write;
use std::path::Path;

use autoqd::run_folder::write_atomic;

use crate::ViewError;

/// Writes a complete file, or none.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), ViewError> {
    Ok(write_atomic(path, |file| Ok(file.write_all(bytes)?))?)
}
