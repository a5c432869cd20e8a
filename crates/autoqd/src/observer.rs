//! Observers of a search: progress bars, logs, a live page.

use std::sync::Arc;

use crate::evaluator::Work;
use crate::run_folder::{IterationRow, RunLogs, TimingRow};
use crate::trainer::Refit;

/// What an observer may return.
pub type ObserverError = Box<dyn std::error::Error + Send + Sync>;

/// What is known when a search starts or is resumed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartReport {
    /// Task.
    pub task: String,
    /// Method.
    pub method: String,
    /// Seed.
    pub seed: u64,
    /// Iterations already done.
    pub iteration: u64,
    /// Iterations asked for.
    pub iterations: u64,
    /// Worker threads.
    pub threads: usize,
    /// Candidates per iteration.
    pub candidates: usize,
    /// Parameters of a policy.
    pub parameters: usize,
    /// The simulator used.
    pub physics: String,
}

/// What one iteration did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationReport {
    /// Iterations asked for.
    pub iterations: u64,
    /// Next iteration that refits the measures.
    pub next_refit: Option<u64>,
    /// Numbers that every method has.
    pub metrics: IterationRow,
    /// Numbers of this method alone, by name.
    pub figures: Vec<(String, f64)>,
    /// Times.
    pub timing: TimingRow,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// All iterations are done.
    Finished,
    /// The user asked to stop.
    Interrupted,
    /// The time limit.
    MaxTime,
    /// The limit of environment steps.
    MaxEnvSteps,
}

/// Watches a search. An error stops it after the iteration.
pub trait Observer {
    /// The search starts.
    fn on_start(&mut self, _report: &StartReport) -> Result<(), ObserverError> {
        Ok(())
    }

    /// An iteration is complete.
    fn on_iteration(&mut self, report: &IterationReport) -> Result<(), ObserverError>;

    /// Where the evaluation in progress can be watched from another thread; said once, before the first iteration.
    fn on_work(&mut self, _work: Arc<Work>) {}

    /// The measures were fitted again at the start of an iteration, and how many seconds it took.
    fn on_refit(&mut self, _iteration: u64, _refit: &Refit, _seconds: f64) -> Result<(), ObserverError> {
        Ok(())
    }

    /// A checkpoint was written.
    fn on_checkpoint(&mut self, _iteration: u64) -> Result<(), ObserverError> {
        Ok(())
    }

    /// Something the user should know, such as a fallback.
    fn on_notice(&mut self, _text: &str) -> Result<(), ObserverError> {
        Ok(())
    }

    /// The search ended.
    fn on_end(&mut self, _reason: EndReason) -> Result<(), ObserverError> {
        Ok(())
    }
}

impl Observer for RunLogs {
    fn on_iteration(&mut self, report: &IterationReport) -> Result<(), ObserverError> {
        Ok(self.append(&report.metrics, &report.figures, &report.timing)?)
    }
}
