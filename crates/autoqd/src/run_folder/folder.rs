//! The folder of one run.

use super::atomic::{remove_temporaries, sync_folder_of};
use super::checkpoint::{Checkpoint, CheckpointHeader, CheckpointWriter};
use super::kept_task::{KeptTask, LoadDigests, is_kept_task, remove_unfinished};
use super::lock::{FolderLock, LOCK_FILE};
use super::log_sums::LogSums;
use super::logs::accept_logs;
use super::machine::{Machine, go_on_with};
use super::manifest::Manifest;
use super::{
    ARCHIVE_FILE, ArchiveTable, AtomicFile, CHECKPOINT_FILE, CONFIG_FILE, DESCRIPTOR_FILE, EVENTS_FILE,
    FIGURES_FILE, FillError, LOGS_FILE, MACHINE_FILE, METRICS_FILE, NOTICES_FILE, PREVIOUS_CHECKPOINT_FILE,
    REJECTED_CHECKPOINT_FILE, RunFolderError, RunLogs, TASK_FOLDER, TIMING_FILE, TRAINING_FILE, TensorFile,
    write_atomic,
};
use crate::Error;
use crate::config::{RunConfig, check_resume};
use crate::parts::PutParts;
use autoqd_env::{Task, TaskFiles};
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
        let folder = Self::prepare(path)?;
        folder.write_config(config)?;
        sync_folder_of(path)?;
        Ok(folder)
    }

    /// Makes the folder of a new run that keeps its task; `files` are those of a task from a file.
    pub fn create_with_task(
        path: &Path,
        config: &RunConfig,
        task: &dyn Task,
        files: Option<&TaskFiles>,
        load: LoadDigests<'_>,
    ) -> Result<Self, RunFolderError> {
        let folder = Self::prepare(path)?;
        // The configuration last: it makes the folder a run.
        folder.keep_task(config, task, files, load)?;
        folder.write_config(config)?;
        sync_folder_of(path)?;
        Ok(folder)
    }

    /// Keeps the task in the folder.
    pub fn keep_task(
        &self,
        config: &RunConfig,
        task: &dyn Task,
        files: Option<&TaskFiles>,
        load: LoadDigests<'_>,
    ) -> Result<KeptTask, RunFolderError> {
        KeptTask::write(&self.path, &config.task, task, files, load)
    }

    fn prepare(path: &Path) -> Result<Self, RunFolderError> {
        fs::create_dir_all(path).map_err(|e| RunFolderError::io("make the folder", path, e))?;
        refuse_used(path)?;
        let lock = FolderLock::take(path)?;
        // Another process may have been faster between the look and the lock.
        refuse_used(path)?;
        remove_temporaries(path)?;
        remove_unfinished(path)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
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

    /// Removes what a new run has written before its first iteration was done, and the folder if nothing else is in it.
    pub fn discard(&self) {
        // An error that is being reported is more important than what could not be removed. In an order that leaves, if
        // it is cut short, a run that can be resumed or a folder that can be used.
        let files = [
            MACHINE_FILE,
            LOGS_FILE,
            METRICS_FILE,
            TRAINING_FILE,
            FIGURES_FILE,
            TIMING_FILE,
            NOTICES_FILE,
            EVENTS_FILE,
            CONFIG_FILE,
        ];
        let _ = remove_temporaries(&self.path);
        for name in files {
            let _ = fs::remove_file(self.path.join(name));
        }
        let _ = remove_unfinished(&self.path);
        let _ = fs::remove_file(self.path.join(LOCK_FILE));
        let _ = fs::remove_dir(&self.path);
    }

    /// The configuration in config.toml.
    pub fn config(&self) -> Result<RunConfig, RunFolderError> {
        read_config(&self.path)
    }

    /// Replaces config.toml, after [`check_resume`](crate::config::check_resume) allowed it.
    pub fn write_config(&self, config: &RunConfig) -> Result<(), RunFolderError> {
        let text = seal(&config.to_toml());
        write_atomic(&self.path.join(CONFIG_FILE), |file| Ok(file.write_all(text.as_bytes())?))
    }

    /// Opens the logs, cut back to `iteration` (0 for a new run), if they are what the run wrote. From here on the files
    /// of a finished run no longer hold, so its manifest goes.
    pub fn logs(&self, iteration: u64) -> Result<RunLogs, RunFolderError> {
        RunLogs::open(&self.path, iteration)
    }

    /// Takes logs that are not what the run wrote as they are; the answer is what a user should know.
    pub fn accept_logs(&self) -> Result<Vec<String>, RunFolderError> {
        accept_logs(&self.path)
    }

    /// Records what the run is computed with from now on; the answer is what a user should know about a change.
    pub fn go_on_with(&self, machine: Machine) -> Result<Option<String>, RunFolderError> {
        go_on_with(&self.path, machine)
    }

    /// Adds a line about what happened before an iteration was done.
    pub fn note(&self, iteration: u64, text: &str) -> Result<(), RunFolderError> {
        let path = self.path.join(NOTICES_FILE);
        let file = fs::OpenOptions::new().create(true).append(true).open(&path);
        let line = format!("{iteration}\t{}\n", text.replace('\n', " "));
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.map_err(|e| RunFolderError::io("write", &path, e))
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
        replace_checkpoint(&self.path, |file| {
            let mut writer = CheckpointWriter::new(file, &header)?;
            write(&mut writer)?;
            writer.finish()
        })
    }

    /// Replaces the checkpoint by one that was written elsewhere.
    pub(crate) fn put_checkpoint(&self, content: &[u8]) -> Result<(), RunFolderError> {
        replace_checkpoint(&self.path, |file| Ok(file.write_all(content)?))
    }

    /// From here on the checksums of a finished run and of its logs no longer hold.
    pub(crate) fn remove_sums(&self) -> Result<(), RunFolderError> {
        Manifest::remove(&self.path)?;
        LogSums::remove(&self.path)?;
        sync_folder_of(&self.path.join(CONFIG_FILE))
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

/// Writes a checkpoint; the one before is kept until the next.
fn replace_checkpoint<F>(folder: &Path, fill: F) -> Result<(), RunFolderError>
where
    F: FnOnce(&mut AtomicFile) -> Result<(), FillError>,
{
    let [current, previous, next] =
        [CHECKPOINT_FILE, PREVIOUS_CHECKPOINT_FILE, NEXT_CHECKPOINT_FILE].map(|name| folder.join(name));
    // Complete and on disk under a third name before the other two move.
    write_atomic(&next, fill)?;
    if current.exists() {
        rename(&current, &previous)?;
    }
    rename(&next, &current)?;
    sync_folder_of(&current)
}

fn load(path: &Path) -> Result<LoadedCheckpoint, RunFolderError> {
    let checkpoint = Checkpoint::read(path)?;
    let config = RunConfig::from_toml(&checkpoint.header.config, &path.display().to_string())?;
    Ok(LoadedCheckpoint { checkpoint, config, notice: None })
}

fn rename(from: &Path, to: &Path) -> Result<(), RunFolderError> {
    fs::rename(from, to).map_err(|e| RunFolderError::io("write", to, e))
}

/// Anything but the traces of a creation that was cut short counts as used.
fn refuse_used(path: &Path) -> Result<(), RunFolderError> {
    let refused = |e| RunFolderError::io("read", path, e);
    for entry in fs::read_dir(path).map_err(refused)? {
        let name = entry.map_err(refused)?.file_name();
        let name = name.to_string_lossy();
        let trace = name == LOCK_FILE
            || super::atomic::is_temporary(&name)
            || (name == TASK_FOLDER && is_kept_task(&path.join(TASK_FOLDER)));
        if !trace {
            return Err(RunFolderError::Exists { path: path.to_owned() });
        }
    }
    Ok(())
}

/// The configuration of a run.
pub fn read_config(folder: &Path) -> Result<RunConfig, RunFolderError> {
    let path = folder.join(CONFIG_FILE);
    match fs::read_to_string(&path) {
        Ok(text) if is_as_written(folder, &text) => {
            Ok(RunConfig::from_toml(&text, &path.display().to_string())?)
        }
        Ok(text) => Err(RunFolderError::ConfigEdited { reason: edit(folder, &text), path }),
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Err(RunFolderError::NotARun { path: folder.to_owned() })
        }
        Err(e) => Err(RunFolderError::io("read", &path, e)),
    }
}

/// What the last line of config.toml begins with, before the checksum of all lines above it.
const CHECKSUM_LINE: &str = "# checksum of the lines above: ";

fn seal(text: &str) -> String {
    format!("{text}\n{CHECKSUM_LINE}{}\n", blake3::hash(text.as_bytes()).to_hex())
}

/// Compares config.toml with its own checksum; a file without one, as older versions wrote it, with the manifest and the
/// checkpoint.
fn is_as_written(folder: &Path, text: &str) -> bool {
    if let Some((above, checksum)) = text.rsplit_once(&format!("\n{CHECKSUM_LINE}")) {
        return checksum.trim_end() == blake3::hash(above.as_bytes()).to_hex().as_str();
    }
    let manifest = Manifest::read(folder).ok().flatten();
    let sums = manifest.map(|manifest| manifest.files).unwrap_or_default();
    let same = |sum: &super::FileSum| sum.blake3 == blake3::hash(text.as_bytes()).to_hex().as_str();
    sums.get(CONFIG_FILE).is_none_or(same)
        && both_configs(folder, text).is_none_or(|(edited, stored)| check_resume(&stored, &edited).is_ok())
}

/// The configuration in the file and the one in the checkpoint, as far as both can be read.
fn both_configs(folder: &Path, text: &str) -> Option<(RunConfig, RunConfig)> {
    let edited = RunConfig::from_toml(text, CONFIG_FILE).ok()?;
    let header = Checkpoint::read_header(&folder.join(CHECKPOINT_FILE)).ok()?;
    Some((edited, RunConfig::from_toml(&header.config, CHECKPOINT_FILE).ok()?))
}

/// What an edit changed, as far as the checkpoint and the edited file tell.
fn edit(folder: &Path, text: &str) -> String {
    let difference = both_configs(folder, text).and_then(|(edited, stored)| stored.difference(&edited));
    difference.map_or_else(String::new, |(key, old, new)| format!(": {key} is {new}, was {old}"))
}
