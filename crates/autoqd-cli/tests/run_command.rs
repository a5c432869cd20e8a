//! `autoqd run`, `resume`, `status`, `verify`, `describe` and `export`, end to end with the real program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_autoqd");

/// A small run whose iterations take milliseconds.
const SMALL: [&str; 12] = [
    "point-maze",
    "--preset=quick",
    "--seed=7",
    "--set=iterations=40",
    "--set=batch_size=8",
    "--set=episodes=2",
    "--set=checkpoint_every=1",
    "--set=update_schedule=[5,12,25]",
    "--set=emitter=cma",
    "--set=policy.hidden=[16]",
    "--set=measures_dimension=3",
    "--set=cells=8",
];

fn autoqd(args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(args).stdin(Stdio::null());
    command
}

fn output(args: &[&str]) -> Output {
    autoqd(args).output().expect("the program starts")
}

fn run(folder: &Path, more: &[&str]) -> Output {
    let out = format!("--out={}", folder.display());
    let mut args = vec!["run", &out];
    args.extend(SMALL);
    args.extend(more);
    output(&args)
}

fn succeeds(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "exit {:?}: {error}", output.status.code());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn fails(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "should have failed");
    assert!(!error.contains("panicked") && !error.contains("stack backtrace"), "{error}");
    error
}

fn results(folder: &Path) -> Vec<Vec<u8>> {
    let names = ["archive.parquet", "descriptor.safetensors", "metrics.csv"];
    names.map(|name| std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))).to_vec()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

#[test]
fn a_run_is_the_same_for_any_number_of_threads() {
    let folder = Folder::new();
    let one = folder.join("one");
    let said = succeeds(&run(&one, &["--threads=1"]));
    assert!(said.contains("policies") && said.contains("archive.parquet"), "{said}");
    for threads in ["2", "7"] {
        let other = folder.join(threads);
        succeeds(&run(&other, &[&format!("--threads={threads}")]));
        assert!(results(&one) == results(&other), "{threads} threads");
    }
}

#[test]
fn killed_at_any_moment_a_run_resumes_to_the_same_bytes() {
    let folder = Folder::new();
    let whole = folder.join("whole");
    let began = Instant::now();
    succeeds(&run(&whole, &[]));
    let duration = began.elapsed();
    let killed = folder.join("killed");
    let out = format!("--out={}", killed.display());
    let mut args = vec!["run", &out];
    args.extend(SMALL);
    kill_after(&args, duration / 12);
    for k in 0..20_u32 {
        if !killed.join("config.toml").exists() {
            kill_after(&args, duration / 3);
            continue;
        }
        // A different part of an iteration every time; some fall into the writing of a checkpoint.
        kill_after(&["resume", text(&killed)], duration / 12 + Duration::from_micros(u64::from(k) * 977));
    }
    succeeds(&output(&["resume", text(&killed)]));
    assert!(results(&whole) == results(&killed));
    succeeds(&output(&["verify", text(&killed)]));
}

fn kill_after(args: &[&str], time: Duration) {
    let mut child =
        autoqd(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    std::thread::sleep(time);
    child.kill().expect("a child to kill");
    child.wait().expect("a child that ended");
}

#[test]
fn a_stop_signal_finishes_the_iteration_and_says_how_to_go_on() {
    let folder = Folder::new();
    let path = folder.join("run");
    let out = format!("--out={}", path.display());
    let mut args = vec!["run", &out];
    args.extend(SMALL);
    args.push("--iterations=100000");
    let child =
        autoqd(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let began = Instant::now();
    while !path.join("checkpoint.aqd").exists() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
    let said = succeeds(&child.wait_with_output().expect("the end of the run"));
    assert!(said.contains("autoqd resume"), "{said}");
    let status = succeeds(&output(&["status", "--json", text(&path)]));
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    for key in [
        "iteration",
        "iterations",
        "elites",
        "coverage",
        "qd_score",
        "best_objective",
        "env_steps",
        "seconds",
    ] {
        assert!(status[key].is_number(), "{key}: {status}");
    }
    assert!(status["env_steps_per_second"].is_number());
    assert_eq!(status["state"], "stopped");
}

#[test]
fn limits_stop_cleanly() {
    let folder = Folder::new();
    let path = folder.join("run");
    let said = succeeds(&run(&path, &["--max-env-steps=20000"]));
    assert!(said.contains("autoqd resume"), "{said}");
    succeeds(&output(&["resume", text(&path)]));
    let whole = folder.join("whole");
    succeeds(&run(&whole, &[]));
    assert!(results(&whole) == results(&path));
}

#[test]
fn more_iterations_can_be_asked_for_and_nothing_else_changed() {
    let folder = Folder::new();
    let (short, long) = (folder.join("short"), folder.join("long"));
    succeeds(&run(&short, &["--iterations=15"]));
    succeeds(&output(&["resume", text(&short), "--iterations=40", "--threads=2"]));
    succeeds(&run(&long, &[]));
    assert!(results(&short) == results(&long));
    let error = fails(&output(&["resume", text(&short), "--iterations=10"]));
    assert!(error.contains("iterations"), "{error}");
    let config = std::fs::read_to_string(short.join("config.toml")).expect("a configuration");
    std::fs::write(short.join("config.toml"), config.replace("episodes = 2", "episodes = 3"))
        .expect("written");
    let error = fails(&output(&["resume", text(&short)]));
    assert!(error.contains("episodes"), "{error}");
}

#[test]
fn an_existing_run_is_never_overwritten() {
    let folder = Folder::new();
    let path = folder.join("run");
    succeeds(&run(&path, &["--iterations=2"]));
    let before = results(&path);
    let error = fails(&run(&path, &["--iterations=2"]));
    assert!(error.contains("resume") || error.contains("exists"), "{error}");
    assert!(results(&path) == before);
}

#[test]
fn a_policy_of_the_archive_describes_itself() {
    let folder = Folder::new();
    let path = folder.join("run");
    succeeds(&run(&path, &["--iterations=10", "--set=normalizer=frozen"]));
    let csv = folder.join("archive.csv");
    succeeds(&output(&["export", text(&path), "--out", text(&csv)]));
    let csv = std::fs::read_to_string(csv).expect("a table");
    let mut lines = csv.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let first: Vec<&str> = lines.next().expect("an elite").split(',').collect();
    let column = |name: &str| first[header.iter().position(|h| *h == name).expect("a column")];
    let said = succeeds(&output(&["describe", text(&path), "--policy", column("id"), "--json"]));
    let described: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(described["objective"].as_f64(), column("objective").parse().ok());
    assert_eq!(described["measures"][0].as_f64(), column("measures_0").parse().ok());
}

#[test]
fn bad_input_is_one_clear_message() {
    let folder = Folder::new();
    let path = folder.join("run");
    for (args, word) in [
        (&["hoper"][..], "hopper"),
        (&["point-maze", "--preset=papr"], "paper"),
        (&["point-maze", "--set=iteratons=3"], "iterations"),
        (&["point-maze", "--set=episodes=none"], "episodes"),
        (&["point-maze", "--set=learning_rate=7"], "learning_rate"),
        (&["point-maze", "--method=magic"], "method"),
        (&["point-maze", "--max-time=soon"], "max-time"),
        (&["missing.toml"], "missing.toml"),
    ] {
        let out = format!("--out={}", path.display());
        let mut all = vec!["run", &out];
        all.extend(args);
        let error = fails(&output(&all));
        assert!(error.contains(word), "{args:?}: {error}");
        assert!(!path.exists(), "{args:?} left a folder behind");
    }
    let error = fails(&output(&["resume", text(&folder.join("nowhere"))]));
    assert!(error.contains("nowhere"), "{error}");
}

#[test]
fn help_explains_every_setting() {
    let help = succeeds(&output(&["run", "--help"]));
    let mut registry = autoqd::registry::Registry::default();
    autoqd_learn::register(&mut registry);
    for field in autoqd::config::fields(&registry) {
        assert!(help.contains(&format!("  {} = {}\n", field.key, field.default)), "{}", field.key);
        let first: Vec<&str> = field.doc.split_whitespace().take(3).collect();
        assert!(help.contains(&first.join(" ")), "{}: {}", field.key, field.doc);
    }
    assert!(help.lines().all(|line| line.len() <= 120));
    assert!(succeeds(&output(&["run", "-h"])).lines().count() < 60, "the short help stays short");
}

#[test]
fn two_processes_cannot_share_a_run() {
    let folder = Folder::new();
    let path = folder.join("run");
    let out = format!("--out={}", path.display());
    let mut args = vec!["run", &out];
    args.extend(SMALL);
    args.push("--iterations=100000");
    let mut child =
        autoqd(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    let began = Instant::now();
    while !path.join("checkpoint.aqd").exists() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let error = fails(&output(&["resume", text(&path)]));
    child.kill().expect("a child to kill");
    child.wait().expect("a child that ended");
    assert!(error.contains("process") || error.contains("use"), "{error}");
    succeeds(&output(&["resume", text(&path), "--max-env-steps=1"]));
}
