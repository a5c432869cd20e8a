//! What can go wrong in a search.

use autoqd_env::EnvError;

/// An error of another crate.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// An error of this crate: names the thing, the place and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A method that trains a population without describing it.
    #[error(
        "the method '{method}' has no descriptor: it trains its policies without an archive; this needs a search"
    )]
    NoDescriptor {
        /// The method.
        method: String,
    },
    /// A probe that an evaluator cannot use.
    #[error("the probe '{kind}' cannot be used: {reason}")]
    Probe {
        /// Kind of the probe.
        kind: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Evaluations that came back in a form that cannot be used.
    #[error("an evaluation in bytes cannot be used: {reason}")]
    Wire {
        /// What is wrong.
        reason: String,
    },
    /// The task or its simulator.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// The archives or emitters.
    #[error(transparent)]
    Qd(#[from] autoqd_qd::Error),
    /// The configuration.
    #[error(transparent)]
    Config(BoxedError),
    /// The run folder.
    #[error(transparent)]
    RunFolder(BoxedError),
    /// A file of a run that could not be written, or read, in the middle of it.
    #[error("{source}. The run goes on from its last checkpoint with `autoqd resume {}`", path.display())]
    Interrupted {
        /// What failed.
        source: BoxedError,
        /// The folder of the run.
        path: std::path::PathBuf,
    },
    /// An observer of the search.
    #[error("{0}")]
    Observer(BoxedError),
    /// Nothing to start from.
    #[error(
        "every episode of the first iteration of task '{task}' diverged; check the model and its time step \
         with `autoqd env show`"
    )]
    AllDiverged {
        /// Name of the task.
        task: String,
    },
    /// A stored state that cannot be read or written.
    #[error("the stored state of the {what} cannot be used ({reason}); was it written by another version?")]
    State {
        /// Whose state it is.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A part of a stored state that is missing or cannot be read or written.
    #[error("part '{name}' of the stored state cannot be used: {reason}")]
    Part {
        /// Name of the part.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Settings that need more memory than there is.
    #[error("{what} would need {needs} of memory, and there are {has}; lower {lower}")]
    Memory {
        /// What needs it.
        what: String,
        /// How much it needs at least.
        needs: String,
        /// How much there is.
        has: String,
        /// The settings to lower.
        lower: String,
    },
    /// No worker threads.
    #[error("cannot start worker threads ({reason}); try a smaller number with --threads")]
    Threads {
        /// What the system said.
        reason: String,
    },
    /// A parameter vector of the wrong length.
    #[error("a policy of this task has {expected} parameters, but {got} were given")]
    ParameterCount {
        /// Parameters the policy has.
        expected: usize,
        /// Parameters given.
        got: usize,
    },
    /// A descriptor from another crate.
    #[error(transparent)]
    Descriptor(BoxedError),
    /// An invalid option or piece of data.
    #[error("{what}: {got}, expected {expected}")]
    Invalid {
        /// The option or the data.
        what: &'static str,
        /// What was given.
        got: String,
        /// What can be given.
        expected: &'static str,
    },
}

impl Error {
    /// An [`Error::Invalid`].
    pub fn invalid(what: &'static str, got: impl std::fmt::Display, expected: &'static str) -> Self {
        Self::Invalid { what, got: got.to_string(), expected }
    }
}

impl From<BoxedError> for Error {
    fn from(error: BoxedError) -> Self {
        Self::Observer(error)
    }
}
