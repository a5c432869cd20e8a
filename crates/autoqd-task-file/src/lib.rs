//! The form of task files and of changes to a task's physics, as written.
//!
//! Use it through the crate `autoqd-env`, which makes tasks of what is read here. It is a crate of its own because reading is
//! most of what there is to compile, and least of what takes time.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod error;
// Fields that are called as in task files are explained by what they are fields of.
#[allow(missing_docs)]
mod file;
#[allow(missing_docs)]
mod observation;
mod perturbation;
#[allow(missing_docs)]
mod reset;
#[allow(missing_docs)]
mod reward;

pub use error::EnvError;
pub use perturbation::{Margin, Perturbation, range};

/// What a task file holds. For `autoqd-env`; docs/own-task.md explains the files themselves.
#[doc(hidden)]
pub mod form {
    pub use crate::file::*;
    pub use crate::observation::{Observation, Rotation};
    pub use crate::reset::{Goal, Heading, JointNoise, Placed, Reset};
    pub use crate::reward::{EffortKind, Reward};
}
