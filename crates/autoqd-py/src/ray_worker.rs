//! The side of a worker on a Ray cluster: answers requests about a job, and says what this machine computes.

use std::path::PathBuf;

use autoqd::evaluator::{LocalEvaluator, wire};
use autoqd::policy::PolicySpec;
use autoqd::remote::Job;
use autoqd::search::thread_pool;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::canary;
use crate::errors::{exception, failure};
use crate::gym;
use crate::registry::registry;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<JobAnswerer>()?;
    module.add_function(wrap_pyfunction!(canary_digests, module)?)
}

/// Answers requests about one job.
#[pyclass(frozen, module = "autoqd._native")]
struct JobAnswerer {
    evaluator: LocalEvaluator,
    policy: PolicySpec,
    /// Whether the task is written in Python, so that there is nobody to give the interpreter's lock to.
    in_python: bool,
}

#[pymethods]
impl JobAnswerer {
    /// For a job; the files of its task are written into a folder.
    #[new]
    fn new(py: Python<'_>, job: &[u8], folder: PathBuf) -> PyResult<Self> {
        let job = Job::from_bytes(job).map_err(exception)?;
        let in_python = job.task().starts_with(gym::PREFIX);
        let policy = PolicySpec::from_json(job.policy()).map_err(exception)?;
        let pool = thread_pool(Some(1)).map_err(exception)?;
        let evaluator = py.detach(|| job.evaluator(&folder, &registry(), pool)).map_err(exception)?;
        Ok(Self { evaluator, policy, in_python })
    }

    /// The digest of one fixed candidate's episode.
    fn canary(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| canary::of_task(&self.evaluator, &self.policy)).map_err(exception)
    }

    /// The answer to a request, under probes that were sent apart from it.
    fn answer<'py>(&self, py: Python<'py>, request: &[u8], probes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = || {
            let probes = wire::Probes::from_bytes(probes)?;
            wire::Request::from_bytes(request)?.answer_under(&probes, &self.evaluator)?.to_bytes()
        };
        let answer = if self.in_python { answer() } else { py.detach(answer) };
        Ok(PyBytes::new(py, &answer.map_err(exception)?))
    }
}

/// Digests of what this machine computes, by name: mathematics, kernels, and a short rollout of every task.
#[pyfunction]
fn canary_digests(py: Python<'_>) -> PyResult<Vec<(String, String)>> {
    py.detach(|| canary::digests(&registry())).map_err(|error| failure(error.to_string()))
}
