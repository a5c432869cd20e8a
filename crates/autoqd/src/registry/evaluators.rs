//! What rolls the policies of a run out.

use std::sync::Arc;

use autoqd_env::Task;

use super::Registry;
use crate::Error;
use crate::config::{PartFacts, RunConfig};
use crate::evaluator::{Evaluator, LocalEvaluator};
use crate::policy::PolicySpec;

/// What an evaluator is built from.
#[derive(Clone)]
pub struct EvaluatorContext<'a> {
    /// The run's configuration.
    pub config: &'a RunConfig,
    /// The task.
    pub task: Arc<dyn Task>,
    /// Shape of the policies.
    pub policy: PolicySpec,
    /// Threads of this process to work on.
    pub pool: Arc<rayon::ThreadPool>,
}

pub(super) type BuildEvaluator =
    Box<dyn Fn(EvaluatorContext<'_>) -> Result<Arc<dyn Evaluator>, Error> + Send + Sync>;

pub(super) fn register(registry: &mut Registry) {
    registry.register_evaluator("local", PartFacts::new("The threads of this process."), |context| {
        let EvaluatorContext { config, task, policy, pool } = context;
        Ok(Arc::new(LocalEvaluator::new(task, policy, config.physics, pool)?))
    });
}
