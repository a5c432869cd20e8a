//! Where evaluations happen when it is not this process: a cluster, for instance.

use std::sync::Arc;

use super::{EvaluatorContext, Registry};
use crate::Error;
use crate::evaluator::Evaluator;

/// How an engine is to be used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineOptions {
    /// Where it is; without one, what the engine finds or starts itself.
    pub address: Option<String>,
    /// Whether workers take part whose bits differ from this machine's.
    pub allow_mixed: bool,
    /// Candidates that a worker gets at a time; chosen from measured times without.
    pub chunk: Option<usize>,
    /// Seconds after which a worker that does not answer is given up.
    pub worker_timeout: Option<f64>,
}

/// Makes the evaluators of everything that would otherwise be evaluated by `local`.
///
/// No result depends on the engine: it decides where episodes are simulated, and nothing else. So it is no setting of a
/// run, and a run may be continued without it.
pub trait Engine: Send + Sync {
    /// An evaluator of a task.
    fn evaluator(&self, context: EvaluatorContext<'_>) -> Result<Arc<dyn Evaluator>, Error>;
}

pub(super) type BuildEngine = Arc<dyn Fn(&EngineOptions) -> Result<Arc<dyn Engine>, Error> + Send + Sync>;

impl Registry {
    /// Adds, or replaces, an engine.
    pub fn register_engine(
        &mut self,
        name: &str,
        build: impl Fn(&EngineOptions) -> Result<Arc<dyn Engine>, Error> + Send + Sync + 'static,
    ) {
        self.engines.insert(name.to_owned(), Arc::new(build));
    }

    /// The same parts, with evaluations on an engine; `local` is this process.
    pub fn on_engine(&self, name: &str, options: &EngineOptions) -> Result<Self, Error> {
        if name == "local" {
            return Ok(Self { engine: None, ..self.clone() });
        }
        let unknown = || Error::invalid("engine", name, "local, or ray");
        let build = self.engines.get(name).ok_or_else(unknown)?;
        Ok(Self { engine: Some(build(options)?), ..self.clone() })
    }
}
