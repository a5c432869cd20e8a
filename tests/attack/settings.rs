//! Settings from a generator: refused with a message or taken, never a panic or a failed allocation.

use crate::program::{autoqd, is_orderly, output};
use crate::{Random, attack};
use std::time::{Duration, Instant};

const KEYS: [&str; 30] = [
    "seed",
    "iterations",
    "episodes",
    "emitters",
    "batch_size",
    "sigma0",
    "restart",
    "cells",
    "bounds",
    "learning_rate",
    "threshold_min",
    "floor",
    "qd_offset",
    "measures_dimension",
    "update_schedule",
    "reserve",
    "threads",
    "checkpoint_every",
    "policy.hidden",
    "embedding.features",
    "embedding.gamma",
    "embedding.bandwidth",
    "embedding.scales",
    "cvt.cells",
    "cvt.samples",
    "dns.size",
    "dns.k",
    "perturbation.mass_scale",
    "emitter",
    "method",
];
const VALUES: [&str; 28] = [
    "0",
    "1",
    "-1",
    "2",
    "3.5",
    "1e308",
    "-1e308",
    "nan",
    "inf",
    "-inf",
    "100000",
    "100000000",
    "9223372036854775807",
    "18446744073709551615",
    "[]",
    "[0]",
    "[65536,65536]",
    "[1,2,3,4]",
    "[[0,1]]",
    "[[1,0],[0,1]]",
    "true",
    "\"auto\"",
    "\"\"",
    "\"follow\"",
    "none",
    "{}",
    "1e-300",
    "\"\u{1f980}\"",
];

#[test]
fn settings_of_every_kind_are_refused_or_taken_without_a_panic() {
    attack("settings", 60, |number| {
        let mut random = Random::new(number);
        let mut command = autoqd();
        command.args(["config", "point-maze", "--preset=quick"]);
        let mut chosen = Vec::new();
        for _ in 0..1 + random.below(3) {
            chosen.push(format!("--set={}={}", random.pick(&KEYS), random.pick(&VALUES)));
        }
        command.args(&chosen);
        is_orderly(&output(command)).map_err(|reason| format!("{chosen:?}: {reason}"))
    });
}

#[test]
fn settings_that_do_not_fit_into_memory_are_refused_with_the_setting_to_lower() {
    let folder = tempfile::tempdir().unwrap();
    for (settings, lower) in [
        (&["batch_size=10000000", "policy.hidden=[64,64]", "policy.kind=dense"][..], "batch_size"),
        (&["policy.hidden=[65536,65536]", "policy.kind=dense"], "policy.hidden"),
        (&["emitters=100000", "batch_size=100000"], "emitters"),
        (
            &["archive=cvt", "cvt.cells=100000000", "cvt.samples=100000000", "measures_dimension=64"],
            "cvt.cells",
        ),
        (&["episodes=1000000", "batch_size=100000", "policy.hidden=[1]"], "episodes"),
        (&["embedding.features=1000000"], "embedding.features"),
        (&["episodes=18446744073709551615"], "episodes"),
    ] {
        let run = folder.path().join("run");
        let mut command = autoqd();
        command.args(["run", "point-maze", "--preset=quick", "--out"]).arg(&run);
        command.args(settings.iter().map(|setting| format!("--set={setting}")));
        let (start, output) = (Instant::now(), output(command));
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{settings:?}: {error}");
        assert!(error.contains(lower), "{settings:?}: {error}");
        assert!(start.elapsed() < Duration::from_secs(20), "{settings:?}");
        assert!(!run.exists(), "{settings:?} left a folder");
    }
}

#[test]
fn more_threads_than_make_sense_are_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = autoqd();
    command.args([
        "run",
        "point-maze",
        "--preset=quick",
        "--set=iterations=1",
        "--set=threads=4096",
        "--out",
    ]);
    command.arg(folder.path().join("run"));
    let output = output(command);
    let notes = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{notes}");
    assert!(notes.contains("threads = 4096"), "{notes}");
}

#[test]
fn one_action_that_is_not_a_number_does_not_end_a_search() {
    use autoqd::config::PolicySection;
    use autoqd::evaluator::Candidates;
    use autoqd::registry::{EvaluatorContext, Registry};
    let registry = Registry::default();
    let task = registry.task("point-maze", &Default::default()).unwrap();
    let section = PolicySection { hidden: vec![2], ..PolicySection::default() };
    let policy = section.shape(task.spec()).unwrap();
    let dimension = policy.parameter_count();
    let context = EvaluatorContext {
        config: None,
        task,
        policy,
        physics: Default::default(),
        pool: autoqd::search::thread_pool(Some(1)).unwrap(),
        probes: registry.probes().clone(),
    };
    let parameters: Vec<f64> = [vec![f64::NAN; dimension], vec![0.1; dimension]].concat();
    let candidates = Candidates { parameters: &parameters, dimension, seeds: &[1, 2], episodes: 1 };
    let found = registry.evaluator("local", context).unwrap().evaluate(candidates, &[]).unwrap();
    assert!(found[0].episodes[0].diverged && !found[1].episodes[0].diverged);
}
