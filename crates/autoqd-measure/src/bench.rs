//! What measurements need from the program around them: its parts by name, and threads.

use std::sync::Arc;

use autoqd::evaluator::Evaluator;
use autoqd::policy::PolicySpec;
use autoqd::registry::{EvaluatorContext, Registry};
use autoqd_env::{Physics, Task};
use rayon::ThreadPool;

use crate::error::MeasureError;

/// Where policies are rolled out.
///
/// Everything in this crate that needs a task or an evaluator takes it from here, so that a measurement runs wherever
/// the program's evaluators run.
#[derive(Clone)]
pub struct Bench {
    registry: Registry,
    evaluator: String,
    pool: Arc<ThreadPool>,
}

impl Bench {
    /// The parts of a program; policies are evaluated on the threads of `pool`.
    pub fn new(registry: Registry, pool: Arc<ThreadPool>) -> Self {
        Self { registry, evaluator: "local".to_owned(), pool }
    }

    /// The same with another evaluator of the registry.
    pub fn with_evaluator(self, name: &str) -> Self {
        Self { evaluator: name.to_owned(), ..self }
    }

    /// The parts of the program.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Threads for arithmetic.
    pub fn pool(&self) -> &Arc<ThreadPool> {
        &self.pool
    }

    /// An evaluator of policies in a task.
    pub fn evaluator(
        &self,
        task: Arc<dyn Task>,
        policy: PolicySpec,
        physics: Physics,
    ) -> Result<Arc<dyn Evaluator>, MeasureError> {
        let (pool, probes) = (self.pool.clone(), self.registry.probes().clone());
        let context = EvaluatorContext { config: None, task, policy, physics, pool, probes };
        Ok(self.registry.evaluator(&self.evaluator, context)?)
    }
}
