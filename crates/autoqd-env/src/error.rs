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
}
