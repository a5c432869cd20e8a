//! The side of a worker on a Ray cluster that works on whole runs.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use autoqd::packed;
use autoqd::run_folder::{Machine, RunFolder, read_machines};
use autoqd::runner::{Changes, Limits, Runner};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::canary;
use crate::errors::exception;
use crate::registry::registry;
use crate::run::work;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(unpack_run, module)?)?;
    module.add_function(wrap_pyfunction!(pack_results, module)?)?;
    module.add_function(wrap_pyfunction!(run_canary, module)?)?;
    module.add_function(wrap_pyfunction!(mark_inexact, module)?)?;
    module.add_function(wrap_pyfunction!(work_on, module)?)
}

/// Writes a run in bytes into an empty folder.
#[pyfunction]
fn unpack_run(py: Python<'_>, run: &[u8], folder: PathBuf) -> PyResult<()> {
    py.detach(|| packed::unpack_run(run, &folder)).map_err(exception)
}

/// What has been done for a run so far, in bytes.
#[pyfunction]
fn pack_results(py: Python<'_>, folder: PathBuf) -> PyResult<Bound<'_, PyBytes>> {
    let packed = py.detach(|| packed::pack_results(&folder)).map_err(exception)?;
    Ok(PyBytes::new(py, &packed))
}

/// The digest of one fixed candidate's episode in the task of a run.
#[pyfunction]
fn run_canary(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    py.detach(|| canary::of_run(&folder, &registry())).map_err(exception)
}

/// Marks a run as not bit-exact.
#[pyfunction]
fn mark_inexact(folder: PathBuf, why: String) -> PyResult<()> {
    let last = read_machines(&folder).map_err(exception)?.pop().unwrap_or_else(|| Machine::this(0, ""));
    let marked = Machine { inexact: Some(why), ..last };
    RunFolder::open(&folder).and_then(|folder| folder.go_on_with(marked)).map_err(exception)?;
    Ok(())
}

/// Continues a run in its own copy of its task until it ends; returns its folder and why it ended.
#[pyfunction]
fn work_on(
    py: Python<'_>,
    folder: PathBuf,
    threads: NonZeroUsize,
    listen: Py<PyAny>,
) -> PyResult<(PathBuf, &'static str)> {
    py.detach(|| {
        let changes = Changes { threads: Some(threads), own_task: true, ..Changes::default() };
        let runner = Runner::resume(&folder, changes, &registry()).map_err(exception)?;
        work(runner, Limits::default(), listen)
    })
}
