//! Results kept on disk so that a long measurement can be continued.
//!
//! A file holds a magic word with the version, the BLAKE3 digest of what follows, and the value in postcard form. A file
//! that is damaged or of another version counts as missing: the measurement is a pure function and can be repeated.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use autoqd::run_folder::{RunFolderError, write_atomic};

const MAGIC: &[u8; 8] = b"AQDMEAS1";

/// Writes a value, and the folders above it.
pub(super) fn save<T: Serialize>(path: &Path, value: &T) -> Result<(), RunFolderError> {
    make_parent(path)?;
    write_atomic(path, |file| {
        let payload = postcard::to_allocvec(value)?;
        file.write_all(MAGIC)?;
        file.write_all(blake3::hash(&payload).as_bytes())?;
        Ok(file.write_all(&payload)?)
    })
}

/// Reads a value; `None` if it is not there or cannot be used.
pub(super) fn load<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let bytes = std::fs::read(path).ok()?;
    let rest = bytes.strip_prefix(MAGIC)?;
    let (digest, payload) = rest.split_at_checked(32)?;
    if blake3::hash(payload).as_bytes() != digest {
        return None;
    }
    postcard::from_bytes(payload).ok()
}

/// Writes a value as readable JSON, and the folders above it.
pub fn save_json<T: Serialize>(path: &Path, value: &T) -> Result<(), RunFolderError> {
    make_parent(path)?;
    write_atomic(path, |file| {
        serde_json::to_writer_pretty(&mut *file, value)?;
        Ok(file.write_all(b"\n")?)
    })
}

fn make_parent(path: &Path) -> Result<(), RunFolderError> {
    match path.parent() {
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|e| RunFolderError::io("make the folder", folder, e))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_counts_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/value.bin");
        assert_eq!(load::<Vec<f64>>(&path), None);
        save(&path, &vec![1.0, f64::NAN]).unwrap();
        assert_eq!(load::<Vec<f64>>(&path).unwrap()[0], 1.0);
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(load::<Vec<f64>>(&path), None);
        std::fs::write(&path, &bytes[..20]).unwrap();
        assert_eq!(load::<Vec<f64>>(&path), None);
    }
}
