//! Rolling out the policies of a population, in parts that are kept on disk.

use std::path::PathBuf;
use std::sync::Arc;

use autoqd_env::{EnvError, Task};
use serde::{Deserialize, Serialize};

use crate::bench::Bench;
use crate::error::MeasureError;
use crate::run::LoadedRun;
use crate::store;
use autoqd::Error;
use autoqd::embedding::{Embedding, PsiProbe, RunningStatistics, StatisticsProbe};
use autoqd::evaluator::{Candidates, Evaluation, Evaluator, Probe};

/// Policies per part: a part is seconds of work, and all threads are busy for nearly all of it.
const PART: usize = 128;

/// Receives the progress of a measurement.
pub trait Progress {
    /// A stage of `total` rollouts begins.
    fn start(&mut self, stage: &str, total: u64);
    /// Some of them are done.
    fn advance(&mut self, rollouts: u64);
}

/// Reports to nobody.
impl Progress for () {
    fn start(&mut self, _stage: &str, _total: u64) {}
    fn advance(&mut self, _rollouts: u64) {}
}

/// What the rollouts of one policy gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyResult {
    /// Return of each rollout; NaN for one that diverged.
    pub returns: Vec<f64>,
    /// Steps simulated.
    pub steps: u64,
    /// Hand-designed measures, mean over the rollouts.
    pub measures: Vec<f64>,
    /// Evaluation embedding, mean over the rollouts; empty if none was asked for.
    pub psi: Vec<f32>,
    /// The same with each rollout divided by 1 - gamma^T.
    pub psi_normalized: Vec<f32>,
}

impl PolicyResult {
    /// Mean return; NaN if a rollout diverged.
    pub fn objective(&self) -> f64 {
        self.returns.iter().sum::<f64>() / self.returns.len() as f64
    }

    /// Whether every rollout ended with numbers; only such policies are measured.
    pub fn is_finite(&self) -> bool {
        self.objective().is_finite() && self.psi.iter().all(|x| x.is_finite())
    }

    /// The result for a policy that cannot be rolled out.
    fn unusable(episodes: usize, measures: usize, dimension: usize) -> Self {
        Self {
            returns: vec![f64::NAN; episodes],
            steps: 0,
            measures: vec![f64::NAN; measures],
            psi: vec![f32::NAN; dimension],
            psi_normalized: vec![f32::NAN; dimension],
        }
    }

    fn new(evaluation: &Evaluation, gamma: Option<f64>) -> Self {
        let returns =
            evaluation.episodes.iter().map(|e| if e.diverged { f64::NAN } else { e.total_reward }).collect();
        let single = |row: Vec<f64>| row.into_iter().map(|x| x as f32).collect();
        let (psi, psi_normalized) = match gamma {
            Some(gamma) => (single(evaluation.mean_summary(0)), single(length_normalized(evaluation, gamma))),
            None => (Vec::new(), Vec::new()),
        };
        Self { returns, steps: evaluation.steps(), measures: evaluation.measures(), psi, psi_normalized }
    }
}

/// Mean over the rollouts of psi / (1 - gamma^T).
fn length_normalized(evaluation: &Evaluation, gamma: f64) -> Vec<f64> {
    let mut mean = vec![0.0; evaluation.episodes[0].records[0].summary().len()];
    for episode in &evaluation.episodes {
        let share = 1.0 - libm::pow(gamma, f64::from(episode.length));
        let weight = 1.0 / (share * evaluation.episodes.len() as f64);
        mean.iter_mut().zip(episode.records[0].summary()).for_each(|(m, x)| *m += weight * x);
    }
    mean
}

/// Rolls out policies of one population in one task.
pub struct Rollouts<'a> {
    population: &'a LoadedRun,
    evaluator: Arc<dyn Evaluator>,
    /// What the task was changed to; part of the name under which results are kept.
    setting: String,
    observation_size: usize,
    /// Number of hand-designed measures.
    measures: usize,
}

impl<'a> Rollouts<'a> {
    /// Rollouts in `task`, which may be a changed one: `setting` names the change.
    pub fn new(
        population: &'a LoadedRun,
        task: Arc<dyn Task>,
        setting: &str,
        bench: &Bench,
    ) -> Result<Self, MeasureError> {
        let policy = population.policy_spec(task.spec())?;
        let (observation_size, measures) = (task.spec().observation_size, task.spec().measures.len());
        let evaluator = bench.evaluator(task, policy, population.physics)?;
        Ok(Self { population, evaluator, setting: setting.to_owned(), observation_size, measures })
    }

    /// Which simulator the rollouts run on, as text for the user.
    pub fn physics_note(&self) -> String {
        self.evaluator.physics_note()
    }

    /// Rolls out the chosen policies with the same seeds for each; parts that were done before are read from `keep`.
    pub fn run(
        &self,
        policies: &[usize],
        seeds: &[u64],
        embedding: Option<&Arc<Embedding>>,
        keep: Option<PathBuf>,
        progress: &mut dyn Progress,
    ) -> Result<Vec<PolicyResult>, MeasureError> {
        let keep = keep.map(|folder| folder.join(self.key(policies, seeds, embedding)));
        let mut results = Vec::with_capacity(policies.len());
        for (number, part) in policies.chunks(PART).enumerate() {
            let file = keep.as_ref().map(|folder| folder.join(format!("{number:04}.part")));
            let stored: Option<Vec<PolicyResult>> = file.as_deref().and_then(store::load);
            match stored.filter(|stored| stored.len() == part.len()) {
                Some(stored) => results.extend(stored),
                None => {
                    let fresh = self.part(part, seeds, embedding)?;
                    if let Some(file) = &file {
                        store::save(file, &fresh)?;
                    }
                    results.extend(fresh);
                }
            }
            progress.advance((part.len() * seeds.len()) as u64);
        }
        Ok(results)
    }

    fn part(
        &self,
        policies: &[usize],
        seeds: &[u64],
        embedding: Option<&Arc<Embedding>>,
    ) -> Result<Vec<PolicyResult>, MeasureError> {
        let probes = embedding.map(|e| Probe::new(&PsiProbe(e.clone()))).transpose()?.into_iter();
        let probes: Vec<Probe> = probes.collect();
        let gamma = embedding.map(|e| e.options().gamma);
        let evaluations = self.evaluate(policies, &seeds.repeat(policies.len()), seeds.len(), &probes)?;
        let dimension = embedding.map_or(0, |e| e.dimension());
        let result = |evaluation: &Option<Evaluation>| match evaluation {
            Some(evaluation) => PolicyResult::new(evaluation, gamma),
            None => PolicyResult::unusable(seeds.len(), self.measures, dimension),
        };
        Ok(evaluations.iter().map(result).collect())
    }

    /// One rollout of each chosen policy, with a seed of its own, for the statistics of their observations.
    pub fn statistics(&self, policies: &[usize], seeds: &[u64]) -> Result<RunningStatistics, MeasureError> {
        let probe = Probe::new(&StatisticsProbe(self.observation_size))?;
        let mut statistics = RunningStatistics::new(self.observation_size);
        for episode in self.evaluate(policies, seeds, 1, &[probe])?.iter().flatten().flat_map(|e| &e.episodes)
        {
            if !episode.diverged {
                statistics.merge(&RunningStatistics::from_row(episode.records[0].summary()));
            }
        }
        Ok(statistics)
    }

    /// Full evaluations of the chosen policies under any probes; `None` for a policy whose actions are not finite, as
    /// in a damaged file, which must not keep the others from being measured.
    pub fn evaluate(
        &self,
        policies: &[usize],
        seeds: &[u64],
        episodes: usize,
        probes: &[Probe],
    ) -> Result<Vec<Option<Evaluation>>, MeasureError> {
        let parameters = self.population.pick(policies);
        let dimension = self.population.table.parameters.width;
        let candidates = Candidates { parameters: &parameters, dimension, seeds, episodes };
        match policies {
            [] => return Ok(Vec::new()),
            _ => match self.evaluator.evaluate(candidates, probes) {
                Ok(evaluations) => return Ok(evaluations.into_iter().map(Some).collect()),
                Err(Error::Env(EnvError::ActionNotFinite { .. })) => {}
                Err(other) => return Err(other.into()),
            },
        }
        let mut found = Vec::new();
        for (policy, seeds) in policies.chunks(1).zip(seeds.chunks(episodes)) {
            let alone = match policies.len() {
                1 => vec![None],
                _ => self.evaluate(policy, seeds, episodes, probes)?,
            };
            found.extend(alone);
        }
        Ok(found)
    }

    /// Name of everything the results depend on.
    fn key(&self, policies: &[usize], seeds: &[u64], embedding: Option<&Arc<Embedding>>) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.population.digest().as_bytes());
        hasher.update(self.setting.as_bytes());
        policies.iter().for_each(|&i| {
            hasher.update(&(i as u64).to_le_bytes());
        });
        seeds.iter().for_each(|seed| {
            hasher.update(&seed.to_le_bytes());
        });
        if let Some(embedding) = embedding {
            let (features, normalizer) = (embedding.features(), embedding.normalizer());
            let parts = [features.weights(), features.phases(), normalizer.mean(), normalizer.std()];
            parts.iter().flat_map(|part| part.iter()).for_each(|x| {
                hasher.update(&x.to_le_bytes());
            });
            hasher.update(&embedding.options().gamma.to_le_bytes());
        }
        hasher.finalize().to_hex()[..24].to_owned()
    }
}
