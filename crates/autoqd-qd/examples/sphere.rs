//! Illuminates the sphere and prints how the archive fills.
//!
//! `cargo run --release -p autoqd-qd --example sphere -- 500` runs 500 iterations (about half a second).

use autoqd_qd::{
    Archive, CellConfig, EsEmitterConfig, Evaluations, GridArchive, GridConfig, Result, Rows, Scheduler,
};

const DIM: usize = 20;

/// 100 at x = 2.048, falling with the squared distance.
fn sphere(x: &[f64]) -> f64 {
    let cost: f64 = x.iter().map(|v| (v - 2.048).powi(2)).sum();
    100.0 * (1.0 - cost / (DIM as f64 * 7.168_f64.powi(2)))
}

/// Sums over the two halves of the parameters; beyond 5.12 a parameter counts less and less.
fn measures(x: &[f64]) -> [f64; 2] {
    let fold = |v: &f64| if v.abs() <= 5.12 { *v } else { 5.12 / v };
    [x[..DIM / 2].iter().map(fold).sum(), x[DIM / 2..].iter().map(fold).sum()]
}

fn main() -> Result<()> {
    let iterations = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(500);
    let grid = GridConfig::new(DIM, &[100, 100], &[(-51.2, 51.2); 2]);
    let mut archive = grid.clone().cell(CellConfig::annealing(0.01, 0.0)).build()?;
    let mut result = grid.build()?;
    let emitter = |seed| EsEmitterConfig::new(vec![0.0; DIM], 0.5, seed).batch_size(36).build();
    let mut scheduler = Scheduler::new((0..5).map(emitter).collect::<Result<Vec<_>>>()?)?;
    println!("iteration  elites  coverage  QD score  best");
    for iteration in 1..=iterations {
        let solutions = scheduler.ask(&archive)?;
        let objective: Vec<f64> = solutions.iter().map(sphere).collect();
        let measures: Vec<f64> = solutions.iter().flat_map(measures).collect();
        let evaluations =
            Evaluations { objective: &objective, measures: Rows::new(&measures, 2)?, fields: None };
        let report = scheduler.tell(&mut archive, Some(&mut result), &evaluations)?;
        for (emitter, restart) in &report.restarts {
            println!("{iteration:9}  emitter {emitter} starts again: {:?}", restart.reason);
        }
        if iteration % 50 == 0 {
            print(iteration, &result);
        }
    }
    Ok(())
}

fn print(iteration: usize, archive: &GridArchive) {
    let stats = archive.stats();
    let best = stats.obj_max.unwrap_or(f64::NAN);
    let (elites, coverage) = (stats.num_elites, stats.coverage);
    println!("{iteration:9}  {elites:6}  {coverage:8.4}  {:8.0}  {best:.2}", stats.qd_score);
}
