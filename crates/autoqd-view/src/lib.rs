//! Pictures of a run: plots, rendered behaviours, a report in one file and an explorer in the browser.
//!
//! [`RunView`] opens a run; [`learning`], [`archive_plot`] and [`Measured`] turn what is in it into the figures
//! of [`plot`], [`render`] draws its policies at work, [`report`] puts everything into one HTML file and [`server`] shows
//! it in the browser. The figures take plain numbers as well:
//!
//! ```
//! use autoqd_view::plot::{Curve, Mode, band_over_seeds, learning_curves};
//!
//! let seeds: Vec<Vec<(f64, f64)>> =
//!     (1..4).map(|seed| (0..50).map(|x| (f64::from(x), f64::from(seed * x).sqrt())).collect()).collect();
//! let curve = Curve { name: "autoqd".into(), band: band_over_seeds(&seeds) };
//! let figure = learning_curves("Swimmer", &[("QD score".into(), vec![curve])], "iteration", Mode::Light);
//! assert!(figure.svg(Mode::Light).starts_with("<svg"));
//! ```

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod error;
mod figures;
pub mod file;
mod film;
mod hand;
mod measured;
pub mod plot;
pub mod render;
pub mod report;
mod run_view;
mod selection;
pub mod server;

pub use autoqd_draw::{Image, Replay};
pub use error::ViewError;
pub use figures::{archive_plot, learning};
pub use film::Film;
pub use measured::Measured;
pub use run_view::{Change, Player, RunView, Step};
