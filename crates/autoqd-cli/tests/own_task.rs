//! A run owns its task and its configuration: what becomes of the files they came from, and edits in the folder.
#![cfg(feature = "mujoco")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_autoqd");

const SMALL: [&str; 7] = [
    "--preset=quick",
    "--threads=1",
    "--set=iterations=2",
    "--set=batch_size=4",
    "--set=episodes=1",
    "--set=update_schedule=[2]",
    "--set=policy.hidden=[4]",
];

/// A mesh, a tetrahedron, as an OBJ file.
const MESH: &str = "v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0 0 0.2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
const MODEL: &str = r#"<mujoco>
  <compiler meshdir="parts"/>
  <include file="joints.xml"/>
  <asset><mesh name="hull" file="hull.obj"/></asset>
  <worldbody>
    <body name="cart" pos="0 0 0.5">
      <joint name="x" type="slide" axis="1 0 0"/>
      <geom type="mesh" mesh="hull"/>
    </body>
  </worldbody>
</mujoco>"#;
const INCLUDED: &str =
    r#"<mujoco><actuator><motor joint="x" gear="1" ctrlrange="-1 1"/></actuator></mujoco>"#;
const TASK: &str = r#"
name = "cart"
model = "../models/cart.xml"
frame_skip = 1
max_episode_steps = 20
[[observation]]
kind = "positions"
[[observation]]
kind = "velocities"
[[reward]]
kind = "forward-velocity"
body = "cart"
weight = 1.0
"#;

/// A task with a model that has an include and a mesh, in folders of their own.
fn task_in(folder: &Path) -> PathBuf {
    let origin = folder.join("origin");
    for (name, text) in [
        ("tasks/cart.toml", TASK),
        ("models/cart.xml", MODEL),
        ("models/joints.xml", INCLUDED),
        ("models/parts/hull.obj", MESH),
    ] {
        let path = origin.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    origin.join("tasks/cart.toml")
}

fn autoqd(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output().expect("the program starts")
}

fn succeeds(arguments: &[&str]) -> String {
    let output = autoqd(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn refused(arguments: &[&str]) -> String {
    let output = autoqd(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    error
}

fn digest(run: &str) -> String {
    let verified = succeeds(&["verify", "--json", run]);
    let verified: serde_json::Value = serde_json::from_str(&verified).unwrap();
    assert_eq!(verified["ok"], true, "{verified}");
    verified["archive_digest"].as_str().unwrap().to_owned()
}

/// Ids of the policies of a run.
fn ids(run: &str) -> Vec<u64> {
    autoqd_measure::LoadedRun::open(Path::new(run)).unwrap().table.id.clone()
}

struct Place {
    folder: tempfile::TempDir,
    task: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let task = task_in(folder.path());
        Self { folder, task }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, name: &str, more: &[&str]) -> String {
        let path = self.path(name);
        succeeds(&[&["run", self.task.to_str().unwrap(), "--out", &path], &SMALL[..], more].concat());
        path
    }
}

#[test]
fn a_run_whose_task_was_moved_away_is_resumed_and_measured() {
    let place = Place::new();
    let whole = place.run("whole", &["--set=iterations=4"]);
    let run = place.run("run", &[]);
    fs::remove_dir_all(place.path("origin")).unwrap();
    succeeds(&["resume", &run, "--iterations=4"]);
    assert_eq!(digest(&run), digest(&whole));
    succeeds(&["eval", &run, "--episodes=2"]);
    let [best, ..] = ids(&run)[..] else { panic!("no policies") };
    succeeds(&["describe", &run, "--json", &format!("--policy={best}")]);
    succeeds(&["run", "--from", &run, "--out", &place.path("again"), "--seed=5"]);
}

#[test]
fn a_changed_task_is_noticed_at_resume() {
    let place = Place::new();
    let run = place.run("run", &[]);
    for (file, old, new, words) in [
        ("tasks/cart.toml", "weight = 1.0", "weight = 3.0", "reward[0].weight is 3.0, was 1.0"),
        ("models/joints.xml", "gear=\"1\"", "gear=\"2\"", "joints.xml has changed"),
        ("models/parts/hull.obj", "v 0.2 0 0", "v 0.4 0 0", "hull.obj has changed"),
    ] {
        let path = place.folder.path().join("origin").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old));
        fs::write(&path, text.replace(old, new)).unwrap();
        let error = refused(&["resume", &run, "--iterations=3"]);
        assert!(error.contains(words) && error.contains("--own-task"), "{error}");
        fs::write(&path, text).unwrap();
    }
    fs::write(&place.task, TASK.replace("weight = 1.0", "weight = 3.0")).unwrap();
    // A new run in the changed task, with the settings of the old one.
    let changed = place.path("changed");
    succeeds(&["run", "--from", &run, place.task.to_str().unwrap(), "--out", &changed]);
    let config = |run: &str| {
        let text = fs::read_to_string(Path::new(run).join("config.toml")).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(config(&run), config(&changed));
    assert_ne!(digest(&run), digest(&changed));
    // Runs of different tasks are not measured as one, although the task file has one name.
    let error = refused(&["eval", &run, &changed]);
    assert!(error.contains("different tasks"), "{error}");
    succeeds(&["resume", &run, "--iterations=3", "--own-task"]);
}

#[test]
fn an_edited_copy_of_the_task_is_refused_by_every_command() {
    let place = Place::new();
    let run = place.run("run", &[]);
    let model = Path::new(&run).join("task/models/cart.xml");
    fs::write(&model, MODEL.replace("0 0 0.5", "0 0 0.6")).unwrap();
    let page = place.path("page.html");
    let commands: [&[&str]; 6] = [
        &["resume", &run, "--iterations=3"],
        &["eval", &run],
        &["adapt", &run, "--vary=mass-scale=1:2:1"],
        &["describe", &run, "--policy=0"],
        &["render", &run],
        &["report", &run, "--out", &page],
    ];
    for command in commands {
        let error = refused(command);
        assert!(error.contains("task/models/cart.xml has been changed"), "{command:?}: {error}");
    }
    assert_eq!(autoqd(&["verify", &run]).status.code(), Some(1));
}

#[test]
fn an_edited_configuration_is_not_trusted_by_eval() {
    let place = Place::new();
    let run = place.run("run", &[]);
    let path = Path::new(&run).join("config.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("mass_scale = 1.0", "mass_scale = 3.0")).unwrap();
    for command in ["eval", "resume", "status"] {
        let error = refused(&[command, &run]);
        assert!(error.contains("perturbation.mass_scale is 3.0, was 1.0"), "{error}");
        assert!(error.contains("autoqd run --from"), "{error}");
    }
    // A folder of an older version has the checksum in its manifest alone.
    let (body, _) = text.rsplit_once("\n# checksum").unwrap();
    fs::write(&path, body.replace("mass_scale = 1.0", "mass_scale = 3.0")).unwrap();
    assert!(refused(&["eval", &run]).contains("has been edited"));
    fs::write(&path, text).unwrap();
    succeeds(&["eval", &run, "--episodes=2"]);
}

#[test]
fn a_creation_that_was_cut_short_does_not_block_the_next() {
    let place = Place::new();
    let run = place.run("run", &[]);
    let cut = place.path("cut");
    fs::create_dir_all(format!("{cut}/.task.tmp/half")).unwrap();
    place.run("cut", &[]);
    assert_eq!(digest(&cut), digest(&run));
    // The task was there, the configuration not yet.
    for entry in fs::read_dir(&cut).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    place.run("cut", &[]);
    assert_eq!(digest(&cut), digest(&run));
    // A folder of that name that is somebody else's stays.
    let other = place.path("other");
    fs::create_dir_all(format!("{other}/task")).unwrap();
    fs::write(format!("{other}/task/notes.txt"), "mine").unwrap();
    let task = place.task.to_str().unwrap();
    assert!(refused(&["run", task, "--out", &other]).contains("is not empty"));
    assert!(Path::new(&other).join("task/notes.txt").is_file());
}

#[test]
fn a_run_that_fails_in_its_first_iteration_does_not_block_the_next() {
    let place = Place::new();
    let joints = place.path("origin/models/joints.xml");
    fs::write(&joints, INCLUDED.replace("gear=\"1\"", "gear=\"1e30\"")).unwrap();
    let run = place.path("run");
    let arguments = [&["run", place.task.to_str().unwrap(), "--out", &run], &SMALL[..]].concat();
    let error = refused(&arguments);
    assert!(error.contains("diverged"), "{error}");
    assert!(!Path::new(&run).exists());
    fs::write(&joints, INCLUDED).unwrap();
    succeeds(&arguments);
}
