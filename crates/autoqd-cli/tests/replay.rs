//! A stored elite replayed in Gymnasium itself, by a script that knows nothing of this program.

use std::path::Path;
use std::process::Command;

/// Runs a short search on the reference simulator and replays its best elite.
fn replays(task: &str) {
    let python = std::env::var("AUTOQD_PYTHON").unwrap_or_else(|_| "python3".into());
    let needs = "import numpy, gymnasium, pyarrow.parquet, safetensors.numpy, mujoco, Box2D";
    let there = Command::new(&python).args(["-c", needs]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        let missing = format!("{python} cannot {needs} (AUTOQD_PYTHON chooses another interpreter)");
        assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "{missing}");
        eprintln!("skipped: {missing}");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run");
    let run = run.to_str().expect("a path in UTF-8");
    let small =
        ["--preset=quick", "--set=batch_size=4", "--set=physics=reference", "--set=update_schedule=[2]"];
    let search = Command::new(env!("CARGO_BIN_EXE_autoqd"))
        .args(["run", task, "--iterations=3", "--out", run])
        .args(small)
        .output()
        .expect("the program starts");
    assert!(search.status.success(), "{}", String::from_utf8_lossy(&search.stderr));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/replay_elite.py");
    let replay = Command::new(&python).arg(script).arg(run).output().expect("Python starts");
    let said = String::from_utf8_lossy(&replay.stdout);
    assert!(replay.status.success(), "{said}{}", String::from_utf8_lossy(&replay.stderr));
    assert!(said.contains("\"same_return\": true"), "{said}");
}

#[test]
fn hopper_elites_have_the_same_return_in_gymnasium() {
    replays("hopper");
}

#[test]
fn ant_elites_have_the_same_return_in_gymnasium() {
    replays("ant");
}

#[test]
fn bipedal_walker_elites_have_the_same_return_in_gymnasium() {
    replays("bipedal-walker");
}
