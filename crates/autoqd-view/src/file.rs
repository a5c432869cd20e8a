//! Files that are either whole or not there.

use std::io::Write;
use std::path::Path;

use autoqd::run_folder::write_atomic;

use crate::ViewError;

/// Writes a file as a whole.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), ViewError> {
    Ok(write_atomic(path, |file| Ok(file.write_all(bytes)?))?)
}
