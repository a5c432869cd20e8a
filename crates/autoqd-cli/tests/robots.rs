//! The robots of examples/robots, whose models come from PyPI.
#![cfg(feature = "mujoco")]

use std::path::Path;
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_autoqd");

fn autoqd(args: &[&str]) -> String {
    let output = Command::new(PROGRAM).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn go1_runs_on_lanes_with_its_meshes_in_the_pictures() {
    let robots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/robots");
    if !robots.join("models/mjlab").exists() {
        let missing = "skipped: examples/robots/get-models.sh fetches the robots";
        assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "{missing}");
        eprintln!("{missing}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let scene = robots.join("go1/scene.xml").display().to_string();
    let facts = autoqd(&["init", &scene, "-o", &path("draft.toml")]);
    let simulator = facts.lines().find(|line| line.starts_with("simulator")).unwrap();
    assert!(simulator.contains("lanes engine"), "{simulator}");
    let task = robots.join("go1/go1.toml").display().to_string();
    let out = path("run");
    autoqd(&[
        "run",
        &task,
        "--preset=quick",
        "--threads=1",
        "--set=iterations=2",
        "--set=batch_size=8",
        "--set=episodes=1",
        "--set=update_schedule=[2]",
        "--out",
        &out,
    ]);
    autoqd(&["render", &out, "--count", "1", "--frames", "2", "--out", &path("frames")]);
    let pictures = std::fs::read_dir(folder.path().join("frames")).unwrap();
    assert!(pictures.flatten().any(|file| file.path().extension().is_some_and(|e| e == "png")));
}
