//! The checks of sizes and numbers that every task makes before it simulates.

#[cfg(feature = "box2d")]
pub(crate) use autoqd_task_file::range;

use crate::{Action, EnvError, EnvSpec};

/// Rejects an action of the wrong size or with a component that is not finite.
pub(crate) fn action(spec: &EnvSpec, action: Action<'_>) -> Result<(), EnvError> {
    if action.len() != spec.action_size {
        let (task, got, expected) = (spec.name.clone(), action.len(), spec.action_size);
        return Err(EnvError::ActionSize { task, got, expected });
    }
    match (0..action.len()).find(|&i| !action.get(i).is_finite()) {
        Some(index) => {
            Err(EnvError::ActionNotFinite { task: spec.name.clone(), index, value: action.get(index) })
        }
        None => Ok(()),
    }
}

/// Rejects a buffer that does not have the length of an observation.
pub(crate) fn observation(spec: &EnvSpec, buffer: &[f64]) -> Result<(), EnvError> {
    if buffer.len() == spec.observation_size {
        return Ok(());
    }
    let (task, got, expected) = (spec.name.clone(), buffer.len(), spec.observation_size);
    Err(EnvError::ObservationSize { task, got, expected })
}
