//! The search: Algorithm 1 of the paper around any descriptor, archive and emitter.
//!
//! One iteration asks the emitters for candidates, evaluates them, describes them, inserts them into the search
//! archive and the result archive, and tells the emitters the outcome. On schedule the descriptor is
//! refitted to the elites and both archives are rebuilt.

mod build;
mod outside;
mod race;
mod refit;
mod state;
mod train;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use autoqd_env::{EnvSpec, Task};
use autoqd_qd::{AnyArchive, Archive, Evaluations, Reserve, Rows, Scheduler, TellReport};
use rayon::prelude::*;

use crate::Error;
use crate::config::{ArchiveLayout, EpisodeSeeds, RunConfig};
use crate::descriptor::{Descriptor, Elites};
use crate::emitter::{ProbePlan, SearchEmitter, Seen};
use crate::evaluator::{Candidates, Evaluation, Evaluator, Probe};
use crate::memory;
use crate::policy::PolicySpec;
use crate::registry::{DescriptorContext, EvaluatorContext, Registry};
use crate::run_folder::IterationRow;
use crate::seeds;
use crate::trainer::{Iteration, Refit, Times, Totals};
use build::Sizes;

/// A search that can be advanced one iteration at a time, saved and continued.
///
/// ```
/// use autoqd::config::Layers;
/// use autoqd::registry::Registry;
/// use autoqd::search::Search;
/// use autoqd_qd::Archive;
/// let task = autoqd_env::load_task("point-maze", &Default::default())?;
/// let registry = Registry::default();
/// let config = Layers::new(&registry)
///     .preset("quick")?
///     .set("batch_size=4")?
///     .set("iterations=3")?
///     .set("update_schedule=[2]")?
///     .flag("task", "point-maze", "TASK")?
///     .build()?
///     .resolve(&task.spec().into(), &registry)?;
/// let mut search = Search::new(config, task)?;
/// while !search.finished() {
///     search.step()?;
/// }
/// assert!(search.result().stats().num_elites > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Search {
    config: RunConfig,
    spec: EnvSpec,
    policy: PolicySpec,
    evaluator: Arc<dyn Evaluator>,
    pool: Arc<rayon::ThreadPool>,
    descriptor: Box<dyn Descriptor>,
    archive: AnyArchive,
    /// Dominated novelty search has no thresholds, so its one archive serves both purposes.
    result: Option<AnyArchive>,
    reserve: Reserve,
    scheduler: Scheduler<Box<dyn SearchEmitter>>,
    iteration: u64,
    totals: Totals,
    /// The start of an iteration that has not ended.
    asked: Option<Asked>,
    /// Candidates of the last iteration that were stopped early.
    stopped: u64,
}

/// How an iteration started.
#[derive(Default)]
struct Asked {
    refit: Option<Refit>,
    times: Times,
}

impl Search {
    /// A search at its start, with the descriptors of this crate, on the threads that the configuration names.
    pub fn new(config: RunConfig, task: Arc<dyn Task>) -> Result<Self, Error> {
        Self::with_registry(config, task, &Registry::default())
    }

    /// A search with the descriptors of a registry.
    pub fn with_registry(config: RunConfig, task: Arc<dyn Task>, registry: &Registry) -> Result<Self, Error> {
        let policy = config.policy.shape(task.spec())?;
        memory::check_search(&config, &policy, task.spec())?;
        let pool = thread_pool(config.threads())?;
        let spec = task.spec().clone();
        let context = EvaluatorContext {
            config: Some(&config),
            task,
            policy,
            physics: config.physics,
            pool: pool.clone(),
            probes: registry.probes().clone(),
        };
        let evaluator = registry.evaluator(&config.evaluator, context)?;
        Self::with_evaluator(config, spec, evaluator, pool, registry)
    }

    /// A search whose evaluations run elsewhere.
    pub fn with_evaluator(
        config: RunConfig,
        spec: EnvSpec,
        evaluator: Arc<dyn Evaluator>,
        pool: Arc<rayon::ThreadPool>,
        registry: &Registry,
    ) -> Result<Self, Error> {
        let policy = config.policy.shape(&spec)?;
        memory::check_search(&config, &policy, &spec)?;
        let descriptor = registry.descriptor(DescriptorContext { config: &config, spec: &spec })?;
        if config.follows() && !descriptor.rescales() {
            let expected =
                "numbers: the measures of this method have scales of their own, which cannot follow";
            return Err(Error::invalid("bounds", "\"follow\"", expected));
        }
        let sizes = Sizes {
            parameters: policy.parameter_count(),
            measures: descriptor.dimension(),
            features: descriptor.feature_size(),
            hand_designed: spec.measures.len(),
        };
        let archive = build::search_archive(&config, sizes)?;
        let result = match archive {
            AnyArchive::DominatedNovelty(_) => None,
            _ => Some(build::result_archive(&config, sizes)?),
        };
        let reserve = Reserve::new(config.reserve, archive.schema().clone());
        let scheduler = build::scheduler(&config, &policy, registry)?;
        let (iteration, totals) = (0, Totals::default());
        Ok(Self {
            config,
            spec,
            policy,
            evaluator,
            pool,
            descriptor,
            archive,
            result,
            reserve,
            scheduler,
            iteration,
            totals,
            asked: None,
            stopped: 0,
        })
    }

    /// The configuration.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The task's sizes and names.
    pub fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    /// The shape of the policies.
    pub fn policy(&self) -> &PolicySpec {
        &self.policy
    }

    /// The descriptor.
    pub fn descriptor(&self) -> &dyn Descriptor {
        self.descriptor.as_ref()
    }

    /// The archive that is reported and saved: the best of every cell.
    pub fn result(&self) -> &AnyArchive {
        self.result.as_ref().unwrap_or(&self.archive)
    }

    /// The archive whose thresholds drive the emitters.
    pub fn archive(&self) -> &AnyArchive {
        &self.archive
    }

    /// Iterations done.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// What has been spent.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Worker threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Which simulator the evaluations run on.
    pub fn physics_note(&self) -> String {
        self.evaluator.physics_note()
    }

    /// Whether all iterations are done.
    pub fn finished(&self) -> bool {
        self.iteration >= self.config.iterations
    }

    /// Starts the next iteration: refits if it is time, and asks the emitters. Returns the candidates, row after row;
    /// the same ones until [`Search::step`] ends the iteration.
    ///
    /// Only a search whose evaluations happen elsewhere needs this, to know what to evaluate: see
    /// [`ToldEvaluator`](crate::evaluator::ToldEvaluator).
    pub fn ask(&mut self) -> Result<&[f64], Error> {
        if self.asked.is_none() {
            let mut clock = Clock::start();
            let refit = self.refit_if_due(self.iteration + 1)?;
            let refit_time = clock.lap();
            self.pool.install(|| self.scheduler.ask(&self.archive).map(|_| ()))?;
            self.asked = Some(Asked {
                refit,
                times: Times { refit: refit_time, ask: clock.lap(), ..Times::default() },
            });
        }
        Ok(self.scheduler.solutions().as_slice())
    }

    /// Whether an iteration was started that has not ended, in which case the state cannot be saved.
    pub fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Seeds of the episodes of the candidates asked for, row-major, one row per candidate.
    pub fn asked_seeds(&self) -> Vec<u64> {
        self.seeds(self.scheduler.ids())
    }

    /// One iteration, or the rest of one that [`Search::ask`] started. After an error in the evaluations of the latter the
    /// candidates are still those that were asked for.
    pub fn step(&mut self) -> Result<Iteration, Error> {
        self.ask()?;
        let iteration = self.iteration + 1;
        let mut clock = Clock::start();
        let evaluations = self.evaluate_iteration(iteration)?;
        let Asked { refit, mut times } = self.asked.take().unwrap_or_default();
        times.evaluate = clock.lap();
        let elites_before = self.result().len();
        let tell = self.insert(iteration, &evaluations)?;
        if !self.previews(iteration) {
            self.descriptor.absorb(&evaluations);
        }
        self.iteration = iteration;
        self.totals.restarts += tell.restarts.len() as u64;
        let mut metrics = self.metrics(&evaluations);
        metrics.accepted = tell.add.num_accepted() as u64;
        metrics.new_cells = (self.result().len() - elites_before) as u64;
        if let Some(refit) = &refit {
            refit.write(&mut metrics);
        }
        let mut figures: Vec<(String, f64)> =
            self.scheduler.emitters_mut().iter_mut().flat_map(|e| e.figures()).collect();
        if self.config.racing.after > 0 {
            figures.push(("stopped".to_owned(), self.stopped as f64));
        }
        times.tell = clock.lap();
        Ok(Iteration { metrics, figures, refit, times })
    }

    /// Whether this iteration is rolled out beforehand for its own statistics: the first has no earlier one.
    fn previews(&self, iteration: u64) -> bool {
        iteration == 1 && self.descriptor.needs_preview()
    }

    fn evaluate_iteration(&mut self, iteration: u64) -> Result<Vec<Evaluation>, Error> {
        let solutions = self.scheduler.solutions().as_slice().to_vec();
        let seeds = self.seeds(self.scheduler.ids());
        if self.previews(iteration) {
            let evaluations = self.evaluate(&solutions, &seeds, &self.descriptor.probes()?)?;
            self.descriptor.absorb(&evaluations);
        }
        self.descriptor.begin_iteration();
        let plan = ProbePlan::new(self.descriptor.probes()?, self.scheduler.emitters())?;
        let evaluations = self.evaluate_in_stages(iteration, &solutions, &seeds, &plan.probes)?;
        self.show_emitters(&evaluations, &plan)?;
        self.totals.evaluations += evaluations.len() as u64;
        self.totals.diverged_episodes += evaluations.iter().map(|e| e.diverged() as u64).sum::<u64>();
        Ok(evaluations)
    }

    /// Shows the emitters the records they asked for, in parallel.
    fn show_emitters(&mut self, evaluations: &[Evaluation], plan: &ProbePlan) -> Result<(), Error> {
        let ids = self.scheduler.ids().to_vec();
        let solutions = self.scheduler.solutions().as_slice().to_vec();
        let solutions = Rows::new(&solutions, self.policy.parameter_count())?;
        let mut curious: Vec<_> = self
            .scheduler
            .emitters_mut()
            .iter_mut()
            .zip(&plan.places)
            .filter(|(_, p)| !p.is_empty())
            .collect();
        self.pool.install(|| {
            curious.par_iter_mut().try_for_each(|(emitter, places)| {
                emitter.absorb(&Seen { solutions, ids: &ids, evaluations, places })
            })
        })
    }

    /// Evaluates one policy with the descriptor as it is now; the archives do not change.
    pub fn describe(&self, parameters: &[f64], seeds: &[u64]) -> Result<(Evaluation, Vec<f64>), Error> {
        self.describe_with(parameters, seeds, &self.descriptor.probes()?)
    }

    /// Evaluates an elite in the episodes and under the normaliser of its time: the result is what the archive holds.
    pub fn describe_elite(&self, id: u64, parameters: &[f64]) -> Result<(Evaluation, Vec<f64>), Error> {
        let (iteration, _) = self.origin(id);
        self.describe_with(parameters, &self.evaluation_seeds(id), &self.descriptor.probes_of(iteration)?)
    }

    fn describe_with(
        &self,
        parameters: &[f64],
        seeds: &[u64],
        probes: &[Probe],
    ) -> Result<(Evaluation, Vec<f64>), Error> {
        let dimension = parameters.len();
        let candidates = Candidates { parameters, dimension, seeds, episodes: seeds.len() };
        let mut evaluations = self.evaluator.evaluate(candidates, probes)?;
        let evaluation = evaluations.swap_remove(0);
        let measures = self.descriptor.describe(&evaluation);
        Ok((evaluation, measures))
    }

    /// Where a candidate comes from: iteration (from 1) and place in its batch.
    pub fn origin(&self, id: u64) -> (u64, u64) {
        let batch = self.scheduler.batch_size() as u64;
        (id / batch + 1, id % batch)
    }

    /// The seeds of the episodes in which a candidate was evaluated.
    pub fn evaluation_seeds(&self, id: u64) -> Vec<u64> {
        self.seeds(&[id])
    }

    fn seeds(&self, ids: &[u64]) -> Vec<u64> {
        let episodes = 0..self.config.episodes as u64;
        ids.iter()
            .flat_map(|id| {
                let (iteration, candidate) = match (self.config.episode_seeds, self.origin(*id)) {
                    (EpisodeSeeds::Derived, origin) => origin,
                    (EpisodeSeeds::Common, (iteration, _)) => (iteration, 0),
                    (EpisodeSeeds::Fixed, _) => (0, 0),
                };
                episodes.clone().map(move |e| seeds::episode(self.config.seed, iteration, candidate, e))
            })
            .collect()
    }

    /// Evaluates candidates in all their episodes, and counts the steps.
    fn evaluate(
        &mut self,
        solutions: &[f64],
        seeds: &[u64],
        probes: &[Probe],
    ) -> Result<Vec<Evaluation>, Error> {
        self.evaluate_episodes(solutions, seeds, self.config.episodes, probes)
    }

    /// Describes the evaluated candidates, inserts them into the archives and tells the emitters.
    fn insert(&mut self, iteration: u64, evaluations: &[Evaluation]) -> Result<TellReport, Error> {
        let objective: Vec<f64> = evaluations.iter().map(Evaluation::objective).collect();
        let features: Vec<Vec<f64>> = evaluations.iter().map(|e| self.descriptor.features(e)).collect();
        let ids = self.scheduler.ids().to_vec();
        for (id, evaluation) in ids.iter().zip(evaluations) {
            self.descriptor.remember(*id, evaluation);
        }
        if iteration == 1 {
            self.first_fit(&ids, &objective, &features)?;
        }
        let rows = features.concat();
        let measures = self.pool.install(|| self.descriptor.measures_of(&ids, &rows));
        let fields: Vec<f64> =
            evaluations.iter().zip(&features).flat_map(|(e, f)| elite_fields(e, f)).collect();
        let evaluations = Evaluations {
            objective: &objective,
            measures: Rows::new(&measures, self.descriptor.dimension())?,
            fields: Some(Rows::new(&fields, self.archive.schema().fields_width())?),
        };
        let (archive, result) = (&mut self.archive, &mut self.result);
        let result = result.as_mut().map(|result| result as &mut dyn Archive);
        let tell = self.pool.install(|| self.scheduler.tell(archive, result, &evaluations))?;
        let alive = self.alive();
        self.descriptor.retain(&alive);
        Ok(tell)
    }

    /// The first map is fitted to the first candidates that did not diverge.
    fn first_fit(&mut self, ids: &[u64], objective: &[f64], features: &[Vec<f64>]) -> Result<(), Error> {
        let usable: Vec<usize> = (0..ids.len()).filter(|i| objective[*i].is_finite()).collect();
        if usable.is_empty() {
            return Err(Error::AllDiverged { task: self.spec.name.clone() });
        }
        let ids: Vec<u64> = usable.iter().map(|i| ids[*i]).collect();
        let objectives: Vec<f64> = usable.iter().map(|i| objective[*i]).collect();
        let features: Vec<f64> = usable.iter().flat_map(|i| features[*i].iter().copied()).collect();
        self.descriptor.first_fit(Elites { ids: &ids, features: &features, objectives: &objectives })
    }

    /// Identities of everything that a refit would bring back.
    fn alive(&self) -> BTreeSet<u64> {
        let archives = [self.archive.elites(), self.result().elites(), self.reserve.elites()];
        archives.iter().flat_map(|elites| elites.ids()).copied().collect()
    }

    fn metrics(&self, evaluations: &[Evaluation]) -> IterationRow {
        let result = self.result().stats();
        let objectives: Vec<f64> =
            evaluations.iter().map(Evaluation::objective).filter(|f| f.is_finite()).collect();
        let lengths = evaluations.iter().map(Evaluation::mean_length).sum::<f64>();
        let sigmas: Vec<f64> = self.scheduler.emitters().iter().filter_map(|e| e.sigma()).collect();
        IterationRow {
            iteration: self.iteration,
            evaluations: self.totals.evaluations,
            env_steps: self.totals.env_steps,
            elites: result.num_elites as u64,
            coverage: result.coverage,
            qd_score: result.qd_score,
            normalized_qd_score: result.norm_qd_score,
            best_objective: result.obj_max.unwrap_or(f64::NAN),
            mean_objective: result.obj_mean.unwrap_or(f64::NAN),
            search_elites: self.archive.len() as u64,
            batch_best_objective: objectives.iter().copied().fold(f64::NAN, f64::max),
            batch_mean_objective: objectives.iter().sum::<f64>() / objectives.len() as f64,
            batch_mean_length: lengths / evaluations.len() as f64,
            restarts: self.totals.restarts,
            sigma_min: sigmas.iter().copied().fold(f64::NAN, f64::min),
            sigma_max: sigmas.iter().copied().fold(f64::NAN, f64::max),
            reserve: self.reserve.len() as u64,
            non_finite: self.totals.diverged_episodes,
            refit_before: f64::NAN,
            refit_after: f64::NAN,
            refit_angle: f64::NAN,
            outside: match self.config.layout() {
                ArchiveLayout::Dns { .. } => f64::NAN,
                layout => outside::share_outside(self.result().elites(), layout.bounds()),
            },
            ..IterationRow::default()
        }
    }
}

/// Measures the parts of an iteration one after the other.
struct Clock(Instant);

impl Clock {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the last lap.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        std::mem::replace(&mut self.0, now).elapsed().as_secs_f64()
    }
}

/// What is stored with an elite: features, return spread, mean length, hand-designed measures.
fn elite_fields(evaluation: &Evaluation, features: &[f64]) -> Vec<f64> {
    let mut fields = features.to_vec();
    fields.extend([evaluation.return_std(), evaluation.mean_length()]);
    fields.extend(evaluation.measures());
    fields
}

/// A pool of the given number of threads, or one per core; no more than make sense on this machine.
pub fn thread_pool(threads: Option<usize>) -> Result<Arc<rayon::ThreadPool>, Error> {
    let threads = threads.map(|threads| threads.min(memory::most_threads()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    pool.map(Arc::new).map_err(|e| Error::Threads { reason: e.to_string() })
}
