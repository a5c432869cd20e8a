//! Run folders for tests: made by a real search, or filled with many random policies at once.
#![allow(dead_code)]

use std::path::Path;

use autoqd::config::{Layers, RunConfig};
use autoqd::observer::{IterationReport, Observer, ObserverError};
use autoqd::registry::Registry;
use autoqd::run_folder::{ArchiveTable, Block, IterationRow, RunFolder, TimingRow};
use autoqd::runner::{Limits, Runner};
use autoqd_env::{Perturbation, load_task};

use super::Numbers;

/// A small configuration: few candidates, one episode.
pub fn config(task: &str, iterations: u64, more: &[&str]) -> RunConfig {
    let facts = load_task(task, &Perturbation::default()).unwrap();
    let registry = Registry::default();
    let mut layers = Layers::new(&registry);
    let few = [
        "emitters=2",
        "batch_size=12",
        "episodes=1",
        "measures_dimension=2",
        "cells=20",
        "embedding.features=64",
    ];
    for assignment in few.iter().chain(more) {
        layers = layers.set(assignment).unwrap();
    }
    let layers =
        layers.flag("task", task, "test").unwrap().flag("iterations", iterations as i64, "test").unwrap();
    layers.build().unwrap().resolve(&facts.spec().into(), &registry).unwrap()
}

/// A finished real run.
pub fn search(path: &Path, task: &str, iterations: u64) {
    let config = config(task, iterations, &["threads=1", "checkpoint_every=1"]);
    let mut runner = Runner::create(path, config, &Registry::default()).unwrap();
    runner.run(Limits::default(), &|| false, &mut Silent).unwrap();
}

/// Watches nothing.
pub struct Silent;

impl Observer for Silent {
    fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
        Ok(())
    }
}

/// A run folder whose archive holds `elites` random policies, each in a cell of its own of a 100 x 100 grid.
pub fn filled(path: &Path, task: &str, elites: usize) {
    let config = config(task, 500, &["cells=100"]);
    let folder = RunFolder::create(path, &config).unwrap();
    let table = random_archive(&config, elites);
    folder.write_archive(&table).unwrap();
    let mut logs = folder.logs(0).unwrap();
    for iteration in 1..=500 {
        let part = iteration as f64 / 500.0;
        let metrics = IterationRow {
            iteration,
            elites: elites as u64,
            qd_score: 1e6 * part.sqrt(),
            coverage: part.sqrt(),
            best_objective: 900.0 * part,
            mean_objective: 400.0 * part,
            ..IterationRow::default()
        };
        logs.append(
            &metrics,
            &[],
            &TimingRow { iteration, seconds: iteration as f64, ..TimingRow::default() },
        )
        .unwrap();
    }
}

pub fn random_archive(config: &RunConfig, elites: usize) -> ArchiveTable {
    let task = load_task(&config.task, &Perturbation::default()).unwrap();
    let policy = config.policy.shape(task.spec()).unwrap();
    let width = policy.parameter_count();
    let mut numbers = Numbers(7);
    // Steps coprime to the number of cells visit each of them once.
    let cell = |i: usize| (i * 7919) % 10_000;
    let bounds = config.layout().bounds();
    let middle =
        |d: usize, at: usize| bounds[d][0] + (bounds[d][1] - bounds[d][0]) * (at as f64 + 0.5) / 100.0;
    let place = |i: usize| [middle(0, cell(i) / 100), middle(1, cell(i) % 100)];
    let quality = |i: usize| {
        let (x, y) = ((cell(i) / 100) as f64 / 50.0 - 1.0, (cell(i) % 100) as f64 / 50.0 - 1.0);
        900.0 - 500.0 * (x * x + y * y)
    };
    ArchiveTable {
        cell: (0..elites).map(|i| cell(i) as u64).collect(),
        id: (0..elites).map(|i| 1000 + i as u64).collect(),
        iteration: (0..elites).map(|i| 1 + i as u64 % 500).collect(),
        objective: (0..elites).map(quality).collect(),
        measures: Block { width: 2, values: (0..elites).flat_map(place).collect() },
        statistics: vec![("length_mean".to_string(), (0..elites).map(|i| (i % 1000) as f64).collect())],
        seeds: Block { width: 1, values: (0..elites as u64).collect() },
        features: Block::default(),
        parameters: Block { width, values: (0..elites * width).map(|_| 0.4 * numbers.normal()).collect() },
        metadata: Default::default(),
    }
}
