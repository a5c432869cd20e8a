//! Evaluation on a Ray cluster: candidates go out in chunks as bytes and come back in their order.
//!
//! Workers, timeouts and everything else that is Ray's is in `python/autoqd/_ray.py` and its neighbours.

use std::sync::Arc;

use autoqd::Error;
use autoqd::evaluator::{Candidates, Evaluation, Evaluator, Probe, wire};
use autoqd::policy::PolicySpec;
use autoqd::registry::{Engine, EngineOptions, EvaluatorContext, Registry, RunsElsewhere, RunsOptions};
use autoqd::remote::Job;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::canary;
use crate::errors::raised;
use crate::gym;
use crate::ray_runs::RunQueue;

/// Registers the engine `ray`, for the tasks that the registry has by now.
pub fn register_engine(registry: &mut Registry) {
    let tasks = registry.clone();
    registry.register_engine("ray", move |options| {
        let cluster = Python::attach(|py| connect(py, options)).map_err(raised)?;
        Ok(Arc::new(RayEngine { cluster, tasks: tasks.clone() }))
    });
}

fn connect(py: Python<'_>, options: &EngineOptions) -> PyResult<Py<PyAny>> {
    let arguments = PyDict::new(py);
    arguments.set_item("address", &options.address)?;
    arguments.set_item("allow_mixed", options.allow_mixed)?;
    arguments.set_item("chunk", options.chunk)?;
    arguments.set_item("worker_timeout", options.worker_timeout)?;
    let module = PyModule::import(py, "autoqd._ray")?;
    Ok(module.getattr("connect")?.call((), Some(&arguments))?.unbind())
}

/// The cluster that this process is connected to: `autoqd._ray.Cluster`.
struct RayEngine {
    cluster: Py<PyAny>,
    tasks: Registry,
}

impl Engine for RayEngine {
    fn evaluator(&self, context: EvaluatorContext<'_>) -> Result<Arc<dyn Evaluator>, Error> {
        let job = Job::new(&context, &self.tasks)?;
        let name = context.task.spec().name.clone();
        let physics_note = match name.starts_with(gym::PREFIX) {
            true => format!("{name}, on a Ray cluster"),
            false => format!("{}; on a Ray cluster", context.task.physics_note(context.physics)),
        };
        let canary = canary::of_task(&context.local()?, &PolicySpec::from_json(job.policy())?)?;
        let bytes = job.to_bytes()?;
        let pool = Python::attach(|py| -> PyResult<Py<PyAny>> {
            let arguments = (&name, PyBytes::new(py, &bytes), canary);
            Ok(self.cluster.bind(py).call_method1("job", arguments)?.unbind())
        });
        Ok(Arc::new(RayEvaluator { pool: pool.map_err(raised)?, physics_note }))
    }

    fn work_on(&self, runs: Arc<dyn RunsElsewhere>, how: RunsOptions) -> Result<(), Error> {
        let queue = RunQueue::new(runs, self.tasks.clone());
        let work = Python::attach(|py| -> PyResult<()> {
            let module = PyModule::import(py, "autoqd._ray_sweep")?;
            let arguments = (self.cluster.bind(py), Bound::new(py, queue)?, how.threads, how.at_a_time);
            module.getattr("work")?.call1(arguments).map(drop)
        });
        work.map_err(raised)
    }
}

impl Drop for RayEngine {
    /// Workers keep their CPUs only as long as somebody uses them.
    fn drop(&mut self) {
        // There is nobody to tell of an error, and nothing to release once the interpreter has gone.
        Python::try_attach(|py| self.cluster.bind(py).call_method0("release").map(drop).ok());
    }
}

/// Sends candidates to the workers of a cluster.
struct RayEvaluator {
    /// `autoqd._ray_evaluations.Evaluations`.
    pool: Py<PyAny>,
    physics_note: String,
}

impl RayEvaluator {
    fn lengths(&self, candidates: usize) -> PyResult<Vec<usize>> {
        Python::attach(|py| self.pool.bind(py).call_method1("plan", (candidates,))?.extract())
    }

    fn answers(&self, probes: &[u8], requests: &[Vec<u8>], lengths: Vec<usize>) -> PyResult<Vec<Vec<u8>>> {
        Python::attach(|py| {
            let probes = PyBytes::new(py, probes);
            let requests: Vec<_> = requests.iter().map(|request| PyBytes::new(py, request)).collect();
            let answers = self.pool.bind(py).call_method1("answers", (probes, requests, lengths))?;
            answers.try_iter()?.map(|answer| answer?.extract::<Vec<u8>>()).collect()
        })
    }
}

impl Evaluator for RayEvaluator {
    fn evaluate(&self, candidates: Candidates<'_>, probes: &[Probe]) -> Result<Vec<Evaluation>, Error> {
        let lengths = self.lengths(candidates.len()).map_err(raised)?;
        let (mut requests, mut first) = (Vec::with_capacity(lengths.len()), 0);
        for length in &lengths {
            let part = Candidates {
                parameters: &candidates.parameters[first * candidates.dimension..]
                    [..length * candidates.dimension],
                seeds: &candidates.seeds[first * candidates.episodes..][..length * candidates.episodes],
                ..candidates
            };
            requests.push(wire::Request::new(part, &[]).to_bytes()?);
            first += length;
        }
        let probes = wire::Probes::new(probes).to_bytes()?;
        let answers = self.answers(&probes, &requests, lengths.clone()).map_err(raised)?;
        let mut evaluations = Vec::with_capacity(candidates.len());
        for (answer, length) in answers.iter().zip(lengths) {
            let response = wire::Response::from_bytes(answer)?;
            if response.evaluations.len() != length {
                let reason = format!("{} evaluations of {length} candidates", response.evaluations.len());
                return Err(Error::Wire { reason });
            }
            evaluations.extend(response.evaluations);
        }
        Ok(evaluations)
    }

    fn physics_note(&self) -> String {
        self.physics_note.clone()
    }

    fn news(&self) -> Vec<String> {
        let said = Python::attach(|py| self.pool.bind(py).call_method0("news")?.extract());
        said.unwrap_or_else(|error: PyErr| vec![error.to_string()])
    }

    fn inexact(&self) -> Option<String> {
        let said = Python::attach(|py| self.pool.bind(py).call_method0("inexact")?.extract());
        said.unwrap_or_else(|error: PyErr| Some(error.to_string()))
    }
}
