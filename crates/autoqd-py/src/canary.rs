//! What tells whether another machine computes the same bits: fixed work, and a digest of its results.

use std::path::Path;

use autoqd::Error;
use autoqd::evaluator::{Candidates, LocalEvaluator, wire};
use autoqd::policy::PolicySpec;
use autoqd::registry::{EvaluatorContext, Registry};
use autoqd::run_folder::{KeptTask, Machine, read_config};
use autoqd::search::thread_pool;
use autoqd_env::{Action, Perturbation, Physics, Seed, Task, Transition};
use autoqd_learn::POLICY_GRADIENT;
use autoqd_qd::Arithmetic;

/// Steps of the rollout of a task.
const STEPS: usize = 25;
/// Arguments of every function.
const ARGUMENTS: u32 = 4_000;

/// Digests by the name of what was computed.
pub fn digests(registry: &Registry) -> Result<Vec<(String, String)>, Error> {
    let mut found: Vec<(String, String)> = functions()
        .into_iter()
        .map(|(name, function)| (format!("the platform's {name}"), function_digest(function)))
        .collect();
    for name in registry.task_names() {
        let task = registry.task(name, &Perturbation::default())?;
        for (physics, word) in [(Physics::Auto, "fast"), (Physics::Reference, "reference")] {
            found.push((format!("the task {name} ({word} simulator)"), rollout(&*task, physics)?));
        }
    }
    Ok(found)
}

type Function = fn(f64) -> f64;

fn functions() -> [(&'static str, Function); 7] {
    [
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("exp", f64::exp),
        ("tanh", f64::tanh),
        ("log", |x| (x.abs() + 1e-3).ln()),
        ("pow", |x| (x.abs() + 0.5).powf(0.3 * x)),
        ("atan2", |x| x.atan2(1.0 - 0.1 * x)),
    ]
}

fn function_digest(function: Function) -> String {
    let mut hasher = blake3::Hasher::new();
    for i in 0..ARGUMENTS {
        let x = (f64::from(i) - 0.5 * f64::from(ARGUMENTS)) * 0.003_137;
        hasher.update(&std::hint::black_box(function)(std::hint::black_box(x)).to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The observations and rewards of a short episode under fixed actions.
fn rollout(task: &dyn Task, physics: Physics) -> Result<String, Error> {
    let mut worlds = task.make_worlds(physics)?;
    let (spec, lanes) = (task.spec(), worlds.lanes());
    let mut observations = vec![0.0; lanes * spec.observation_size];
    let mut transitions = vec![Transition::default(); lanes];
    worlds.reset(0, Some(&Seed::from(2026_u64)), &mut observations[..spec.observation_size])?;
    let mut active = vec![false; lanes];
    active[0] = true;
    let mut hasher = blake3::Hasher::new();
    hasher.update(task.physics_note(physics).as_bytes());
    let mut actions = vec![0.0_f32; lanes * spec.action_size];
    for step in 0..STEPS {
        for (i, action) in actions[..spec.action_size].iter_mut().enumerate() {
            let share = ((step * 7 + i * 5) % 16) as f64 / 15.0;
            *action = (spec.action_low[i] + share * (spec.action_high[i] - spec.action_low[i])) as f32;
        }
        worlds.step(&active, Action::F32(&actions), &mut observations, &mut transitions)?;
        observations[..spec.observation_size].iter().for_each(|x| {
            hasher.update(&x.to_le_bytes());
        });
        hasher.update(&transitions[0].reward.to_le_bytes());
        if transitions[0].terminated || transitions[0].truncated {
            break;
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// The digest of one fixed candidate's episode: what tells whether a worker computes the same bits in a run's own task.
pub fn of_task(evaluator: &LocalEvaluator, policy: &PolicySpec) -> Result<String, Error> {
    let dimension = policy.parameter_count();
    let parameters: Vec<f64> = (0..dimension).map(|i| ((i * 37 % 64) as f64 - 31.5) / 64.0).collect();
    let candidates = Candidates { parameters: &parameters, dimension, seeds: &[20_26], episodes: 1 };
    let answer = wire::Request::new(candidates, &[]).answer(evaluator)?.to_bytes()?;
    Ok(blake3::hash(&answer).to_hex().to_string())
}

/// The same for the task of a run. For methods that train networks, and for runs of older programs, with the kind of CPU:
/// it chooses the kernels of their matrix products.
pub fn of_run(folder: &Path, registry: &Registry) -> Result<String, Error> {
    let config = read_config(folder)?;
    let name = KeptTask::read(folder)?.map(|kept| kept.location()).transpose()?;
    let task = registry.task(name.as_ref().unwrap_or(&config.task), &config.perturbation)?;
    let policy = config.policy.shape(task.spec())?;
    let context = EvaluatorContext {
        config: None,
        task,
        policy: policy.clone(),
        physics: config.physics,
        pool: thread_pool(Some(1))?,
        probes: registry.probes().clone(),
    };
    let digest = of_task(&context.local()?, &policy)?;
    let plain = ["autoqd", "regular"].contains(&config.method.as_str()) && config.emitter != POLICY_GRADIENT;
    Ok(match plain && config.arithmetic == Arithmetic::Portable {
        true => digest,
        false => format!("{digest} on {}", Machine::this(0, "").cpu),
    })
}
