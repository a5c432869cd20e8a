//! Pictures of a run: plots, rendered behaviours, a report in one file and an explorer in the browser.

#![deny(missing_docs)]

mod error;
mod image;
pub mod plot;

pub use error::ViewError;
pub use image::Image;
