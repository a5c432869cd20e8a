//! Locomotion tasks on the lanes engine: eight worlds at a time.

mod contacts;
mod convert;
mod side_by_side;
mod support;

pub(crate) use convert::convert;
pub use side_by_side::{Deviation, SideBySide, stream};
