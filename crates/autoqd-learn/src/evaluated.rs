//! Policies of a population as they were evaluated, and as they are stored.

use std::collections::BTreeMap;

use autoqd::config::RunConfig;
use autoqd::evaluator::Evaluation;
use autoqd::run_folder::{ArchiveTable, Block, IterationRow};
use autoqd::trainer::Totals;
use autoqd_env::EnvSpec;
use serde::{Deserialize, Serialize};

/// A policy as it was evaluated after an update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// Of the policy, with its filter if it has one.
    pub parameters: Vec<f64>,
    /// Iteration, from 1.
    pub iteration: u64,
    /// Mean return.
    pub objective: f64,
    /// Population standard deviation of the return.
    pub return_std: f64,
    /// Mean length of the episodes.
    pub length_mean: f64,
    /// The task's measures, mean over the episodes.
    pub measures: Vec<f64>,
    /// Seeds of the episodes.
    pub seeds: Vec<u64>,
    /// Whether an episode diverged.
    pub diverged: bool,
}

impl Evaluated {
    /// A policy and what came of it.
    pub fn new(parameters: &[f64], iteration: u64, evaluation: &Evaluation, seeds: &[u64]) -> Self {
        let returns = evaluation.episodes.iter().map(|episode| episode.total_reward);
        Self {
            parameters: parameters.to_vec(),
            iteration,
            objective: returns.sum::<f64>() / evaluation.episodes.len() as f64,
            return_std: evaluation.return_std(),
            length_mean: evaluation.mean_length(),
            measures: evaluation.measures(),
            seeds: seeds.to_vec(),
            diverged: evaluation.diverged() > 0,
        }
    }

    /// Whether it should replace the best so far. One that diverged replaces nothing.
    pub fn beats(&self, best: &Self) -> bool {
        !self.diverged && (best.diverged || self.objective > best.objective)
    }
}

/// The mean of the returns.
pub fn mean_return(policies: &[Evaluated]) -> f64 {
    policies.iter().map(|policy| policy.objective).sum::<f64>() / policies.len() as f64
}

/// A population as it is stored: a policy's place is its cell, and its measures are the task's.
pub fn table(rows: &[Evaluated], ids: Vec<u64>, config: &RunConfig, spec: &EnvSpec) -> ArchiveTable {
    let column = |value: fn(&Evaluated) -> f64| rows.iter().map(value).collect::<Vec<f64>>();
    let mut statistics = vec![
        ("return_std".to_owned(), column(|row| row.return_std)),
        ("length_mean".to_owned(), column(|row| row.length_mean)),
    ];
    statistics.extend(spec.measures.iter().enumerate().map(|(i, measure)| {
        (format!("hand_{}", measure.name), rows.iter().map(|row| row.measures[i]).collect())
    }));
    ArchiveTable {
        cell: (0..rows.len() as u64).collect(),
        id: ids,
        iteration: rows.iter().map(|row| row.iteration).collect(),
        objective: column(|row| row.objective),
        measures: Block {
            width: spec.measures.len(),
            values: rows.iter().flat_map(|row| row.measures.iter().copied()).collect(),
        },
        statistics,
        seeds: Block {
            width: config.episodes,
            values: rows.iter().flat_map(|row| row.seeds.iter().copied()).collect(),
        },
        features: Block::default(),
        parameters: Block {
            width: rows.first().map_or(0, |row| row.parameters.len()),
            values: rows.iter().flat_map(|row| row.parameters.iter().copied()).collect(),
        },
        metadata: BTreeMap::from([
            ("task".to_owned(), config.task.clone()),
            ("method".to_owned(), config.method.clone()),
        ]),
    }
}

/// What every method logs, of a population without an archive. `batch` has the returns and lengths of this iteration's
/// episodes.
pub fn metrics(iteration: u64, totals: Totals, rows: &[Evaluated], batch: &[(f64, f64)]) -> IterationRow {
    let n = batch.len() as f64;
    let returns = || batch.iter().map(|(total, _)| *total);
    IterationRow {
        iteration,
        evaluations: totals.evaluations,
        env_steps: totals.env_steps,
        elites: rows.len() as u64,
        coverage: f64::NAN,
        qd_score: f64::NAN,
        normalized_qd_score: f64::NAN,
        best_objective: rows.iter().map(|row| row.objective).fold(f64::NEG_INFINITY, f64::max),
        mean_objective: mean_return(rows),
        batch_best_objective: returns().fold(f64::NEG_INFINITY, f64::max),
        batch_mean_objective: returns().sum::<f64>() / n,
        batch_mean_length: batch.iter().map(|(_, length)| length).sum::<f64>() / n,
        sigma_min: f64::NAN,
        sigma_max: f64::NAN,
        non_finite: totals.diverged_episodes,
        refit_before: f64::NAN,
        refit_after: f64::NAN,
        refit_angle: f64::NAN,
        outside: f64::NAN,
        ..IterationRow::default()
    }
}
