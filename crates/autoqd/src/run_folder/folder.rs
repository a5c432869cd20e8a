//! The folder of one run.

use super::atomic::{remove_temporaries, sync_folder_of};
use super::checkpoint::{Checkpoint, CheckpointHeader, CheckpointWriter};
use super::lock::{FolderLock, LOCK_FILE};
use super::manifest::Manifest;
use super::{
    ARCHIVE_FILE, ArchiveTable, CHECKPOINT_FILE, CONFIG_FILE, DESCRIPTOR_FILE, MANIFEST_FILE,
    PREVIOUS_CHECKPOINT_FILE, REJECTED_CHECKPOINT_FILE, RunFolderError, RunLogs, TensorFile, write_atomic,
};
use crate::Error;
use crate::config::RunConfig;
use crate::parts::PutParts;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of one run, held exclusively by this process.
///
/// Readers (`status`, `export`, ...) need no `RunFolder`: see the functions of the module.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    _lock: FolderLock,
}

/// A checkpoint that can be continued from.
#[derive(Debug)]
pub struct LoadedCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The configuration it was made with.
    pub config: RunConfig,
    /// What the user should know, when it is not the latest one.
    pub notice: Option<String>,
}

impl RunFolder {
    /// Where a run goes when no folder is given: `runs/TASK-METHOD-SEED`.
    pub fn default_path(config: &RunConfig) -> PathBuf {
        let stem = Path::new(&config.task).file_stem().unwrap_or_default().to_string_lossy();
        // A task's name may say more than a folder's should, as gym:LunarLander-v3?continuous=true does.
        let plain = stem.rsplit(':').next().unwrap_or_default().split('?').next().unwrap_or_default();
        Path::new("runs").join(format!("{plain}-{}-{}", config.method, config.seed))
    }

    /// Makes the folder of a new run. An existing folder must be empty.
    pub fn create(path: &Path, config: &RunConfig) -> Result<Self, RunFolderError> {
        fs::create_dir_all(path).map_err(|e| RunFolderError::io("make the folder", path, e))?;
        refuse_used(path)?;
        let lock = FolderLock::take(path)?;
        // Another process may have been faster between the look and the lock.
        refuse_used(path)?;
        remove_temporaries(path)?;
        let folder = Self { path: path.to_owned(), _lock: lock };
        folder.write_config(config)?;
        sync_folder_of(path)?;
        Ok(folder)
    }

    /// Opens the folder of a run to continue it.
    pub fn open(path: &Path) -> Result<Self, RunFolderError> {
        if !path.join(CONFIG_FILE).is_file() {
            return Err(RunFolderError::NotARun { path: path.to_owned() });
        }
        let lock = FolderLock::take(path)?;
        remove_temporaries(path)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The configuration in config.toml.
    pub fn config(&self) -> Result<RunConfig, RunFolderError> {
        read_config(&self.path)
    }

    /// Replaces config.toml, after [`check_resume`](crate::config::check_resume) allowed it.
    pub fn write_config(&self, config: &RunConfig) -> Result<(), RunFolderError> {
        let text = config.to_toml();
        write_atomic(&self.path.join(CONFIG_FILE), |file| Ok(file.write_all(text.as_bytes())?))
    }

    /// Opens the logs, cut back to `iteration` (0 for a new run). From here on the files of a finished run no longer
    /// hold, so its manifest goes.
    pub fn logs(&self, iteration: u64) -> Result<RunLogs, RunFolderError> {
        remove_if_there(&self.path.join(MANIFEST_FILE))?;
        RunLogs::open(&self.path, iteration)
    }

    /// Writes a checkpoint of the parts that `write` puts; the one before is kept until the next.
    pub fn save_checkpoint<F>(
        &self,
        config: &RunConfig,
        iteration: u64,
        write: F,
    ) -> Result<(), RunFolderError>
    where
        F: FnOnce(&mut dyn PutParts) -> Result<(), Error>,
    {
        let header = CheckpointHeader { iteration, config: config.to_toml() };
        let [current, previous] =
            [CHECKPOINT_FILE, PREVIOUS_CHECKPOINT_FILE].map(|name| self.path.join(name));
        let next = self.path.join(NEXT_CHECKPOINT_FILE);
        // Complete and on disk under a third name before the other two move.
        write_atomic(&next, |file| {
            let mut writer = CheckpointWriter::new(file, &header)?;
            write(&mut writer)?;
            writer.finish()
        })?;
        if current.exists() {
            rename(&current, &previous)?;
        }
        rename(&next, &current)?;
        sync_folder_of(&current)
    }

    /// Loads the latest usable checkpoint; `None` when the run has not written any.
    ///
    /// A damaged or newer file is set aside, not deleted, and the previous checkpoint is taken instead.
    pub fn load_checkpoint(&self) -> Result<Option<LoadedCheckpoint>, RunFolderError> {
        let [current, previous] =
            [CHECKPOINT_FILE, PREVIOUS_CHECKPOINT_FILE].map(|name| self.path.join(name));
        let problem = match load(&current) {
            Ok(loaded) => return Ok(Some(loaded)),
            Err(e) => e,
        };
        let missing = problem.is_not_found();
        let mut loaded = match load(&previous) {
            Ok(loaded) => loaded,
            Err(e) if missing && e.is_not_found() => return Ok(None),
            Err(e) => {
                let (path, current, previous) = (self.path.clone(), problem.to_string(), e.to_string());
                return Err(RunFolderError::NoUsableCheckpoint { path, current, previous });
            }
        };
        if !missing {
            rename(&current, &self.path.join(REJECTED_CHECKPOINT_FILE))?;
            loaded.notice = Some(format!(
                "{problem}; it is set aside as {REJECTED_CHECKPOINT_FILE}, going on from iteration {} of the previous \
                 checkpoint",
                loaded.checkpoint.header.iteration
            ));
        }
        Ok(Some(loaded))
    }

    /// Writes archive.parquet.
    pub fn write_archive(&self, table: &ArchiveTable) -> Result<(), RunFolderError> {
        table.write_parquet(&self.path.join(ARCHIVE_FILE))
    }

    /// Writes descriptor.safetensors.
    pub fn write_descriptor(&self, tensors: &TensorFile) -> Result<(), RunFolderError> {
        tensors.write(&self.path.join(DESCRIPTOR_FILE))
    }

    /// Writes the manifest, the checksums of all result files, once nothing changes any more.
    pub fn write_manifest(&self, iteration: u64) -> Result<Manifest, RunFolderError> {
        Manifest::write(&self.path, iteration)
    }
}

/// A checkpoint that is complete but not yet in its place.
const NEXT_CHECKPOINT_FILE: &str = ".checkpoint.aqd.tmp";

fn load(path: &Path) -> Result<LoadedCheckpoint, RunFolderError> {
    let checkpoint = Checkpoint::read(path)?;
    let config = RunConfig::from_toml(&checkpoint.header.config, &path.display().to_string())?;
    Ok(LoadedCheckpoint { checkpoint, config, notice: None })
}

fn rename(from: &Path, to: &Path) -> Result<(), RunFolderError> {
    fs::rename(from, to).map_err(|e| RunFolderError::io("write", to, e))
}

fn remove_if_there(path: &Path) -> Result<(), RunFolderError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(RunFolderError::io("remove", path, e)),
        _ => Ok(()),
    }
}

/// Anything but the traces of a creation that was cut short counts as used.
fn refuse_used(path: &Path) -> Result<(), RunFolderError> {
    let refused = |e| RunFolderError::io("read", path, e);
    for entry in fs::read_dir(path).map_err(refused)? {
        let name = entry.map_err(refused)?.file_name();
        let name = name.to_string_lossy();
        if name != LOCK_FILE && !super::atomic::is_temporary(&name) {
            return Err(RunFolderError::Exists { path: path.to_owned() });
        }
    }
    Ok(())
}

/// The configuration of a run.
pub fn read_config(folder: &Path) -> Result<RunConfig, RunFolderError> {
    let path = folder.join(CONFIG_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(RunConfig::from_toml(&text, &path.display().to_string())?),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(RunFolderError::NotARun { path: folder.to_owned() })
        }
        Err(e) => Err(RunFolderError::io("read", &path, e)),
    }
}
