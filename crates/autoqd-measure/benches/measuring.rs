//! What `autoqd eval` costs compared with its bare simulation: `cargo bench -p autoqd-measure --bench measuring --
//! RUN`.
//!
//! The whole evaluation of a run's archive is timed (normaliser, rollouts, embeddings, Vendi scores, ground-truth
//! grids), then the bare simulator replays episodes of some of the policies before and after; all with two threads, in
//! processor time per thread. Without a run, a small one is made for it.

#[path = "../../autoqd/benches/clock/mod.rs"]
mod clock;
#[path = "../../autoqd/benches/tape/mod.rs"]
mod tape;

use std::path::PathBuf;
use std::sync::Arc;

use autoqd::config::Layers;
use autoqd::evaluator::{Candidates, Evaluator, LocalEvaluator};
use autoqd::observer::{IterationReport, Observer, ObserverError};
use autoqd::registry::Registry;
use autoqd::runner::{Limits, Runner};
use autoqd::search::thread_pool;
use autoqd_env::Physics;
use autoqd_measure::{Bench, LoadedRun, Protocol, Round, evaluate, round_seeds, sample};
use tape::Tape;

const THREADS: usize = 2;
/// Policies whose episodes the bare simulator replays.
const REPLAYED: usize = 200;

fn main() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let given = std::env::args().skip(1).find(|a| !a.starts_with('-')).map(PathBuf::from);
    let run = given.unwrap_or_else(|| small_run(temporary.path().join("swimmer")));
    let mut population = LoadedRun::open(&run).expect("a run");
    // Results of earlier evaluations must not be found.
    population.folder = temporary.path().join("results");
    let pool = thread_pool(Some(THREADS)).expect("threads");
    let before = bare_rate(&population, &pool);
    let start = clock::of_program(THREADS);
    let found = evaluate(
        std::slice::from_ref(&population),
        &Protocol::default(),
        None,
        &Bench::new(Registry::default(), pool.clone()),
        &mut (),
    );
    let seconds = (clock::of_program(THREADS) - start) / THREADS as f64;
    let after = bare_rate(&population, &pool);
    let steps = found.expect("an evaluation").runs[0].evaluation_steps as f64;
    let bare = steps / (0.5 * (before + after));
    println!(
        "eval of {} policies of {}: {steps:.0} steps in {seconds:.1} s; bare simulation {bare:.1} s; ratio {:.3} (goal 1.15)",
        population.len(),
        population.task,
        seconds / bare
    );
}

/// Steps per second of the bare simulator over episodes of the population.
fn bare_rate(population: &LoadedRun, pool: &Arc<rayon::ThreadPool>) -> f64 {
    let task = population.task(&Registry::default()).expect("a task");
    let spec = task.spec().clone();
    let policy = population.policy_spec(&spec).expect("a policy");
    let chosen = sample(population.len(), REPLAYED, 0);
    let parameters = population.pick(&chosen);
    let seeds = round_seeds(0, Round::Evaluation, chosen.len());
    let dimension = policy.parameter_count();
    let evaluator = LocalEvaluator::new(task, policy, Physics::Reference, pool.clone()).expect("worlds");
    let candidates = Candidates { parameters: &parameters, dimension, seeds: &seeds, episodes: 1 };
    let mut evaluations = evaluator.evaluate(candidates, &[tape::probe()]).expect("an evaluation");
    Tape::new(&spec.name, &spec, &seeds, tape::take_actions(&mut evaluations)).replay(THREADS)
}

struct Silent;

impl Observer for Silent {
    fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
        Ok(())
    }
}

fn small_run(path: PathBuf) -> PathBuf {
    let facts = autoqd_env::load_task("swimmer", &Default::default()).expect("a task of ours");
    let registry = Registry::default();
    let config = Layers::new(&registry)
        .preset("quick")
        .and_then(|layers| layers.flag("task", "swimmer", "TASK"))
        .and_then(|layers| layers.build())
        .and_then(|config| config.resolve(&facts.spec().into(), &registry))
        .expect("a valid configuration");
    let mut runner = Runner::create(&path, config, &Registry::default()).expect("a run");
    runner.run(Limits::default(), &|| false, &mut Silent).expect("a search");
    path
}
