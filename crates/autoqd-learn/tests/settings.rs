//! The settings of all parts that the program has: the autoencoder's section, and the reference page.

use autoqd::config::{Config, ConfigError, Layers, RunConfig, TaskFacts, fields, reference_page};
use autoqd::registry::Registry;
use autoqd_learn::AutoencoderSection;
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
            "expected one of \"autoqd\", \"regular\", \"aurora\", \"lstm-aurora\"; did you mean \"aurora\"?",
        ),
    ] {
        let message = resolved(&["method=aurora", set]).unwrap_err().to_string();
        assert!(message.contains(expected), "{set}: {message}");
    }
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
