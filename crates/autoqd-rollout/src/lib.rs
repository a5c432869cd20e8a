//! Policies, their rollouts and what tells behaviours apart: the part of autoqd where a search spends its time.
//!
//! Use it through the crate `autoqd`, which has these modules under the same names. It is a crate of its own so that it
//! can be optimised more than configuration, files and logs, which take far longer to compile than to run.

#![deny(missing_docs)]

pub mod cwpca;
pub mod embedding;
mod error;
pub mod evaluator;
// For the other crates of the project; not an interface.
#[doc(hidden)]
pub mod kernels;
pub mod policy;
pub mod random;
pub mod seeds;

pub use error::{BoxedError, Error};
