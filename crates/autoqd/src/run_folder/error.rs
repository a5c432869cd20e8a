//! What can go wrong with a run folder.

use crate::config::ConfigError;
use std::io::{Error as IoError, ErrorKind};
use std::path::{Path, PathBuf};

/// An error of a run folder or an exported file: names the file, the reason and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunFolderError {
    /// The folder already holds something.
    #[error(
        "{} is not empty, and a run is never overwritten; continue it with `autoqd resume {}`, or choose another \
         folder with --out",
        path.display(), path.display()
    )]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The folder is not a run.
    #[error("{} {}; `autoqd runs FOLDER` lists the runs below a folder", path.display(), not_a_run(path))]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// Another process works in the folder.
    #[error("{} is in use by {holder}; wait until it ends, or stop it", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
        /// Who holds it.
        holder: String,
    },
    /// An error of the operating system.
    #[error("cannot {action} {}: {source}{}", path.display(), remedy(source))]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: IoError,
    },
    /// A file that is truncated, altered or not ours.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of a later version of the program.
    #[error(
        "{} has format version {found}, but this program reads up to {known}; update autoqd to use it",
        path.display()
    )]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: u32,
        /// Latest version this program reads.
        known: u32,
    },
    /// Neither checkpoint can be used.
    #[error(
        "{} has no usable checkpoint ({current}; {previous}); start a new run from its config.toml",
        path.display()
    )]
    NoUsableCheckpoint {
        /// The folder.
        path: PathBuf,
        /// What is wrong with the current checkpoint.
        current: String,
        /// What is wrong with the previous checkpoint.
        previous: String,
    },
    /// The task of a run is no longer what it was.
    #[error("the task of {} has changed: {reason}", run.display())]
    TaskChanged {
        /// The folder of the run.
        run: PathBuf,
        /// What differs, and what to do.
        reason: String,
    },
    /// The files that a run's task came from are no longer what they were.
    #[error(
        "{reason}. A run goes on in the task it began in: start a new run in the changed one with `autoqd run --from \
         {} TASK`, or continue this one in its own copy, {}/task, with `autoqd resume {} --own-task`",
        run.display(), run.display(), run.display()
    )]
    TaskSourceChanged {
        /// The folder of the run.
        run: PathBuf,
        /// What differs.
        reason: String,
    },
    /// A run that was computed with another simulator.
    #[error(
        "{} was computed with {old}, but here its task runs on {new}; continue it on a machine like the one it began \
         on, or start a new run with `autoqd run --from {}`",
        run.display(), run.display()
    )]
    SimulatorChanged {
        /// The folder of the run.
        run: PathBuf,
        /// The simulator before.
        old: String,
        /// The simulator now.
        new: String,
    },
    /// config.toml is not what the program wrote.
    #[error(
        "{} has been edited since the run wrote it{reason}. The settings of a run cannot be changed: undo the edit, or \
         start a new run with other settings with `autoqd run --from {} --set KEY=VALUE`; more iterations, other \
         threads and checkpoints are options of `autoqd resume`",
        path.display(), path.parent().unwrap_or(path).display()
    )]
    ConfigEdited {
        /// The file.
        path: PathBuf,
        /// What differs, where that is known.
        reason: String,
    },
    /// A table whose columns do not fit together, or a file that cannot be encoded.
    #[error("cannot write {}: {reason}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl From<RunFolderError> for crate::Error {
    fn from(error: RunFolderError) -> Self {
        Self::RunFolder(Box::new(error))
    }
}

impl RunFolderError {
    /// The operating system could not `action` the file.
    pub fn io(action: &'static str, path: &Path, source: IoError) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    /// A file that is there and cannot be understood.
    pub fn damaged(path: &Path, reason: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }

    /// A value that cannot be brought into the form of its file.
    pub fn encode(path: &Path, reason: impl ToString) -> Self {
        Self::Encode { path: path.to_owned(), reason: reason.to_string() }
    }

    /// Whether the file or folder was not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == ErrorKind::NotFound)
    }
}

/// Why a path is no run.
fn not_a_run(path: &Path) -> &'static str {
    if path.is_dir() {
        "is not a run folder: it has no config.toml"
    } else if path.exists() {
        "is a file, not a run folder"
    } else {
        "is not a run folder: it does not exist"
    }
}

fn remedy(source: &IoError) -> &'static str {
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ". Free some space and try again",
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            ". Choose a folder you may write to with --out, or change its permissions"
        }
        _ => "",
    }
}
