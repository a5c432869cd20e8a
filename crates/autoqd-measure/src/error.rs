//! What can go wrong when populations are measured.

use std::path::PathBuf;

use autoqd_env::EnvError;

use autoqd::run_folder::RunFolderError;

/// An error of the metrics: names the population, the reason and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// The search library.
    #[error(transparent)]
    Search(#[from] autoqd::Error),
    /// A run folder or a file in it.
    #[error(transparent)]
    RunFolder(#[from] RunFolderError),
    /// The task or its simulator.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// A path that holds no population.
    #[error("{}: {reason}", path.display())]
    Population {
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
    /// A setting that makes no sense.
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

impl MetricsError {
    pub(crate) fn setting(what: &'static str, given: impl ToString, expected: impl ToString) -> Self {
        Self::Setting { what, given: given.to_string(), expected: expected.to_string() }
    }
}
