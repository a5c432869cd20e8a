//! Evaluating the populations of a task together.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use autoqd_env::{EnvSpec, Physics};
use serde::{Deserialize, Serialize};

use crate::bench::Bench;
use crate::error::MeasureError;
use crate::gt_grid::{GT_CELLS, GT_CELLS_COARSE, GtGrid};
use crate::protocol::{Protocol, Round, round_seeds};
use crate::reference::Reference;
use crate::rollouts::{PolicyResult, Progress, Rollouts};
use crate::run::{Budget, LoadedRun, Run};
use autoqd::embedding::{Embedding, Normalizer, RunningStatistics};
use autoqd_statistics::Points;
use autoqd_statistics::sample;
use autoqd_statistics::shared_bandwidth;
use autoqd_statistics::{Estimate, mean};
use autoqd_statistics::{VendiScore, vendi_score};

/// Score of the ground-truth grid at one resolution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GtScore {
    /// Cells per dimension.
    pub cells_per_dimension: usize,
    /// Occupied cells.
    pub coverage: usize,
    /// Cells of the grid.
    pub cells: usize,
    /// Sum of objective minus offset over the occupied cells.
    pub qd_score: f64,
    /// Elites whose objective is below the offset.
    pub negative: usize,
}

/// Everything measured about one population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunMetrics {
    /// The run folder or file.
    #[serde(serialize_with = "autoqd::run_folder::serialize_path")]
    pub path: PathBuf,
    /// Task.
    pub task: String,
    /// Method and what tells it from the others.
    pub variant: String,
    /// Seed of the run.
    pub seed: Option<u64>,
    /// Policies measured.
    pub policies: usize,
    /// Policies left out because a rollout diverged.
    pub left_out: usize,
    /// Mean objective of the population.
    pub mean_objective: Option<f64>,
    /// Largest objective of the population.
    pub max_objective: Option<f64>,
    /// The same policy under fresh seeds.
    pub max_rechecked: Option<Estimate>,
    /// Id of that policy.
    pub best_policy: Option<u64>,
    /// Ground-truth scores, fine grid first; none for a task without hand-designed measures.
    pub gt: Vec<GtScore>,
    /// Vendi score.
    pub vendi: VendiScore,
    /// Vendi score of the embeddings divided by 1 - gamma^T, a diagnostic: it does not see how long episodes are.
    pub vendi_length_normalized: f64,
    /// Quality-weighted Vendi score; none without a policy or a positive scale.
    pub quality_vendi: Option<f64>,
    /// What the search spent.
    pub budget: Option<Budget>,
    /// Environment steps of this evaluation.
    pub evaluation_steps: u64,
}

/// The evaluation of the populations of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskEvaluation {
    /// What makes the scores comparable.
    pub reference: Reference,
    /// Whether the reference was made from these runs alone, so that scores cannot be compared with others.
    pub local: bool,
    /// One entry per population, in the order given.
    pub runs: Vec<RunMetrics>,
    /// What the reader should know.
    pub notices: Vec<String>,
}

/// Evaluates populations of one task together: one normaliser, one set of features, one kernel width, one scale.
///
/// Without a reference those come from the populations themselves. Rollouts are kept under `eval/` of each
/// population's folder, so that an interrupted evaluation continues where it stopped. The result does not depend on the
/// order of the populations or on the number of threads.
pub fn evaluate(
    populations: &[LoadedRun],
    protocol: &Protocol,
    reference: Option<&Reference>,
    bench: &Bench,
    progress: &mut dyn Progress,
) -> Result<TaskEvaluation, MeasureError> {
    let protocol = reference.map_or(protocol, |reference| &reference.protocol);
    let study = Study::new(populations, protocol, bench)?;
    let normalizer = study.normalizer(reference, progress)?;
    let results = study.roll_out(normalizer.clone(), progress)?;
    let measured: Vec<Measured> =
        populations.iter().zip(&results).map(|(p, r)| Measured::new(p, r)).collect();
    let local = reference.is_none();
    let reference = reference.cloned().unwrap_or_else(|| {
        let of = |rows: Rows| bench.pool().install(|| study.bandwidth(&measured, rows));
        let bandwidths = [of(|run| &run.psi), of(|run| &run.psi_normalized)];
        Reference::new(&study.spec, protocol.clone(), normalizer, bandwidths, best_mean(&measured))
    });
    let mut runs = Vec::new();
    for (rollouts, measured) in study.rollouts.iter().zip(&measured) {
        let rechecked = study.recheck(rollouts, measured)?;
        runs.push(bench.pool().install(|| measured.metrics(&study.spec, &reference, rechecked))?);
    }
    let mut notices = notices(&runs, &reference);
    notices.extend(study.physics_notice());
    Ok(TaskEvaluation { reference, local, runs, notices })
}

/// Whether a method takes part in what scales the others' numbers. PGA-ME does not, as in the paper.
pub(super) fn sets_scale(method: &str) -> bool {
    !method.starts_with("pga")
}

/// The best population mean of a single run.
fn best_mean(measured: &[Measured<'_>]) -> Option<f64> {
    let means = measured.iter().filter(|m| sets_scale(&m.population.method)).filter_map(Measured::mean);
    means.reduce(f64::max)
}

/// The populations with what is needed to roll them out.
pub(super) struct Study<'a> {
    populations: &'a [LoadedRun],
    protocol: &'a Protocol,
    rollouts: Vec<Rollouts<'a>>,
    spec: EnvSpec,
}

impl<'a> Study<'a> {
    pub(super) fn new(
        populations: &'a [LoadedRun],
        protocol: &'a Protocol,
        bench: &Bench,
    ) -> Result<Self, MeasureError> {
        let task = one_task(populations)?.task(bench.registry())?;
        let spec = task.spec().clone();
        protocol.check_memory(&spec)?;
        let rollouts = populations
            .iter()
            .map(|population| Rollouts::new(population, task.clone(), "", bench))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self { populations, protocol, rollouts, spec })
    }

    /// Results are of the reference simulator unless this says otherwise.
    pub(super) fn physics_notice(&self) -> Option<String> {
        let lanes =
            self.populations.iter().zip(&self.rollouts).find(|(p, _)| p.physics != Physics::Reference);
        lanes.map(|(_, rollouts)| format!("measured on: {}", rollouts.physics_note()))
    }

    /// The reference's, or else mean and spread of the observations in one rollout of some policies per run, every
    /// method weighing the same.
    pub(super) fn normalizer(
        &self,
        reference: Option<&Reference>,
        progress: &mut dyn Progress,
    ) -> Result<Normalizer, MeasureError> {
        if let Some(reference) = reference {
            return Ok(reference.normalizer.clone());
        }
        let most = self.protocol.normalizer_policies;
        let total: usize = self.populations.iter().map(|p| p.len().min(most)).sum();
        progress.start("normaliser", total as u64);
        let seeds = round_seeds(self.protocol.seed, Round::Normalizer, most);
        let mut methods: BTreeMap<&str, RunningStatistics> = BTreeMap::new();
        for (run, seen) in self.in_order() {
            let chosen = sample(run.len(), most, self.protocol.seed);
            let statistics = seen.statistics(&chosen, &seeds[..chosen.len()])?;
            let method = methods.entry(&run.variant);
            method.or_insert_with(|| RunningStatistics::new(self.spec.observation_size)).merge(&statistics);
            progress.advance(chosen.len() as u64);
        }
        let seen: Vec<RunningStatistics> = methods.into_values().filter(|s| s.count() > 0).collect();
        Ok(equal_weight(&seen, self.spec.observation_size))
    }

    /// The runs in an order that does not depend on how they were listed.
    fn in_order(&self) -> Vec<(&LoadedRun, &Rollouts<'a>)> {
        let mut order: Vec<_> = self.populations.iter().zip(&self.rollouts).collect();
        order.sort_by_cached_key(|(p, _)| (p.variant.clone(), p.seed, p.digest().to_string()));
        order
    }

    pub(super) fn roll_out(
        &self,
        normalizer: Normalizer,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Vec<PolicyResult>>, MeasureError> {
        let embedding: Arc<Embedding> = self.protocol.embedding(&self.spec, normalizer)?;
        let seeds = round_seeds(self.protocol.seed, Round::Evaluation, self.protocol.episodes);
        let total: usize = self.populations.iter().map(LoadedRun::len).sum();
        progress.start("rollouts", (total * seeds.len()) as u64);
        let runs = self.populations.iter().zip(&self.rollouts);
        runs.map(|(population, rollouts)| {
            let all: Vec<usize> = (0..population.len()).collect();
            rollouts.run(&all, &seeds, Some(&embedding), Some(population.folder.join("eval")), progress)
        })
        .collect()
    }

    /// One kernel width for all runs, from one kind of their embeddings.
    fn bandwidth(&self, measured: &[Measured<'_>], rows: Rows) -> Option<f64> {
        let key = |m: &&Measured<'_>| {
            (m.population.variant.clone(), m.population.seed, m.population.digest().to_string())
        };
        let mut order: Vec<&Measured<'_>> = measured.iter().collect();
        order.sort_by_cached_key(key);
        let mut methods: BTreeMap<&str, Vec<Points<'_>>> = BTreeMap::new();
        for run in order.into_iter().filter(|run| !run.psi.is_empty()) {
            methods.entry(&run.population.variant).or_default().push(Points::new(rows(run), run.dimension));
        }
        let methods: Vec<Vec<Points<'_>>> = methods.into_values().collect();
        shared_bandwidth(&methods, self.protocol.pooling, self.protocol.seed)
    }

    /// The best policy again with fresh seeds.
    fn recheck(
        &self,
        rollouts: &Rollouts<'_>,
        measured: &Measured<'_>,
    ) -> Result<(u64, Option<Estimate>), MeasureError> {
        let seeds = round_seeds(self.protocol.seed, Round::Recheck, self.protocol.recheck_episodes);
        let Some(best) = measured.best() else { return Ok((0, None)) };
        let again = rollouts.run(&[best], &seeds, None, None, &mut ())?;
        let steps = again.iter().map(|result| result.steps).sum();
        Ok((steps, again.first().and_then(|result| Estimate::of(&result.returns))))
    }
}

/// The first population, after checking that all are of its task.
pub(super) fn one_task(populations: &[LoadedRun]) -> Result<&LoadedRun, MeasureError> {
    let Some(first) = populations.first() else {
        return Err(MeasureError::setting("populations", 0, "give at least one run"));
    };
    match populations.iter().find(|p| !p.same_task(first) || p.perturbation != first.perturbation) {
        None => Ok(first),
        Some(other) => Err(MeasureError::Tasks {
            first: task_name(first),
            first_path: first.path.clone(),
            other: task_name(other),
            other_path: other.path.clone(),
        }),
    }
}

/// The task and what was changed about it.
pub fn task_name(population: &Run) -> String {
    let changes = &population.perturbation;
    if changes.is_none() {
        return population.task.clone();
    }
    let friction = changes.friction.map_or(String::new(), |f| format!(", friction {f}"));
    let scales = format!("friction scale {}, mass scale {}", changes.friction_scale, changes.mass_scale);
    let later: String = [
        ("motor", changes.motor_scale),
        ("damping", changes.damping_scale),
        ("gravity", changes.gravity_scale),
    ]
    .into_iter()
    .filter(|(_, scale)| *scale != 1.0)
    .map(|(what, scale)| format!(", {what} scale {scale}"))
    .collect();
    format!("{} ({scales}{later}{friction}, margin {:?})", population.task, changes.margin)
}

/// Mean and variance of a mixture in which every part has the same weight, however many observations it has.
fn equal_weight(parts: &[RunningStatistics], size: usize) -> Normalizer {
    if parts.is_empty() {
        return Normalizer::identity(size);
    }
    let n = parts.len() as f64;
    let mut center = vec![0.0; size];
    for part in parts {
        center.iter_mut().zip(part.mean()).for_each(|(c, m)| *c += m / n);
    }
    let mut variance = vec![0.0; size];
    for part in parts {
        let inner = part.variance();
        for (i, v) in variance.iter_mut().enumerate() {
            let apart = part.mean()[i] - center[i];
            *v += (inner[i] + apart * apart) / n;
        }
    }
    Normalizer::new(center, variance.iter().map(|v| v.sqrt()).collect())
}

/// One of the two kinds of embeddings of a run.
type Rows = for<'m> fn(&'m Measured<'_>) -> &'m [f64];

/// A population with the results of those policies whose rollouts are all finite.
struct Measured<'a> {
    population: &'a LoadedRun,
    results: &'a [PolicyResult],
    /// Policies that count.
    kept: Vec<usize>,
    objectives: Vec<f64>,
    dimension: usize,
    psi: Vec<f64>,
    psi_normalized: Vec<f64>,
}

impl<'a> Measured<'a> {
    fn new(population: &'a LoadedRun, results: &'a [PolicyResult]) -> Self {
        let kept: Vec<usize> = (0..results.len()).filter(|&i| results[i].is_finite()).collect();
        let rows = |row: fn(&PolicyResult) -> &[f32]| -> Vec<f64> {
            kept.iter().flat_map(|&i| row(&results[i]).iter().map(|&x| f64::from(x))).collect()
        };
        Self {
            population,
            results,
            objectives: kept.iter().map(|&i| results[i].objective()).collect(),
            dimension: results.first().map_or(1, |r| r.psi.len()),
            psi: rows(|r| &r.psi),
            psi_normalized: rows(|r| &r.psi_normalized),
            kept,
        }
    }

    fn mean(&self) -> Option<f64> {
        mean(&self.objectives)
    }

    /// The policy with the largest objective, the first among equals.
    fn best(&self) -> Option<usize> {
        let better = |a: usize, b: usize| if self.objectives[b] > self.objectives[a] { b } else { a };
        (0..self.kept.len()).reduce(better).map(|at| self.kept[at])
    }

    fn metrics(
        &self,
        spec: &EnvSpec,
        reference: &Reference,
        (recheck_steps, max_rechecked): (u64, Option<Estimate>),
    ) -> Result<RunMetrics, MeasureError> {
        let population = self.population;
        let vendi = self.vendi(&self.psi, reference.bandwidth);
        let quality = self
            .mean()
            .zip(reference.best_mean)
            .map(|(m, best)| (m - reference.qd_offset, best - reference.qd_offset));
        Ok(RunMetrics {
            path: population.path.clone(),
            task: task_name(population),
            variant: population.variant.clone(),
            seed: population.seed,
            policies: self.kept.len(),
            left_out: self.results.len() - self.kept.len(),
            mean_objective: self.mean(),
            max_objective: self.objectives.iter().copied().reduce(f64::max),
            max_rechecked,
            best_policy: self.best().map(|i| population.table.id[i]),
            gt: self.gt_scores(spec, reference.qd_offset)?,
            vendi_length_normalized: self
                .vendi(&self.psi_normalized, reference.bandwidth_length_normalized)
                .value,
            quality_vendi: quality
                .filter(|(_, scale)| *scale > 0.0)
                .map(|(weight, scale)| weight / scale * vendi.value),
            vendi,
            budget: population.budget,
            evaluation_steps: self.results.iter().map(|r| r.steps).sum::<u64>() + recheck_steps,
        })
    }

    /// Without a kernel width all policies are alike, and count as one.
    fn vendi(&self, rows: &[f64], bandwidth: Option<f64>) -> VendiScore {
        vendi_score(Points::new(rows, self.dimension), bandwidth.unwrap_or(0.0))
    }

    fn gt_scores(&self, spec: &EnvSpec, offset: f64) -> Result<Vec<GtScore>, MeasureError> {
        if spec.measures.is_empty() {
            return Ok(Vec::new());
        }
        [GT_CELLS, GT_CELLS_COARSE].into_iter().map(|cells| self.gt_score(spec, cells, offset)).collect()
    }

    fn gt_score(&self, spec: &EnvSpec, cells: usize, offset: f64) -> Result<GtScore, MeasureError> {
        let mut grid = GtGrid::over(&spec.measures, cells)?;
        for (&i, &objective) in self.kept.iter().zip(&self.objectives) {
            grid.add(&self.results[i].measures, objective);
        }
        Ok(GtScore {
            cells_per_dimension: cells,
            coverage: grid.coverage(),
            cells: grid.size(),
            qd_score: grid.qd_score(offset),
            negative: grid.below(offset),
        })
    }
}

fn notices(runs: &[RunMetrics], reference: &Reference) -> Vec<String> {
    let mut notices = Vec::new();
    if reference.best_mean.is_none_or(|best| best <= reference.qd_offset) {
        notices.push(format!("no population mean exceeds {}: qVS has no scale", reference.qd_offset));
    }
    for run in runs {
        let path = run.path.display();
        if run.policies == 0 {
            notices.push(format!("{path}: no policy to measure"));
        }
        if run.left_out > 0 {
            notices.push(format!("{path}: {} policies left out, a rollout of theirs diverged", run.left_out));
        }
        if run.mean_objective.is_some_and(|m| m < reference.qd_offset) {
            notices.push(format!(
                "{path}: the mean objective is below {}, so qVS is negative",
                reference.qd_offset
            ));
        }
        if let Some(gt) = run.gt.first().filter(|gt| gt.negative > 0) {
            notices.push(format!("{path}: {} GT elites lower the QD score", gt.negative));
        }
        let wide = run.vendi.upper - run.vendi.lower;
        if wide > 0.01 * run.vendi.value {
            notices
                .push(format!("{path}: VS is known within [{:.2}, {:.2}]", run.vendi.lower, run.vendi.upper));
        }
    }
    notices
}
