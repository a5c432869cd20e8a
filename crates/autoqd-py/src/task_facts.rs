//! What Python needs to know about a task, and seeds from Python.

use autoqd_env::{EnvSpec, Seed, canonical_name, gymnasium_id};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Sizes, bounds and names of a task; of each info its name and whether a reset has it.
pub fn facts<'py>(
    py: Python<'py>,
    spec: &EnvSpec,
    infos: &[(String, bool)],
    physics_note: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("name", &spec.name)?;
    // A task file may have the name of a built-in task, but not all of its numbers.
    facts.set_item("gymnasium_id", canonical_name(&spec.name).and_then(gymnasium_id))?;
    facts.set_item("observation_size", spec.observation_size)?;
    facts.set_item("action_low", &spec.action_low)?;
    facts.set_item("action_high", &spec.action_high)?;
    facts.set_item("max_episode_steps", spec.max_episode_steps)?;
    facts.set_item("infos", infos)?;
    facts.set_item("physics", physics_note)?;
    Ok(facts)
}

/// A seed from an integer of any width.
pub fn seed_of(seed: &Bound<'_, PyAny>) -> PyResult<Seed> {
    if let Ok(small) = seed.extract::<u64>() {
        return Ok(Seed::from(small));
    }
    let digits = seed.str()?.to_string();
    digits.parse().map_err(|error: autoqd_env::EnvError| PyValueError::new_err(error.to_string()))
}
