//! Measurements as files: what early versions wrote remains readable for ever, and what is out of date is recognised.

use std::path::Path;

use autoqd_measure::{Measurement, RunAdaptation, RunEvaluation, RunStability, Stored};

fn version_1() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-1")
}

#[test]
fn files_of_the_first_version_are_read_and_of_unknown_age() {
    let evaluation = Stored::<RunEvaluation>::read(&version_1()).unwrap().unwrap();
    assert_eq!(
        (evaluation.result.metrics.task.as_str(), evaluation.result.metrics.policies),
        ("swimmer", 16)
    );
    assert!(evaluation.result.local);
    assert_eq!(evaluation.archive, None);
    assert!(!evaluation.is_stale("whatever is there now"));
    let adaptation = Stored::<RunAdaptation>::read(&version_1()).unwrap().unwrap();
    assert_eq!(adaptation.result.adaptation.knobs[0].curves[0].points.len(), 2);
    let stability = Stored::<RunStability>::read(&version_1()).unwrap().unwrap();
    assert_eq!(stability.result.stability.variances.len(), 5);
}

fn round_trip<T: Measurement + PartialEq + std::fmt::Debug>() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Stored::<T>::read(folder.path()).unwrap().is_none(), "nothing measured");
    let before = Stored::<T>::read(&version_1()).unwrap().unwrap();
    let stored = Stored { archive: Some("abc".to_owned()), result: before.result };
    assert_eq!(stored.write(folder.path()).unwrap(), folder.path().join(T::FILE));
    let again = Stored::<T>::read(folder.path()).unwrap().unwrap();
    assert_eq!(again, stored);
    assert!(again.is_stale("abd") && !again.is_stale("abc"));
}

#[test]
fn what_is_written_is_read_again_with_the_archive_it_speaks_of() {
    round_trip::<RunEvaluation>();
    round_trip::<RunAdaptation>();
    round_trip::<RunStability>();
}

#[test]
fn another_version_and_damage_are_named_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(RunStability::FILE);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    for (text, reason) in [
        (r#"{"version": 2, "stability": {}}"#, "format version 2"),
        (r#"{"stability": {}}"#, "has no format version"),
        (r#"{"version": 1}"#, "damaged"),
        ("{", "is not a measurement"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = Stored::<RunStability>::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("stability.json"), "{error}");
        assert!(error.contains("`autoqd stability`"), "{error}");
    }
}
