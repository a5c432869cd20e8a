//! The runs of a sweep, worked on elsewhere by an engine: which waits, which is out, and what comes back.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use autoqd::Error;
use autoqd::registry::{Registry, RunsElsewhere};
use autoqd::run_folder::{KeptTask, RunFolder};
use autoqd::runner::Runner;

use crate::error::MeasureError;
use crate::sweep::Job;
use crate::sweep_log::SweepLog;
use crate::sweep_work::Outcome;

/// Workers that may be lost in a row with one run, which gets nowhere in between.
const ATTEMPTS: u32 = 12;
/// Time between lines that say how far everything is.
const INTERVAL: Duration = Duration::from_secs(30);

/// The runs of a sweep for an engine. A run's folder is made when it is handed out first, and locked while it is out.
pub struct SweepAway {
    jobs: Vec<Job>,
    registry: Registry,
    log: SweepLog,
    stop: Box<dyn Fn() -> bool + Send + Sync>,
    say: Box<dyn Fn(&str) + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<usize>,
    out: BTreeMap<usize, Out>,
    /// Losses of a run since something of it came back.
    losses: BTreeMap<usize, u32>,
    told: Option<Instant>,
}

/// A run that somebody works on, or is about to.
struct Out {
    folder: RunFolder,
    iteration: u64,
}

impl SweepAway {
    /// All runs that are not finished.
    pub fn new(
        jobs: Vec<Job>,
        registry: Registry,
        log: SweepLog,
        stop: impl Fn() -> bool + Send + Sync + 'static,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Arc<Self> {
        let unfinished = |number: &usize| jobs[*number].state(&registry) != "finished";
        let state = State { waiting: (0..jobs.len()).filter(unfinished).collect(), ..State::default() };
        Arc::new(Self {
            jobs,
            registry,
            log,
            stop: Box::new(stop),
            say: Box::new(say),
            state: Mutex::new(state),
        })
    }

    /// What became of every run.
    pub fn outcomes(&self) -> Vec<Outcome> {
        self.jobs.iter().map(|job| job.outcome(&self.registry, &self.log)).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder of a run, made if it is not there.
    fn open(&self, job: &Job) -> Result<RunFolder, MeasureError> {
        match job.state(&self.registry) {
            "new" => drop(Runner::create(&job.path, job.config.clone(), &self.registry)?),
            "running" => return Err(MeasureError::run(&job.path, "another process works on it")),
            _ => {
                // Who continues it has the copies of the task alone, and nothing to compare them with.
                let changed = KeptTask::read(&job.path)?.map(|kept| kept.changed_sources()).transpose()?;
                if let Some(reason) = changed.flatten() {
                    let reason = format!("{reason}; choose another folder with --out, or change it back");
                    return Err(MeasureError::run(&job.path, reason));
                }
            }
        }
        Ok(RunFolder::open(&job.path)?)
    }

    fn name(&self, run: usize) -> String {
        format!("run {} of {}, {}", run + 1, self.jobs.len(), self.jobs[run].path.display())
    }

    /// Records what became of a run. Nothing depends on the record, so an error is only said.
    fn update(&self, run: usize, change: impl FnOnce(&mut crate::sweep_log::Fate)) {
        if let Err(error) = self.log.update(&self.jobs[run].path, change) {
            (self.say)(&format!("note: {error}"));
        }
    }

    fn fail(&self, run: usize, error: String) {
        (self.say)(&format!("{} failed: {error}", self.name(run)));
        self.update(run, |fate| fate.error = Some(error));
    }

    fn tell(&self, state: &mut State) {
        if state.told.is_some_and(|at| at.elapsed() < INTERVAL) {
            return;
        }
        state.told = Some(Instant::now());
        let working: Vec<String> = state
            .out
            .iter()
            .map(|(run, out)| format!("{}: {}/{}", run + 1, out.iteration, self.jobs[*run].config.iterations))
            .collect();
        (self.say)(&format!("{} runs wait; at work: {}", state.waiting.len(), working.join(", ")));
    }
}

impl RunsElsewhere for SweepAway {
    fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    fn take(&self) -> Option<(usize, PathBuf)> {
        loop {
            let run = self.state().waiting.pop_front()?;
            match self.open(&self.jobs[run]) {
                Ok(folder) => {
                    let path = folder.path().to_owned();
                    self.state().out.insert(run, Out { folder, iteration: 0 });
                    return Some((run, path));
                }
                Err(error) => self.fail(run, error.to_string()),
            }
        }
    }

    fn began(&self, run: usize, place: &str) {
        (self.say)(&format!("{}, on {place}", self.name(run)));
        self.update(run, |fate| (fate.place, fate.error) = (Some(place.to_owned()), None));
    }

    fn heard(&self, run: usize, iteration: u64) {
        let mut state = self.state();
        if let Some(out) = state.out.get_mut(&run) {
            out.iteration = iteration;
        }
        self.tell(&mut state);
    }

    fn bring(&self, run: usize, results: &[u8]) -> Result<(), Error> {
        let mut state = self.state();
        state.losses.remove(&run);
        state.out.get(&run).map_or(Ok(()), |out| out.folder.put_results(results))
    }

    fn ended(&self, run: usize, outcome: Result<(), String>) {
        self.state().out.remove(&run);
        match outcome {
            Ok(()) => (self.say)(&format!("{} is {}", self.name(run), self.jobs[run].state(&self.registry))),
            Err(error) => self.fail(run, error),
        }
    }

    fn lost(&self, run: usize, why: &str) {
        let out = self.state().out.remove(&run);
        self.update(run, |fate| (fate.place, fate.lost) = (None, fate.lost + 1));
        let from = self.jobs[run].progress(&self.registry).0;
        let said = format!(
            "{why} at iteration {}; the run goes on from iteration {from}",
            out.as_ref().map_or(from, |out| out.iteration.max(from))
        );
        if let Some(Err(error)) = out.map(|out| out.folder.note(from, &said)) {
            (self.say)(&format!("note: {error}"));
        }
        let mut state = self.state();
        let losses = state.losses.entry(run).or_default();
        *losses += 1;
        let hopeless = *losses >= ATTEMPTS;
        if !hopeless {
            state.waiting.push_front(run);
        }
        drop(state);
        match hopeless {
            false => (self.say)(&format!("{}: {said}", self.name(run))),
            true => self.fail(
                run,
                format!("{ATTEMPTS} workers in a row were lost with it before anything came back; the last one {why}"),
            ),
        }
    }

    fn given_back(&self, run: usize) {
        let mut state = self.state();
        state.out.remove(&run);
        state.waiting.push_front(run);
    }

    fn say(&self, text: &str) {
        (self.say)(text);
    }

    fn stop(&self) -> bool {
        (self.stop)()
    }
}
