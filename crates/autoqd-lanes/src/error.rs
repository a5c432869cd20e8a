//! What can be wrong with a model.

/// Why a model cannot be simulated in lanes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LanesError {
    /// The model uses a feature the engine does not have.
    Unsupported {
        /// The feature and where it occurs, for instance `tendon 'hamstring'`.
        what: String,
    },
    /// The model contradicts itself.
    Invalid {
        /// What is wrong and where.
        what: String,
    },
    /// The CPU lacks the instructions of the back end, or it was not compiled.
    Backend {
        /// The back end asked for.
        backend: crate::Backend,
    },
}

impl std::fmt::Display for LanesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsupported { what } => write!(f, "{what} is not supported by the lanes engine yet"),
            Self::Invalid { what } => write!(f, "the model is inconsistent: {what}"),
            Self::Backend { backend } => {
                write!(
                    f,
                    "the {backend} back end is not here, or this CPU cannot run it; choose one of Backend::available()"
                )
            }
        }
    }
}

impl std::error::Error for LanesError {}
