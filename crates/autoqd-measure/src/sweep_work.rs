//! Working through the runs of a sweep, one after the other or several at a time.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;

use autoqd::observer::{EndReason, IterationReport, Observer, ObserverError};
use autoqd::registry::Registry;
use autoqd::run_folder::{CONFIG_FILE, RunState, read_config, status};
use autoqd::runner::{Changes, Limits, Runner};

use crate::error::MeasureError;
use crate::sweep::Job;

/// The outcome of one run of a sweep.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Outcome {
    /// Folder of the run.
    #[serde(serialize_with = "autoqd::run_folder::serialize_path")]
    pub path: PathBuf,
    /// new, running, stopped, finished or failed.
    pub state: &'static str,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Outcome {
    fn new(job: &Job, result: Result<&'static str, MeasureError>) -> Self {
        let path = job.path.clone();
        match result {
            Ok(state) => Self { path, state, error: None },
            Err(error) => Self { path, state: "failed", error: Some(error.to_string()) },
        }
    }
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
    pub fn outcome(&self, registry: &Registry) -> Outcome {
        Outcome::new(self, Ok(self.state(registry)))
    }

    fn state(&self, registry: &Registry) -> &'static str {
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
    pub fn run(&self, jobs: &[Job]) -> Vec<Outcome> {
        let next = Mutex::new(jobs.iter().enumerate());
        let done: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; jobs.len()]);
        let take = || next.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
        std::thread::scope(|scope| {
            for _ in 0..self.at_a_time.get() {
                scope.spawn(|| {
                    while let Some((number, job)) = take() {
                        (self.begin)(number, job);
                        let outcome = Outcome::new(job, self.run_job(job));
                        done.lock().unwrap_or_else(|poisoned| poisoned.into_inner())[number] = Some(outcome);
                    }
                });
            }
        });
        done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).into_iter().flatten().collect()
    }

    /// Starts or continues a run, or skips one that is done.
    fn run_job(&self, job: &Job) -> Result<&'static str, MeasureError> {
        let found = job.state(self.registry);
        if (self.stop)() || found == "finished" {
            return Ok(found);
        }
        if found == "running" {
            let reason = "another process works on it".to_owned();
            return Err(MeasureError::Sweep { path: job.path.clone(), reason });
        }
        let mut runner = self.runner(job, found)?;
        let reason = match self.at_a_time.get() {
            1 => runner.run(Limits::default(), self.stop, (self.watch)().as_mut())?,
            _ => runner.run(Limits::default(), self.stop, &mut Silent)?,
        };
        Ok(if reason == EndReason::Finished { "finished" } else { "stopped" })
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
