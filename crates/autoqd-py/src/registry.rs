//! The parts that the package knows.

use autoqd::config::PartFacts;
use autoqd::registry::Registry;

use crate::{gym, ray, workers};

/// What the program has, and environments of Gymnasium.
pub fn registry() -> Registry {
    let mut registry = autoqd_cli::registry();
    registry.register_tasks_of(gym::PREFIX, gym::task);
    let facts =
        PartFacts::new("The threads of this process; for tasks written in Python, processes of their own.");
    registry.register_evaluator("local", facts, workers::evaluator);
    ray::register_engine(&mut registry);
    registry
}
