//! A trainer in a run folder: logs, checkpoints, limits, and continuing where it stopped.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use autoqd_env::{KeptSimulator, Perturbation, Physics, Task, TaskDigest};
use toml::{Table, Value};

use crate::Error;
use crate::config::{Layers, RunConfig, check_resume};
use crate::evaluator::Evaluator;
use crate::memory::most_threads;
use crate::observer::{EndReason, IterationReport, Observer, StartReport};
use crate::parts::Parts;
use crate::registry::{MethodKind, Registry, TrainerContext};
use crate::run_folder::{
    CHECKPOINT_FILE, Checkpoint, KeptTask, Machine, RunFolder, RunFolderError, RunLogs, TensorFile,
    TimingRow, read_config, read_machines, read_timing, unix_time,
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
    /// Whether this process made the folder.
    is_new: bool,
}

impl Runner {
    /// Starts a new run in a folder that is not in use.
    pub fn create(path: &Path, config: RunConfig, registry: &Registry) -> Result<Self, Error> {
        // The trainer first: what cannot start should not leave a folder behind.
        let task = registry.task_of(&config)?;
        let trainer = trainer_in(config, task.clone(), registry)?;
        let config = trainer.config();
        let files = registry.task_files(&config.task)?;
        let load = |path: &str| digests_at(path, config, registry);
        let folder = RunFolder::create_with_task(path, config, &*task, files.as_ref(), &load)?;
        let kept = KeptTask::read(path)?;
        let mut notices = task.notices().to_vec();
        notices.extend(kept.as_ref().and_then(in_place_notice));
        Ok(Self { is_new: true, ..Self::new(trainer, folder, notices)? })
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
        let task = task_to_resume(&folder, &config, changes.own_task, registry)?;
        let task = on_the_simulator_of(path, task)?;
        let mut trainer = trainer_in(config, task, registry)?;
        let mut notices = Vec::new();
        if let Some(mut loaded) = loaded {
            trainer.load(&mut loaded.checkpoint.parts)?;
            notices.extend(loaded.notice);
            notices.extend(unknown_parts(&loaded.checkpoint.parts));
        }
        if trainer.config() != &stored {
            folder.write_config(trainer.config())?;
        }
        if changes.accept_logs {
            notices.extend(folder.accept_logs()?);
        }
        Self::new(trainer, folder, notices)
    }

    fn new(trainer: Box<dyn Trainer>, folder: RunFolder, mut notices: Vec<String>) -> Result<Self, Error> {
        notices.extend(trainer.notices());
        notices.extend(threads_notice(trainer.config()));
        let machine = machine_of(&*trainer);
        notices.extend(folder.go_on_with(machine)?);
        let logs = folder.logs(trainer.iteration())?;
        let seconds_before = read_timing(folder.path())?.last().map_or(0.0, |row| row.seconds);
        Ok(Self { trainer, folder, logs, seconds_before, checkpoint_seconds: 0.0, notices, is_new: false })
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
    ///
    /// A new run that fails in its first iteration leaves no folder behind: there is nothing in it to continue.
    pub fn run(
        &mut self,
        limits: Limits,
        stop: &dyn Fn() -> bool,
        observer: &mut dyn Observer,
    ) -> Result<EndReason, Error> {
        let outcome = self.run_to_end(limits, stop, observer);
        if outcome.is_err() && self.is_new && self.trainer.iteration() == 0 {
            self.folder.discard();
        }
        outcome.map_err(|error| match error {
            Error::RunFolder(source)
                if matches!(source.downcast_ref(), Some(RunFolderError::Io { .. }))
                    && self.path().join(CHECKPOINT_FILE).exists() =>
            {
                Error::Interrupted { source, path: self.path().to_owned() }
            }
            error => error,
        })
    }

    fn run_to_end(
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
        let outcome = self.trainer.step();
        self.tell_news(observer)?;
        let iteration = outcome?;
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

    /// Tells and records what happened to the evaluations, whether or not the iteration could be done.
    fn tell_news(&self, observer: &mut dyn Observer) -> Result<(), Error> {
        let Some(evaluator) = self.trainer.evaluator() else { return Ok(()) };
        for text in evaluator.news() {
            self.folder.note(self.trainer.iteration(), &text)?;
            observer.on_notice(&text)?;
        }
        if evaluator.inexact().is_some() {
            self.folder.go_on_with(machine_of(&*self.trainer))?;
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

/// What a trainer computes with from now on.
fn machine_of(trainer: &dyn Trainer) -> Machine {
    let inexact = trainer.evaluator().and_then(Evaluator::inexact);
    Machine { inexact, ..Machine::this(trainer.iteration(), &trainer.physics_note()) }
}

/// The task on the simulator that the run was computed with: a later program, or another CPU, may choose another one by
/// itself, and an archive must not hold returns of both.
fn on_the_simulator_of(path: &Path, task: Arc<dyn Task>) -> Result<Arc<dyn Task>, Error> {
    let machines = read_machines(path)?;
    let Some(last) = machines.last() else { return Ok(task) };
    let is = |physics: &Physics| Machine::this(0, &task.physics_note(*physics)).simulator == last.simulator;
    if is(&Physics::Auto) {
        return Ok(task);
    }
    Ok(match [Physics::Reference, Physics::Lanes].into_iter().find(is) {
        Some(auto) => Arc::new(KeptSimulator { task, auto }),
        None => task,
    })
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
    let absolute = path.is_file().then(|| path.canonicalize().ok()).flatten();
    // A configuration holds text; a path that is not, works as it was given.
    absolute.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| task.to_owned())
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
    trainer_in(config, task, registry)
}

fn trainer_in(
    config: RunConfig,
    task: Arc<dyn Task>,
    registry: &Registry,
) -> Result<Box<dyn Trainer>, Error> {
    match registry.method(&config.method)? {
        MethodKind::Descriptor(_) => Ok(Box::new(Search::with_registry(config, task, registry)?)),
        MethodKind::Trainer(build) => build(TrainerContext { config, task, registry }),
    }
}

/// The task of a run from its folder, compared with what it was when the run began.
fn load_task_of(path: &Path, config: &RunConfig, registry: &Registry) -> Result<Arc<dyn Task>, Error> {
    let Some(kept) = KeptTask::read(path)? else { return registry.task_of(config) };
    let task = registry.task(&kept.location()?, &config.perturbation)?;
    kept.check(&*task)?;
    Ok(task)
}

/// The task of a run that goes on. One that was begun before runs kept their tasks keeps it from now on.
fn task_to_resume(
    folder: &RunFolder,
    config: &RunConfig,
    own_task: bool,
    registry: &Registry,
) -> Result<Arc<dyn Task>, Error> {
    let path = folder.path();
    let task = load_task_of(path, config, registry)?;
    match KeptTask::read(path)? {
        Some(kept) if !own_task => {
            if let Some(reason) = kept.changed_sources()? {
                return Err(RunFolderError::TaskSourceChanged { run: path.to_owned(), reason }.into());
            }
        }
        Some(_) => {}
        None => {
            let files = registry.task_files(&config.task)?;
            let load = |path: &str| digests_at(path, config, registry);
            folder.keep_task(config, &*task, files.as_ref(), &load)?;
        }
    }
    Ok(task)
}

fn digests_at(path: &str, config: &RunConfig, registry: &Registry) -> Option<Vec<TaskDigest>> {
    Some(registry.task(path, &config.perturbation).ok()?.digests())
}

/// Threads that were asked for and make no sense.
fn threads_notice(config: &RunConfig) -> Option<String> {
    let most = most_threads();
    let asked = config.threads().filter(|threads| *threads > most)?;
    Some(format!(
        "threads = {asked}: {most} are used, as many as make sense on this machine; results are the same"
    ))
}

/// What a user should know about a task that is not kept whole.
fn in_place_notice(kept: &KeptTask) -> Option<String> {
    let files: Vec<String> = kept.in_place().map(|path| path.display().to_string()).collect();
    (!files.is_empty()).then(|| {
        format!(
            "the run does not keep a copy of {}: keep them as they are to resume or measure it",
            files.join(", ")
        )
    })
}

/// What to start another run like this one from: the run's own copy of its task, its method, and the settings that
/// these do not imply, so that another task or method brings its own.
pub fn settings_of(path: &Path, registry: &Registry) -> Result<Table, Error> {
    let config = read_config(path)?;
    let kept = KeptTask::read(path)?.map(|kept| kept.location()).transpose()?;
    let task = kept.unwrap_or_else(|| config.task.clone());
    let facts = registry.task(&task, &Perturbation::default())?;
    let plain = Layers::new(registry).flag("task", task.as_str(), "run")?;
    let plain = plain.flag("method", config.method.as_str(), "run")?.build()?;
    let plain = plain.resolve(&facts.spec().into(), registry)?.to_table();
    let mut own = config.to_table();
    // A section of a part that this program does not have does not act on the run's method.
    own.retain(|key, value| !value.is_table() || plain.contains_key(key));
    own.retain(|key, value| match (value, plain.get(key)) {
        (Value::Table(own), Some(Value::Table(plain))) => {
            own.retain(|key, value| plain.get(key) != Some(&*value));
            !own.is_empty()
        }
        (value, implied) => implied != Some(&*value),
    });
    own.insert("task".to_owned(), absolute_task(&task).into());
    own.insert("method".to_owned(), config.method.clone().into());
    Ok(own)
}

/// The search of a run as its latest checkpoint left it, to look at or to describe policies with.
pub fn load_search(path: &Path, threads: Option<usize>, registry: &Registry) -> Result<Search, Error> {
    let threads = threads.and_then(std::num::NonZeroUsize::new);
    let config = read_config(path)?.changed(Changes { threads, ..Changes::default() })?;
    if let MethodKind::Trainer(_) = registry.method(&config.method)? {
        return Err(Error::NoDescriptor { method: config.method.clone() });
    }
    let task = load_task_of(path, &config, registry)?;
    let mut search = Search::with_registry(config, task, registry)?;
    search.load_without_memory(&mut Checkpoint::read(&path.join(CHECKPOINT_FILE))?.parts)?;
    Ok(search)
}
