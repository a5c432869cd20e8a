//! The native part of the Python package `autoqd`: the module `autoqd._native`.
//!
//! One file per subject, each with a `register` that adds its functions and classes to the module. What users see is in
//! `python/autoqd`, which gives these the names, defaults and documentation of the Python world.

#![deny(missing_docs)]

mod canary;
mod errors;
mod gym;
mod interruptible;
mod math;
mod policy;
mod program;
mod ray;
mod ray_run_worker;
mod ray_runs;
mod ray_worker;
mod reader;
mod registry;
mod ribs;
mod ribs_strategy;
mod run;
mod search;
mod single_env;
mod task_facts;
mod threads;
mod values;
mod vec_env;
mod workers;

use pyo3::prelude::*;

/// The native part of autoqd; use the package `autoqd` instead.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    threads::remember_process();
    program::register(module)?;
    run::register(module)?;
    policy::register(module)?;
    reader::register(module)?;
    search::register(module)?;
    workers::register(module)?;
    ray_worker::register(module)?;
    ray_runs::register(module)?;
    ray_run_worker::register(module)?;
    ribs::register(module)?;
    vec_env::register(module)?;
    single_env::register(module)?;
    math::register(module)?;
    Ok(())
}
