//! Searches with learned descriptors: the same bytes for any number of threads and after any interruption, and
//! elites that can be described again.

use std::path::Path;
use std::sync::Arc;

use autoqd::config::{Layers, RunConfig};
use autoqd::observer::{IterationReport, Observer, ObserverError};
use autoqd::registry::Registry;
use autoqd::run_folder::{ARCHIVE_FILE, DESCRIPTOR_FILE, METRICS_FILE, TRAINING_FILE, read_training};
use autoqd::runner::{Changes, Limits, Runner, load_search};
use autoqd::search::Search;
use autoqd_env::{Perturbation, Task, load_task};
use autoqd_qd::Archive;

const METHODS: [&str; 2] = ["method=aurora", "method=lstm-aurora"];

fn registry() -> Registry {
    let mut registry = Registry::default();
    autoqd_learn::register(&mut registry);
    registry
}

fn maze() -> Arc<dyn Task> {
    load_task("point-maze", &Perturbation::default()).expect("a built-in task")
}

fn config(settings: &[&str]) -> RunConfig {
    let registry = registry();
    let mut layers = Layers::new(&registry).preset("quick").expect("a preset");
    let base = [
        "batch_size=6",
        "episodes=2",
        "iterations=9",
        "update_schedule=[3,7]",
        "checkpoint_every=2",
        "autoencoder.epochs=6",
        "autoencoder.reservoir=300",
        "autoencoder.training_states=500",
    ];
    for setting in base.iter().chain(settings) {
        layers = layers.set(setting).expect("a valid setting");
    }
    let layers = layers.flag("task", "point-maze", "TASK").expect("a task");
    layers
        .build()
        .expect("a configuration")
        .resolve(&maze().spec().into(), &registry)
        .expect("a valid configuration")
}

fn finish(config: RunConfig) -> Search {
    let mut search = Search::with_registry(config, maze(), &registry()).expect("a search");
    while !search.finished() {
        search.step().expect("an iteration");
    }
    search
}

struct Silent;

impl Observer for Silent {
    fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
        Ok(())
    }
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    let read = |name: &str| std::fs::read(folder.join(name)).expect("a file of the run");
    [ARCHIVE_FILE, DESCRIPTOR_FILE, METRICS_FILE, TRAINING_FILE].map(read).to_vec()
}

fn run(path: &Path, config: RunConfig, stops: &[u64]) -> Vec<Vec<u8>> {
    let mut runner = Runner::create(path, config, &registry()).expect("a run");
    for stop in stops {
        let iterations = std::cell::Cell::new(0);
        let before = runner.trainer().iteration();
        let stop_now = || iterations.replace(iterations.get() + 1) + before == *stop;
        runner.run(Limits::default(), &stop_now, &mut Silent).expect("a part of the run");
        drop(runner);
        runner = Runner::resume(path, Changes::default(), &registry()).expect("a resumed run");
        assert_eq!(runner.trainer().iteration(), *stop);
    }
    runner.run(Limits::default(), &|| false, &mut Silent).expect("the rest of the run");
    files(path)
}

#[test]
fn interrupted_runs_and_other_numbers_of_threads_give_the_same_bytes() {
    for method in METHODS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let whole = run(&folder.path().join("whole"), config(&[method, "threads=1"]), &[]);
        let parts = run(&folder.path().join("parts"), config(&[method, "threads=3"]), &[2, 3, 6]);
        assert_eq!(whole, parts, "{method}");
        let losses = read_training(&folder.path().join("parts")).expect("a loss curve");
        let epochs = |iteration| losses.iter().filter(|row| row.iteration == iteration).count();
        assert!(epochs(3) >= 2 && epochs(7) >= 2 && epochs(3) + epochs(7) == losses.len(), "{method}");
        assert!(losses.iter().all(|row| row.validation_loss.is_finite() && row.training_loss > 0.0));
    }
}

#[test]
fn an_elite_is_described_again_exactly() {
    for method in METHODS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("run");
        run(&path, config(&[method]), &[]);
        let search = load_search(&path, Some(1), &registry()).expect("the search of the run");
        let elites = search.result().elites();
        assert!(elites.len() > 3);
        for i in 0..elites.len() {
            let seeds = search.evaluation_seeds(elites.ids()[i]);
            let (evaluation, measures) =
                search.describe(elites.solutions().row(i), &seeds).expect("a rollout");
            assert_eq!(evaluation.objective(), elites.objectives()[i], "{method}");
            assert_eq!(measures, elites.measures().row(i), "{method}");
        }
    }
}

#[test]
fn the_seed_decides_and_measures_spread_over_the_archive() {
    for method in METHODS {
        let measures =
            |seed| finish(config(&[method, seed])).result().elites().measures().as_slice().to_vec();
        let (a, b) = (measures("seed=1"), measures("seed=2"));
        assert_ne!(a, b);
        assert!(a.iter().any(|m| *m > 0.5) && a.iter().any(|m| *m < -0.5), "{method}: {a:?}");
    }
}

#[test]
fn the_reserve_is_limited_by_the_bytes_its_elites_keep() {
    for method in METHODS {
        let reserve = |megabytes: &str| {
            let mut search =
                Search::with_registry(config(&[method, "cells=3", megabytes]), maze(), &registry())
                    .expect("a search");
            let mut reserved = 0;
            while !search.finished() {
                let refit = search.step().expect("an iteration").refit;
                reserved += refit.map_or(0, |refit| refit.archives.reserved);
            }
            reserved
        };
        assert!(reserve("autoencoder.reserve_megabytes=500") > 0, "{method}");
        assert_eq!(reserve("autoencoder.reserve_megabytes=0"), 0, "{method}");
    }
}
