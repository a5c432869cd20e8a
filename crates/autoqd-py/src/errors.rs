//! Errors as Python exceptions: `autoqd.Error`, and `autoqd.SettingError` for what the caller asked for.

use std::error::Error as StdError;

use autoqd_env::EnvError;
use pyo3::exceptions::{PyImportError, PyRuntimeError};
use pyo3::prelude::*;

/// An error with its causes, each said once, as the exception that suits it.
///
/// An error that is an exception itself, raised by Python code that was called, comes back as it was.
pub fn exception(error: impl StdError + Send + Sync + 'static) -> PyErr {
    exception_of(&error)
}

/// The same for an error behind a reference.
pub fn exception_of(error: &(dyn StdError + 'static)) -> PyErr {
    let chain = causes(error);
    if let Some(own) = chain.iter().find_map(|cause| cause.downcast_ref::<Raised>()) {
        return Python::attach(|py| own.0.clone_ref(py));
    }
    let message =
        chain.iter().map(ToString::to_string).fold(String::new(), |said, cause| match said.is_empty() {
            true => cause,
            false if said.contains(&cause) => said,
            false => format!("{said}: {cause}"),
        });
    if chain.iter().any(|cause| is_setting(*cause)) { setting(message) } else { failure(message) }
}

/// An exception raised by Python code that was called, on its way through Rust.
///
/// Reads as its message alone where that says everything, as those of this package and of missing ones do; others (a
/// `KeyError`, say) begin with the name of their class.
#[derive(Debug)]
pub struct Raised(PyErr);

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Python::attach(|py| {
            let own = PyModule::import(py, "autoqd._errors").and_then(|module| module.getattr("Error"));
            let own = own.is_ok_and(|class| self.0.matches(py, class).unwrap_or(false));
            match own || self.0.is_instance_of::<PyImportError>(py) {
                true => write!(f, "{}", self.0.value(py)),
                false => write!(f, "{}", self.0),
            }
        })
    }
}

impl StdError for Raised {}

/// An exception as an error, from which it comes back as it is.
pub fn raised(error: PyErr) -> autoqd::Error {
    autoqd::Error::Descriptor(Box::new(Raised(error)))
}

/// An error, its cause, the cause of that, ...
fn causes<'a>(error: &'a (dyn StdError + 'static)) -> Vec<&'a (dyn StdError + 'static)> {
    let mut all = vec![error];
    while let Some(last) = all.last().copied() {
        // What an observer or a descriptor returned is said in place of the error around it, so it is not its source.
        // Nor is one that a measurement passes on as it is.
        let last: &'a (dyn StdError + 'static) = match last.downcast_ref() {
            Some(autoqd_measure::MeasureError::Search(inner)) => inner,
            _ => last,
        };
        let inner: Option<&'a (dyn StdError + 'static)> = match last.downcast_ref() {
            Some(autoqd::Error::Observer(inner) | autoqd::Error::Descriptor(inner)) => Some(inner.as_ref()),
            _ => last.source(),
        };
        match inner {
            Some(inner) => all.push(inner),
            None => break,
        }
    }
    all
}

/// Whether an error is about what the caller asked for.
fn is_setting(error: &(dyn StdError + 'static)) -> bool {
    error.is::<autoqd::config::ConfigError>()
        || matches!(error.downcast_ref(), Some(EnvError::UnknownTask { .. }))
        || matches!(error.downcast_ref(), Some(autoqd_measure::MeasureError::Setting { .. }))
        || match error.downcast_ref() {
            // Transparent: the error inside is not among the causes.
            Some(autoqd::Error::Env(inner)) => is_setting(inner),
            Some(autoqd::Error::Config(_) | autoqd::Error::Invalid { .. }) => true,
            _ => false,
        }
}

/// An `autoqd.Error`.
pub fn failure(message: impl Into<String>) -> PyErr {
    raise("autoqd._errors", "Error", message.into())
}

/// An `autoqd.SettingError`, which is a `ValueError` too.
pub fn setting(message: impl Into<String>) -> PyErr {
    raise("autoqd._errors", "SettingError", message.into())
}

/// What Gymnasium raises for an environment that is closed.
pub fn closed(task: &str) -> PyErr {
    let message = format!("the environment of task '{task}' is closed; make a new one");
    raise("gymnasium.error", "ClosedEnvironmentError", message)
}

fn raise(module: &str, class: &str, message: String) -> PyErr {
    Python::attach(|py| {
        let made = PyModule::import(py, module)
            .and_then(|module| module.getattr(class))
            .and_then(|class| class.call1((message.clone(),)));
        made.map_or_else(|_| PyRuntimeError::new_err(message), PyErr::from_value)
    })
}
