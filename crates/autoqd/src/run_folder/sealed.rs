//! Small JSON files with a version and a checksum inside.

use super::{RunFolderError, write_atomic};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    version: u32,
    checksum: String,
    content: T,
}

impl<T: Serialize> Sealed<T> {
    fn new(version: u32, content: T) -> Self {
        let text = serde_json::to_vec(&content).unwrap_or_default();
        Self { version, checksum: blake3::hash(&text).to_hex().to_string(), content }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

pub(super) fn write_sealed<T: Serialize>(
    path: &Path,
    version: u32,
    content: &T,
) -> Result<(), RunFolderError> {
    let bytes = Sealed::new(version, content).to_bytes();
    write_atomic(path, |file| Ok(file.write_all(&bytes)?))
}

pub(super) fn read_sealed<T>(path: &Path, known: u32) -> Result<T, RunFolderError>
where
    T: Serialize + DeserializeOwned,
{
    let bytes = std::fs::read(path).map_err(|e| RunFolderError::io("read", path, e))?;
    let damaged = |e: serde_json::Error| RunFolderError::damaged(path, e);
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(damaged)?;
    let found = value["version"].as_u64().unwrap_or(0);
    if found > u64::from(known) {
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        return Err(RunFolderError::NewerVersion { path: path.to_owned(), found, known });
    }
    let sealed: Sealed<T> = serde_json::from_value(value).map_err(damaged)?;
    // The whole file, not only the checksum: there is one way to write it.
    let again = Sealed::new(sealed.version, &sealed.content).to_bytes();
    match again == bytes {
        true => Ok(sealed.content),
        false => Err(RunFolderError::damaged(path, "its content does not match its checksum")),
    }
}
