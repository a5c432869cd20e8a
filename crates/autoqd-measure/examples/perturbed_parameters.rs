//! How the surroundings of a run's policies look to an emitter: how much of their return is left when their parameters
//! are changed as it would change them.
//!
//! An evolution strategy with step size sigma does not see a policy, it sees policies with normal noise of that size
//! on every parameter. Where that noise destroys a behaviour, the behaviour is not what the strategy climbs to.
//!
//! `cargo run --release -p autoqd-measure --example perturbed_parameters -- RUN [BEST]` takes 200 policies at random,
//! or that many copies of the BEST policies with the highest stored return, and prints a line per step size.

use std::path::PathBuf;

use autoqd::evaluator::{Candidates, Evaluator, LocalEvaluator};
use autoqd::registry::Registry;
use autoqd::search::thread_pool;
use autoqd_env::Physics;
use autoqd_measure::LoadedRun;
use autoqd_qd::Rng;

const POLICIES: usize = 200;
const EPISODES: usize = 5;
const STEP_SIZES: [f64; 8] = [0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let run: PathBuf = arguments.next().ok_or("give the folder of a run")?.into();
    let best: Option<usize> = arguments.next().map(|n| n.parse()).transpose()?;
    let population = LoadedRun::open(&run)?;
    let task = population.task(&Registry::default())?;
    let policy = population.policy_spec(task.spec())?;
    let evaluator = LocalEvaluator::new(task, policy, Physics::Auto, thread_pool(None)?)?;

    let mut rng = Rng::new(0, 0);
    let chosen = choose(&population, best, &mut rng);
    let stored = mean(chosen.iter().map(|&i| population.table.objective[i]));
    println!("{} of {}: stored return {stored:.0}", chosen.len(), run.display());
    println!("{:>10}{:>14}{:>14}{:>14}", "step size", "mean return", "median", "mean length");
    for sigma in STEP_SIZES {
        let parameters: Vec<f64> =
            population.pick(&chosen).iter().map(|p| p + sigma * rng.normal()).collect();
        let seeds: Vec<u64> = (0..chosen.len() * EPISODES).map(|_| rng.next_u64()).collect();
        let dimension = population.table.parameters.width;
        let candidates = Candidates { parameters: &parameters, dimension, seeds: &seeds, episodes: EPISODES };
        let evaluations = evaluator.evaluate(candidates, &[])?;
        let mut returns: Vec<f64> =
            evaluations.iter().map(|e| e.objective()).filter(|r| r.is_finite()).collect();
        returns.sort_by(f64::total_cmp);
        println!(
            "{sigma:>10}{:>14.0}{:>14.0}{:>14.0}",
            mean(returns.iter().copied()),
            returns.get(returns.len() / 2).copied().unwrap_or(f64::NAN),
            mean(evaluations.iter().map(|e| e.mean_length()))
        );
    }
    Ok(())
}

/// Rows of policies drawn at random, or of the best ones over and over.
fn choose(population: &LoadedRun, best: Option<usize>, rng: &mut Rng) -> Vec<usize> {
    let objective = &population.table.objective;
    let mut rows: Vec<usize> = (0..population.len()).collect();
    rows.sort_by(|a, b| objective[*b].total_cmp(&objective[*a]));
    rows.truncate(best.unwrap_or(rows.len()));
    (0..POLICIES).filter(|_| !rows.is_empty()).map(|_| rows[rng.index(rows.len())]).collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}
