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

/// Requests of a worker in an evaluation, about; the last ones are of one candidate, so that workers end together.
const REQUESTS: usize = 8;

/// Sends candidates to worker processes, each with as many of them as it can do next.
///
/// The answer is the same for any number of workers: an episode depends on nothing but its parameters and seed.
pub struct ProcessEvaluator {
    /// `autoqd._workers.Pool`.
    pool: Py<PyAny>,
    workers: usize,
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
        Ok(Self { pool: pool.map_err(raised)?, workers, task })
    }

    /// Numbers of candidates that requests have, so many in all.
    fn lengths(&self, candidates: usize) -> impl Iterator<Item = usize> {
        let (share, mut left) = (REQUESTS * self.workers, candidates);
        std::iter::from_fn(move || {
            let length = left.div_ceil(share);
            left -= length;
            (length > 0).then_some(length)
        })
    }

    /// The requests, answered in their order.
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
        let (dimension, episodes) = (candidates.dimension, candidates.episodes);
        let mut first = 0;
        let request = |length: usize| {
            let part = Candidates {
                parameters: &candidates.parameters[first * dimension..][..length * dimension],
                seeds: &candidates.seeds[first * episodes..][..length * episodes],
                ..candidates
            };
            first += length;
            wire::Request::new(part, probes).to_bytes()
        };
        let requests = self.lengths(candidates.len()).map(request).collect::<Result<Vec<_>, Error>>()?;
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
