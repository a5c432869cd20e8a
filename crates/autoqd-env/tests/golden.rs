//! Our environments against recordings of Gymnasium, bit for bit.
//!
//! `AUTOQD_GOLDEN` names a folder whose `envs` subfolder holds the recordings; else the committed ones are used.
#![cfg(all(feature = "mujoco", feature = "box2d"))]

use autoqd_env::golden::{Options, check_file};
use std::path::{Path, PathBuf};

fn recordings() -> Vec<PathBuf> {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let folder = std::env::var_os("AUTOQD_GOLDEN").map_or(committed, PathBuf::from).join("envs");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let is_recording = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with(".json") || name.ends_with(".json.gz")
    };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(is_recording).collect();
    files.sort();
    assert!(!files.is_empty(), "no recordings in {}", folder.display());
    files
}

fn check_all(options: Options) {
    let mut wrong = Vec::new();
    for path in recordings() {
        let report = check_file(&path, options).unwrap();
        println!("{}: {} steps, {} numbers", report.env, report.steps, report.values);
        assert!(report.steps > 0, "{} holds no steps", path.display());
        if let Some(first) = report.first {
            wrong.push(format!("{}: {} mismatches, first {first}", path.display(), report.mismatches));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn golden_recordings_are_reproduced_in_new_worlds() {
    check_all(Options { reuse: false });
}

#[test]
fn golden_recordings_are_reproduced_in_a_used_world() {
    check_all(Options { reuse: true });
}
