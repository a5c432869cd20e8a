//! The status of a run, read from the ends of its files.

use super::columns::{IterationRow, TimingRow};
use super::csv_log::last_row;
use super::lock::holder_of;
use super::{
    CHECKPOINT_FILE, Checkpoint, METRICS_FILE, PREVIOUS_CHECKPOINT_FILE, RunFolderError, TIMING_FILE,
    read_config, read_machines,
};
use crate::config::Catalog;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Whether a run is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// A process works on it.
    Running,
    /// It can be resumed.
    Stopped,
    /// All iterations are done.
    Finished,
}

/// The status of a run. Numbers that do not exist yet are `None`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Folder of the run.
    #[serde(serialize_with = "super::serialize_path")]
    pub path: PathBuf,
    /// Task.
    pub task: String,
    /// Method.
    pub method: String,
    /// Seed.
    pub seed: u64,
    /// Whether it is in progress.
    pub state: RunState,
    /// Process that works on it.
    pub pid: Option<u32>,
    /// Iterations logged.
    pub iteration: u64,
    /// Iterations asked for.
    pub iterations: u64,
    /// Iteration of the latest checkpoint.
    pub checkpoint_iteration: Option<u64>,
    /// Next iteration that refits the measures.
    pub next_refit: Option<u64>,
    /// Elites in the result archive.
    pub elites: u64,
    /// Share of cells that hold an elite.
    pub coverage: Option<f64>,
    /// QD score.
    pub qd_score: Option<f64>,
    /// Highest objective.
    pub best_objective: Option<f64>,
    /// Mean objective of the elites.
    pub mean_objective: Option<f64>,
    /// Share of the best fifth of the elites that lie outside the archive's bounds.
    pub outside: Option<f64>,
    /// Policies evaluated.
    pub evaluations: u64,
    /// Environment steps.
    pub env_steps: u64,
    /// Environment steps per second over the whole run.
    pub env_steps_per_second: Option<f64>,
    /// Seconds of computing, over all sessions.
    pub seconds: f64,
    /// Why the bytes are not those of one machine, where machines of several kinds worked on the run together.
    pub inexact: Option<String>,
}

/// Reads the status of a run without loading its archive or checkpoint.
pub fn status(folder: &Path, catalog: &impl AsRef<Catalog>) -> Result<Status, RunFolderError> {
    let config = read_config(folder)?;
    let metrics = if_there(last_row::<IterationRow>(folder, METRICS_FILE))?.unwrap_or_else(no_metrics);
    let timing = if_there(last_row::<TimingRow>(folder, TIMING_FILE))?.unwrap_or_default();
    let holder = holder_of(folder);
    let state = match holder {
        Some(_) => RunState::Running,
        None if metrics.iteration >= config.iterations => RunState::Finished,
        None => RunState::Stopped,
    };
    let finite = |value: f64| value.is_finite().then_some(value);
    Ok(Status {
        path: folder.to_owned(),
        task: config.task.clone(),
        method: config.method.to_string(),
        seed: config.seed,
        state,
        pid: holder.flatten(),
        iteration: metrics.iteration,
        iterations: config.iterations,
        checkpoint_iteration: checkpoint_iteration(folder),
        next_refit: config.next_refit(metrics.iteration, config.refits(catalog)),
        elites: metrics.elites,
        coverage: finite(metrics.coverage),
        qd_score: finite(metrics.qd_score),
        best_objective: finite(metrics.best_objective),
        mean_objective: finite(metrics.mean_objective),
        outside: finite(metrics.outside),
        evaluations: metrics.evaluations,
        env_steps: metrics.env_steps,
        env_steps_per_second: finite(metrics.env_steps as f64 / timing.seconds),
        seconds: timing.seconds,
        inexact: read_machines(folder)?.into_iter().find_map(|machine| machine.inexact),
    })
}

fn no_metrics() -> IterationRow {
    let unknown = f64::NAN;
    IterationRow {
        coverage: unknown,
        qd_score: unknown,
        best_objective: unknown,
        mean_objective: unknown,
        outside: unknown,
        ..IterationRow::default()
    }
}

fn if_there<T>(row: Result<Option<T>, RunFolderError>) -> Result<Option<T>, RunFolderError> {
    match row {
        Err(e) if e.is_not_found() => Ok(None),
        other => other,
    }
}

fn checkpoint_iteration(folder: &Path) -> Option<u64> {
    let names = [CHECKPOINT_FILE, PREVIOUS_CHECKPOINT_FILE];
    names
        .iter()
        .find_map(|name| Checkpoint::read_header(&folder.join(name)).ok())
        .map(|header| header.iteration)
}
