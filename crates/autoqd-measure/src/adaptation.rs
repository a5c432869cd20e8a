//! How populations cope with changed dynamics.

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::bench::Bench;
use crate::curve::{Area, area_under, success_threshold};
use crate::error::MeasureError;
use crate::evaluation::{one_task, task_name};
use crate::perturbed::{Knob, Vary};
use crate::protocol::{Round, check_episodes, round_seeds};
use crate::rollouts::{Progress, Rollouts};
use crate::run::LoadedRun;
use autoqd::cwpca::quantile;
use autoqd_statistics::Estimate;
use autoqd_statistics::sample;

/// Settings of the study; the defaults are the paper's where it gives any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdaptationOptions {
    /// Rollouts of every policy in the first screening.
    pub screening_episodes: usize,
    /// Fresh rollouts of those that pass.
    pub episodes: usize,
    /// Policies per setting that pass the first screening.
    pub finalists: usize,
    /// All rollouts for all policies, without a first screening.
    pub full: bool,
    /// Shares p of the best unaltered return that count as success.
    pub success: Vec<f64>,
    /// Number of settings at which the distribution of returns is given.
    pub boxes: usize,
    /// Seed of the study.
    pub seed: u64,
}

impl Default for AdaptationOptions {
    fn default() -> Self {
        let success = vec![0.9, 0.7];
        Self { screening_episodes: 4, episodes: 32, finalists: 20, full: false, success, boxes: 5, seed: 0 }
    }
}

/// What a study will cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Rollouts, apart from policies near a threshold that are rolled out again.
    pub rollouts: u64,
    /// Environment steps if no episode ends early.
    pub most_steps: u64,
    /// Seconds, from a few rollouts timed on this machine; none without a policy.
    pub seconds: Option<f64>,
}

/// The best policy of a population at one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Value of the knob.
    pub value: f64,
    /// Id of the best policy; none without a policy that can be measured.
    pub policy: Option<u64>,
    /// Its mean return with standard error over the seeds.
    pub best: Option<Estimate>,
    /// Policies that reach each share of the best unaltered return; none if that return is not positive.
    pub successes: Vec<Option<usize>>,
}

/// The distribution of returns at one setting, without the negative ones, as the paper draws it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReturnBox {
    /// Value of the knob.
    pub value: f64,
    /// Policies shown.
    pub count: usize,
    /// Policies with a negative return.
    pub negative: usize,
    /// Smallest, lower quartile, median, upper quartile, largest; none if no return is positive.
    pub quantiles: Option<[f64; 5]>,
}

/// One population along one knob.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdaptationCurve {
    /// The run folder or file.
    #[serde(serialize_with = "autoqd::run_folder::serialize_path")]
    pub path: PathBuf,
    /// Method and what tells it from the others.
    pub variant: String,
    /// Seed of the run.
    pub seed: Option<u64>,
    /// One point per setting.
    pub points: Vec<CurvePoint>,
    /// Area under the curve of best returns; none if a setting has none.
    pub area: Option<Area>,
    /// Distributions of returns.
    pub boxes: Vec<ReturnBox>,
}

/// All populations along one knob.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdaptationKnob {
    /// The settings.
    pub vary: Vary,
    /// One curve per population.
    pub curves: Vec<AdaptationCurve>,
}

/// The whole study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adaptation {
    /// Task.
    pub task: String,
    /// The settings used.
    pub options: AdaptationOptions,
    /// R: the best mean return of any policy in the unaltered task.
    pub best_unaltered: Option<f64>,
    /// One entry per knob.
    pub knobs: Vec<AdaptationKnob>,
}

/// Mean returns of all policies of a population at one setting.
struct Seen {
    means: Vec<f64>,
    /// Policies that had all rollouts.
    finals: Vec<(usize, Vec<f64>)>,
}

/// A study of populations of one task under changed dynamics.
pub struct AdaptationStudy<'a> {
    populations: &'a [LoadedRun],
    options: AdaptationOptions,
    bench: Bench,
    task: String,
}

impl<'a> AdaptationStudy<'a> {
    /// A study of populations of one task.
    pub fn new(
        populations: &'a [LoadedRun],
        options: AdaptationOptions,
        bench: Bench,
    ) -> Result<Self, MeasureError> {
        let task = task_name(one_task(populations)?);
        check_episodes(options.episodes.max(options.screening_episodes), 0)?;
        Ok(Self { populations, options, bench, task })
    }

    /// What the study will cost, from the numbers of policies and a few timed rollouts. Also builds every changed
    /// task once, so that a knob that the task does not have is rejected before anything is simulated.
    pub fn cost(&self, varies: &[Vary]) -> Result<Cost, MeasureError> {
        let first = &self.populations[0];
        for vary in varies {
            for &value in &vary.values {
                first.task_with(&vary.knob.turn(&first.perturbation, value), self.bench.registry())?;
            }
        }
        let settings = 1 + varies.iter().map(|vary| vary.values.len()).sum::<usize>();
        let per_setting: usize = self.populations.iter().map(|p| self.rollouts_of(p.len())).sum();
        let rollouts = (settings * per_setting) as u64;
        let steps = first.task(self.bench.registry())?.spec().max_episode_steps as u64;
        let seconds = self.seconds_per_rollout()?.map(|s| s * rollouts as f64);
        Ok(Cost { rollouts, most_steps: rollouts * steps, seconds })
    }

    fn rollouts_of(&self, policies: usize) -> usize {
        let o = &self.options;
        if o.full {
            policies * o.episodes
        } else {
            policies * o.screening_episodes + o.finalists.min(policies) * o.episodes
        }
    }

    fn seconds_per_rollout(&self) -> Result<Option<f64>, MeasureError> {
        let Some(population) = self.populations.iter().find(|p| !p.is_empty()) else { return Ok(None) };
        let rollouts = Rollouts::new(population, population.task(self.bench.registry())?, "", &self.bench)?;
        let chosen = sample(population.len(), 8 * self.bench.pool().current_num_threads(), self.options.seed);
        let start = Instant::now();
        rollouts.run(&chosen, &round_seeds(self.options.seed, Round::Normalizer, 1), None, None, &mut ())?;
        Ok(Some(start.elapsed().as_secs_f64() / chosen.len() as f64))
    }

    /// Runs the study. Rollouts are kept under `adapt/` of each population's folder.
    pub fn run(&self, varies: &[Vary], progress: &mut dyn Progress) -> Result<Adaptation, MeasureError> {
        progress.start("unaltered", self.total(1));
        let best_unaltered = self.best_unaltered(progress)?;
        let mut knobs = Vec::new();
        for vary in varies {
            progress.start(&vary.knob.to_string(), self.total(vary.values.len()));
            let curves = self.populations.iter().map(|p| self.curve(p, vary, best_unaltered, progress));
            knobs.push(AdaptationKnob { vary: vary.clone(), curves: curves.collect::<Result<_, _>>()? });
        }
        Ok(Adaptation { task: self.task.clone(), options: self.options.clone(), best_unaltered, knobs })
    }

    fn total(&self, settings: usize) -> u64 {
        (settings * self.populations.iter().map(|p| self.rollouts_of(p.len())).sum::<usize>()) as u64
    }

    /// R, the highest mean return of any policy of any population where nothing is changed.
    fn best_unaltered(&self, progress: &mut dyn Progress) -> Result<Option<f64>, MeasureError> {
        let mut best: Option<f64> = None;
        for population in self.populations {
            let rollouts =
                Rollouts::new(population, population.task(self.bench.registry())?, "", &self.bench)?;
            let seen = self.look(population, &rollouts, None, progress)?;
            let mean = seen.best().and_then(|(_, returns)| Some(Estimate::of(returns)?.mean));
            best = best.into_iter().chain(mean).reduce(f64::max);
        }
        Ok(best)
    }

    fn curve(
        &self,
        population: &LoadedRun,
        vary: &Vary,
        best_unaltered: Option<f64>,
        progress: &mut dyn Progress,
    ) -> Result<AdaptationCurve, MeasureError> {
        let boxed = evenly(vary.values.len(), self.options.boxes);
        let (mut points, mut boxes) = (Vec::new(), Vec::new());
        for (i, &value) in vary.values.iter().enumerate() {
            let seen = self.seen_at(population, vary.knob, value, best_unaltered, progress)?;
            points.push(self.point(population, value, &seen, best_unaltered));
            if boxed.contains(&i) {
                boxes.push(return_box(value, &seen.means));
            }
        }
        let heights: Option<Vec<(f64, f64)>> = points.iter().map(|p| Some((p.value, p.best?.mean))).collect();
        Ok(AdaptationCurve {
            path: population.path.clone(),
            variant: population.variant.clone(),
            seed: population.seed,
            area: heights.and_then(|heights| area_under(&heights)),
            points,
            boxes,
        })
    }

    fn seen_at(
        &self,
        population: &LoadedRun,
        knob: Knob,
        value: f64,
        best_unaltered: Option<f64>,
        progress: &mut dyn Progress,
    ) -> Result<Seen, MeasureError> {
        let changed = knob.turn(&population.perturbation, value);
        let task = population.task_with(&changed, self.bench.registry())?;
        let rollouts = Rollouts::new(population, task, &format!("{knob}={value}"), &self.bench)?;
        self.look(population, &rollouts, best_unaltered, progress)
    }

    /// The best policy for one setting.
    pub fn pick(&self, population: &LoadedRun, knob: Knob, value: f64) -> Result<CurvePoint, MeasureError> {
        let seen = self.seen_at(population, knob, value, None, &mut ())?;
        Ok(self.point(population, value, &seen, None))
    }

    fn point(
        &self,
        population: &LoadedRun,
        value: f64,
        seen: &Seen,
        best_unaltered: Option<f64>,
    ) -> CurvePoint {
        let best = seen.best();
        let count = |&p: &f64| {
            let threshold = success_threshold(best_unaltered?, p)?;
            Some(seen.means.iter().filter(|&&mean| mean >= threshold).count())
        };
        CurvePoint {
            value,
            policy: best.map(|(i, _)| population.table.id[i]),
            best: best.and_then(|(_, returns)| Estimate::of(returns)),
            successes: self.options.success.iter().map(count).collect(),
        }
    }

    /// All policies with few rollouts, then those that could be the best or are near a threshold with all of them.
    fn look(
        &self,
        population: &LoadedRun,
        rollouts: &Rollouts<'_>,
        best_unaltered: Option<f64>,
        progress: &mut dyn Progress,
    ) -> Result<Seen, MeasureError> {
        let all: Vec<usize> = (0..population.len()).collect();
        let keep = || Some(population.folder.join("adapt"));
        let seeds = round_seeds(self.options.seed, Round::Final, self.options.episodes);
        if self.options.full {
            let results = rollouts.run(&all, &seeds, None, keep(), progress)?;
            let means = results.iter().map(|r| r.objective()).collect();
            return Ok(Seen {
                means,
                finals: all.into_iter().zip(results.into_iter().map(|r| r.returns)).collect(),
            });
        }
        let first = round_seeds(self.options.seed, Round::Screening, self.options.screening_episodes);
        let screened = rollouts.run(&all, &first, None, keep(), progress)?;
        let mut means: Vec<f64> = screened.iter().map(|r| r.objective()).collect();
        let returns: Vec<&[f64]> = screened.iter().map(|r| r.returns.as_slice()).collect();
        let chosen = self.finalists(&means, &returns, best_unaltered);
        let results = rollouts.run(&chosen, &seeds, None, keep(), progress)?;
        chosen.iter().zip(&results).for_each(|(&i, result)| means[i] = result.objective());
        Ok(Seen { means, finals: chosen.into_iter().zip(results.into_iter().map(|r| r.returns)).collect() })
    }

    /// The best of the first screening, and everything within three standard errors of a threshold.
    fn finalists(&self, means: &[f64], returns: &[&[f64]], best_unaltered: Option<f64>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..means.len()).filter(|&i| means[i].is_finite()).collect();
        order.sort_by(|&a, &b| means[b].total_cmp(&means[a]).then(a.cmp(&b)));
        let (top, rest) = order.split_at(self.options.finalists.min(order.len()));
        let mut chosen = top.to_vec();
        let thresholds: Vec<f64> =
            self.options.success.iter().filter_map(|&p| success_threshold(best_unaltered?, p)).collect();
        chosen.extend(rest.iter().copied().filter(|&i| {
            let error = Estimate::of(returns[i]).and_then(|e| e.standard_error).unwrap_or(0.0);
            thresholds.iter().any(|t| (means[i] - t).abs() <= 3.0 * error)
        }));
        chosen.sort_unstable();
        chosen
    }
}

impl Seen {
    /// The policy with the best mean over all rollouts, the first among equals, with its returns.
    fn best(&self) -> Option<(usize, &[f64])> {
        let finite = self.finals.iter().filter(|(i, _)| self.means[*i].is_finite());
        let best = finite.reduce(|a, b| if self.means[b.0] > self.means[a.0] { b } else { a })?;
        Some((best.0, &best.1))
    }
}

/// Positions of `count` settings spread evenly over `n`.
fn evenly(n: usize, count: usize) -> Vec<usize> {
    let mut at: Vec<usize> = match (n, count) {
        (0, _) | (_, 0) => Vec::new(),
        (_, 1) => vec![n / 2],
        _ => (0..count).map(|i| (i * (n - 1) + (count - 1) / 2) / (count - 1)).collect(),
    };
    at.dedup();
    at
}

fn return_box(value: f64, means: &[f64]) -> ReturnBox {
    let finite = || means.iter().copied().filter(|m| m.is_finite());
    let mut shown: Vec<f64> = finite().filter(|&m| m >= 0.0).collect();
    shown.sort_by(f64::total_cmp);
    let quantiles =
        (!shown.is_empty()).then(|| [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(&shown, share)));
    ReturnBox { value, count: shown.len(), negative: finite().count() - shown.len(), quantiles }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_settings_of_fifteen_are_spread_evenly() {
        assert_eq!(evenly(15, 5), [0, 4, 7, 11, 14]);
        assert_eq!(evenly(3, 5), [0, 1, 2]);
        assert_eq!(evenly(1, 5), [0]);
        assert!(evenly(0, 5).is_empty());
    }

    #[test]
    fn boxes_leave_out_negative_returns_and_say_how_many() {
        let shown = return_box(1.0, &[-3.0, 1.0, 3.0, f64::NAN]);
        assert_eq!((shown.count, shown.negative), (2, 1));
        assert_eq!(shown.quantiles, Some([1.0, 1.5, 2.0, 2.5, 3.0]));
        assert_eq!(return_box(1.0, &[-1.0]).quantiles, None);
    }
}
