//! What rolls policies out.

use std::sync::Arc;

use autoqd_env::{Physics, Task};

use super::Registry;
use crate::Error;
use crate::config::{PartFacts, RunConfig};
use crate::evaluator::{Evaluator, LocalEvaluator, ProbeKinds};
use crate::policy::PolicySpec;

/// What an evaluator is built from.
#[derive(Clone)]
pub struct EvaluatorContext<'a> {
    /// The configuration of the run that is searched; none where policies are measured or shown.
    pub config: Option<&'a RunConfig>,
    /// The task.
    pub task: Arc<dyn Task>,
    /// Shape of the policies.
    pub policy: PolicySpec,
    /// The simulator.
    pub physics: Physics,
    /// Threads of this process to work on.
    pub pool: Arc<rayon::ThreadPool>,
    /// The kinds of probes there are.
    pub probes: ProbeKinds,
}

impl EvaluatorContext<'_> {
    /// The evaluator on the threads of this process.
    pub fn local(self) -> Result<LocalEvaluator, Error> {
        Ok(LocalEvaluator::new(self.task, self.policy, self.physics, self.pool)?
            .with_probe_kinds(self.probes))
    }
}

pub(super) type BuildEvaluator =
    Arc<dyn Fn(EvaluatorContext<'_>) -> Result<Arc<dyn Evaluator>, Error> + Send + Sync>;

pub(super) fn register(registry: &mut Registry) {
    registry.register_evaluator("local", PartFacts::new("The threads of this process."), |context| {
        Ok(Arc::new(context.local()?))
    });
}
