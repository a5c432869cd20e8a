//! MuJoCo tasks as data: model, observation, reward, health and measures come from a task file.

mod builtin;
mod dot;
mod environment;
mod episode;
mod health;
mod look;
mod measure;
mod names;
mod numpy_sum;
mod observation;
mod reward;
mod state;
mod task;
mod task_file;

pub use environment::Locomotion;
pub(crate) use episode::Episode;
pub(crate) use state::State;
pub use task::LocomotionTask;
pub(crate) use task::Recipe;
