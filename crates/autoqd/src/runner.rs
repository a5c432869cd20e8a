//! A search in a run folder: logs, checkpoints, limits, and going on where it stopped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use autoqd_qd::{AnyArchive, Archive, Population};

use crate::Error;
use crate::config::{RunConfig, check_resume};
use crate::observer::{EndReason, IterationReport, Observer, RefitReport, StartReport};
use crate::parts::Parts;
use crate::registry::Registry;
use crate::run_folder::{
    ArchiveTable, Block, CHECKPOINT_FILE, Checkpoint, RunFolder, RunLogs, TensorFile, TimingRow, read_config,
    read_timing, unix_time,
};
use crate::search::{FEATURES, HAND_MADE, Iteration, STATISTICS, Search};

pub use crate::config::Changes;

/// When to stop before all iterations are done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Stop after the iteration in which this many seconds of this session have passed.
    pub max_seconds: Option<f64>,
    /// Stop after the iteration in which this many environment steps of the whole run are reached.
    pub max_env_steps: Option<u64>,
}

/// A search that writes into its run folder.
pub struct Runner {
    search: Search,
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
        let task = registry.task_of(&config)?;
        // The search first: what cannot start should not leave a folder behind.
        let search = Search::with_registry(config, task, registry)?;
        let folder = RunFolder::create(path, search.config())?;
        Self::new(search, folder, Vec::new())
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
        let mut search = Search::with_registry(config, registry.task_of(&stored)?, registry)?;
        let mut notices = Vec::new();
        if let Some(mut loaded) = loaded {
            search.load(&mut loaded.checkpoint.parts)?;
            notices.extend(loaded.notice);
            notices.extend(unknown_parts(&loaded.checkpoint.parts));
        }
        if search.config() != &stored {
            folder.write_config(search.config())?;
        }
        Self::new(search, folder, notices)
    }

    fn new(search: Search, folder: RunFolder, notices: Vec<String>) -> Result<Self, Error> {
        let logs = folder.logs(search.iteration())?;
        let seconds_before = read_timing(folder.path())?.last().map_or(0.0, |row| row.seconds);
        Ok(Self { search, folder, logs, seconds_before, checkpoint_seconds: 0.0, notices })
    }

    /// The search.
    pub fn search(&self) -> &Search {
        &self.search
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
        self.folder.write_manifest(self.search.iteration())?;
        observer.on_end(reason)?;
        Ok(reason)
    }

    fn end_reason(&self, limits: Limits, start: Instant, stop: &dyn Fn() -> bool) -> Option<EndReason> {
        let over_time = limits.max_seconds.is_some_and(|limit| start.elapsed().as_secs_f64() >= limit);
        let over_steps = limits.max_env_steps.is_some_and(|limit| self.search.totals().env_steps >= limit);
        let checks = [
            (self.search.finished(), EndReason::Finished),
            (stop(), EndReason::Interrupted),
            (over_time, EndReason::MaxTime),
            (over_steps, EndReason::MaxEnvSteps),
        ];
        checks.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
    }

    fn iterate(&mut self, start: Instant, observer: &mut dyn Observer) -> Result<(), Error> {
        let (before, began) = (self.search.totals().env_steps, Instant::now());
        let iteration = self.search.step()?;
        let seconds = began.elapsed().as_secs_f64();
        let steps = self.search.totals().env_steps - before;
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
            threads: self.search.threads() as u64,
            unix_time: unix_time(),
        };
        if let Some(refit) = &iteration.refit {
            self.logs.append_training(iteration.metrics.iteration, &refit.descriptor.losses)?;
        }
        self.logs.append(&iteration.metrics, &timing)?;
        self.tell_observer(iteration, timing, observer)?;
        let every = self.search.config().checkpoint_every;
        if self.search.iteration().is_multiple_of(every) && !self.search.finished() {
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
            let turned = refit.descriptor.turned_degrees;
            observer.on_refit(&RefitReport {
                iteration: iteration.metrics.iteration,
                elites_before: refit.elites_before as u64,
                elites_after: refit.elites_after() as u64,
                reserve: refit.archives.reserved as u64,
                angles: turned.is_finite().then_some(turned).into_iter().collect(),
                losses: refit.descriptor.losses.clone(),
                exchanged_codes: refit.descriptor.exchanged_codes,
                seconds: iteration.times.refit,
            })?;
        }
        let config = self.search.config();
        let next_refit = config.next_refit(iteration.metrics.iteration, self.search.descriptor().refits());
        let metrics = iteration.metrics;
        Ok(observer.on_iteration(&IterationReport {
            iterations: config.iterations,
            next_refit,
            metrics,
            timing,
        })?)
    }

    /// Writes archive, descriptor and checkpoint, in this order: a checkpoint never runs ahead of the rest.
    fn checkpoint(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        let began = Instant::now();
        self.logs.sync()?;
        self.folder.write_archive(&archive_table(&self.search))?;
        self.folder.write_descriptor(&descriptor_file(&self.search))?;
        let (config, iteration) = (self.search.config(), self.search.iteration());
        self.folder.save_checkpoint(config, iteration, |parts| self.search.save(parts))?;
        self.checkpoint_seconds += began.elapsed().as_secs_f64();
        Ok(observer.on_checkpoint(iteration)?)
    }

    fn start_report(&self) -> StartReport {
        let config = self.search.config();
        StartReport {
            task: config.task.clone(),
            method: config.method.to_string(),
            seed: config.seed,
            iteration: self.search.iteration(),
            iterations: config.iterations,
            threads: self.search.threads(),
            candidates: config.candidates(),
            parameters: self.search.policy().parameter_count(),
            physics: self.search.physics_note(),
        }
    }
}

/// What to say of a checkpoint that a later version put more into.
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

/// The result archive as it is stored.
pub fn archive_table(search: &Search) -> ArchiveTable {
    let elites = search.result().elites();
    let measured = search.spec().measures.iter().map(|measure| format!("hand_{}", measure.name));
    let mut statistics = field_columns(elites, STATISTICS, ["return_std", "length_mean"].map(str::to_owned));
    statistics.extend(field_columns(elites, HAND_MADE, measured));
    ArchiveTable {
        cell: cells(search.result()),
        id: elites.ids().to_vec(),
        iteration: elites.ids().iter().map(|id| search.origin(*id).0).collect(),
        objective: elites.objectives().to_vec(),
        measures: Block { width: elites.measures().width(), values: elites.measures().as_slice().to_vec() },
        statistics,
        seeds: Block {
            width: search.config().episodes,
            values: elites.ids().iter().flat_map(|id| search.evaluation_seeds(*id)).collect(),
        },
        features: field_block(elites, FEATURES),
        parameters: Block {
            width: elites.solutions().width(),
            values: elites.solutions().as_slice().to_vec(),
        },
        metadata: BTreeMap::from([
            ("task".to_owned(), search.config().task.clone()),
            ("method".to_owned(), search.config().method.to_string()),
        ]),
    }
}

/// The numbers of a field of every elite; none where no elite has the field.
fn field_block(elites: &Population, field: &str) -> Block<f64> {
    let Ok(range) = elites.schema().field_range(field) else { return Block::default() };
    let values = elites.fields().iter().flat_map(|row| row[range.clone()].iter().copied()).collect();
    Block { width: range.len(), values }
}

/// The numbers of a field, each in a column with a name.
fn field_columns(
    elites: &Population,
    field: &str,
    names: impl IntoIterator<Item = String>,
) -> Vec<(String, Vec<f64>)> {
    let range = elites.schema().field_range(field).unwrap_or_default();
    let column = |at: usize| elites.fields().iter().map(|row| row[at]).collect();
    names.into_iter().zip(range).map(|(name, at)| (name, column(at))).collect()
}

/// The cell of each elite; its place in the list where the archive has no cells.
fn cells(archive: &AnyArchive) -> Vec<u64> {
    match archive {
        AnyArchive::Grid(grid) => grid.cells().map(|cell| cell as u64).collect(),
        AnyArchive::Cvt(cvt) => cvt.cells().map(|cell| cell as u64).collect(),
        _ => (0..archive.len() as u64).collect(),
    }
}

/// What maps a policy to measures, for readers outside this program.
pub fn descriptor_file(search: &Search) -> TensorFile {
    let config = search.config();
    let mut file = TensorFile { tensors: search.descriptor().tensors(), ..TensorFile::default() };
    file.metadata.insert("task".into(), config.task.clone().into());
    file.metadata.insert("method".into(), config.method.as_str().into());
    file.metadata.insert("iteration".into(), search.iteration().into());
    file.metadata.insert("episodes".into(), config.episodes.into());
    file.metadata.insert("policy".into(), config.policy.kind.as_str().into());
    file.metadata.insert("bias".into(), config.policy.bias.as_str().into());
    file.metadata.insert("hidden".into(), config.policy.hidden.clone().into());
    file
}

/// The search of a run as its latest checkpoint left it, to look at or to describe policies with.
pub fn load_search(path: &Path, threads: Option<usize>, registry: &Registry) -> Result<Search, Error> {
    let threads = threads.and_then(std::num::NonZeroUsize::new);
    let config = read_config(path)?.changed(Changes { threads, ..Changes::default() })?;
    let task = registry.task_of(&config)?;
    let mut search = Search::with_registry(config, task, registry)?;
    search.load_without_memory(&mut Checkpoint::read(&path.join(CHECKPOINT_FILE))?.parts)?;
    Ok(search)
}
