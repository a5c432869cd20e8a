//! Evaluation of tasks written in Python, in processes of their own: each has an interpreter, and so a lock, to itself.

use std::sync::Arc;

use autoqd::Error;
use autoqd::evaluator::{Candidates, Evaluation, Evaluator, LocalEvaluator, Probe, wire};
use autoqd::policy::PolicySpec;
use autoqd::registry::EvaluatorContext;
use autoqd::search::thread_pool;
use autoqd_env::Physics;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{exception, raised};
use crate::gym;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Answerer>()
}

/// Sends candidates to worker processes, each with as many of them as it can do next.
///
/// The answer is the same for any number of workers: an episode depends on nothing but its parameters and seed.
pub struct ProcessEvaluator {
    /// `autoqd._workers.Pool`.
    pool: Py<PyAny>,
    task: String,
}

impl ProcessEvaluator {
    /// An evaluator with as many processes as the context has threads.
    pub fn new(context: &EvaluatorContext<'_>) -> Result<Self, Error> {
        let task = context.task.spec().name.clone();
        let (policy, workers) = (context.policy.to_json().to_string(), context.pool.current_num_threads());
        let pool = Python::attach(|py| -> PyResult<Py<PyAny>> {
            let pool = PyModule::import(py, "autoqd._workers")?.getattr("Pool")?;
            Ok(pool.call1((&task, policy, workers))?.unbind())
        });
        Ok(Self { pool: pool.map_err(raised)?, task })
    }

    /// The requests, each of one candidate, answered in their order.
    fn answers(&self, requests: Vec<Vec<u8>>) -> PyResult<Vec<Vec<u8>>> {
        Python::attach(|py| {
            let requests: Vec<_> = requests.iter().map(|request| PyBytes::new(py, request)).collect();
            let answers = self.pool.bind(py).call_method1("answers", (requests,))?;
            answers.try_iter()?.map(|answer| answer?.extract::<Vec<u8>>()).collect()
        })
    }
}

impl Evaluator for ProcessEvaluator {
    fn evaluate(&self, candidates: Candidates<'_>, probes: &[Probe]) -> Result<Vec<Evaluation>, Error> {
        let episodes = candidates.episodes;
        let request = |i: usize| {
            let one = Candidates {
                parameters: candidates.row(i),
                seeds: &candidates.seeds[i * episodes..][..episodes],
                ..candidates
            };
            wire::Request::new(one, probes).to_bytes()
        };
        let requests = (0..candidates.len()).map(request).collect::<Result<Vec<_>, Error>>()?;
        let answers = self.answers(requests).map_err(raised)?;
        let mut evaluations = Vec::with_capacity(candidates.len());
        for answer in answers {
            evaluations.extend(wire::Response::from_bytes(&answer)?.evaluations);
        }
        Ok(evaluations)
    }

    fn physics_note(&self) -> String {
        format!("{}, in worker processes", self.task)
    }
}

impl Drop for ProcessEvaluator {
    fn drop(&mut self) {
        let _ = Python::try_attach(|py| self.pool.bind(py).call_method0("close").map(|_| ()));
    }
}

/// The other side: answers requests inside a worker process.
#[pyclass(frozen, module = "autoqd._native")]
struct Answerer {
    evaluator: LocalEvaluator,
}

#[pymethods]
impl Answerer {
    /// For a task whose facts are known, and the shape of the policies.
    #[new]
    fn new(task: &str, facts: &Bound<'_, PyAny>, policy: &str) -> PyResult<Self> {
        let task = gym::task_of(gym::spec_of(task, facts)?);
        let policy = PolicySpec::from_json(policy).map_err(exception)?;
        let pool = thread_pool(Some(1)).map_err(exception)?;
        let evaluator = LocalEvaluator::new(task, policy, Physics::Reference, pool).map_err(exception)?;
        Ok(Self { evaluator: evaluator.with_probe_kinds(autoqd_cli::registry().probes().clone()) })
    }

    /// The answer to a request. The interpreter's lock stays held: there is no other thread to give it to.
    fn answer<'py>(&self, py: Python<'py>, request: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let request = wire::Request::from_bytes(request).map_err(exception)?;
        let answer = request.answer(&self.evaluator).and_then(|response| response.to_bytes());
        Ok(PyBytes::new(py, &answer.map_err(exception)?))
    }
}

/// What evaluates a task: processes for one written in Python, the threads of this process for any other.
pub fn evaluator(context: EvaluatorContext<'_>) -> Result<Arc<dyn Evaluator>, Error> {
    if context.task.spec().name.starts_with(gym::PREFIX) {
        return Ok(Arc::new(ProcessEvaluator::new(&context)?));
    }
    Ok(Arc::new(context.local()?))
}
