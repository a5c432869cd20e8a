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
    /// Pixels could not be drawn or encoded.
    #[error(transparent)]
    Draw(#[from] autoqd_draw::DrawError),
    /// Pictures could not be made into a film by another program.
    #[error("cannot encode {format}: {reason}")]
    Encode {
        /// MP4.
        format: &'static str,
        /// What it said.
        reason: String,
    },
    /// A replay has no frame or its task has no shapes.
    #[error("there is nothing to draw: the task has no shapes, or the episode has no frame")]
    NothingToDraw,
    /// A run or a measurement of it could not be used.
    #[error(transparent)]
    Measure(autoqd_measure::MeasureError),
    /// A run folder could not be read.
    #[error(transparent)]
    RunFolder(#[from] autoqd::run_folder::RunFolderError),
    /// An error of the search library.
    #[error(transparent)]
    Library(#[from] autoqd::Error),
    /// A task could not be built or run.
    #[error(transparent)]
    Task(#[from] autoqd_env::EnvError),
    /// The port could not be opened.
    #[error("cannot listen on {address}: {reason}; {}", other_address(reason))]
    Listen {
        /// Address and port.
        address: std::net::SocketAddr,
        /// What the system said.
        reason: std::io::Error,
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

/// What to change where nobody can listen.
fn other_address(reason: &std::io::Error) -> &'static str {
    match reason.kind() {
        std::io::ErrorKind::AddrNotAvailable => {
            "this machine has no such address: choose another with --host"
        }
        _ => "choose another port with --port",
    }
}

impl From<autoqd_measure::MeasureError> for ViewError {
    fn from(error: autoqd_measure::MeasureError) -> Self {
        use autoqd_measure::MeasureError;
        match error {
            MeasureError::Env(error) | MeasureError::Search(autoqd::Error::Env(error)) => Self::Task(error),
            MeasureError::Search(error) => Self::Library(error),
            MeasureError::RunFolder(error) => Self::RunFolder(error),
            other => Self::Measure(other),
        }
    }
}

impl ViewError {
    /// For `map_err`: the same error with the file's name.
    pub fn at(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
