//! Whether the files of a run are what was written.

use super::logs::check_log;
use super::manifest::{FileSum, Manifest};
use super::{
    ARCHIVE_FILE, ArchiveTable, CHECKPOINT_FILE, CONFIG_FILE, DESCRIPTOR_FILE, EVENTS_FILE, FIGURES_FILE,
    KeptTask, LOGS_FILE, MACHINE_FILE, MANIFEST_FILE, METRICS_FILE, NOTICES_FILE, PREVIOUS_CHECKPOINT_FILE,
    RunFolderError, TASK_FOLDER, TIMING_FILE, TRAINING_FILE, TensorFile, checkpoint, read_config,
    read_figures, read_machines, read_metrics, read_timing, read_training,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The outcome for one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileCheck {
    /// Name within the run folder.
    pub file: String,
    /// Whether the file is sound.
    pub ok: bool,
    /// What was found.
    pub detail: String,
}

/// The outcome for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Folder of the run.
    #[serde(serialize_with = "super::serialize_path")]
    pub path: PathBuf,
    /// Whether every file is sound.
    pub ok: bool,
    /// Iteration for which the manifest was written; `None` when the run has not ended.
    pub iteration: Option<u64>,
    /// Checksum of the archive's content: two runs with the same one found the same policies.
    pub archive_digest: Option<String>,
    /// Every file.
    pub files: Vec<FileCheck>,
}

/// Checks every file of a run against its own checksum and against the manifest.
pub fn verify(folder: &Path) -> Result<Verification, RunFolderError> {
    if !folder.join(CONFIG_FILE).exists() {
        return Err(RunFolderError::NotARun { path: folder.to_owned() });
    }
    let mut archive_digest = None;
    let archive = ArchiveTable::read(folder).map(|table| {
        archive_digest = Some(table.digest());
        format!("{} elites", table.len())
    });
    let rows = |count: usize| format!("{count} rows");
    let manifest = Manifest::read(folder);
    // After the end nothing is added to a log.
    let ended = !matches!(manifest, Ok(None));
    let bytes = |name| check_log(folder, name, ended).map(|length| format!("{length} bytes"));
    let timing =
        read_timing(folder).and_then(|r| check_log(folder, TIMING_FILE, ended).map(|_| rows(r.len())));
    let mut files: Vec<FileCheck> = [
        (CONFIG_FILE, read_config(folder).map(|_| "complete".to_owned())),
        (TASK_FOLDER, task_detail(folder)),
        (MACHINE_FILE, machine_detail(folder)),
        (METRICS_FILE, read_metrics(folder).map(|r| rows(r.len()))),
        (TRAINING_FILE, read_training(folder).map(|r| rows(r.len()))),
        (FIGURES_FILE, read_figures(folder).map(|r| rows(r.len()))),
        (TIMING_FILE, timing),
        (EVENTS_FILE, bytes(EVENTS_FILE)),
        (NOTICES_FILE, bytes(NOTICES_FILE)),
        (LOGS_FILE, check_log(folder, LOGS_FILE, ended).map(|_| "complete".to_owned())),
        (ARCHIVE_FILE, archive),
        (
            DESCRIPTOR_FILE,
            TensorFile::read(&folder.join(DESCRIPTOR_FILE)).map(|f| format!("{} tensors", f.tensors.len())),
        ),
        (CHECKPOINT_FILE, checkpoint_detail(folder, CHECKPOINT_FILE)),
        (PREVIOUS_CHECKPOINT_FILE, checkpoint_detail(folder, PREVIOUS_CHECKPOINT_FILE)),
    ]
    .into_iter()
    .filter_map(|(name, result)| outcome(name, result))
    .collect();
    let iteration = match &manifest {
        Ok(manifest) => manifest.as_ref().map(|manifest| manifest.iteration),
        Err(e) => {
            files.push(FileCheck { file: MANIFEST_FILE.to_owned(), ok: false, detail: e.to_string() });
            None
        }
    };
    if let Ok(Some(manifest)) = &manifest {
        compare(folder, manifest, &mut files)?;
    }
    let ok = files.iter().all(|f| f.ok);
    Ok(Verification { path: folder.to_owned(), ok, iteration, archive_digest, files })
}

/// The task of runs made before they kept it is not there.
fn task_detail(folder: &Path) -> Result<String, RunFolderError> {
    let missing = || RunFolderError::io("read", folder, std::io::ErrorKind::NotFound.into());
    let kept = KeptTask::read(folder)?.ok_or_else(missing)?;
    kept.location()?;
    Ok(if kept.is_empty() { "by name".to_owned() } else { format!("{} files", kept.len()) })
}

fn machine_detail(folder: &Path) -> Result<String, RunFolderError> {
    let machines = read_machines(folder)?;
    let last = machines.last();
    let missing = || RunFolderError::io("read", folder, std::io::ErrorKind::NotFound.into());
    let last = last.ok_or_else(missing)?;
    let before = if machines.len() > 1 { ", and others before" } else { "" };
    Ok(format!("{}, {}{before}", last.cpu, last.simulator))
}

fn checkpoint_detail(folder: &Path, name: &str) -> Result<String, RunFolderError> {
    let path = folder.join(name);
    checkpoint::check_file(&path)?;
    Ok(format!("iteration {}", super::Checkpoint::read_header(&path)?.iteration))
}

/// A file that does not exist is not wrong in itself; the manifest says which ones must be there.
fn outcome(name: &str, result: Result<String, RunFolderError>) -> Option<FileCheck> {
    let (ok, detail) = match result {
        Ok(detail) => (true, detail),
        Err(e) if e.is_not_found() => return None,
        Err(e) => (false, e.to_string()),
    };
    Some(FileCheck { file: name.to_owned(), ok, detail })
}

fn compare(folder: &Path, manifest: &Manifest, files: &mut Vec<FileCheck>) -> Result<(), RunFolderError> {
    for (name, expected) in &manifest.files {
        let problem = match FileSum::of(&folder.join(name))? {
            None => "it is missing",
            Some(found) if found != *expected => "it was changed after the run ended",
            Some(_) => continue,
        };
        match files.iter_mut().find(|f| f.file == *name) {
            Some(check) if check.ok => (check.ok, check.detail) = (false, problem.to_owned()),
            Some(_) => {}
            None => files.push(FileCheck { file: name.clone(), ok: false, detail: problem.to_owned() }),
        }
    }
    Ok(())
}
