//! Where evaluations happen when it is not this process: a cluster, for instance.

use std::path::PathBuf;
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

    /// Works on whole runs elsewhere until all have ended or are to stop; an error ends all of them.
    fn work_on(&self, _runs: Arc<dyn RunsElsewhere>, _how: RunsOptions) -> Result<(), Error> {
        Err(Error::invalid("engine", "for whole runs", "an engine that takes them"))
    }
}

/// How whole runs are to be worked on elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunsOptions {
    /// CPUs of each run; without, as many as let all runs work at the same time, and at least one.
    pub threads: Option<usize>,
    /// Runs at a time; without, as many as there is room for.
    pub at_a_time: Option<usize>,
}

/// Runs that an engine works on elsewhere. Their folders stay where the sweep is: a run goes out as bytes
/// ([`pack_run`](crate::packed::pack_run)), what is done for it comes back as bytes, and it goes out again from there
/// when whoever had it is lost.
pub trait RunsElsewhere: Send + Sync {
    /// Runs that wait to be handed out.
    fn waiting(&self) -> usize;

    /// The next run that waits: its number and folder. The folder is held until the run has ended or was lost.
    fn take(&self) -> Option<(usize, PathBuf)>;

    /// A run is worked on at a place.
    fn began(&self, run: usize, place: &str);

    /// A run has done an iteration.
    fn heard(&self, run: usize, iteration: u64);

    /// What has been done for a run ([`pack_results`](crate::packed::pack_results)).
    fn bring(&self, run: usize, results: &[u8]) -> Result<(), Error>;

    /// A run has ended: it is finished or was told to stop, or it failed.
    fn ended(&self, run: usize, outcome: Result<(), String>);

    /// Whoever worked on a run is gone: it waits again.
    fn lost(&self, run: usize, why: &str);

    /// A run was given back before it began: it waits again.
    fn given_back(&self, run: usize);

    /// Something that a user should know.
    fn say(&self, text: &str);

    /// Whether everything is to stop, with checkpoints.
    fn stop(&self) -> bool;
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

    /// The engine that evaluations happen on, if it is not this process.
    pub fn engine(&self) -> Option<&Arc<dyn Engine>> {
        self.engine.as_ref()
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
