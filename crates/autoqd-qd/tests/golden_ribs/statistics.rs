//! stats_*: whole runs on the linear-projection benchmark, compared by a z-test.

use std::f64::consts::PI;

use autoqd_qd::{Archive, EsEmitter, Evaluations, EvolutionStrategy, GridArchive, Rows, Scheduler};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::archive::grid_archive;
use super::files::{integer, integers, list, load, number, numbers};
use super::replay::emitter;

const SEEDS: u64 = 40;
const SHIFT: f64 = 2.048;
const FAR: f64 = -7.168;
const METRICS: [&str; 6] = [
    "archive_coverage",
    "archive_qd_score",
    "archive_mean_threshold",
    "result_coverage",
    "result_qd_score",
    "result_obj_mean",
];

fn cost(problem: &str, e: f64) -> f64 {
    match problem {
        "sphere" => e * e,
        "rastrigin" => e * e + 10.0 - 10.0 * (2.0 * PI * e).cos(),
        other => panic!("unknown problem {other}"),
    }
}

fn objective(problem: &str, x: &[f64]) -> f64 {
    let worst = x.len() as f64 * cost(problem, FAR);
    100.0 * (1.0 - x.iter().map(|x| cost(problem, x - SHIFT)).sum::<f64>() / worst)
}

fn measures(x: &[f64]) -> [f64; 2] {
    let fold = |x: &f64| if x.abs() <= 5.12 { *x } else { 5.12 / x };
    let (first, second) = x.split_at(x.len() / 2);
    [first.iter().map(fold).sum(), second.iter().map(fold).sum()]
}

fn archives(setting: &Value) -> (GridArchive, GridArchive) {
    let dim = integer(&setting["solution_dim"]);
    let bound = 5.12 * (dim / 2) as f64;
    let mut header = setting.clone();
    (header["lower"], header["upper"]) = (json!([-bound, -bound]), json!([bound, bound]));
    let main = grid_archive(dim, &header, 0.0).unwrap();
    (header["learning_rate"], header["threshold_min"]) = (Value::Null, "-inf".into());
    (main, grid_archive(dim, &header, 0.0).unwrap())
}

fn metrics(archive: &GridArchive, result: &GridArchive) -> [f64; 6] {
    let (main, best) = (archive.stats(), result.stats());
    let threshold = archive.thresholds().iter().sum::<f64>() / archive.len() as f64;
    [main.coverage, main.qd_score, threshold, best.coverage, best.qd_score, best.obj_mean.unwrap()]
}

/// The metrics of one run at every checkpoint.
fn run(setting: &Value, seed: u64) -> Vec<[f64; 6]> {
    let problem = setting["problem"].as_str().unwrap();
    let (mut archive, mut result) = archives(setting);
    let x0 = vec![0.0; integer(&setting["solution_dim"])];
    let sigmas = numbers(&setting["sigma0"]).into_iter().enumerate();
    let emitters: Vec<EsEmitter> =
        sigmas.map(|(i, sigma0)| emitter(setting, &x0, sigma0, 1000 * seed + i as u64)).collect();
    let mut scheduler = Scheduler::new(emitters).unwrap();
    let checkpoints = integers(&setting["checkpoints"]);
    let mut figures = Vec::new();
    for iteration in 1..=integer(&setting["iterations"]) {
        let solutions = scheduler.ask(&archive).unwrap();
        let objective: Vec<f64> = solutions.iter().map(|x| objective(problem, x)).collect();
        let measures: Vec<f64> = solutions.iter().flat_map(measures).collect();
        let measures = Rows::new(&measures, 2).unwrap();
        let evaluations = Evaluations { objective: &objective, measures, fields: None };
        scheduler.tell(&mut archive, Some(&mut result), &evaluations).unwrap();
        if checkpoints.contains(&iteration) {
            figures.push(metrics(&archive, &result));
        }
    }
    assert!(scheduler.emitters().iter().all(|e| e.strategy().sigma().is_finite()));
    figures
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0))
}

#[test]
#[ignore = "40 whole runs per file take about a minute; figures are in docs/coming-from-pyribs.md"]
fn golden_statistics_agree() {
    for (name, file) in load("stats_") {
        let setting = &file["setting"];
        let runs: Vec<_> = (0..SEEDS).into_par_iter().map(|seed| run(setting, seed)).collect();
        let reference_runs = list(&file["per_seed"]).len() as f64;
        let mut worst: f64 = 0.0;
        for (c, checkpoint) in integers(&setting["checkpoints"]).iter().enumerate() {
            for (m, metric) in METRICS.iter().enumerate() {
                let values: Vec<f64> = runs.iter().map(|r| r[c][m]).collect();
                let (mean, variance) = mean_and_variance(&values);
                let expected = &file["summary"][checkpoint.to_string()][metric];
                let (reference, std) = (number(&expected["mean"]), number(&expected["std"]));
                let error = (variance / values.len() as f64 + std * std / reference_runs).sqrt();
                let z = (mean - reference).abs() / error;
                println!("{name} {checkpoint} {metric}: {mean:.5} against {reference:.5}, z = {z:.2}");
                worst = worst.max(z);
            }
        }
        println!("{name}: largest z {worst:.2}");
        assert!(worst <= 4.5, "{name}: largest z {worst}");
    }
}
