//! What can be wrong with a configuration.

use std::path::PathBuf;

/// An error of a configuration: names the key, the value given, what is allowed and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A key that does not exist.
    #[error("{origin}: there is no key '{key}'{suggestion}")]
    UnknownKey {
        /// Key as written.
        key: String,
        /// Where it was written.
        origin: String,
        /// What may have been meant, as the end of the sentence.
        suggestion: String,
    },
    /// A value of the wrong type.
    #[error("{origin}: {key} = {value} is not possible; expected {expected}")]
    Type {
        /// Key as written.
        key: String,
        /// Where it was written.
        origin: String,
        /// Value as written.
        value: String,
        /// What the key takes.
        expected: String,
    },
    /// Text that is not TOML.
    #[error("{origin} is not valid TOML: {message}")]
    Syntax {
        /// Where the text comes from.
        origin: String,
        /// What the parser says, with line and column.
        message: String,
    },
    /// A file that cannot be read.
    #[error("cannot read the configuration file {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A preset that does not exist.
    #[error("there is no preset '{name}'; the presets are {known}")]
    UnknownPreset {
        /// Name given.
        name: String,
        /// The presets there are.
        known: String,
    },
    /// An argument of `--set` without an equals sign.
    #[error("--set {given}: expected key=value, for instance --set iterations=100")]
    NotKeyValue {
        /// Argument given.
        given: String,
    },
    /// A value outside its allowed range.
    #[error("{key} = {value} is not allowed: {allowed}; {remedy}")]
    Invalid {
        /// Key of the value.
        key: &'static str,
        /// Value given.
        value: String,
        /// Allowed range, as a statement.
        allowed: String,
        /// What to do.
        remedy: String,
    },
    /// A stored configuration in which a value was never filled in.
    #[error(
        "{key} is 'auto' in a configuration that should be complete; write its value, or start a new run"
    )]
    Incomplete {
        /// Key of the value.
        key: &'static str,
    },
    /// A value that differs between a run and its continuation.
    #[error(
        "{key} is {new}, but the run was started with {old}; a resumed run may change only iterations (upwards), \
         threads and checkpoint_every. Start a new run for other changes"
    )]
    ResumeChanged {
        /// Key of the value.
        key: String,
        /// Value of the run.
        old: String,
        /// Value asked for.
        new: String,
    },
    /// Fewer iterations than the run was started with.
    #[error("iterations is {new}, but the run was started with {old}; a resumed run can only have more")]
    ResumeFewer {
        /// Iterations of the run.
        old: u64,
        /// Iterations asked for.
        new: u64,
    },
}

impl From<ConfigError> for crate::Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}
