//! Few policies out of many: how they are chosen, and the list that represents them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::MeasureError;
use crate::store::save_json;

/// Chosen policies of a run, as `autoqd select` writes them and every command accepts them in place of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Folder of the run, or table; relative to the file of this list unless it is absolute.
    pub run: PathBuf,
    /// Ids of the chosen policies, in the order they were chosen.
    pub policies: Vec<u64>,
}

impl Selection {
    /// Reads a list.
    pub fn read(path: &Path) -> Result<Self, MeasureError> {
        let text =
            std::fs::read(path).map_err(|e| MeasureError::run(path, format!("cannot be read: {e}")))?;
        let wrong = |e| format!("is not a list of policies ({e}); `autoqd select` writes one");
        serde_json::from_slice(&text).map_err(|e| MeasureError::run(path, wrong(e)))
    }

    /// Writes the list.
    pub fn write(&self, file: &Path) -> Result<(), MeasureError> {
        Ok(save_json(file, self)?)
    }
}
