//! How stable the descriptors of several runs are, each applied to the policies of all.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::bench::Bench;
use crate::error::MeasureError;
use crate::evaluation::one_task;
use crate::protocol::{Round, round_seeds};
use crate::rollouts::{Progress, Rollouts};
use crate::run::LoadedRun;
use crate::stability::{RolloutDescriptors, stability};
use crate::store;
use autoqd::cwpca::quantile;
use autoqd::descriptor::Descriptor;
use autoqd::evaluator::{Evaluation, Probe};
use autoqd::registry::Registry;
use autoqd::runner::load_search;
use autoqd::search::Search;
use autoqd_statistics::sample;

/// Policies rolled out at a time: what probes keep from a rollout may be large.
const PART: usize = 8;

/// Stability of the descriptor of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DescriptorStability {
    /// The run whose descriptor it is.
    #[serde(serialize_with = "autoqd::run_folder::serialize_path")]
    pub path: PathBuf,
    /// Its method.
    pub variant: String,
    /// Its seed.
    pub seed: Option<u64>,
    /// Number of measures.
    pub dimension: usize,
    /// Per policy (of all runs, in order), variance over its rollouts after scaling to [0, 1].
    pub variances: Vec<Option<f64>>,
    /// 10 %, 50 % and 90 % quantiles of the variances.
    pub quantiles: Option<[f64; 3]>,
    /// Share of the variance that is noise within policies.
    pub noise_share: Option<f64>,
}

/// Applies the descriptor of every run to rollouts of up to `most` random policies of each run.
pub fn descriptor_stability(
    populations: &[LoadedRun],
    registry: &Registry,
    most: usize,
    rollouts: usize,
    bench: &Bench,
    progress: &mut dyn Progress,
) -> Result<Vec<DescriptorStability>, MeasureError> {
    one_task(populations)?;
    let searches = populations
        .iter()
        .map(|population| Ok(load_search(population.need_folder("descriptor")?, Some(1), registry)?))
        .collect::<Result<Vec<Search>, MeasureError>>()?;
    let descriptors: Vec<&dyn Descriptor> = searches.iter().map(Search::descriptor).collect();
    let total: usize = populations.iter().map(|p| p.len().min(most) * rollouts).sum();
    progress.start("rollouts", total as u64);
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); descriptors.len()];
    for population in populations {
        let part = Part { population, descriptors: &descriptors, rollouts };
        let mut chosen = sample(population.len(), most, 0);
        chosen.sort_unstable();
        for (into, found) in values.iter_mut().zip(part.run(&chosen, bench, progress)?) {
            into.extend(found);
        }
    }
    let described = populations.iter().zip(&descriptors).zip(values);
    Ok(described
        .map(|((population, descriptor), values)| summary(population, *descriptor, values, rollouts))
        .collect())
}

fn summary(
    population: &LoadedRun,
    descriptor: &dyn Descriptor,
    values: Vec<f64>,
    rollouts: usize,
) -> DescriptorStability {
    let dimension = descriptor.dimension();
    let found = stability(&RolloutDescriptors { values, rollouts, dimension });
    let mut sorted: Vec<f64> = found.variances.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    DescriptorStability {
        path: population.path.clone(),
        variant: population.variant.clone(),
        seed: population.seed,
        dimension,
        quantiles: (!sorted.is_empty()).then(|| [0.1, 0.5, 0.9].map(|share| quantile(&sorted, share))),
        variances: found.variances,
        noise_share: found.noise_share,
    }
}

/// The policies of one run under all descriptors.
struct Part<'a> {
    population: &'a LoadedRun,
    descriptors: &'a [&'a dyn Descriptor],
    rollouts: usize,
}

impl Part<'_> {
    /// Per descriptor, the descriptors of every rollout of the chosen policies.
    fn run(
        &self,
        chosen: &[usize],
        bench: &Bench,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Vec<f64>>, MeasureError> {
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); self.descriptors.len()];
        let seeds = round_seeds(0, Round::Stability, self.rollouts);
        let keep = self.population.folder.join("eval").join("stability").join(self.key()?);
        let rollouts = Rollouts::new(self.population, self.population.task(bench.registry())?, "", bench)?;
        for policies in chosen.chunks(PART) {
            let file = keep.join(format!("{:06}-{}.part", policies[0], policies.len()));
            let found = match store::load(&file) {
                Some(found) => found,
                None => {
                    let found = self.describe(&rollouts, policies, &seeds)?;
                    store::save(&file, &found)?;
                    found
                }
            };
            values.iter_mut().zip(found).for_each(|(into, found)| into.extend(found));
            progress.advance((policies.len() * seeds.len()) as u64);
        }
        Ok(values)
    }

    fn describe(
        &self,
        rollouts: &Rollouts<'_>,
        policies: &[usize],
        seeds: &[u64],
    ) -> Result<Vec<Vec<f64>>, MeasureError> {
        let probes: Vec<Vec<Probe>> =
            self.descriptors.iter().map(|d| d.probes()).collect::<Result<_, _>>()?;
        let evaluations =
            rollouts.evaluate(policies, &seeds.repeat(policies.len()), seeds.len(), &probes.concat())?;
        let mut first = 0;
        let mut values = Vec::new();
        for (descriptor, own) in self.descriptors.iter().zip(&probes) {
            let records = first..first + own.len();
            first = records.end;
            let described = evaluations.iter().flat_map(|evaluation| match evaluation {
                Some(e) => {
                    e.episodes.iter().flat_map(|e| describe_one(*descriptor, e, records.clone())).collect()
                }
                None => vec![f64::NAN; seeds.len() * descriptor.dimension()],
            });
            values.push(described.collect());
        }
        Ok(values)
    }

    /// Name of everything the descriptors of this run's policies depend on.
    fn key(&self) -> Result<String, MeasureError> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.population.digest().as_bytes());
        hasher.update(&(self.rollouts as u64).to_le_bytes());
        for descriptor in self.descriptors {
            hasher.update(&descriptor.save()?);
        }
        Ok(hasher.finalize().to_hex()[..24].to_owned())
    }
}

/// The descriptor of a single rollout; NaN for one that diverged.
fn describe_one(
    descriptor: &dyn Descriptor,
    episode: &autoqd::evaluator::Episode,
    records: std::ops::Range<usize>,
) -> Vec<f64> {
    if episode.diverged {
        return vec![f64::NAN; descriptor.dimension()];
    }
    let mut own = episode.clone();
    own.records = episode.records[records].to_vec();
    descriptor.describe(&Evaluation { episodes: vec![own] })
}
