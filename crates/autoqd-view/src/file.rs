//! Files that are either whole or not there.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::ViewError;

/// Writes a file through a temporary one beside it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), ViewError> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let unfinished = path.with_file_name(name);
    let result = File::create(&unfinished).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let result = result.and_then(|()| std::fs::rename(&unfinished, path));
    result.map_err(|error| {
        let _ = std::fs::remove_file(&unfinished);
        ViewError::at(path)(error)
    })
}
