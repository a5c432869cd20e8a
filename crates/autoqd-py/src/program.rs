//! The command-line program, inside the interpreter.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(main, module)?)
}

/// Runs the program `autoqd` with the given arguments, the first of which is its name, and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| autoqd_cli::run(autoqd_cli::registry(), arguments));
    // The only way back from an exit code to its number.
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(1)
}
