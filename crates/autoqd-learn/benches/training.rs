//! How long the trainings of a run take beside its simulation.
//!
//! `cargo bench -p autoqd-learn -- [TASK [ELITES...]]` trains both descriptors on archives of the given numbers of
//! elites (default: BipedalWalker; 300, 600, 1000, 1500 and 2000, one per refit of the paper's schedule) and sets the
//! sum against the steps of 500 iterations of 320 candidates and 5 episodes at the measured step rate, with the
//! reference physics and with the fast one.
//!
//! Times are wall clock on two threads for both, so nothing else should run beside it.

use autoqd::config::{Layers, RunConfig};
use autoqd::descriptor::{Descriptor, Elites};
use autoqd::evaluator::{Candidates, Evaluation, Evaluator, LocalEvaluator};
use autoqd::registry::{DescriptorContext, Registry};
use autoqd::search::thread_pool;
use autoqd::seeds::{Purpose, derive};
use autoqd_env::{Physics, Task, load_task};
use autoqd_learn::{Aurora, LstmAurora};
use std::sync::Arc;
use std::time::Instant;

/// Policies rolled out; more elites are these again under other identities.
const POLICIES: usize = 50;
const EPISODES: usize = 5;
/// Evaluations of a run with the paper's settings.
const RUN_EPISODES: f64 = 500.0 * 320.0 * 5.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let task = arguments.first().map_or("bipedal-walker", String::as_str);
    let mut sizes: Vec<usize> = arguments.iter().skip(1).filter_map(|a| a.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![300, 600, 1000, 1500, 2000];
    }
    let loaded = load_task(task, &Default::default()).expect("a task");
    let pool = thread_pool(Some(2)).expect("two threads");
    for method in ["aurora", "lstm-aurora"] {
        let config = config(task, method, loaded.as_ref());
        let context = DescriptorContext { config: &config, spec: loaded.spec() };
        let mut descriptor: Box<dyn Descriptor> = match method {
            "aurora" => Box::new(Aurora::new(context).expect("its settings")),
            _ => Box::new(LstmAurora::new(context).expect("its settings")),
        };
        let (evaluations, rate) = roll_out(&loaded, &config, descriptor.as_ref(), Physics::Reference, &pool);
        let (_, fast) = roll_out(&loaded, &config, descriptor.as_ref(), Physics::Auto, &pool);
        let length = evaluations.iter().map(Evaluation::mean_length).sum::<f64>() / POLICIES as f64;
        println!(
            "{task}, {method}: {rate:.0} steps/s (reference), {fast:.0} (auto), mean length {length:.0}"
        );
        let total: f64 =
            sizes.iter().map(|n| pool.install(|| train(descriptor.as_mut(), &evaluations, *n))).sum();
        for (physics, rate) in [("reference", rate), ("auto", fast)] {
            let simulation = RUN_EPISODES * length / rate;
            let share = 100.0 * total / (simulation + total);
            println!(
                "  {physics}: {total:.0} s of training beside {simulation:.0} s of simulation, {share:.1} %"
            );
        }
        println!("  {}", peak_memory());
    }
}

/// The most memory this process has used so far, as Linux says it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    peak.map_or_else(|| "peak memory unknown".to_owned(), |line| format!("peak memory {}", line[6..].trim()))
}

fn config(task: &str, method: &str, loaded: &dyn Task) -> RunConfig {
    let mut registry = Registry::default();
    autoqd_learn::register(&mut registry);
    let layers =
        Layers::new(&registry).flag("task", task, "TASK").and_then(|l| l.flag("method", method, "METHOD"));
    let config = layers.and_then(Layers::build).expect("a configuration");
    config.resolve(&loaded.spec().into(), &registry).expect("a valid configuration")
}

/// Rolls random policies out and measures the steps per second.
fn roll_out(
    task: &Arc<dyn Task>,
    config: &RunConfig,
    descriptor: &dyn Descriptor,
    physics: Physics,
    pool: &Arc<rayon::ThreadPool>,
) -> (Vec<Evaluation>, f64) {
    let policy = config.policy.shape(task.spec()).expect("a policy");
    let dimension = policy.parameter_count();
    let evaluator = LocalEvaluator::new(task.clone(), policy, physics, pool.clone()).expect("an evaluator");
    // Sums of four uniform numbers, with the step sizes of the paper's emitters in turn.
    let number = |i: usize| {
        let key = derive(1, Purpose::Evaluation, [i as u64, 0, 0]);
        let uniform = |shift: u32| f64::from((key >> shift) as u16) / 65536.0 - 0.5;
        let sigma = 0.02 * f64::from(1 << (i / dimension % 5));
        sigma * (uniform(0) + uniform(16) + uniform(32) + uniform(48)) * 3f64.sqrt()
    };
    let parameters: Vec<f64> = (0..POLICIES * dimension).map(number).collect();
    let seeds: Vec<u64> = (0..(POLICIES * EPISODES) as u64).collect();
    let candidates = Candidates { parameters: &parameters, dimension, seeds: &seeds, episodes: EPISODES };
    let start = Instant::now();
    let evaluations =
        evaluator.evaluate(candidates, &descriptor.probes().expect("probes")).expect("evaluations");
    let steps: u64 = evaluations.iter().map(Evaluation::steps).sum();
    (evaluations, steps as f64 / start.elapsed().as_secs_f64())
}

/// Seconds of one training on `elites` elites, as a refit does it.
fn train(descriptor: &mut dyn Descriptor, evaluations: &[Evaluation], elites: usize) -> f64 {
    let ids: Vec<u64> = (0..elites as u64).collect();
    let evaluation = |id: &u64| &evaluations[*id as usize % POLICIES];
    // More policies than elites, as in a run: Aurora's reservoir is full.
    (0..ids.len().max(4000) as u64).for_each(|id| descriptor.remember(id, evaluation(&id)));
    let features: Vec<f64> = ids.iter().flat_map(|id| descriptor.features(evaluation(id))).collect();
    let objectives = vec![0.0; elites];
    let elites = Elites { ids: &ids, features: &features, objectives: &objectives };
    descriptor.first_fit(elites).expect("a first fit");
    let start = Instant::now();
    let report = descriptor.refit(ids.len() as u64, elites).expect("a training");
    let seconds = start.elapsed().as_secs_f64();
    let best = report.losses.iter().map(|l| l.validation).fold(f64::INFINITY, f64::min);
    println!("  {:5} elites: {seconds:6.1} s, {} epochs, loss {best:.4}", ids.len(), report.losses.len());
    seconds
}
