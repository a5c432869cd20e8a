//! The policy-gradient emitter in searches: alone and beside others, with every kind of policy and descriptor.

use autoqd::config::Layers;
use autoqd::parts::Parts;
use autoqd::registry::Registry;
use autoqd::search::Search;
use autoqd::trainer::Trainer;
use autoqd_env::Perturbation;
use autoqd_qd::Archive;

const SMALL: [&str; 9] = [
    "episodes=2",
    "batch_size=6",
    "iterations=7",
    "pg.random_start=2",
    "pg.critic_hidden=[16]",
    "pg.critic_steps=20",
    "pg.batch_size=32",
    "pg.buffer=5000",
    "policy.hidden=[8]",
];

fn build(settings: &[&str]) -> Result<Search, Box<dyn std::error::Error>> {
    let mut registry = Registry::default();
    autoqd_learn::register(&mut registry);
    let task = registry.task("point-maze", &Perturbation::default())?;
    let mut layers = Layers::new(&registry).preset("quick")?;
    for setting in SMALL.iter().chain(settings) {
        layers = layers.set(setting)?;
    }
    let config = layers.flag("task", "point-maze", "TASK")?.build()?;
    let config = config.resolve(&task.spec().into(), &registry)?;
    Ok(Search::with_registry(config, task, &registry)?)
}

fn finish(mut search: Search) -> Search {
    while !search.finished() {
        let iteration = search.step().unwrap();
        let loss = iteration.figures.iter().find(|(name, _)| name == "critic loss").unwrap().1;
        assert!(loss.is_finite());
    }
    assert!(!search.result().is_empty());
    search
}

#[test]
fn it_works_with_every_descriptor_archive_policy_and_emitter_beside_it() {
    for settings in [
        &["method=pga-me"][..],
        &["method=pga-me", "policy.kind=toeplitz", "policy.bias=hidden", "policy.activation=relu"],
        &[
            "method=autoqd",
            "emitter=pg",
            "emitters=3",
            "pg.share=0.3",
            "pg.beside=cma",
            "update_schedule=[4]",
        ],
        &["method=regular", "emitter=pg", "emitters=1", "archive=cvt", "cvt.cells=30", "cvt.samples=300"],
        &["method=regular", "emitter=pg", "emitters=2", "archive=dns", "pg.beside=gaussian"],
    ] {
        let search = build(settings).unwrap_or_else(|e| panic!("{settings:?}: {e}"));
        let notices = Trainer::notices(&search);
        assert!(notices[0].contains("5000 transitions"), "{notices:?}");
        finish(search);
    }
}

#[test]
fn neither_threads_nor_stopping_change_a_candidate() {
    let whole = finish(build(&["method=pga-me", "threads=1"]).unwrap());
    let mut first = build(&["method=pga-me", "threads=2"]).unwrap();
    for _ in 0..4 {
        first.step().unwrap();
    }
    let mut parts = Parts::default();
    first.save(&mut parts).unwrap();
    let mut second = build(&["method=pga-me", "threads=2"]).unwrap();
    second.load(&mut parts).unwrap();
    let second = finish(second);
    assert_eq!(whole.result().elites(), second.result().elites());
    let saved = |search: &Search| {
        let mut parts = Parts::default();
        search.save(&mut parts).unwrap();
        parts
    };
    assert!(saved(&whole) == saved(&second), "critics, buffer and random streams too");
}

#[test]
fn shares_that_leave_nothing_for_others_and_a_diverged_critic_are_told() {
    let message = build(&["method=pga-me", "pg.share=1.0"]).err().unwrap().to_string();
    assert!(message.contains("pg.share = 1.0 is not allowed"), "{message}");
    let message = build(&["method=pga-me", "pg.beside=pg"]).err().unwrap().to_string();
    assert!(message.contains("pg.beside = \"pg\" is not allowed"), "{message}");
    let message = build(&["method=pga-me", "pg.beside=cmaes"]).err().unwrap().to_string();
    assert!(message.contains("\"cma\""), "{message}");
    let mut search = build(&["method=pga-me", "pg.critic_learning_rate=1e30"]).unwrap();
    let error = (0..7).find_map(|_| search.step().err()).expect("it cannot go on").to_string();
    assert!(error.contains("pg.critic_learning_rate"), "{error}");
}
