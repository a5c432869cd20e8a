//! `autoqd env` from outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn autoqd(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_autoqd")).args(arguments).env_clear().output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn recording() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/envs/Hopper-v5.json.gz")
}

#[test]
fn list_names_every_task_and_needs_no_environment_variable() {
    let output = autoqd(&["env", "list"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in [
        "ant",
        "half-cheetah",
        "hopper",
        "humanoid",
        "humanoid-standup",
        "inverted-double-pendulum",
        "inverted-pendulum",
        "pusher",
        "reacher",
        "swimmer",
        "walker2d",
        "bipedal-walker",
        "point-maze",
        "planar-arm",
    ] {
        assert!(text(&output.stdout).contains(name), "{name}");
    }
}

#[test]
fn show_gives_sizes_bounds_terms_and_measures_by_name_id_and_file() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quadruped/quadruped.toml");
    for (task, expected) in [
        ("ant", "105 numbers"),
        ("Walker2d-v5", "left foot in [0, 1]"),
        ("hopper", "forward + survive + ctrl"),
        (file.to_str().unwrap(), "[-2, -0.4]"),
    ] {
        let output = autoqd(&["env", "show", task]);
        assert!(text(&output.stdout).contains(expected), "{}{}", text(&output.stdout), text(&output.stderr));
    }
}

#[test]
fn an_unknown_task_is_one_line_with_the_nearest_name() {
    let output = autoqd(&["env", "show", "hoper"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(error.starts_with("error: unknown task 'hoper'; did you mean 'hopper'?"), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn check_tells_equal_recordings_from_changed_ones() {
    let original = recording();
    let output = autoqd(&["env", "check", original.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("1568 steps") && text(&output.stdout).contains(" 0 mismatches"));

    let mut json = String::new();
    let file = std::fs::File::open(original).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut json).unwrap();
    // One digit of one reward.
    let place = json.find("\"reward\":").unwrap() + 14;
    let digit = json[place..].find(|c: char| c.is_ascii_digit()).unwrap() + place + 4;
    let changed = if json.as_bytes()[digit] == b'7' { "8" } else { "7" };
    json.replace_range(digit..=digit, changed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.json");
    std::fs::write(&path, json).unwrap();
    let output = autoqd(&["env", "check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("first: rollout 0"), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("reward is"), "{}", text(&output.stdout));
}

#[test]
fn a_file_that_is_no_recording_is_an_error() {
    for (name, content) in [("a.json", "{}"), ("b.json", "not json"), ("c.json.gz", "\u{1f}\u{8b}")] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), content).unwrap();
        let output = autoqd(&["env", "check", folder.path().join(name).to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).starts_with("error: "), "{}", text(&output.stderr));
    }
}

#[test]
fn init_writes_a_task_for_a_model_that_other_commands_read() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("robot.xml");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quadruped/quadruped.xml");
    std::fs::copy(example, &model).unwrap();
    let (model, task) = (model.to_str().unwrap(), folder.path().join("robot.toml"));
    let task = task.to_str().unwrap();
    let output = autoqd(&["init", model, "-o", task]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("trunk") && text(&output.stdout).contains("lanes engine"));
    assert!(std::fs::read_to_string(task).unwrap().contains("model = \"robot.xml\""));
    let shown = autoqd(&["env", "show", task]);
    assert!(text(&shown.stdout).contains("fl_foot contact"), "{}", text(&shown.stderr));
    let again = autoqd(&["init", model, "-o", task]);
    assert!(text(&again.stderr).contains("--force"), "{}", text(&again.stderr));
    let wrong = autoqd(&["env", "show", model]);
    assert!(text(&wrong.stderr).contains("autoqd init"), "{}", text(&wrong.stderr));
}

#[test]
fn check_without_files_replays_what_comes_with_the_program() {
    let output = autoqd(&["env", "check"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert_eq!(said.lines().count(), 6, "{said}");
    assert!(
        said.lines().all(|line| line.ends_with(", 0 mismatches") && !line.contains(" 0 steps")),
        "{said}"
    );
}
