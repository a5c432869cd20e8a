//! What can go wrong between a replay and its pictures.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    /// Pixels could not be encoded.
    #[error("cannot encode {format}: {reason}")]
    Encode {
        /// PNG or GIF.
        format: &'static str,
        /// What the encoder said.
        reason: String,
    },
    /// A film without a picture.
    #[error("there is nothing to draw: the film has no picture")]
    NothingToDraw,
}
