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
}
