//! Do policies behave the same on both simulators?
//!
//! Single steps agree to rounding, but long episodes with contacts are chaotic: what can be the same is how returns,
//! lengths and measures are distributed.

use std::sync::Arc;

use autoqd_env::{EnvSpec, Physics, Task};
use serde::Serialize;

use crate::bench::Bench;
use crate::error::MeasureError;
use crate::protocol::Round;
use crate::rollouts::Progress;
use crate::run::LoadedRun;
use autoqd::evaluator::{Candidates, Episode, Evaluation, Evaluator};
use autoqd::seeds::{Purpose, derive};
use autoqd_statistics::sample;
use autoqd_statistics::{Estimate, mean};
use autoqd_statistics::{KolmogorovSmirnov, holm, kolmogorov_smirnov, sign_flip};

/// Level at which all tests of a comparison together would reject equal simulators.
const LEVEL: f64 = 0.05;
/// Relative differences below this are rounding and count as none.
const ROUNDING: f64 = 1e-9;
/// Policies per part, between which progress is reported.
const PART: usize = 50;

/// How much to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicsOptions {
    /// Policies, drawn at random from the population.
    pub policies: usize,
    /// Episodes per policy and sample.
    pub seeds: usize,
    /// Seed of the draw and of the episodes.
    pub seed: u64,
}

impl Default for PhysicsOptions {
    fn default() -> Self {
        Self { policies: 200, seeds: 20, seed: 0 }
    }
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhysicsComparison {
    /// The task.
    pub task: String,
    /// The reference simulator.
    pub reference: String,
    /// What the policies ran on besides it.
    pub lanes: String,
    /// Policies compared.
    pub policies: usize,
    /// Episodes per policy and sample.
    pub seeds: usize,
    /// Episodes that diverged on the reference, on lanes with the same seeds, and on lanes with others.
    pub diverged: [usize; 3],
    /// Return, length and the hand-designed measures.
    pub quantities: Vec<QuantityComparison>,
}

impl PhysicsComparison {
    /// The smallest p-value of all tests, adjusted for their number.
    pub fn smallest_p(&self) -> f64 {
        let tests = |q: &QuantityComparison| [q.paired_p, q.pooled.p, q.within_p];
        let p: Vec<f64> = self.quantities.iter().flat_map(tests).collect();
        holm(&p).into_iter().fold(1.0, f64::min)
    }

    /// Whether no test tells the simulators apart.
    pub fn indistinguishable(&self) -> bool {
        self.smallest_p() >= LEVEL
    }
}

/// One quantity on both simulators.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuantityComparison {
    /// What is compared.
    pub name: String,
    /// Mean over all episodes on libmujoco.
    pub reference: f64,
    /// Mean over all episodes on lanes, with the same seeds.
    pub lanes: f64,
    /// Difference of the policies' means with the same seeds.
    pub difference: Estimate,
    /// Paired test of the policies' means, by random sign flips.
    pub paired_p: f64,
    /// Test of all episodes together, with other seeds on lanes: the samples are independent.
    pub pooled: KolmogorovSmirnov,
    /// Smallest p-value of the same test for each policy by itself, times the number of policies.
    pub within_p: f64,
    /// Policies for which it is below 0.05; one in twenty is to be expected.
    pub policies_apart: usize,
}

/// Rolls out policies of a population on both simulators and compares the outcomes.
///
/// Three samples per policy: the reference, lanes with the same seeds (the paired test), and lanes with other seeds (the
/// distribution tests, which need independent samples).
///
/// # Errors
/// If the task has one simulator only, the lanes engine does not support it, or there is no policy to compare.
pub fn compare_physics(
    population: &LoadedRun,
    options: PhysicsOptions,
    bench: &Bench,
    progress: &mut dyn Progress,
) -> Result<PhysicsComparison, MeasureError> {
    let chosen = sample(population.len(), options.policies, options.seed);
    if chosen.len() < 2 || options.seeds == 0 {
        let reason = "a comparison needs at least two policies and one seed";
        return Err(MeasureError::run(&population.path, reason));
    }
    let task = population.task(bench.registry())?;
    let spec = task.spec().clone();
    if task.physics_note(Physics::Reference) == task.physics_note(Physics::Lanes) {
        let reason = format!("task '{}' has one simulator only, so there is nothing to compare", spec.name);
        return Err(MeasureError::run(&population.path, reason));
    }
    progress.start("simulators", (3 * chosen.len() * options.seeds) as u64);
    let mut sides = Sides::new(population, task, options, bench)?;
    let samples = [
        sides.run(&chosen, Physics::Reference, 0, progress)?,
        sides.run(&chosen, Physics::Lanes, 0, progress)?,
        sides.run(&chosen, Physics::Lanes, 1, progress)?,
    ];
    let quantities = (0..2 + spec.measures.len()).map(|q| quantity(&spec, &samples, q, options.seed));
    Ok(PhysicsComparison {
        reference: sides.reference.physics_note(),
        lanes: sides.lanes.physics_note(),
        policies: chosen.len(),
        seeds: options.seeds,
        diverged: samples.each_ref().map(|s| s.iter().map(Evaluation::diverged).sum()),
        quantities: quantities.collect(),
        task: spec.name,
    })
}

/// One evaluator per simulator.
struct Sides<'a> {
    population: &'a LoadedRun,
    options: PhysicsOptions,
    reference: Arc<dyn Evaluator>,
    lanes: Arc<dyn Evaluator>,
}

impl<'a> Sides<'a> {
    fn new(
        population: &'a LoadedRun,
        task: Arc<dyn Task>,
        options: PhysicsOptions,
        bench: &Bench,
    ) -> Result<Self, MeasureError> {
        let policy = population.policy_spec(task.spec())?;
        let side = |physics| bench.evaluator(Arc::clone(&task), policy.clone(), physics);
        let (reference, lanes) = (side(Physics::Reference)?, side(Physics::Lanes)?);
        Ok(Self { population, options, reference, lanes })
    }

    /// The episodes of all chosen policies; `set` numbers the set of seeds.
    fn run(
        &mut self,
        chosen: &[usize],
        physics: Physics,
        set: u64,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Evaluation>, MeasureError> {
        let evaluator = if physics == Physics::Lanes { &self.lanes } else { &self.reference };
        let (episodes, round) = (self.options.seeds, Round::Simulators as u64);
        let episode_seed = |policy: usize, e: usize| {
            derive(self.options.seed, Purpose::Evaluation, [round + (set << 32), policy as u64, e as u64])
        };
        let mut found = Vec::with_capacity(chosen.len());
        for part in chosen.chunks(PART) {
            let seeds: Vec<u64> =
                part.iter().flat_map(|&p| (0..episodes).map(move |e| episode_seed(p, e))).collect();
            let parameters = self.population.pick(part);
            let dimension = self.population.table.parameters.width;
            let candidates = Candidates { parameters: &parameters, dimension, seeds: &seeds, episodes };
            found.extend(evaluator.evaluate(candidates, &[])?);
            progress.advance((part.len() * episodes) as u64);
        }
        Ok(found)
    }
}

/// Value of quantity `q` of an episode: return, length, then the measures.
fn value(episode: &Episode, q: usize) -> f64 {
    match q {
        0 => episode.total_reward,
        1 => f64::from(episode.length),
        _ => episode.measures[q - 2],
    }
}

fn quantity(spec: &EnvSpec, samples: &[Vec<Evaluation>; 3], q: usize, seed: u64) -> QuantityComparison {
    let name = match q {
        0 => "return".to_owned(),
        1 => "episode length".to_owned(),
        _ => spec.measures[q - 2].name.clone(),
    };
    let values = |sample: &[Evaluation]| -> Vec<Vec<f64>> {
        sample.iter().map(|e| e.episodes.iter().map(|episode| value(episode, q)).collect()).collect()
    };
    let [reference, paired, independent] = samples.each_ref().map(|sample| values(sample));
    compare(name, &reference, &paired, &independent, seed)
}

/// Compares the values of the three samples, one row of episodes per policy each.
fn compare(
    name: String,
    reference: &[Vec<f64>],
    paired: &[Vec<f64>],
    independent: &[Vec<f64>],
    seed: u64,
) -> QuantityComparison {
    let means =
        |rows: &[Vec<f64>]| rows.iter().map(|row| mean(row).unwrap_or(f64::NAN)).collect::<Vec<f64>>();
    let (ours, theirs) = (means(paired), means(reference));
    let differences: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| without_rounding(*a, *b)).collect();
    let single: Vec<f64> =
        reference.iter().zip(independent).filter_map(|(a, b)| Some(kolmogorov_smirnov(a, b)?.p)).collect();
    let nothing = KolmogorovSmirnov { distance: f64::NAN, p: f64::NAN };
    let smallest = single.iter().copied().fold(1.0, f64::min);
    QuantityComparison {
        name,
        reference: mean(&theirs).unwrap_or(f64::NAN),
        lanes: mean(&ours).unwrap_or(f64::NAN),
        difference: Estimate::of(&differences).unwrap_or(Estimate {
            mean: f64::NAN,
            standard_error: None,
            count: 0,
        }),
        paired_p: sign_flip(&differences, seed),
        pooled: kolmogorov_smirnov(&reference.concat(), &independent.concat()).unwrap_or(nothing),
        within_p: (smallest * single.len() as f64).min(1.0),
        policies_apart: single.iter().filter(|p| **p < LEVEL).count(),
    }
}

/// The difference of two numbers, or 0 where it is rounding: the last digits may be biased to one side.
fn without_rounding(a: f64, b: f64) -> f64 {
    if (a - b).abs() <= ROUNDING * (1.0 + b.abs()) { 0.0 } else { a - b }
}
