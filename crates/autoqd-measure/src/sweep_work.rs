//! Working through the runs of a sweep, one after the other or several at a time.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use autoqd::observer::{IterationReport, Observer, ObserverError};
use autoqd::registry::Registry;
use autoqd::run_folder::{CONFIG_FILE, RunState, read_config, status};
use autoqd::runner::{Changes, Limits, Runner};

use crate::error::MeasureError;
use crate::sweep::Job;
use crate::sweep_log::{Fate, SweepLog};

/// The outcome of one run of a sweep.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Outcome {
    /// Folder of the run.
    #[serde(serialize_with = "autoqd::run_folder::serialize_path")]
    pub path: PathBuf,
    /// new, running, stopped, finished or failed.
    pub state: &'static str,
    /// Iterations done.
    pub iteration: u64,
    /// Iterations asked for.
    pub iterations: u64,
    /// Where it was worked on last, if not in the process of the sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How often who worked on it was lost.
    pub lost: u32,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Job {
    /// Rejects a folder that holds another run.
    pub fn check(&self) -> Result<(), MeasureError> {
        if !self.path.join(CONFIG_FILE).is_file() {
            return Ok(());
        }
        match read_config(&self.path)?.same_search(&self.config) {
            true => Ok(()),
            false => Err(MeasureError::Sweep {
                path: self.path.clone(),
                reason: "holds a run with other settings; choose another folder with --out, or remove it"
                    .to_owned(),
            }),
        }
    }

    /// The progress of the run, without doing anything.
    pub fn outcome(&self, registry: &Registry, log: &SweepLog) -> Outcome {
        let Fate { place, lost, error } = log.fate(&self.path);
        let (iteration, iterations) = self.progress(registry);
        let (state, error) = match (self.state(registry), error) {
            ("new" | "stopped", Some(error)) => ("failed", Some(error)),
            ("finished", _) => ("finished", None),
            found => found,
        };
        Outcome { path: self.path.clone(), state, iteration, iterations, place, lost, error }
    }

    /// Iterations done and asked for.
    pub(crate) fn progress(&self, registry: &Registry) -> (u64, u64) {
        let done = status(&self.path, registry).map_or(0, |status| status.iteration);
        (done, self.config.iterations)
    }

    pub(crate) fn state(&self, registry: &Registry) -> &'static str {
        match status(&self.path, registry).map(|status| status.state) {
            Ok(RunState::Finished) => "finished",
            Ok(RunState::Running) => "running",
            Ok(RunState::Stopped) => "stopped",
            Err(_) => "new",
        }
    }
}

/// How the runs of a sweep are worked through.
pub struct SweepWork<'a> {
    /// The parts that runs may use.
    pub registry: &'a Registry,
    /// The record of the sweep.
    pub log: &'a SweepLog,
    /// Runs at a time.
    pub at_a_time: NonZeroUsize,
    /// Worker threads in all; one per core without it.
    pub threads: Option<NonZeroUsize>,
    /// Whether to stop at the next iteration.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Called for every run that begins, with its position.
    pub begin: &'a (dyn Fn(usize, &Job) + Sync),
    /// Makes what watches a run; asked only where runs follow each other, since several would overwrite each other's
    /// output.
    pub watch: &'a (dyn Fn() -> Box<dyn Observer> + Sync),
}

impl SweepWork<'_> {
    /// Starts or continues every run, and returns the outcome of each, in their order.
    pub fn run(&self, jobs: &[Job]) -> Result<Vec<Outcome>, MeasureError> {
        let next = Mutex::new(jobs.iter().enumerate());
        let unrecorded = Mutex::new(None);
        let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
        std::thread::scope(|scope| {
            for _ in 0..self.at_a_time.get().min(jobs.len()) {
                scope.spawn(|| {
                    while let Some((number, job)) = take() {
                        (self.begin)(number, job);
                        let recorded = self.log.update(&job.path, |fate| fate.error = None).and_then(|()| {
                            let error = self.run_job(job).err().map(|error| error.to_string());
                            self.log.update(&job.path, |fate| fate.error = error)
                        });
                        if let Err(error) = recorded {
                            *unrecorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        }
                    }
                });
            }
        });
        match unrecorded.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(jobs.iter().map(|job| job.outcome(self.registry, self.log)).collect()),
        }
    }

    /// Starts or continues a run, or skips one that is done.
    fn run_job(&self, job: &Job) -> Result<(), MeasureError> {
        let found = job.state(self.registry);
        if (self.stop)() || found == "finished" {
            return Ok(());
        }
        if found == "running" {
            let reason = "another process works on it".to_owned();
            return Err(MeasureError::Sweep { path: job.path.clone(), reason });
        }
        let mut runner = self.runner(job, found)?;
        match self.at_a_time.get() {
            1 => runner.run(Limits::default(), self.stop, (self.watch)().as_mut())?,
            _ => runner.run(Limits::default(), self.stop, &mut Silent)?,
        };
        Ok(())
    }

    fn runner(&self, job: &Job, found: &str) -> Result<Runner, MeasureError> {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = self.threads.map_or(cores, NonZeroUsize::get) / self.at_a_time.get();
        let threads = Some(NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN));
        Ok(match found {
            "new" => {
                let config = job.config.changed(Changes { threads, ..Changes::default() });
                Runner::create(&job.path, config.map_err(autoqd::Error::from)?, self.registry)?
            }
            _ => Runner::resume(&job.path, Changes { threads, ..Changes::default() }, self.registry)?,
        })
    }
}

/// Watches nothing.
struct Silent;

impl Observer for Silent {
    fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
        Ok(())
    }
}
