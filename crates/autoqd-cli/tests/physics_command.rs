//! `autoqd physics` from outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn autoqd(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_autoqd")).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A short run on the fast simulator.
fn run(folder: &Path) -> PathBuf {
    let path = folder.join("run");
    let out = format!("--out={}", path.display());
    let output = autoqd(&[
        "run",
        "hopper",
        "--preset=quick",
        "--set=batch_size=4",
        "--set=episodes=2",
        "--set=iterations=3",
        "--set=update_schedule=[2]",
        &out,
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    path
}

#[test]
fn check_and_compare_take_the_policies_of_a_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = run(folder.path());
    let path = path.to_str().expect("a path in UTF-8");

    let output = autoqd(&["physics", "check", "hopper", "--run", path, "--steps=2000", "--no-speed"]);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}{}", text(&output.stderr));
    assert!(printed.contains("visited by policies: 200"), "{printed}");
    assert!(printed.contains("after their falls"), "{printed}");

    let other = autoqd(&["physics", "check", "walker2d", "--run", path, "--steps=100", "--no-speed"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("the run is of task 'hopper', not of 'walker2d'"));

    let compare = ["physics", "compare", path, "--policies=8", "--seeds=6"];
    let output = autoqd(&compare);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}{}", text(&output.stderr));
    assert!(
        printed.contains("hopper: 8 policies, 6 seeds each, on libmujoco and on the lanes engine"),
        "{printed}"
    );
    assert!(printed.contains("\nnot distinguishable"), "{printed}");
    for quantity in ["return", "episode length", "foot"] {
        assert!(printed.contains(&format!("\n{quantity} ")), "{printed}");
    }
    let again = autoqd(&[&compare[..], &["--threads=1"]].concat());
    assert_eq!(text(&again.stdout), printed, "the same for any number of threads");
}

#[test]
fn a_task_with_one_simulator_is_not_compared_with_itself() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run");
    let run = run.to_str().expect("a path in UTF-8");
    let made = autoqd(&["run", "point-maze", "--preset=quick", "--set=iterations=2", "--out", run]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let output = autoqd(&["physics", "compare", run]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("has one simulator only"), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
}

#[test]
fn tasks_without_mujoco_are_refused() {
    let output = autoqd(&["physics", "check", "point-maze", "--no-speed"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("the lanes engine runs MuJoCo tasks only"),
        "{}",
        text(&output.stderr)
    );
}
