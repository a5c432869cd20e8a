//! The command-line program, inside the interpreter.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

use crate::errors::exception_of;
use crate::registry::{interruptible_registry, registry};

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)
}

/// Runs the program `autoqd` with the given arguments, the first of which is its name, and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| autoqd_cli::run(registry(), arguments));
    // The only way back from an exit code to its number.
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(1)
}

/// Runs a command of the program with its arguments, and returns what it would print.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<String> {
    let arguments = std::iter::once(OsString::from("autoqd")).chain(arguments);
    let printed = py.detach(|| autoqd_cli::output(&interruptible_registry(), arguments));
    let printed = printed.map_err(|error| exception_of(error.as_ref()))?;
    Ok(String::from_utf8_lossy(&printed).into_owned())
}
