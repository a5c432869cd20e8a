//! Runs that are started or continued from Python.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;

use autoqd::config::{Layers, RunConfig};
use autoqd::observer::{EndReason, IterationReport, Observer, ObserverError, StartReport};
use autoqd::registry::{EngineOptions, Registry};
use autoqd::run_folder::{Row, RunFolder};
use autoqd::runner::{Changes, Limits, Runner, absolute_task};
use autoqd::trainer::Refit;
use autoqd_env::Perturbation;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toml::Table;

use crate::errors::exception;
use crate::registry::registry;
use crate::values;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(resume, module)?)
}

/// Starts a run and works on it until it ends; returns its folder and why it ended.
///
/// `listen(event, facts)` hears what happens, and the run ends with a checkpoint when it returns true.
#[pyfunction]
#[pyo3(signature = (preset, config, settings, out, max_seconds, max_env_steps, engine, listen))]
#[allow(clippy::too_many_arguments)]
fn run(
    py: Python<'_>,
    preset: Option<String>,
    config: Option<PathBuf>,
    settings: &Bound<'_, PyDict>,
    out: Option<PathBuf>,
    max_seconds: Option<f64>,
    max_env_steps: Option<u64>,
    engine: EngineArguments,
    listen: Py<PyAny>,
) -> PyResult<(PathBuf, &'static str)> {
    let settings = values::table(settings)?;
    py.detach(|| {
        let registry = on_engine(engine)?;
        let config = layered(preset.as_deref(), config, settings)?;
        let path = out.unwrap_or_else(|| RunFolder::default_path(&config));
        let runner = Runner::create(&path, config, &registry).map_err(exception)?;
        work(runner, Limits { max_seconds, max_env_steps }, listen)
    })
}

/// Continues a run.
#[pyfunction]
#[pyo3(signature = (path, iterations, threads, checkpoint_every, max_seconds, max_env_steps, engine, listen))]
#[allow(clippy::too_many_arguments)]
fn resume(
    py: Python<'_>,
    path: PathBuf,
    iterations: Option<u64>,
    threads: Option<NonZeroUsize>,
    checkpoint_every: Option<u64>,
    max_seconds: Option<f64>,
    max_env_steps: Option<u64>,
    engine: EngineArguments,
    listen: Py<PyAny>,
) -> PyResult<(PathBuf, &'static str)> {
    py.detach(|| {
        let changes = Changes { iterations, threads, checkpoint_every, ..Changes::default() };
        let runner = Runner::resume(&path, changes, &on_engine(engine)?).map_err(exception)?;
        work(runner, Limits { max_seconds, max_env_steps }, listen)
    })
}

/// Name of an engine, address, whether bits may differ, candidates at a time, and seconds to wait for a worker.
type EngineArguments = (Option<String>, Option<String>, bool, Option<usize>, Option<f64>);

fn on_engine(engine: EngineArguments) -> PyResult<Registry> {
    let (name, address, allow_mixed, chunk, worker_timeout) = engine;
    let options = EngineOptions { address, allow_mixed, chunk, worker_timeout };
    registry().on_engine(name.as_deref().unwrap_or("local"), &options).map_err(exception)
}

/// Where settings given in Python are said to come from.
const ORIGIN: &str = "settings";

/// Preset, file and settings, each on top of the one before, as a run uses them.
fn layered(preset: Option<&str>, file: Option<PathBuf>, settings: Table) -> PyResult<RunConfig> {
    let registry = registry();
    let mut layers = Layers::new(&registry).preset(preset.unwrap_or("paper")).map_err(exception)?;
    if let Some(file) = file {
        layers = layers.file(&file).map_err(exception)?;
    }
    for (key, value) in settings {
        let value = match value.as_str() {
            Some(task) if key == "task" => absolute_task(task).into(),
            _ => value,
        };
        layers = layers.flag(&key, value, ORIGIN).map_err(exception)?;
    }
    let config = layers.build().map_err(exception)?;
    // Sizes and defaults of a task do not depend on how its physics is perturbed.
    let task = registry.task(&config.task, &Perturbation::default()).map_err(exception)?;
    config.resolve(&task.spec().into(), &registry).map_err(exception)
}

/// Works on a run until it ends, telling `listen` what happens; returns its folder and why it ended.
pub fn work(mut runner: Runner, limits: Limits, listen: Py<PyAny>) -> PyResult<(PathBuf, &'static str)> {
    let stop = Mutex::new(false);
    let mut listener = Listener { listen: &listen, stop: &stop };
    let asked = || *stop.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let reason = runner.run(limits, &asked, &mut listener).map_err(exception)?;
    let reason = match reason {
        EndReason::Finished => "finished",
        EndReason::Interrupted => "interrupted",
        EndReason::MaxTime => "max_seconds",
        EndReason::MaxEnvSteps => "max_env_steps",
    };
    Ok((runner.path().to_owned(), reason))
}

/// Tells a Python function what happens.
struct Listener<'a> {
    listen: &'a Py<PyAny>,
    /// Whether it said to stop.
    stop: &'a Mutex<bool>,
}

impl Listener<'_> {
    fn tell<F>(&self, event: &str, fill: F) -> Result<(), ObserverError>
    where
        F: FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
    {
        let stop = Python::attach(|py| -> PyResult<bool> {
            let facts = PyDict::new(py);
            fill(&facts)?;
            self.listen.bind(py).call1((event, facts))?.is_truthy()
        })?;
        if stop {
            *self.stop.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = true;
        }
        Ok(())
    }
}

impl Observer for Listener<'_> {
    fn on_start(&mut self, report: &StartReport) -> Result<(), ObserverError> {
        self.tell("start", |facts| {
            facts.set_item("task", &report.task)?;
            facts.set_item("method", &report.method)?;
            facts.set_item("seed", report.seed)?;
            facts.set_item("iteration", report.iteration)?;
            facts.set_item("iterations", report.iterations)?;
            facts.set_item("threads", report.threads)?;
            facts.set_item("candidates", report.candidates)?;
            facts.set_item("parameters", report.parameters)?;
            facts.set_item("physics", &report.physics)
        })
    }

    fn on_iteration(&mut self, report: &IterationReport) -> Result<(), ObserverError> {
        self.tell("iteration", |facts| {
            facts.set_item("iterations", report.iterations)?;
            facts.set_item("next_refit", report.next_refit)?;
            let rows = [report.metrics.numbers(), report.timing.numbers()].concat();
            for (name, number) in rows {
                facts.set_item(name, number)?;
            }
            for (name, number) in &report.figures {
                facts.set_item(name, number)?;
            }
            // Counts as whole numbers, whatever the log makes of them.
            let metrics = &report.metrics;
            for (name, count) in [
                ("iteration", metrics.iteration),
                ("evaluations", metrics.evaluations),
                ("env_steps", metrics.env_steps),
                ("elites", metrics.elites),
                ("restarts", metrics.restarts),
            ] {
                facts.set_item(name, count)?;
            }
            Ok(())
        })
    }

    fn on_refit(&mut self, iteration: u64, refit: &Refit, seconds: f64) -> Result<(), ObserverError> {
        self.tell("refit", |facts| {
            facts.set_item("iteration", iteration)?;
            facts.set_item("seconds", seconds)?;
            facts.set_item("elites_before", refit.elites_before)?;
            facts.set_item("elites_after", refit.elites_after())?;
            facts.set_item("turned_degrees", refit.descriptor.turned_degrees)?;
            facts.set_item("explained", refit.descriptor.explained)
        })
    }

    fn on_checkpoint(&mut self, iteration: u64) -> Result<(), ObserverError> {
        self.tell("checkpoint", |facts| facts.set_item("iteration", iteration))
    }

    fn on_notice(&mut self, text: &str) -> Result<(), ObserverError> {
        self.tell("notice", |facts| facts.set_item("text", text))
    }
}
