//! Steps per second of every task: the bare simulator, our environment, and others where they are installed.
//!
//! All variants of a task are measured in turns within the same minute, and medians are printed. Rates of one thread
//! are per second of CPU time where the system reports it; rates of two threads, and the rate of one they are compared
//! with, are wall clock. `AUTOQD_PYTHON` names a Python with Gymnasium and EnvPool, `AUTOQD_BENCH_ROUNDS` the number of
//! turns.

use autoqd_env::{Action, BipedalWalkerTask, Environment, LocomotionTask, NumpyRng, Perturbation, Seed};
use autoqd_env::{WorldReuse, gymnasium_id, load_task};
use mujoco_rs::prelude::MjData;
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const TASKS: [&str; 6] = ["ant", "half-cheetah", "hopper", "swimmer", "walker2d", "bipedal-walker"];
/// About this much time per measurement.
const SECONDS: f64 = 0.25;

/// Random actions, the steps before which an episode starts, and the state it starts from.
struct Tape {
    actions: Vec<Vec<f32>>,
    starts: Vec<Option<Start>>,
}

struct Start {
    seed: Seed,
    qpos: Vec<f64>,
    qvel: Vec<f64>,
}

fn record(name: &str, steps: usize) -> Tape {
    let task = load_task(name, &Perturbation::default()).unwrap();
    let locomotion = (name != "bipedal-walker").then(|| locomotion(name).world().unwrap());
    let mut rng = NumpyRng::from_seed(&Seed::from(12345_u64));
    let mut world = task.make().unwrap();
    let mut state = locomotion;
    let mut observation = vec![0.0; task.spec().observation_size];
    let mut tape = Tape { actions: Vec::new(), starts: Vec::new() };
    let mut over = true;
    for step in 0..steps {
        let action: Vec<f32> = (0..task.spec().action_size).map(|_| rng.uniform(-1.0, 1.0) as f32).collect();
        let seed = Seed::from(step as u64);
        tape.starts.push(over.then(|| {
            world.reset(Some(&seed), &mut observation).unwrap();
            let (qpos, qvel) = state.as_mut().map_or_else(Default::default, |twin| {
                twin.reset(Some(&seed), &mut observation).unwrap();
                (twin.qpos().to_vec(), twin.qvel().to_vec())
            });
            Start { seed, qpos, qvel }
        }));
        over = world.step(Action::F32(&action), &mut observation).unwrap().done();
        tape.actions.push(action);
    }
    tape
}

fn locomotion(name: &str) -> LocomotionTask {
    LocomotionTask::builtin(name, &Perturbation::default()).unwrap()
}

/// Runs the tape on the simulator alone, on the model as it is loaded.
fn bare(name: &str, tape: &Tape) {
    if name == "bipedal-walker" {
        return bare_box2d(tape);
    }
    let task = locomotion(name);
    let mut data = MjData::new(task.untuned_model().as_ref());
    for (action, start) in tape.actions.iter().zip(&tape.starts) {
        if let Some(start) = start {
            data.reset();
            data.qpos_mut().copy_from_slice(&start.qpos);
            data.qvel_mut().copy_from_slice(&start.qvel);
        }
        for (control, &value) in data.ctrl_mut().iter_mut().zip(action) {
            *control = f64::from(value);
        }
        for _ in 0..task.frame_skip() {
            data.step();
        }
    }
    std::hint::black_box(data.qpos());
}

fn bare_box2d(tape: &Tape) {
    let mut walker = BipedalWalkerTask::default().walker(WorldReuse::Never).unwrap();
    let mut observation = [0.0; 24];
    for (action, start) in tape.actions.iter().zip(&tape.starts) {
        if let Some(start) = start {
            walker.reset(Some(&start.seed), &mut observation).unwrap();
        }
        walker.advance_physics(Action::F32(action)).unwrap();
    }
}

/// Runs the tape on our environment until it ends or is told to stop; returns the number of steps.
fn ours(world: &mut dyn Environment, tape: &Tape, stop: &AtomicBool) -> usize {
    let mut observation = vec![0.0; world.spec().observation_size];
    for (step, (action, start)) in tape.actions.iter().zip(&tape.starts).enumerate() {
        if stop.load(Ordering::Relaxed) {
            return step;
        }
        if let Some(start) = start {
            world.reset(Some(&start.seed), &mut observation).unwrap();
        }
        let transition = world.step(Action::F32(action), &mut observation).unwrap();
        std::hint::black_box(transition.reward);
    }
    tape.actions.len()
}

/// CPU time of this thread in seconds, or wall time where the system does not report it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(wall_seconds, |n| n * 1e-9)
}

fn wall_seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Steps per CPU second.
fn rate(tape: &Tape, run: impl FnOnce()) -> f64 {
    let cpu = cpu_seconds();
    run();
    tape.actions.len() as f64 / (cpu_seconds() - cpu)
}

/// Steps per wall second of several threads with a world each, which replay the tape until the time is over: a thread
/// that the system slows down does not hold up the others, as in a search.
fn wall_rate(name: &str, tape: &Tape, threads: usize) -> f64 {
    let task = load_task(name, &Perturbation::default()).unwrap();
    let (barrier, stop, steps) = (Barrier::new(threads + 1), AtomicBool::new(false), AtomicUsize::new(0));
    let mut start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut world = task.make().unwrap();
                barrier.wait();
                while !stop.load(Ordering::Relaxed) {
                    steps.fetch_add(ours(world.as_mut(), tape, &stop), Ordering::Relaxed);
                }
            });
        }
        barrier.wait();
        start = Instant::now();
        std::thread::sleep(Duration::from_secs_f64(SECONDS));
        stop.store(true, Ordering::Relaxed);
    });
    steps.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Rates of one task; each the median over the rounds, and ratios the medians of the rounds' ratios.
struct Row {
    bare: f64,
    ours: f64,
    ratio: f64,
    /// Of one thread, wall clock.
    wall: f64,
    two: f64,
    scaling: f64,
}

fn measure(name: &str, rounds: usize) -> Row {
    let probe = record(name, 500);
    let mut world = load_task(name, &Perturbation::default()).unwrap().make().unwrap();
    let go = AtomicBool::new(false);
    let speed = rate(&probe, || {
        ours(world.as_mut(), &probe, &go);
    });
    let tape = record(name, ((speed * SECONDS) as usize).max(500));
    let mut all = [const { Vec::new() }; 6];
    for _ in 0..rounds {
        let bare_cpu = rate(&tape, || bare(name, &tape));
        let ours_cpu = rate(&tape, || {
            ours(world.as_mut(), &tape, &go);
        });
        let (one, two) = (wall_rate(name, &tape, 1), wall_rate(name, &tape, 2));
        let values = [bare_cpu, ours_cpu, ours_cpu / bare_cpu, one, two, two / one];
        all.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
    }
    let [bare, ours, ratio, wall, two, scaling] = all.each_mut().map(|list| median(list));
    Row { bare, ours, ratio, wall, two, scaling }
}

/// Rates of Gymnasium (one thread) and of EnvPool (one and two threads), 0 where not installed.
fn others(name: &str, rounds: usize) -> [f64; 3] {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/env_rates.py");
    let python = std::env::var("AUTOQD_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let id = gymnasium_id(name).unwrap_or(name);
    let output = Command::new(python).arg(script).arg(id).arg(rounds.to_string()).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    let mut numbers = text.split_whitespace().map(|word| word.parse().unwrap_or(0.0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0.0))
}

fn shown(value: f64, decimals: usize) -> String {
    if value > 0.0 && value.is_finite() { format!("{value:.decimals$}") } else { "-".to_string() }
}

fn main() {
    let rounds = std::env::var("AUTOQD_BENCH_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(15);
    println!("Steps per second: simulator alone, our environment, ratio (goal); two threads, gain over one;");
    println!("Gymnasium, ratio; EnvPool with one and two threads, our gain over it (goal 1.40)");
    let columns = [
        "task",
        "simulator",
        "ours",
        "ratio",
        "goal",
        "2 thr",
        "gain",
        "gymnas.",
        "ratio",
        "envpool",
        "2 thr",
        "gain",
    ];
    println!("{:<16}{}", columns[0], columns[1..].iter().map(|c| format!("{c:>10}")).collect::<String>());
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    for name in TASKS.iter().filter(|name| only.is_empty() || only.iter().any(|o| o == *name)) {
        let row = measure(name, rounds);
        let [gymnasium, envpool, envpool_two] = others(name, rounds);
        let goal = match *name {
            "swimmer" => 0.97,
            "bipedal-walker" => 0.85,
            _ => 1.15,
        };
        let gain = (row.two / envpool_two).min(row.wall / envpool);
        let cells = [
            shown(row.bare, 0),
            shown(row.ours, 0),
            shown(row.ratio, 3),
            shown(goal, 2),
            shown(row.two, 0),
            shown(row.scaling, 2),
            shown(gymnasium, 0),
            shown(row.ours / gymnasium, 2),
            shown(envpool, 0),
            shown(envpool_two, 0),
            shown(gain, 2),
        ];
        println!("{name:<16}{}", cells.iter().map(|c| format!("{c:>10}")).collect::<String>());
    }
}
