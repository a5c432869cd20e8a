//! Locomotion tasks on the lanes engine: eight worlds at a time.

mod check;
mod choice;
mod contacts;
mod convert;
mod sensors;
mod side_by_side;
mod speed;
mod support;
mod visited;
mod worlds;

pub use check::{Agreement, CheckOptions, CheckReport, DECADES, Policy, WorstStep, check};
pub use choice::SELF_CHECK_LIMIT;
pub(crate) use choice::{Choice, make_worlds, physics_note};
pub(crate) use convert::convert;
pub use side_by_side::{Deviation, SideBySide, stream};
pub use speed::{Speed, measure_speed};

use autoqd_lanes::{Compiled, LanesError};

/// A compiled libmujoco model on the lanes engine.
///
/// # Errors
/// Names what the engine does not support.
#[doc(hidden)]
pub fn compile(model: &crate::mujoco::Model) -> Result<Compiled, LanesError> {
    Compiled::new(&convert(model)?.model)
}
