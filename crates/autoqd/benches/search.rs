//! Steps per second of a whole search (policy, features, archive, everything) beside the bare simulator, the lanes
//! engine and the same search assembled from pyribs, Gymnasium and a process pool: `cargo bench -p autoqd --bench
//! search`.
//!
//! Two searches with the paper's settings but smaller batches run side by side, one on libmujoco or Box2D, one on the
//! lanes engine. Up to iteration 19 both use the fast engine, where there is one; in iterations 20 to 25 each takes its
//! turn, and before and after the first the bare simulator, on the model as it is loaded, replays start states and
//! actions recorded from it, on as many threads. Rates are steps per second of processor time, times the threads, which is
//! the rate by the clock where nothing else runs and no thread waits; the share of time that threads wait is printed beside
//! them. Ratios are taken within an iteration, against the mean of the two replays around it, and their median is printed.
//!
//! The glued search starts at its first iteration and runs for a while; searches of ours with the same settings, on the
//! simulator and on what `physics = "auto"` takes, then do as many iterations, so that all are at the same stage. These
//! rates are by the clock, because the glued search works in several processes.
//!
//! Arguments are names of tasks. `AUTOQD_BENCH_THREADS` (2), `AUTOQD_BENCH_BATCH` (candidates per emitter, 16),
//! `AUTOQD_BENCH_ITERATIONS` (measured, 6), `AUTOQD_PYTHON` (a Python with pyribs and Gymnasium), `AUTOQD_BENCH_OUT` (a file
//! to which a line of JSON per task is added).

mod clock;
mod tape;

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use autoqd::config::Layers;
use autoqd::evaluator::{Candidates, Evaluation, Evaluator, LocalEvaluator, Probe};
use autoqd::registry::Registry;
use autoqd::search::{Search, thread_pool};
use autoqd::trainer::Times;
use autoqd_env::{Perturbation, Physics, Task, gymnasium_id, load_task};
use tape::Tape;

const TASKS: [&str; 6] = ["ant", "half-cheetah", "hopper", "swimmer", "walker2d", "bipedal-walker"];
const WARM_UP: u64 = 19;

fn main() {
    let threads = setting("AUTOQD_BENCH_THREADS", 2);
    let batch = setting("AUTOQD_BENCH_BATCH", 16);
    let measured = setting("AUTOQD_BENCH_ITERATIONS", 6);
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!(
        "Steps per second with {threads} threads, 5 x {batch} candidates, {measured} iterations from 20 on: the simulator alone,"
    );
    println!(
        "the search on it, their ratio (goal), what the search costs beside evaluation; the search on lanes, its"
    );
    println!(
        "ratio to the search on the simulator (goal); pyribs with Gymnasium and our ratios to it, on the simulator (goal)"
    );
    println!("and by default");
    let columns = [
        "simulator",
        "search",
        "ratio",
        "goal",
        "rest %",
        "lanes",
        "ratio",
        "goal",
        "glued",
        "ratio",
        "goal",
        "default",
    ];
    println!("{:<16}{}", "task", columns.iter().map(|c| format!("{c:>10}")).collect::<String>());
    for name in TASKS.iter().filter(|name| only.is_empty() || only.iter().any(|o| o == *name)) {
        let row = Row::measure(name, threads, batch, measured);
        row.write(name, threads, batch);
        row.print(name);
    }
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Required ratios: search over simulator, lanes over simulator, search over the glued one.
fn goals(name: &str) -> [f64; 3] {
    match name {
        "ant" => [1.10, 12.0, 4.0],
        "half-cheetah" => [1.05, 13.0, 5.0],
        "hopper" => [1.10, 20.0, 5.0],
        "swimmer" => [0.90, 25.0, 4.0],
        "walker2d" => [1.10, 18.0, 5.0],
        _ => [0.80, f64::NAN, 8.0],
    }
}

/// Rates of one task, one number per measured iteration.
#[derive(Default)]
struct Row {
    bare: Vec<f64>,
    search: Vec<f64>,
    lanes: Vec<f64>,
    rest: Vec<f64>,
    /// Percent of their time that the threads of the search on lanes wait.
    waits: Vec<f64>,
    glued: Option<Glued>,
}

/// Rates of the first iterations: of the glued search, of ours on the simulator, of ours by default.
#[derive(Clone, Copy)]
struct Glued {
    glued: f64,
    ours: f64,
    default: f64,
}

impl Row {
    fn measure(name: &str, threads: usize, batch: usize, measured: usize) -> Self {
        let task = load_task(name, &Perturbation::default()).expect("a task of ours");
        let mut reference = Contender::new(&task, Physics::Reference, threads, batch);
        let mut lanes =
            (name != "bipedal-walker").then(|| Contender::new(&task, Physics::Lanes, threads, batch));
        reference.warm_up(WARM_UP - 1);
        lanes.iter_mut().for_each(|lanes| lanes.warm_up(WARM_UP));
        let mut row = Self::default();
        // The last iteration before those that count: a tape to begin with.
        reference.step();
        let mut before = reference.tape(name).replay(threads);
        for _ in 0..measured {
            let Iterated { rate, times, .. } = reference.step();
            let after = reference.tape(name).replay(threads);
            row.search.push(rate);
            row.bare.push(0.5 * (before + after));
            row.rest.push((times.ask + times.tell + times.refit) / times.evaluate * 100.0);
            if let Some(Iterated { rate, waits, .. }) = lanes.as_mut().map(Contender::step) {
                row.lanes.push(rate);
                row.waits.push(waits);
            }
            before = after;
        }
        row.glued = Glued::measure(name, &task, threads, batch);
        row
    }

    /// Medians of the iterations' ratios: the search over the simulator alone, and on lanes over that on the simulator.
    fn ratios(&self) -> [f64; 2] {
        let ratios = |a: &[f64], b: &[f64]| median(a.iter().zip(b).map(|(a, b)| a / b).collect());
        [ratios(&self.search, &self.bare), ratios(&self.lanes, &self.search)]
    }

    /// Adds the row to the file of figures, where one is wanted.
    fn write(&self, name: &str, threads: usize, batch: usize) {
        let Some(path) = std::env::var_os("AUTOQD_BENCH_OUT") else { return };
        let [search, lanes] = self.ratios();
        let [_, of_lanes, _] = goals(name);
        let number = |x: f64| x.is_finite().then_some(x);
        let glued = self.glued.map(|g| [g.glued, g.ours, g.default]);
        let line = serde_json::json!({
            "task": name, "threads": threads, "batch_size": batch,
            "simulator": number(median(self.bare.clone())),
            "search": number(median(self.search.clone())),
            "lanes": number(median(self.lanes.clone())),
            "search_over_simulator": number(search),
            "lanes_over_search": number(lanes),
            "goal": number(of_lanes),
            "rest_percent": number(median(self.rest.clone())),
            "lanes_waits_percent": number(median(self.waits.clone())),
            "glued": glued.map(|g| g[0]), "search_over_glued": glued.map(|g| g[1] / g[0]),
            "default_over_glued": glued.map(|g| g[2] / g[0]),
        });
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| writeln!(file, "{line}"));
        written.unwrap_or_else(|e| panic!("cannot write to {}: {e}", path.display()));
    }

    fn print(mut self, name: &str) {
        let [of_simulator, of_lanes, of_glued] = goals(name);
        let [search, lanes] = self.ratios();
        let own = median(std::mem::take(&mut self.search));
        let glued = self.glued.unwrap_or(Glued { glued: f64::NAN, ours: f64::NAN, default: f64::NAN });
        let cells = [
            shown(median(self.bare), 0),
            shown(own, 0),
            shown(search, 3),
            shown(of_simulator, 2),
            shown(median(self.rest), 2),
            shown(median(self.lanes), 0),
            shown(lanes, 2),
            shown(of_lanes, 1),
            shown(glued.glued, 0),
            shown(glued.ours / glued.glued, 2),
            shown(of_glued, 1),
            shown(glued.default / glued.glued, 2),
        ];
        println!("{name:<16}{}", cells.iter().map(|c| format!("{c:>10}")).collect::<String>());
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn shown(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}") } else { "-".to_string() }
}

/// A search whose worlds can be changed, with its last candidates at hand.
struct Contender {
    threads: usize,
    search: Search,
    worlds: Arc<Switch>,
}

impl Contender {
    fn new(task: &Arc<dyn Task>, physics: Physics, threads: usize, batch: usize) -> Self {
        let registry = Registry::default();
        let config = Layers::new(&registry)
            .preset("paper")
            .and_then(|layers| layers.set(&format!("batch_size={batch}")))
            .and_then(|layers| layers.flag("task", task.spec().name.as_str(), "TASK"))
            .and_then(|layers| layers.build())
            .and_then(|config| config.resolve(&task.spec().into(), &registry))
            .expect("a valid configuration");
        let pool = thread_pool(Some(threads)).expect("threads");
        let policy = config.policy.shape(task.spec()).expect("a policy");
        let local = |physics| {
            LocalEvaluator::new(task.clone(), policy.clone(), physics, pool.clone()).expect("an evaluator")
        };
        let worlds = Arc::new(Switch {
            fast: local(Physics::Auto),
            own: local(physics),
            measured: AtomicBool::new(false),
            taped: AtomicBool::new(physics == Physics::Reference),
            last: Mutex::default(),
        });
        let search = Search::with_evaluator(
            config,
            task.spec().clone(),
            worlds.clone(),
            pool.clone(),
            &Registry::default(),
        );
        Self { threads, search: search.expect("a search"), worlds }
    }

    fn warm_up(&mut self, iterations: u64) {
        (0..iterations).for_each(|_| drop(self.search.step().expect("an iteration")));
        self.worlds.measured.store(true, Ordering::Relaxed);
    }

    /// Steps per second of the first iterations on its own worlds, nothing recorded.
    fn first_iterations(&mut self, iterations: u64) -> f64 {
        self.worlds.measured.store(true, Ordering::Relaxed);
        self.worlds.taped.store(false, Ordering::Relaxed);
        let start = Instant::now();
        (0..iterations).for_each(|_| drop(self.search.step().expect("an iteration")));
        self.search.totals().env_steps as f64 / start.elapsed().as_secs_f64()
    }

    /// One iteration.
    fn step(&mut self) -> Iterated {
        let (steps, threads) = (self.search.totals().env_steps, self.threads);
        let (start, processor) = (Instant::now(), clock::of_program(threads));
        let iteration = self.search.step().expect("an iteration");
        let (seconds, busy) = (start.elapsed().as_secs_f64(), clock::of_program(threads) - processor);
        Iterated {
            rate: (self.search.totals().env_steps - steps) as f64 * threads as f64 / busy,
            waits: (1.0 - busy / (seconds * threads as f64)) * 100.0,
            times: iteration.times,
        }
    }

    /// The episodes of the last iteration.
    fn tape(&self, name: &str) -> Tape {
        let (seeds, actions) =
            std::mem::take(&mut *self.worlds.last.lock().unwrap_or_else(PoisonError::into_inner));
        Tape::new(name, self.search.spec(), &seeds, actions)
    }
}

/// What was measured of an iteration: steps per second, percent of the time that threads waited (for each other, or for
/// other programs), and where its time went.
struct Iterated {
    rate: f64,
    waits: f64,
    times: Times,
}

/// Evaluates on fast worlds at first, on its own when measured.
struct Switch {
    fast: LocalEvaluator,
    own: LocalEvaluator,
    measured: AtomicBool,
    /// Whether actions are recorded.
    taped: AtomicBool,
    /// Seeds and actions of the last episodes.
    last: Mutex<(Vec<u64>, Vec<Vec<f32>>)>,
}

impl Evaluator for Switch {
    fn evaluate(
        &self,
        candidates: Candidates<'_>,
        probes: &[Probe],
    ) -> Result<Vec<Evaluation>, autoqd::Error> {
        if !self.measured.load(Ordering::Relaxed) {
            return self.fast.evaluate(candidates, probes);
        }
        if !self.taped.load(Ordering::Relaxed) {
            return self.own.evaluate(candidates, probes);
        }
        let probes: Vec<_> = probes.iter().cloned().chain([tape::probe()]).collect();
        let mut evaluations = self.own.evaluate(candidates, &probes)?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
            (candidates.seeds.to_vec(), tape::take_actions(&mut evaluations));
        Ok(evaluations)
    }

    fn physics_note(&self) -> String {
        self.own.physics_note()
    }
}

impl Glued {
    /// Where Python has what it needs.
    fn measure(name: &str, task: &Arc<dyn Task>, threads: usize, batch: usize) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/glued_search.py");
        let python = std::env::var("AUTOQD_PYTHON").unwrap_or_else(|_| "python3".to_string());
        let mut command = Command::new(python);
        command.arg(script).arg(gymnasium_id(name)?).args(["--iterations", "100", "--seconds", "15"]);
        command.args(["--workers", &threads.to_string(), "--batch-size", &batch.to_string()]);
        let output = command.output().ok().filter(|output| output.status.success())?;
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
        let (glued, iterations) = (answer["env_steps_per_second"].as_f64()?, answer["iterations"].as_u64()?);
        let rate = |physics| Contender::new(task, physics, threads, batch).first_iterations(iterations);
        Some(Self { glued, ours: rate(Physics::Reference), default: rate(Physics::Auto) })
    }
}
