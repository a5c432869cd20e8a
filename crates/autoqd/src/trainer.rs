//! What owns the loop of a run: the quality-diversity search, or a method that trains a population in another way.
//!
//! A [`Trainer`] knows nothing of files. [`Runner`](crate::runner::Runner) puts one into a run folder, with logs,
//! checkpoints and exact resume, and everything that works on run folders works on what it trained.

use std::sync::Arc;

use autoqd_env::EnvSpec;
use autoqd_qd::RedescribeReport;

use crate::Error;
use crate::config::RunConfig;
use crate::descriptor::RefitReport;
use crate::evaluator::{Evaluator, Work};
use crate::parts::{Parts, PutParts};
use crate::policy::PolicySpec;
use crate::run_folder::{ArchiveTable, IterationRow, Tensor};

/// What has been spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Totals {
    /// Candidates evaluated.
    pub evaluations: u64,
    /// Steps simulated.
    pub env_steps: u64,
    /// Episodes that diverged; their candidates were not stored.
    pub diverged_episodes: u64,
    /// Restarts of emitters.
    pub restarts: u64,
}

/// What one iteration did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iteration {
    /// Numbers that every method has; the same for any number of threads. What a method does not have is NaN or 0.
    pub metrics: IterationRow,
    /// Numbers of this method alone, such as losses, by name.
    pub figures: Vec<(String, f64)>,
    /// The refit at the start of this iteration, if it was due.
    pub refit: Option<Refit>,
    /// Where the time went.
    pub times: Times,
}

/// Seconds spent in the parts of one iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Asking the emitters, or whatever makes new candidates.
    pub ask: f64,
    /// Evaluating candidates.
    pub evaluate: f64,
    /// Learning from the evaluations.
    pub tell: f64,
    /// Refitting.
    pub refit: f64,
}

/// What a refit of a search did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refit {
    /// The descriptor's report.
    pub descriptor: RefitReport,
    /// The outcome for the elites.
    pub archives: RedescribeReport,
    /// Elites of the result archive before.
    pub elites_before: usize,
    /// Elites that were rolled out again to get new features.
    pub reembedded: usize,
}

impl Refit {
    /// Elites of the result archive after.
    pub fn elites_after(&self) -> usize {
        self.archives.stored.last().copied().unwrap_or(0)
    }

    pub(crate) fn write(&self, metrics: &mut IterationRow) {
        metrics.refit_before = self.elites_before as f64;
        metrics.refit_after = self.elites_after() as f64;
        metrics.refit_angle = self.descriptor.turned_degrees;
    }
}

/// A loop that can be advanced one iteration at a time, saved, and continued to the same bytes.
///
/// An iteration must be a pure function of the state and the configuration: the same for any number of threads, and the
/// same after [`Trainer::load`] as if it had never stopped.
pub trait Trainer: Send {
    /// The configuration.
    fn config(&self) -> &RunConfig;

    /// The task's sizes and names.
    fn spec(&self) -> &EnvSpec;

    /// The shape of the policies.
    fn policy(&self) -> &PolicySpec;

    /// Iterations done.
    fn iteration(&self) -> u64;

    /// Whether all iterations are done.
    fn finished(&self) -> bool {
        self.iteration() >= self.config().iterations
    }

    /// What has been spent.
    fn totals(&self) -> Totals;

    /// Policies evaluated per iteration.
    fn candidates(&self) -> usize;

    /// Worker threads.
    fn threads(&self) -> usize;

    /// Which simulator the evaluations run on.
    fn physics_note(&self) -> String;

    /// What a user should know before it starts, such as the memory it will take.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// What rolls its policies out, if it has one evaluator for that.
    fn evaluator(&self) -> Option<&dyn Evaluator> {
        None
    }

    /// How far the evaluation in progress is, if that can be seen.
    fn work(&self) -> Option<Arc<Work>> {
        self.evaluator().and_then(Evaluator::work)
    }

    /// The iteration of the next refit, if there is one.
    fn next_refit(&self) -> Option<u64> {
        None
    }

    /// Runs one iteration.
    fn step(&mut self) -> Result<Iteration, Error>;

    /// The policies found so far, as they are stored. Without an archive, a policy's place in the population is its
    /// cell, and its measures are the task's.
    fn population(&self) -> ArchiveTable;

    /// What a reader outside this program needs to know besides the policies.
    fn tensors(&self) -> Vec<Tensor> {
        Vec::new()
    }

    /// Puts the complete state.
    fn save(&self, parts: &mut dyn PutParts) -> Result<(), Error>;

    /// Restores what [`Trainer::save`] put, into a trainer built from the same configuration.
    fn load(&mut self, parts: &mut Parts) -> Result<(), Error>;
}
