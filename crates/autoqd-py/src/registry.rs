//! The parts that the package knows.

use std::sync::Arc;

use autoqd::config::PartFacts;
use autoqd::registry::Registry;

use crate::interruptible::Interruptible;
use crate::{gym, ray, workers};

/// What the program has, and environments of Gymnasium.
pub fn registry() -> Registry {
    let mut registry = autoqd_cli::registry();
    registry.register_tasks_of(gym::PREFIX, gym::task);
    registry.register_evaluator("local", local_facts(), workers::evaluator);
    ray::register_engine(&mut registry);
    registry
}

/// The same, for work that Ctrl-C is to end at once. Searches end after their iteration, with a checkpoint.
pub fn interruptible_registry() -> Registry {
    let mut registry = registry();
    registry.register_evaluator("local", local_facts(), |context| {
        Ok(Arc::new(Interruptible(workers::evaluator(context)?)))
    });
    registry
}

fn local_facts() -> PartFacts {
    PartFacts::new("The threads of this process; for tasks written in Python, processes of their own.")
}
