//! MuJoCo tasks as data: model, observation, reward, health and measures come from a task file.

mod action;
mod builtin;
mod disturbance;
mod dot;
mod draft;
mod environment;
mod episode;
mod files;
mod health;
mod info;
pub mod lanes;
mod located;
mod look;
mod measure;
mod memory;
mod mesh;
mod names;
mod numpy_sum;
mod observation;
mod physics;
mod place;
mod reward;
mod shaped;
mod start;
mod state;
mod task;

use autoqd_task_file::form as task_file;
pub use dot::Blas;
pub use draft::Draft;
pub use environment::Locomotion;
use episode::Episode;
use state::State;
pub use task::LocomotionTask;
use task::Recipe;
