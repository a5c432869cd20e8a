//! Checksums of the result files of a run that has ended.

use super::{
    ARCHIVE_FILE, CONFIG_FILE, DESCRIPTOR_FILE, FIGURES_FILE, MANIFEST_FILE, METRICS_FILE, RunFolderError,
    TRAINING_FILE, write_atomic,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

const VERSION: u32 = 1;
/// The files whose content a configuration determines.
const RESULT_FILES: [&str; 6] =
    [CONFIG_FILE, METRICS_FILE, TRAINING_FILE, FIGURES_FILE, ARCHIVE_FILE, DESCRIPTOR_FILE];

/// Length and checksum of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    /// Length in bytes.
    pub bytes: u64,
    /// Checksum, in hexadecimal.
    pub blake3: String,
}

impl FileSum {
    /// Of a file; `None` when it does not exist.
    pub(super) fn of(path: &Path) -> Result<Option<Self>, RunFolderError> {
        let refused = |e| RunFolderError::io("read", path, e);
        let mut file = match File::open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(refused)?,
        };
        let mut hasher = blake3::Hasher::new();
        let bytes = io::copy(&mut file, &mut hasher).map_err(refused)?;
        Ok(Some(Self { bytes, blake3: hasher.finalize().to_hex().to_string() }))
    }
}

/// The content of manifest.json.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format version.
    pub version: u32,
    /// Program that wrote it.
    pub program: String,
    /// Iterations completed.
    pub iteration: u64,
    /// The files.
    pub files: BTreeMap<String, FileSum>,
}

impl Manifest {
    pub(super) fn write(folder: &Path, iteration: u64) -> Result<Self, RunFolderError> {
        let mut files = BTreeMap::new();
        for name in RESULT_FILES {
            if let Some(sum) = FileSum::of(&folder.join(name))? {
                files.insert(name.to_owned(), sum);
            }
        }
        let program = concat!("autoqd ", env!("CARGO_PKG_VERSION")).to_owned();
        let manifest = Self { version: VERSION, program, iteration, files };
        write_atomic(&folder.join(MANIFEST_FILE), |file| {
            serde_json::to_writer_pretty(&mut *file, &manifest)?;
            Ok(file.write_all(b"\n")?)
        })?;
        Ok(manifest)
    }

    /// Reads the manifest of a run; `None` when the run has not ended.
    pub fn read(folder: &Path) -> Result<Option<Self>, RunFolderError> {
        let path = folder.join(MANIFEST_FILE);
        let text = match std::fs::read(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|e| RunFolderError::io("read", &path, e))?,
        };
        let manifest: Self = serde_json::from_slice(&text).map_err(|e| RunFolderError::damaged(&path, e))?;
        if manifest.version > VERSION {
            return Err(RunFolderError::NewerVersion { path, found: manifest.version, known: VERSION });
        }
        Ok(Some(manifest))
    }
}
