//! A trainer in a run folder: logs, checkpoints, limits, and continuing where it stopped.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::Error;
use crate::config::{RunConfig, check_resume};
use crate::observer::{EndReason, IterationReport, Observer, StartReport};
use crate::parts::Parts;
use crate::registry::{MethodKind, Registry, TrainerContext};
use crate::run_folder::{
    CHECKPOINT_FILE, Checkpoint, RunFolder, RunLogs, TensorFile, TimingRow, read_config, read_timing,
    unix_time,
};
use crate::search::Search;
use crate::trainer::{Iteration, Trainer};

pub use crate::config::Changes;

/// When to stop before all iterations are done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Stop after the iteration in which this many seconds of this session have passed.
    pub max_seconds: Option<f64>,
    /// Stop after the iteration in which this many environment steps of the whole run are reached.
    pub max_env_steps: Option<u64>,
}

/// A trainer that writes into its run folder.
pub struct Runner {
    trainer: Box<dyn Trainer>,
    folder: RunFolder,
    logs: RunLogs,
    /// Seconds of earlier sessions.
    seconds_before: f64,
    checkpoint_seconds: f64,
    notices: Vec<String>,
}

impl Runner {
    /// Starts a new run in a folder that is not in use.
    pub fn create(path: &Path, config: RunConfig, registry: &Registry) -> Result<Self, Error> {
        // The trainer first: what cannot start should not leave a folder behind.
        let trainer = build_trainer(config, registry)?;
        let folder = RunFolder::create(path, trainer.config())?;
        Self::new(trainer, folder, Vec::new())
    }

    /// Continues a run from its latest usable checkpoint.
    pub fn resume(path: &Path, changes: Changes, registry: &Registry) -> Result<Self, Error> {
        let folder = RunFolder::open(path)?;
        let stored = folder.config()?;
        let config = stored.changed(changes)?;
        check_resume(&stored, &config)?;
        let loaded = folder.load_checkpoint()?;
        if let Some(loaded) = &loaded {
            check_resume(&loaded.config, &config)?;
        }
        let mut trainer = build_trainer(config, registry)?;
        let mut notices = Vec::new();
        if let Some(mut loaded) = loaded {
            trainer.load(&mut loaded.checkpoint.parts)?;
            notices.extend(loaded.notice);
            notices.extend(unknown_parts(&loaded.checkpoint.parts));
        }
        if trainer.config() != &stored {
            folder.write_config(trainer.config())?;
        }
        Self::new(trainer, folder, notices)
    }

    fn new(trainer: Box<dyn Trainer>, folder: RunFolder, mut notices: Vec<String>) -> Result<Self, Error> {
        notices.extend(trainer.notices());
        let logs = folder.logs(trainer.iteration())?;
        let seconds_before = read_timing(folder.path())?.last().map_or(0.0, |row| row.seconds);
        Ok(Self { trainer, folder, logs, seconds_before, checkpoint_seconds: 0.0, notices })
    }

    /// What is run.
    pub fn trainer(&self) -> &dyn Trainer {
        &*self.trainer
    }

    /// The folder of the run.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs until all iterations are done, a limit is reached or `stop` says so; always ends with a checkpoint.
    pub fn run(
        &mut self,
        limits: Limits,
        stop: &dyn Fn() -> bool,
        observer: &mut dyn Observer,
    ) -> Result<EndReason, Error> {
        let start = Instant::now();
        observer.on_start(&self.start_report())?;
        if let Some(work) = self.trainer.work() {
            observer.on_work(work);
        }
        for notice in self.notices.drain(..) {
            observer.on_notice(&notice)?;
        }
        let reason = loop {
            if let Some(reason) = self.end_reason(limits, start, stop) {
                break reason;
            }
            self.iterate(start, observer)?;
        };
        self.checkpoint(observer)?;
        self.folder.write_manifest(self.trainer.iteration())?;
        observer.on_end(reason)?;
        Ok(reason)
    }

    fn end_reason(&self, limits: Limits, start: Instant, stop: &dyn Fn() -> bool) -> Option<EndReason> {
        let over_time = limits.max_seconds.is_some_and(|limit| start.elapsed().as_secs_f64() >= limit);
        let over_steps = limits.max_env_steps.is_some_and(|limit| self.trainer.totals().env_steps >= limit);
        let checks = [
            (self.trainer.finished(), EndReason::Finished),
            (stop(), EndReason::Interrupted),
            (over_time, EndReason::MaxTime),
            (over_steps, EndReason::MaxEnvSteps),
        ];
        checks.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
    }

    fn iterate(&mut self, start: Instant, observer: &mut dyn Observer) -> Result<(), Error> {
        let (before, began) = (self.trainer.totals().env_steps, Instant::now());
        let iteration = self.trainer.step()?;
        let seconds = began.elapsed().as_secs_f64();
        let steps = self.trainer.totals().env_steps - before;
        let timing = TimingRow {
            iteration: iteration.metrics.iteration,
            seconds: self.seconds_before + start.elapsed().as_secs_f64(),
            iteration_seconds: seconds,
            env_steps_per_second: steps as f64 / seconds,
            ask_seconds: iteration.times.ask,
            evaluate_seconds: iteration.times.evaluate,
            tell_seconds: iteration.times.tell,
            refit_seconds: iteration.times.refit,
            checkpoint_seconds: std::mem::take(&mut self.checkpoint_seconds),
            threads: self.trainer.threads() as u64,
            unix_time: unix_time(),
        };
        if let Some(refit) = &iteration.refit {
            self.logs.append_training(iteration.metrics.iteration, &refit.descriptor.losses)?;
        }
        self.logs.append(&iteration.metrics, &iteration.figures, &timing)?;
        self.tell_observer(iteration, timing, observer)?;
        let every = self.trainer.config().checkpoint_every;
        if self.trainer.iteration().is_multiple_of(every) && !self.trainer.finished() {
            self.checkpoint(observer)?;
        }
        Ok(())
    }

    fn tell_observer(
        &self,
        iteration: Iteration,
        timing: TimingRow,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        if let Some(refit) = &iteration.refit {
            observer.on_refit(iteration.metrics.iteration, refit, iteration.times.refit)?;
        }
        Ok(observer.on_iteration(&IterationReport {
            iterations: self.trainer.config().iterations,
            next_refit: self.trainer.next_refit(),
            metrics: iteration.metrics,
            figures: iteration.figures,
            timing,
        })?)
    }

    /// Writes archive, descriptor and checkpoint, in this order: a checkpoint never runs ahead of the rest.
    fn checkpoint(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        let began = Instant::now();
        self.logs.sync()?;
        let mut table = self.trainer.population();
        table.set_policy(self.trainer.policy());
        self.folder.write_archive(&table)?;
        self.folder.write_descriptor(&descriptor_file(&*self.trainer))?;
        let (config, iteration) = (self.trainer.config(), self.trainer.iteration());
        self.folder.save_checkpoint(config, iteration, |parts| self.trainer.save(parts))?;
        self.checkpoint_seconds += began.elapsed().as_secs_f64();
        Ok(observer.on_checkpoint(iteration)?)
    }

    fn start_report(&self) -> StartReport {
        let config = self.trainer.config();
        StartReport {
            task: config.task.clone(),
            method: config.method.to_string(),
            seed: config.seed,
            iteration: self.trainer.iteration(),
            iterations: config.iterations,
            threads: self.trainer.threads(),
            candidates: self.trainer.candidates(),
            parameters: self.trainer.policy().parameter_count(),
            physics: self.trainer.physics_note(),
        }
    }
}

/// The note about a checkpoint that holds parts of a later version.
fn unknown_parts(left: &Parts) -> Option<String> {
    let names: Vec<&str> = left.names().collect();
    let list = names.join(", ");
    (!names.is_empty()).then(|| {
        format!("the checkpoint has parts that this version of autoqd does not know and leaves out: {list}")
    })
}

/// A task name as it is, a task file by its absolute path, so that a run can be resumed from anywhere.
pub fn absolute_task(task: &str) -> String {
    let path = PathBuf::from(task);
    match path.is_file().then(|| path.canonicalize()) {
        Some(Ok(absolute)) => absolute.display().to_string(),
        _ => task.to_owned(),
    }
}

/// Facts about a run's policies, for readers outside this program.
fn descriptor_file(trainer: &dyn Trainer) -> TensorFile {
    let config = trainer.config();
    let mut file = TensorFile { tensors: trainer.tensors(), ..TensorFile::default() };
    file.metadata.insert("task".into(), config.task.clone().into());
    file.metadata.insert("method".into(), config.method.as_str().into());
    file.metadata.insert("iteration".into(), trainer.iteration().into());
    file.metadata.insert("episodes".into(), config.episodes.into());
    file.metadata.insert("policy".into(), trainer.policy().to_json());
    file
}

/// The trainer of a configuration at its start: the search with a registered descriptor, or a registered trainer.
pub fn build_trainer(config: RunConfig, registry: &Registry) -> Result<Box<dyn Trainer>, Error> {
    let task = registry.task_of(&config)?;
    match registry.method(&config.method)? {
        MethodKind::Descriptor(_) => Ok(Box::new(Search::with_registry(config, task, registry)?)),
        MethodKind::Trainer(build) => build(TrainerContext { config, task, registry }),
    }
}

/// The search of a run as its latest checkpoint left it, to look at or to describe policies with.
pub fn load_search(path: &Path, threads: Option<usize>, registry: &Registry) -> Result<Search, Error> {
    let threads = threads.and_then(std::num::NonZeroUsize::new);
    let config = read_config(path)?.changed(Changes { threads, ..Changes::default() })?;
    if let MethodKind::Trainer(_) = registry.method(&config.method)? {
        return Err(Error::NoDescriptor { method: config.method.clone() });
    }
    let task = registry.task_of(&config)?;
    let mut search = Search::with_registry(config, task, registry)?;
    search.load_without_memory(&mut Checkpoint::read(&path.join(CHECKPOINT_FILE))?.parts)?;
    Ok(search)
}
