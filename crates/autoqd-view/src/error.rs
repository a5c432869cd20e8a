//! What can go wrong between a run and its pictures.

use std::path::PathBuf;

/// An error of this crate: names the thing, the place and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// A drawing could not be turned into pixels.
    #[error("cannot rasterise the drawing '{title}': {reason}")]
    Raster {
        /// Title of the drawing.
        title: String,
        /// What the rasteriser said.
        reason: String,
    },
    /// Pixels could not be encoded.
    #[error("cannot encode {format}: {reason}")]
    Encode {
        /// PNG, GIF or MP4.
        format: &'static str,
        /// What the encoder said.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl ViewError {
    /// For `map_err`: the same error with the file's name.
    pub fn at(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
