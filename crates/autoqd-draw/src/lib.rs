//! Pixels of scenes and films, drawn in software, so that neither a GPU nor a display is needed.
//!
//! Use it through the crate `autoqd-view`, which adds captions, plots and reports. It is a crate of its own so that it can be
//! optimised more than those.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod camera;
mod canvas;
mod error;
mod facets;
mod film;
mod gait;
mod ground;
mod image;
mod mesh;
mod mode;
mod outline;
mod replay;
mod scene_picture;
mod solid;
mod space;
mod vector;

pub use error::DrawError;
pub use film::Gif;
pub use gait::frames_of_one_cycle;
pub use image::Image;
pub use mode::Mode;
pub use replay::Replay;
pub use space::SpaceView;
