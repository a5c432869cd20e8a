//! Checksums of the result files of a run that has ended.

use super::atomic::remove_if_there;
use super::kept_task::TASK_RECORD;
use super::{
    ARCHIVE_FILE, CHECKPOINT_FILE, CONFIG_FILE, DESCRIPTOR_FILE, FIGURES_FILE, LOGS_FILE, MACHINE_FILE,
    MANIFEST_FILE, METRICS_FILE, RunFolderError, TRAINING_FILE, write_atomic,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

const VERSION: u32 = 1;
/// The files whose content a configuration determines, and those that tell what the others are worth.
const RESULT_FILES: [&str; 10] = [
    CONFIG_FILE,
    METRICS_FILE,
    TRAINING_FILE,
    FIGURES_FILE,
    ARCHIVE_FILE,
    DESCRIPTOR_FILE,
    CHECKPOINT_FILE,
    LOGS_FILE,
    MACHINE_FILE,
    TASK_RECORD,
];

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
    /// Checksum of the above; manifests written before there was one have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
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
        let manifest = Self { version: VERSION, program, iteration, files, checksum: None }.sealed();
        let bytes = manifest.to_bytes();
        write_atomic(&folder.join(MANIFEST_FILE), |file| Ok(file.write_all(&bytes)?))?;
        Ok(manifest)
    }

    fn sealed(self) -> Self {
        let open = Self { checksum: None, ..self };
        let checksum = blake3::hash(&open.to_bytes()).to_hex().to_string();
        Self { checksum: Some(checksum), ..open }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    pub(super) fn remove(folder: &Path) -> Result<(), RunFolderError> {
        remove_if_there(&folder.join(MANIFEST_FILE))
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
        // The whole file, not only the checksum: there is one way to write it.
        let written = match &manifest.checksum {
            Some(_) => manifest.clone().sealed(),
            None => manifest.clone(),
        };
        if written.to_bytes() != text {
            let reason =
                "its content does not match its checksum; remove it, and `autoqd resume` writes it anew";
            return Err(RunFolderError::damaged(&path, reason));
        }
        Ok(Some(manifest))
    }
}
