//! What can go wrong while a descriptor learns.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A loss that is not a number.
    #[error(
        "the loss of the {what} is not finite in epoch {epoch}; lower autoencoder.learning_rate, or check the task's \
         observations"
    )]
    Diverged {
        /// The network.
        what: &'static str,
        /// The epoch, from 1.
        epoch: usize,
    },
    /// An update that is not a number.
    #[error(
        "the {what} is not finite in iteration {iteration}; go on from the last checkpoint with a lower {remedy}, or check \
         the task's rewards"
    )]
    NotFinite {
        /// The update.
        what: &'static str,
        /// The iteration, from 1.
        iteration: u64,
        /// The setting to lower.
        remedy: &'static str,
    },
    /// A stored state that cannot be read or written.
    #[error("the stored {what} cannot be used ({reason}); was it written by another version?")]
    Stored {
        /// What was stored.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
}

impl From<LearnError> for autoqd::Error {
    fn from(error: LearnError) -> Self {
        Self::Descriptor(Box::new(error))
    }
}
