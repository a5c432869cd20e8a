//! MuJoCo tasks as data: model, observation, reward, health and measures come from a task file.

mod builtin;
mod environment;
mod health;
mod look;
mod measure;
mod names;
mod numpy_sum;
mod observation;
mod reward;
mod task;
mod task_file;

pub use environment::Locomotion;
pub use task::LocomotionTask;
