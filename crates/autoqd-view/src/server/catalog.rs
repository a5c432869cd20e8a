//! The runs that were named on the command line, and nothing else.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use autoqd::run_folder::{ArchiveTable, RunState, Status};
use axum::body::Bytes;
use serde::Serialize;
use serde_json::json;

use crate::{RunView, ViewError};

/// Elites that the page plays when it opens.
const SHOWN_FIRST: usize = 4;

/// One named run and the newest state of its archive.
pub(super) struct Entry {
    pub id: String,
    pub run: RunView,
    /// Whether friction and mass can be changed.
    changeable: bool,
    newest: RwLock<Arc<Snapshot>>,
    /// Held while the folder is read, so that many followers cause one reading.
    reading: Mutex<()>,
}

/// The archive as it was at one time.
pub(super) struct Snapshot {
    pub table: ArchiveTable,
    /// As the page receives it.
    pub wire: Bytes,
    /// Changes when the file changes.
    pub version: String,
    stamp: Option<(SystemTime, u64)>,
}

/// The entry of a run in the list of runs.
#[derive(Serialize)]
pub(super) struct Summary {
    id: String,
    name: String,
    method: String,
    /// None for a table of policies.
    seed: Option<u64>,
    task: String,
    state: String,
    iteration: u64,
    iterations: u64,
    elites: usize,
    version: String,
    changeable: bool,
    /// Share of the best fifth of the elites that lie outside the archive's bounds, if that is known.
    outside: Option<f64>,
}

pub(super) struct Catalog {
    entries: Vec<Entry>,
}

impl Catalog {
    pub fn new(runs: Vec<RunView>) -> Result<Self, ViewError> {
        let mut entries: Vec<Entry> = Vec::with_capacity(runs.len());
        for run in runs {
            let id = free_id(&entries, run.name());
            let snapshot = Arc::new(Snapshot::read(&run)?);
            let (changeable, newest) = (run.can_change(), RwLock::new(snapshot));
            entries.push(Entry { id, run, changeable, newest, reading: Mutex::new(()) });
        }
        Ok(Self { entries })
    }

    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }
}

/// Letters, digits and dashes of the name; a number if another run has that id.
fn free_id(taken: &[Entry], name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let base: String = name.chars().map(safe).take(60).collect();
    let is_free = |id: &String| taken.iter().all(|entry| entry.id != *id);
    let numbered = (2..).map(|n| format!("{base}-{n}"));
    std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
}

impl Entry {
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.newest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the archive again if its file changed. A file that cannot be read just now leaves the old state.
    pub fn refresh(&self) -> Arc<Snapshot> {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.snapshot();
        if stamp(&self.run.archive_path()) == old.stamp {
            return old;
        }
        match Snapshot::read(&self.run) {
            Ok(new) => {
                let new = Arc::new(new);
                *self.newest.write().unwrap_or_else(PoisonError::into_inner) = new.clone();
                new
            }
            Err(_) => old,
        }
    }

    pub fn summary(&self, status: Option<&Status>) -> Summary {
        let snapshot = self.snapshot();
        let run = self.run.run();
        // A table does not progress: it is as far as its newest policy.
        let newest = || snapshot.table.iteration.iter().copied().max().unwrap_or(0);
        Summary {
            id: self.id.clone(),
            name: self.run.name().to_owned(),
            method: run.method.clone(),
            seed: run.seed,
            task: self.run.task().spec().name.clone(),
            state: format!("{:?}", status.map_or(RunState::Finished, |s| s.state)).to_lowercase(),
            iteration: status.map_or_else(newest, |s| s.iteration),
            iterations: status.map_or_else(newest, |s| s.iterations),
            elites: snapshot.table.len(),
            version: snapshot.version.clone(),
            changeable: self.changeable,
            outside: status.and_then(|s| s.outside),
        }
    }
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

impl Snapshot {
    fn read(run: &RunView) -> Result<Self, ViewError> {
        // The stamp first: a file that changes while it is read is read again.
        let stamp = stamp(&run.archive_path());
        let table = run.archive()?;
        let version = match stamp
            .and_then(|(time, len)| Some((time.duration_since(SystemTime::UNIX_EPOCH).ok()?, len)))
        {
            Some((time, len)) => format!("{:x}-{len:x}", time.as_nanos()),
            None => "0".to_string(),
        };
        Ok(Self { wire: encode(run, &table, &version), version, table, stamp })
    }
}

/// A JSON header that names the columns, then the columns as little-endian doubles.
fn encode(run: &RunView, table: &ArchiveTable, version: &str) -> Bytes {
    let whole = |values: &[u64]| values.iter().map(|v| *v as f64).collect::<Vec<f64>>();
    let mut columns: Vec<(String, Vec<f64>)> = vec![
        ("id".to_string(), whole(&table.id)),
        ("cell".to_string(), whole(&table.cell)),
        ("objective".to_string(), table.objective.clone()),
        ("iteration".to_string(), whole(&table.iteration)),
    ];
    for m in 0..table.measures.width {
        let values = (0..table.len()).map(|i| table.measures.row(i)[m]).collect();
        columns.push((format!("measure {}", m + 1), values));
    }
    columns.extend(table.statistics.iter().cloned());
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let layout = run.layout(table);
    let header = json!({
        "version": version,
        "elites": table.len(),
        "columns": names,
        "measures": table.measures.width,
        "bounds": layout.bounds,
        "cells": layout.cells,
        "capacity": layout.capacity,
        "labels": run.labels(),
        "measureNames": run.measure_names(table.measures.width),
        "show": run.to_show(table, SHOWN_FIRST).into_iter().map(|row| table.id[row]).collect::<Vec<u64>>(),
    });
    let values = columns.iter().flat_map(|(_, values)| values.iter().flat_map(|v| v.to_le_bytes()));
    with_header(&header.to_string(), values.collect(), 8)
}

/// Length of the header, the header filled up with spaces so that the rest is aligned, the rest.
pub(super) fn with_header(header: &str, rest: Vec<u8>, align: usize) -> Bytes {
    let length = (4 + header.len()).next_multiple_of(align) - 4;
    let mut bytes = Vec::with_capacity(4 + length + rest.len());
    bytes.extend((length as u32).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.resize(4 + length, b' ');
    bytes.extend(rest);
    Bytes::from(bytes)
}
