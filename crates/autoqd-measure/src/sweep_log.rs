//! What is known of the runs of a sweep and is not in their folders: where they were worked on, and what went wrong.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use autoqd::run_folder::write_atomic;
use serde::{Deserialize, Serialize};

use crate::error::MeasureError;

const VERSION: u32 = 1;
/// The file, in the folder of the sweep.
const FILE: &str = "sweep.json";

/// What became of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fate {
    /// Where it was worked on last, if not in the process of the sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How often who worked on it was lost.
    #[serde(default)]
    pub lost: u32,
    /// Why it ended before it was finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    runs: BTreeMap<PathBuf, Fate>,
}

/// The record of a sweep, kept in its folder.
pub struct SweepLog {
    folder: PathBuf,
    runs: Mutex<BTreeMap<PathBuf, Fate>>,
}

impl SweepLog {
    /// The record in the folder of a sweep, which is empty if there is none.
    pub fn open(folder: &Path) -> Result<Self, MeasureError> {
        let path = folder.join(FILE);
        let wrong = |reason: String| MeasureError::Sweep { path: path.clone(), reason };
        let runs = match std::fs::read(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(e) => return Err(wrong(format!("cannot be read: {e}"))),
            Ok(text) => {
                let content: Content = serde_json::from_slice(&text).map_err(|e| {
                    wrong(format!("is damaged ({e}); remove it: the runs themselves do not need it"))
                })?;
                if content.version > VERSION {
                    return Err(wrong(format!(
                        "has version {}, this program knows {VERSION}",
                        content.version
                    )));
                }
                content.runs
            }
        };
        Ok(Self { folder: folder.to_owned(), runs: Mutex::new(runs) })
    }

    pub(crate) fn fate(&self, run: &Path) -> Fate {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.get(self.name(run)).cloned().unwrap_or_default()
    }

    /// Changes what is known of a run.
    pub(crate) fn update(&self, run: &Path, change: impl FnOnce(&mut Fate)) -> Result<(), MeasureError> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let fate = runs.entry(self.name(run).to_owned()).or_default();
        let before = fate.clone();
        change(fate);
        if *fate == before {
            return Ok(());
        }
        let content = Content { version: VERSION, runs: runs.clone() };
        let path = self.folder.join(FILE);
        let made = std::fs::create_dir_all(&self.folder);
        made.map_err(|e| MeasureError::Sweep {
            path: path.clone(),
            reason: format!("cannot be written: {e}"),
        })?;
        Ok(write_atomic(&path, |file| {
            serde_json::to_writer_pretty(&mut *file, &content)?;
            Ok(file.write_all(b"\n")?)
        })?)
    }

    fn name<'a>(&self, run: &'a Path) -> &'a Path {
        run.strip_prefix(&self.folder).unwrap_or(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_a_run_is_there_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("maze/default/seed-1");
        let log = SweepLog::open(folder.path()).unwrap();
        assert_eq!(log.fate(&run), Fate::default());
        let fate = Fate { place: Some("node7".to_owned()), lost: 2, error: Some("no".to_owned()) };
        log.update(&run, |known| *known = fate.clone()).unwrap();
        assert_eq!(SweepLog::open(folder.path()).unwrap().fate(&run), fate);
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        let damaged = SweepLog::open(folder.path()).err().unwrap().to_string();
        assert!(damaged.contains("remove it"), "{damaged}");
    }
}
