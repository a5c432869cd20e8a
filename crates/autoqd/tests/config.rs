//! Layers, checks, round trips and the reference page of the configuration.

use autoqd::config::{
    ArchiveLayout, Auto, Changes, Config, ConfigError, DnsSpace, Layers, OneOrEach, RunConfig, TaskFacts,
    check_resume, fields, json_schema, preset_names,
};
use autoqd::registry::Registry;
use autoqd_qd::RestartRule;
use proptest::prelude::*;
use std::sync::LazyLock;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default);

fn swimmer() -> TaskFacts {
    TaskFacts { observation_size: 8, action_size: 2, objective_min: 0.0, measures: vec![[0.0, 1.0]; 3] }
}

fn layers(sets: &[&str]) -> Result<Config, ConfigError> {
    let start = Layers::new(&*REGISTRY).flag("task", "swimmer", "TASK")?;
    sets.iter().try_fold(start, |layers, set| layers.set(set))?.build()
}

fn resolved(sets: &[&str]) -> RunConfig {
    layers(sets).and_then(|c| c.resolve(&swimmer(), &*REGISTRY)).unwrap()
}

fn refusal(sets: &[&str]) -> String {
    layers(sets).and_then(|c| c.resolve(&swimmer(), &*REGISTRY)).unwrap_err().to_string()
}

#[test]
fn defaults_are_the_papers_tables() {
    let run = resolved(&[]);
    assert_eq!(run.iterations, 500);
    assert_eq!(run.episodes, 5);
    assert_eq!((run.emitters, run.batch_size), (5, 64));
    assert_eq!(run.sigma0(), [0.02, 0.04, 0.08, 0.16, 0.32]);
    assert_eq!(run.restart, RestartRule::Every(100));
    assert_eq!((run.learning_rate, run.threshold_min(), run.qd_offset()), (0.01, 0.0, 0.0));
    let grid = ArchiveLayout::Grid { cells: vec![10; 4], bounds: vec![[-1.2, 1.2]; 4] };
    assert_eq!(*run.layout(), grid);
    assert_eq!(run.layout().capacity(), 10_000);
    assert_eq!(run.update_schedule, [20, 50, 100, 200, 300]);
    assert_eq!((run.embedding.features, run.embedding.gamma), (100, 0.999));
    assert_eq!(run.bandwidth(), 10f64.sqrt());
    assert_eq!(run.policy.hidden, [128, 128]);
}

#[test]
fn the_paper_preset_is_the_default() {
    let paper =
        Layers::new(&*REGISTRY).preset("paper").unwrap().set("task=swimmer").unwrap().build().unwrap();
    assert_eq!(paper.resolve(&swimmer(), &*REGISTRY).unwrap(), resolved(&[]));
}

#[test]
fn every_preset_gives_a_valid_run_for_every_method() {
    for preset in preset_names() {
        for method in REGISTRY.catalog().method_names() {
            let layers = Layers::new(&*REGISTRY).preset(preset).unwrap().set("task=swimmer").unwrap();
            let config = layers.flag("method", method, "--method").unwrap().build().unwrap();
            let run = config.resolve(&swimmer(), &*REGISTRY).unwrap();
            assert_eq!(run.method, method, "{preset}");
        }
    }
}

#[test]
fn the_later_layer_wins() {
    let config = Layers::new(&*REGISTRY)
        .preset("quick")
        .and_then(|l| {
            l.toml("batch_size = 7\nepisodes = 3\n[embedding]\nfeatures = 30\ngamma = 0.9", "run.toml")
        })
        .and_then(|l| l.set("episodes=4"))
        .and_then(|l| l.set("embedding.gamma = 0.95"))
        .and_then(|l| l.flag("seed", 9, "--seed"))
        .and_then(Layers::build)
        .unwrap();
    assert_eq!((config.batch_size, config.episodes, config.seed), (7, 4, 9));
    assert_eq!((config.embedding.features, config.embedding.gamma), (30, 0.95));
    assert_eq!(config.emitter, "csa", "of the preset");
}

#[test]
fn set_understands_numbers_words_lists_and_auto() {
    let config = layers(&[
        "sigma0=[0.1, 0.2]",
        "emitters=2",
        "restart=no_improvement",
        "archive=cvt",
        "learning_rate=1",
        "threshold_min=-inf",
        "cells=[5,6,7,8]",
        "bounds=2",
        "weighting=false",
        "embedding={features=10, bandwidth=2}",
    ])
    .unwrap();
    assert_eq!(config.sigma0, Auto::Value(OneOrEach::Each(vec![0.1, 0.2])));
    assert_eq!(config.restart, RestartRule::NoImprovement);
    assert_eq!((config.learning_rate, config.threshold_min), (1.0, Auto::Value(f64::NEG_INFINITY)));
    assert_eq!(config.cells, OneOrEach::Each(vec![5, 6, 7, 8]));
    assert_eq!(config.embedding.bandwidth, Auto::Value(2.0));
    assert!(!config.weighting);
    assert!(config.resolve(&swimmer(), &*REGISTRY).is_ok());
    assert_eq!(layers(&["sigma0=0.1", "sigma0=auto"]).unwrap().sigma0, Auto::default());
}

#[test]
fn a_typo_is_answered_with_the_nearest_key() {
    for (typo, key) in [
        ("iteration", "iterations"),
        ("batch-size", "batch_size"),
        ("embeding.gamma", "embedding.gamma"),
        ("gamma", "embedding.gamma"),
        ("embedding.featurs", "embedding.features"),
        ("sigma", "sigma0"),
    ] {
        let message = layers(&[&format!("{typo}=1")]).unwrap_err().to_string();
        assert!(message.contains(&format!("'{typo}'")), "{message}");
        assert!(message.contains(&format!("did you mean '{key}'?")), "{message}");
    }
    let message = Layers::new(&*REGISTRY).toml("nonsense_xyzzy = 1", "my.toml").unwrap_err().to_string();
    assert!(message.starts_with("my.toml: there is no key 'nonsense_xyzzy'"), "{message}");
}

#[test]
fn a_wrong_type_names_key_value_and_what_is_expected() {
    for (set, expected) in [
        (
            "iterations=many",
            "--set iterations: iterations = \"many\" is not possible; expected a whole number",
        ),
        ("iterations=-3", "iterations = -3 is not possible; expected a whole number"),
        ("iterations=2.5", "iterations = 2.5 is not possible"),
        (
            "emitter=cmaes",
            "--set emitter: emitter = \"cmaes\" is not possible; expected one of \"cma\", \"csa\"",
        ),
        ("restart=often", "restart = \"often\" is not possible; expected a whole number or"),
        ("embedding.gamma=high", "embedding.gamma = \"high\" is not possible; expected a number"),
        ("policy.hidden=128", "policy.hidden = 128 is not possible; expected a list of whole numbers"),
        ("policy.hidden=[128, 0.5]", "policy.hidden = [128, 0.5]"),
        ("threads=[2]", "threads = [2]"),
        ("embedding=3", "expected a section with the keys embedding.features"),
        ("iterations", "expected key=value"),
    ] {
        let message = layers(&[set]).unwrap_err().to_string();
        assert!(message.contains(expected), "{set}: {message}");
    }
}

#[test]
fn nonsense_is_refused_with_key_value_range_and_remedy() {
    for (sets, key) in [
        (&["iterations=0"][..], "iterations = 0"),
        (&["seed=-1"], "seed = -1"),
        (&["batch_size=1"], "batch_size = 1"),
        (&["emitter=openai", "batch_size=7"], "batch_size = 7"),
        (&["emitters=3", "sigma0=[0.1]"], "sigma0 = a list of 1"),
        (&["sigma0=0"], "sigma0 = 0"),
        (&["sigma0=nan"], "sigma0 = NaN"),
        (&["learning_rate=0"], "learning_rate = 0"),
        (&["learning_rate=1.5"], "learning_rate = 1.5"),
        (&["threshold_min=-inf"], "threshold_min = -inf"),
        (&["cells=100000"], "cells = [100000"),
        (&["cells=[3,4]"], "cells = a list of 2"),
        (&["bounds=[[0,1]]"], "bounds = [[0.0, 1.0]]"),
        (&["bounds=-1"], "bounds = -1"),
        (&["update_schedule=[50,20]"], "update_schedule = [50, 20]"),
        (&["update_schedule=[1]"], "update_schedule = [1]"),
        (&["measures_dimension=0"], "measures_dimension = 0"),
        (&["embedding.features=3"], "measures_dimension = 4"),
        (&["embedding.gamma=1"], "embedding.gamma = 1"),
        (&["embedding.scales=[]"], "embedding.scales = []"),
        (&["archive=cvt", "cvt.samples=10"], "cvt.samples = 10"),
        (&["archive=dns", "dns.k=0"], "dns.k = 0"),
        (&["archive=dns", "dns.space=psi", "method=regular"], "dns.space = \"psi\""),
        (&["perturbation.mass_scale=0"], "perturbation.mass_scale = 0"),
        (&["policy.hidden=[128, 0]"], "policy.hidden = 0"),
        (&["threads=0"], "threads = 0"),
        (&["checkpoint_every=0"], "checkpoint_every = 0"),
    ] {
        let message = refusal(sets);
        assert!(message.starts_with(key) || message.contains(key), "{sets:?}: {message}");
        assert!(
            message.contains("not allowed: ") && message.contains("; ") || message.contains("expected"),
            "{message}"
        );
    }
    let message = Config::default().resolve(&swimmer(), &*REGISTRY).unwrap_err().to_string();
    assert!(message.contains("a task is needed"), "{message}");
}

#[test]
fn hand_designed_measures_take_number_and_bounds_from_the_task() {
    let run = resolved(&["method=regular", "measures_dimension=2"]);
    assert_eq!(run.measures_dimension, 3);
    assert_eq!(*run.layout(), ArchiveLayout::Grid { cells: vec![10; 3], bounds: vec![[0.0, 1.0]; 3] });
    let none = TaskFacts { measures: vec![], ..swimmer() };
    let message = layers(&["method=regular"]).unwrap().resolve(&none, &*REGISTRY).unwrap_err().to_string();
    assert!(message.contains("no hand-designed measures"), "{message}");
}

#[test]
fn a_resolved_run_is_written_completely_and_loads_back_equal() {
    for sets in [
        &[][..],
        &["archive=cvt", "cvt.cells=77", "threads=3", "perturbation.friction=1.5"],
        &["archive=dns", "dns.space=psi", "restart=basic", "learning_rate=1", "threshold_min=-inf"],
        &["method=regular", "cells=[5,6,7]", "physics=reference"],
        &["sigma0=0.1", "embedding.scales=[0.25, 1.0, 4.0]", "seed=9223372036854775807"],
    ] {
        let run = resolved(sets);
        let text = run.to_toml();
        assert_eq!(RunConfig::from_toml(&text, "config.toml").unwrap(), run, "{text}");
        for field in fields(&*REGISTRY) {
            let name = field.key.rsplit('.').next().unwrap();
            assert!(text.contains(name), "{} is not in\n{text}", field.key);
        }
        // It is also a configuration file: resolving it again for the task changes nothing.
        let again = Layers::new(&*REGISTRY).toml(&text, "config.toml").unwrap().build().unwrap();
        assert_eq!(again.resolve(&swimmer(), &*REGISTRY).unwrap(), run);
    }
}

#[test]
fn an_incomplete_stored_configuration_is_refused() {
    let message = RunConfig::from_toml("task = 'swimmer'", "config.toml").unwrap_err().to_string();
    assert!(message.contains("'auto' in a configuration that should be complete"), "{message}");
}

#[test]
fn a_stored_configuration_from_before_a_key_existed_has_the_meaning_of_its_time() {
    let stored = resolved(&[]).to_toml();
    let older: String = stored
        .lines()
        .filter(|l| !l.starts_with("floor") && !l.starts_with("bias"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert_ne!(stored, older);
    let read = RunConfig::from_toml(&older, "config.toml").unwrap();
    assert_eq!((read.floor(), read.policy.bias), (None, autoqd::policy::Biases::All));
    assert_eq!(RunConfig::from_toml(&stored, "config.toml").unwrap(), resolved(&[]));
}

#[test]
fn the_floor_is_the_lowest_objective_that_counts_unless_told_otherwise() {
    let floor = |settings: &[&str]| resolved(settings).floor();
    assert_eq!(floor(&[]), Some(resolved(&[]).threshold_min()));
    assert_eq!(floor(&["floor=none"]), None);
    assert_eq!(floor(&["floor=-3.5"]), Some(-3.5));
    assert_eq!(floor(&["archive=dns"]), None);
}

#[test]
fn resume_may_change_iterations_upwards_threads_and_checkpoints_only() {
    let old = resolved(&["iterations=50"]);
    assert!(check_resume(&old, &old).is_ok());
    assert!(check_resume(&old, &resolved(&["iterations=60", "threads=7", "checkpoint_every=1"])).is_ok());
    let nonsense = Changes { checkpoint_every: Some(0), ..Changes::default() };
    let message = old.changed(nonsense).unwrap_err().to_string();
    assert!(message.contains("checkpoint_every = 0 is not allowed"), "{message}");
    let message = check_resume(&old, &resolved(&["iterations=40"])).unwrap_err().to_string();
    assert!(message.contains("iterations is 40") && message.contains("50"), "{message}");
    for (set, key) in [
        ("seed=1", "seed is 1"),
        ("episodes=6", "episodes is 6"),
        ("embedding.gamma=0.99", "embedding.gamma is 0.99"),
        ("emitter=csa", "emitter is \"csa\""),
        ("reserve=7", "reserve is 7"),
        ("policy.bias=all", "policy.bias is \"all\""),
        ("floor=none", "floor is \"none\""),
        ("archive=cvt", "archive is \"cvt\""),
        ("update_schedule=[20]", "update_schedule is [20]"),
    ] {
        let message = check_resume(&old, &resolved(&["iterations=50", set])).unwrap_err().to_string();
        assert!(message.contains(key), "{message}");
    }
}

#[test]
fn the_next_refit_lies_within_the_run() {
    let run = resolved(&["iterations=120"]);
    assert_eq!(
        [0, 19, 20, 50, 100].map(|i| run.next_refit(i, run.refits(&*REGISTRY))),
        [Some(20), Some(20), Some(50), Some(100), None]
    );
    for settings in [&["method=regular"][..], &["archive=dns", "dns.space=psi"]] {
        assert!(!resolved(settings).refits(&*REGISTRY), "{settings:?} has nothing to refit");
    }
    assert!(matches!(
        resolved(&["archive=dns"]).layout(),
        ArchiveLayout::Dns { space: DnsSpace::Measures, .. }
    ));
}

#[test]
fn every_key_is_documented_and_can_be_set_to_its_default() {
    assert!(fields(&*REGISTRY).len() > 40);
    let plain = Layers::new(&*REGISTRY).build().unwrap();
    for field in fields(&*REGISTRY) {
        assert!(!field.doc.is_empty() && !field.expected.contains("a value"), "{field:?}");
        let config = Layers::new(&*REGISTRY)
            .set(&format!("{}={}", field.key, field.default))
            .unwrap()
            .build()
            .unwrap();
        assert_eq!(config, plain, "{}", field.key);
    }
    assert_eq!(json_schema(&*REGISTRY)["additionalProperties"], false);
}

proptest! {
    #[test]
    fn no_text_makes_the_layers_panic(text in ".{0,60}", key in "[a-z_.=\\[\\]0-9\"]{0,20}") {
        let _ = Layers::new(&*REGISTRY).toml(&text, "file").map(Layers::build);
        let _ = Layers::new(&*REGISTRY).set(&text).map(Layers::build);
        let _ = Layers::new(&*REGISTRY).set(&format!("{key}={text}")).map(Layers::build);
    }

    #[test]
    fn no_value_of_any_key_makes_resolving_panic(i in any::<prop::sample::Index>(), value in value()) {
        let field = i.get(fields(&*REGISTRY));
        if let Ok(config) = layers(&[&format!("{}={value}", field.key)])
            && let Ok(run) = config.resolve(&swimmer(), &*REGISTRY)
        {
            prop_assert_eq!(RunConfig::from_toml(&run.to_toml(), "config.toml").unwrap(), run);
        }
    }
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|v| v.to_string()),
        any::<f64>().prop_map(|v| format!("{v:?}").replace("NaN", "nan")),
        (0usize..200).prop_map(|v| v.to_string()),
        prop::collection::vec(0u64..400, 0..6).prop_map(|v| format!("{v:?}")),
        prop::sample::select(vec!["true", "auto", "cma", "none", "[[0,1],[0,1]]", "{}"])
            .prop_map(str::to_owned),
    ]
}
