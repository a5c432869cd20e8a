//! What the search itself costs: ask and tell without evaluation, and archive insertion.
//!
//! `cargo bench -p autoqd-qd` prints one line per figure: name, milliseconds on the clock and, for ask and tell,
//! milliseconds of CPU time, which other programs on the machine disturb less. `scripts/bench_ribs.py` runs the same
//! work with pyribs and prints lines of the same form. Arguments after `--` select figures by a part of their name.

use std::time::{Duration, Instant};

use autoqd_qd::{
    AnyEmitter, Archive, Batch, CellConfig, Centroids, CvtConfig, DominatedNoveltyConfig, EsEmitterConfig,
    Evaluations, GridArchive, GridConfig, RestartRule, Result, Rng, Rows, Scheduler, StrategyConfig,
};

const DIM: usize = 800;
const EMITTERS: usize = 5;
const BATCH: usize = 64;
const ITERATIONS: usize = 200;

fn main() -> Result<()> {
    // `cargo test --benches` only wants to know that this runs.
    let quick = !std::env::args().any(|a| a == "--bench");
    let iterations = if quick { 2 } else { ITERATIONS };
    let reference = if quick { None } else { pyribs(iterations) };
    for threads in [1, 2] {
        for (name, strategy) in
            [("cma_es", StrategyConfig::default()), ("isotropic", StrategyConfig::Isotropic)]
        {
            let name = format!("{name}/ask_tell/{threads}_threads");
            if selected(&name) {
                let (clock, cpu) = in_pool(threads, || ask_and_tell(strategy.clone(), iterations))?;
                let (clock, cpu) = (clock.as_secs_f64() * 1e3, cpu.as_secs_f64() * 1e3);
                println!("{name} {clock:.4} {cpu:.4}{}", compare(reference, clock, cpu));
            }
        }
    }
    insertion(if quick { 2 } else { 50 })?;
    dominated_novelty(if quick { 200 } else { 4096 })?;
    lookup(if quick { 100 } else { 10_000 })
}

/// Clock and CPU milliseconds of the same work in pyribs, if it is installed for AUTOQD_PYTHON (or python3).
fn pyribs(iterations: usize) -> Option<(f64, f64)> {
    let python = std::env::var("AUTOQD_PYTHON").unwrap_or_else(|_| "python3".into());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/bench_ribs.py");
    let output = std::process::Command::new(&python).arg(script).arg(iterations.to_string()).output();
    let text =
        output.ok().filter(|o| o.status.success()).map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    let Some(text) = text else {
        assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "{python} cannot run {script}");
        println!(
            "pyribs is not installed for {python}: no comparison (AUTOQD_PYTHON chooses another interpreter)"
        );
        return None;
    };
    print!("{text}");
    let mut numbers = text.split_whitespace().skip(1).filter_map(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// How many times faster than pyribs, by the clock and by CPU time.
fn compare(reference: Option<(f64, f64)>, clock: f64, cpu: f64) -> String {
    reference.map_or(String::new(), |(c, p)| {
        format!(" | pyribs takes {:.1} / {:.1} times as long", c / clock, p / cpu)
    })
}

fn selected(name: &str) -> bool {
    let mut filters = std::env::args().skip(1).filter(|a| !a.starts_with("--")).peekable();
    filters.peek().is_none() || filters.any(|f| name.contains(&f))
}

/// CPU time of all threads so far; zero where the system does not report it.
fn cpu_time() -> Duration {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let text = tasks.flatten().filter_map(|t| std::fs::read_to_string(t.path().join("schedstat")).ok());
    Duration::from_nanos(text.filter_map(|t| t.split(' ').next()?.parse::<u64>().ok()).sum())
}

fn report(name: &str, time: Duration) {
    println!("{name} {:.4}", time.as_secs_f64() * 1e3);
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads can be started")
        .install(work)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn grid(cell: CellConfig) -> Result<GridArchive> {
    GridConfig::new(DIM, &[10; 4], &[(-1.2, 1.2); 4]).cell(cell).build()
}

/// Objective: minus the squared distance from 0.3; measures: sums over quarters of the parameters.
fn evaluate(solutions: Rows<'_>) -> (Vec<f64>, Vec<f64>) {
    let objective = solutions.iter().map(|x| -x.iter().map(|v| (v - 0.3) * (v - 0.3)).sum::<f64>()).collect();
    let quarter = DIM / 4;
    let scale = 1.0 / (quarter as f64).sqrt();
    let measures = solutions.iter().flat_map(|x| x.chunks(quarter).map(|q| q.iter().sum::<f64>() * scale));
    (objective, measures.collect())
}

/// Mean clock and CPU time per iteration of ask + tell.
fn ask_and_tell(strategy: StrategyConfig, iterations: usize) -> Result<(Duration, Duration)> {
    let mut archive = grid(CellConfig::annealing(0.01, -1000.0))?;
    let mut result = grid(CellConfig::elitist())?;
    let emitter = |i: usize| -> Result<AnyEmitter> {
        let sigma0 = 0.02 * f64::from(1 << i);
        let config = EsEmitterConfig::new(vec![0.0; DIM], sigma0, i as u64).batch_size(BATCH);
        Ok(config.strategy(strategy.clone()).restart_rule(RestartRule::Every(100)).build()?.into())
    };
    let mut scheduler = Scheduler::new((0..EMITTERS).map(emitter).collect::<Result<Vec<_>>>()?)?;
    let (mut clock, mut cpu) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..iterations {
        let start = (Instant::now(), cpu_time());
        let solutions = scheduler.ask(&archive)?;
        (clock, cpu) = (clock + start.0.elapsed(), cpu + cpu_time().saturating_sub(start.1));
        let (objective, measures) = evaluate(solutions);
        let start = (Instant::now(), cpu_time());
        let measures = Rows::new(&measures, 4)?;
        let evaluations = Evaluations { objective: &objective, measures, fields: None };
        scheduler.tell(&mut archive, Some(&mut result), &evaluations)?;
        (clock, cpu) = (clock + start.0.elapsed(), cpu + cpu_time().saturating_sub(start.1));
    }
    Ok((clock / iterations as u32, cpu / iterations as u32))
}

/// 320 rows of 800 parameters: all accepted, then none.
fn insertion(rounds: usize) -> Result<()> {
    let mut rng = Rng::new(0, 0);
    let rows = EMITTERS * BATCH;
    let solutions: Vec<f64> = (0..rows * DIM).map(|_| rng.normal()).collect();
    let measures: Vec<f64> = (0..rows * 4).map(|_| rng.uniform() * 2.4 - 1.2).collect();
    let batch = |objective| -> Result<Batch> {
        Ok(Batch::new(Rows::new(&solutions, DIM)?, objective, Rows::new(&measures, 4)?))
    };
    let mut archive = grid(CellConfig::elitist())?;
    let (mut new, mut none, mut better) = (vec![], vec![], vec![]);
    let (low, high) = (vec![0.0; rows], vec![1.0; rows]);
    for _ in 0..rounds {
        archive.clear();
        // The second batch equals the first, so nothing is accepted; the third is better than both.
        for (times, objective) in [(&mut new, &low), (&mut none, &low), (&mut better, &high)] {
            let batch = batch(objective)?;
            let start = Instant::now();
            archive.add(&batch)?;
            times.push(start.elapsed());
        }
    }
    report("archive/add_320x800/new_cells", median(new));
    report("archive/add_320x800/none_accepted", median(none));
    report("archive/add_320x800/all_improve", median(better));
    Ok(())
}

/// 320 newcomers into a full archive without cells, 100 measures.
fn dominated_novelty(capacity: usize) -> Result<()> {
    let (rows, dim) = (EMITTERS * BATCH, 100);
    let mut archive = DominatedNoveltyConfig::new(1, dim, capacity).build()?;
    let mut rng = Rng::new(2, 0);
    let mut times = vec![];
    for _ in 0..capacity / rows + 15 {
        let objective: Vec<f64> = (0..rows).map(|_| rng.normal()).collect();
        let measures: Vec<f64> = (0..rows * dim).map(|_| rng.normal()).collect();
        let batch = Batch::new(Rows::new(&objective, 1)?, &objective, Rows::new(&measures, dim)?);
        let start = Instant::now();
        archive.add(&batch)?;
        times.push(start.elapsed());
    }
    report(
        &format!("dominated_novelty/add_320_to_{capacity}x100"),
        median(times.split_off(capacity / rows + 2)),
    );
    Ok(())
}

/// One lookup among 10^4 Voronoi cells.
fn lookup(queries: usize) -> Result<()> {
    for dim in [5, 8, 12, 16] {
        let ranges = vec![(-1.0, 1.0); dim];
        let archive = CvtConfig::new(1, &ranges, Centroids::Random { cells: 10_000, seed: 0 }).build()?;
        let mut rng = Rng::new(1, 0);
        let points: Vec<f64> = (0..queries * dim).map(|_| rng.uniform() * 2.0 - 1.0).collect();
        let start = Instant::now();
        for point in points.chunks_exact(dim) {
            std::hint::black_box(archive.cell_of(point)?);
        }
        report(&format!("cvt/lookup_10000_cells/{dim}_measures"), start.elapsed() / queries as u32);
    }
    Ok(())
}
