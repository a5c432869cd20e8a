//! What can go wrong with a task.

/// An error of this crate: names the thing, the place and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// The action has the wrong number of components.
    #[error("task '{task}': an action of {got} numbers, expected {expected}")]
    ActionSize {
        /// Name of the task.
        task: String,
        /// Components given.
        got: usize,
        /// Components the task takes.
        expected: usize,
    },
    /// A seed is not a non-negative decimal integer.
    #[error("seed '{text}' is not a non-negative integer: write decimal digits only, as many as you like")]
    SeedText {
        /// What was given.
        text: String,
    },
    /// A component of the action is NaN or infinite.
    #[error("task '{task}': component {index} of the action is {value}; actions must be finite numbers")]
    ActionNotFinite {
        /// Name of the task.
        task: String,
        /// Which component.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// The observation buffer has the wrong length.
    #[error("task '{task}': a buffer for {got} numbers, but an observation has {expected}")]
    ObservationSize {
        /// Name of the task.
        task: String,
        /// Length given.
        got: usize,
        /// Length of an observation.
        expected: usize,
    },
    /// A step without an episode.
    #[error("task '{task}': step without an episode; call reset first, also after a step that diverged")]
    NotReset {
        /// Name of the task.
        task: String,
    },
    /// A perturbation is out of its range.
    #[error("task '{task}': {knob} = {value} is not possible; give a number from {low} to {high}")]
    PerturbationRange {
        /// Name of the task.
        task: String,
        /// Name of the perturbation.
        knob: &'static str,
        /// What was given.
        value: f64,
        /// Smallest possible value.
        low: f64,
        /// Largest possible value.
        high: f64,
    },
    /// The simulator refused to build a world.
    #[error("task '{task}': the simulator could not build the world: {message}")]
    World {
        /// Name of the task.
        task: String,
        /// What the simulator said.
        message: String,
    },
}
