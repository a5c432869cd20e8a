//! Whole runs on a Ray cluster: what the driver hands out and takes back.

use std::sync::Arc;

use autoqd::packed;
use autoqd::registry::{Registry, RunsElsewhere};
use autoqd::run_folder::read_config;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::canary;
use crate::errors::exception;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RunQueue>()
}

/// The runs of a sweep, for `autoqd._ray_sweep`.
#[pyclass(frozen, module = "autoqd._native")]
pub struct RunQueue {
    runs: Arc<dyn RunsElsewhere>,
    registry: Registry,
}

impl RunQueue {
    /// For the runs of a sweep.
    pub fn new(runs: Arc<dyn RunsElsewhere>, registry: Registry) -> Self {
        Self { runs, registry }
    }
}

#[pymethods]
impl RunQueue {
    /// Runs that wait to be handed out.
    fn waiting(&self) -> usize {
        self.runs.waiting()
    }

    /// The next run: its number, its task, the run in bytes and the digest of its canary on this machine.
    fn take<'py>(&self, py: Python<'py>) -> Option<(usize, String, Bound<'py, PyBytes>, String)> {
        let parcel = py.detach(|| {
            loop {
                let (run, folder) = self.runs.take()?;
                let packed = read_config(&folder).map_err(autoqd::Error::from).and_then(|config| {
                    let canary = canary::of_run(&folder, &self.registry)?;
                    Ok((run, config.task.clone(), packed::pack_run(&folder)?, canary))
                });
                match packed {
                    Ok(parcel) => return Some(parcel),
                    Err(error) => self.runs.ended(run, Err(error.to_string())),
                }
            }
        });
        parcel.map(|(run, task, bytes, canary)| (run, task, PyBytes::new(py, &bytes), canary))
    }

    /// A run is worked on at a place.
    fn began(&self, py: Python<'_>, run: usize, place: &str) {
        py.detach(|| self.runs.began(run, place));
    }

    /// A run has done an iteration.
    fn heard(&self, py: Python<'_>, run: usize, iteration: u64) {
        py.detach(|| self.runs.heard(run, iteration));
    }

    /// What has been done for a run so far.
    fn bring(&self, py: Python<'_>, run: usize, results: &[u8]) -> PyResult<()> {
        py.detach(|| self.runs.bring(run, results)).map_err(exception)
    }

    /// A run has ended, with an error if it failed.
    #[pyo3(signature = (run, error=None))]
    fn ended(&self, py: Python<'_>, run: usize, error: Option<String>) {
        py.detach(|| self.runs.ended(run, error.map_or(Ok(()), Err)));
    }

    /// Who worked on a run is gone.
    fn lost(&self, py: Python<'_>, run: usize, why: &str) {
        py.detach(|| self.runs.lost(run, why));
    }

    /// A run was given back before it began.
    fn given_back(&self, py: Python<'_>, run: usize) {
        py.detach(|| self.runs.given_back(run));
    }

    /// Something that a user should know.
    fn say(&self, py: Python<'_>, text: &str) {
        py.detach(|| self.runs.say(text));
    }

    /// Whether everything is to stop.
    fn stop(&self) -> bool {
        self.runs.stop()
    }
}
