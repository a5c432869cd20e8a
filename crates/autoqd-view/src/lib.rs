//! Pictures of a run: plots, rendered behaviours, a report in one file and an explorer in the browser.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod error;
mod figures;
pub mod file;
mod image;
mod measured;
pub mod plot;
pub mod render;
mod replay;
pub mod report;
mod run;
mod selection;
pub mod server;

pub use error::ViewError;
pub use figures::{archive_plot, learning};
pub use image::Image;
pub use measured::measured_figures;
pub use replay::Replay;
pub use run::{Change, Player, Run, Step};
pub use selection::best_and_different;
