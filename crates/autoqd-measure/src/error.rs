//! What can go wrong when runs are measured.

use std::path::PathBuf;

use autoqd_env::EnvError;

use autoqd::run_folder::RunFolderError;

/// An error of this crate: names the run, the reason and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The search library.
    #[error(transparent)]
    Search(#[from] autoqd::Error),
    /// A run folder or a file in it.
    #[error(transparent)]
    RunFolder(#[from] RunFolderError),
    /// The task or its simulator.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// A path that holds no run, or a run without what is needed.
    #[error("{}: {reason}", path.display())]
    Run {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// Populations of different tasks where one task is needed.
    #[error(
        "{} is of task '{first}', but {} is of task '{other}'; measure runs of different tasks apart",
        first_path.display(), other_path.display()
    )]
    Tasks {
        /// One task.
        first: String,
        /// Its population.
        first_path: PathBuf,
        /// Another task.
        other: String,
        /// Its population.
        other_path: PathBuf,
    },
    /// Policies that do not fit their task.
    #[error(
        "{}: its policies have {got} parameters, but the policy it names has {expected} in task '{task}'; was the task \
         file changed?",
        path.display()
    )]
    PolicySize {
        /// The population.
        path: PathBuf,
        /// The task.
        task: String,
        /// Parameters of the policy that the configuration describes.
        expected: usize,
        /// Parameters of the stored policies.
        got: usize,
    },
    /// A reference that cannot be used here.
    #[error("reference {}: {reason}", path.display())]
    Reference {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// A file of measurements that cannot be used.
    #[error("{}: {reason}; measure again with `autoqd {command}`", path.display())]
    Measurement {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// The command that writes such files.
        command: &'static str,
    },
    /// A sweep file that cannot be used.
    #[error("{}: {reason}", path.display())]
    Sweep {
        /// The file or the folder of a run.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// An invalid setting.
    #[error("{what} '{given}': {expected}")]
    Setting {
        /// The setting.
        what: &'static str,
        /// What was given.
        given: String,
        /// What can be given.
        expected: String,
    },
}

impl MeasureError {
    pub(crate) fn run(path: &std::path::Path, reason: impl ToString) -> Self {
        Self::Run { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn setting(what: &'static str, given: impl ToString, expected: impl ToString) -> Self {
        Self::Setting { what, given: given.to_string(), expected: expected.to_string() }
    }
}
