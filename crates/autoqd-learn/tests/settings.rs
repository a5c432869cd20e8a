//! The settings of all parts that the program has: the autoencoder's section, and the reference page.

use autoqd::config::{Config, ConfigError, Layers, RunConfig, TaskFacts, fields, reference_page};
use autoqd::registry::Registry;
use autoqd_learn::{AutoencoderSection, DvdSection, Variant};
use std::path::Path;

fn registry() -> Registry {
    let mut registry = Registry::default();
    autoqd_learn::register(&mut registry);
    registry
}

fn swimmer() -> TaskFacts {
    TaskFacts { observation_size: 8, action_size: 2, objective_min: 0.0, measures: vec![[0.0, 1.0]; 3] }
}

fn layers(sets: &[&str], registry: &Registry) -> Result<Config, ConfigError> {
    let start = Layers::new(registry).flag("task", "swimmer", "TASK")?;
    sets.iter().try_fold(start, |layers, set| layers.set(set))?.build()
}

fn resolved(sets: &[&str]) -> Result<RunConfig, ConfigError> {
    let registry = registry();
    layers(sets, &registry)?.resolve(&swimmer(), &registry)
}

#[test]
fn the_section_of_the_autoencoder_is_set_checked_and_stored_like_any_other() {
    let run = resolved(&["method=aurora", "autoencoder.epochs=7", "autoencoder.hidden=[16]"]).unwrap();
    let section: AutoencoderSection = run.section().unwrap();
    assert_eq!((section.epochs, section.hidden, section.lstm_units), (7, vec![16], 32));
    assert_eq!(RunConfig::from_toml(&run.to_toml(), "config.toml").unwrap(), run);
    for (set, expected) in [
        ("autoencoder.epochs=0", "autoencoder.epochs = 0 is not allowed: it must be a whole number from 1"),
        (
            "autoencoder.epochs=many",
            "--set autoencoder.epochs: autoencoder.epochs = \"many\" is not possible; expected a",
        ),
        ("autoencoder.validation_share=1", "autoencoder.validation_share = 1.0 is not allowed"),
        ("autoencoder.epoch=3", "there is no key 'autoencoder.epoch'; did you mean 'autoencoder.epochs'?"),
        (
            "method=auror",
            "expected one of \"autoqd\", \"regular\", \"aurora\", \"lstm-aurora\", \"dvd-es\", \"sac\", \"td3\", \"smerl\", \"pga-me\"; did you mean \"aurora\"?",
        ),
    ] {
        let message = resolved(&["method=aurora", set]).unwrap_err().to_string();
        assert!(message.contains(expected), "{set}: {message}");
    }
}

#[test]
fn the_section_of_dvd_es_is_checked() {
    let run = resolved(&["method=dvd-es", "dvd.variant=released"]).unwrap();
    let section: DvdSection = run.section().unwrap();
    assert_eq!((section.variant, section.agents, section.pairs), (Variant::Released, 10, 100));
    for (set, expected) in [
        ("dvd.agents=1", "dvd.agents = 1 is not allowed: it must be a whole number from 2 to 1000"),
        ("dvd.pairs=0", "dvd.pairs = 0 is not allowed: it must be a whole number from 1"),
        ("dvd.arms=[0.0, 1.5]", "dvd.arms = 1.5 is not allowed: it is a probability, from 0 to 1"),
        ("dvd.arms=[]", "dvd.arms = [] is not allowed: there must be at least one"),
        ("dvd.sigma=0", "dvd.sigma = 0.0 is not allowed: it must be a finite number above 0"),
        ("dvd.hidden=[32, 0]", "dvd.hidden = 0 is not allowed"),
        ("dvd.probe_states=101", "dvd.probe_states = 101 is not allowed: the states to compare actions on"),
        ("dvd.variant=fast", "dvd.variant = \"fast\" is not possible; expected"),
    ] {
        let message = resolved(&["method=dvd-es", set]).unwrap_err().to_string();
        assert!(message.contains(expected), "{set}: {message}");
    }
}

#[test]
fn a_method_s_own_values_take_the_place_of_the_preset_s_and_of_nothing_else() {
    let registry = registry();
    let build = |preset: &str, sets: &[&str]| {
        let start = Layers::new(&registry).preset(preset).unwrap().toml("task = 'swimmer'", "file").unwrap();
        let layers = sets.iter().try_fold(start, |layers, set| layers.set(set)).unwrap();
        let config = layers.build().unwrap().resolve(&swimmer(), &registry).unwrap();
        (config.iterations, config.episodes, config.section::<DvdSection>().unwrap().pairs)
    };
    assert_eq!(build("paper", &["method=dvd-es"]), (400, 1, 100));
    assert_eq!(build("paper", &["iterations=7", "method=dvd-es"]), (7, 1, 100));
    assert_eq!(build("paper", &[]), (500, 5, 100));
    assert_eq!(build("quick", &["method=dvd-es", "dvd.pairs=3"]), (40, 1, 3));
}

#[test]
fn without_the_crate_its_section_is_unknown_but_a_stored_run_stays_readable() {
    let bare = Registry::default();
    let message = layers(&["autoencoder.epochs=7"], &bare).unwrap_err().to_string();
    assert!(message.contains("there is no key 'autoencoder.epochs'"), "{message}");
    let run = resolved(&["method=aurora", "autoencoder.epochs=7"]).unwrap();
    let stored = RunConfig::from_toml(&run.to_toml(), "config.toml").unwrap();
    assert_eq!(stored.section::<AutoencoderSection>().unwrap().epochs, 7);
}

#[test]
fn the_reference_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config-reference.md");
    assert!(fields(&registry()).iter().any(|f| f.key == "autoencoder.epochs"));
    let page = reference_page(&registry());
    if std::env::var_os("AUTOQD_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &page).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/config-reference.md is out of date: AUTOQD_BLESS=1 cargo test -p autoqd-learn --test settings"
    );
}
