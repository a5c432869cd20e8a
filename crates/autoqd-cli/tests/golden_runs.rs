//! Run folders of every released format stay usable: tests/golden/runs/README.md has the rule.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use autoqd_view::RunView;
use autoqd_view::server::{Server, ServerConfig};
use serde_json::Value;

const RUNS: [&str; 5] = ["autoqd", "regular", "aurora", "lstm-aurora", "swimmer"];
/// Their trained weights, and with them what they find, depend on the kind of processor.
const LEARNED: [&str; 2] = ["aurora", "lstm-aurora"];

fn golden(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/runs").join(version)
}

fn versions() -> Vec<String> {
    let folders = fs::read_dir(golden("")).unwrap().map(|entry| entry.unwrap());
    let names = folders.filter(|entry| entry.path().is_dir());
    names.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// A copy of all runs of a version that commands may write to.
fn copied(version: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(&golden(version), folder.path());
    folder
}

fn autoqd(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_autoqd"));
    command.args(args).stdin(Stdio::null());
    command
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: exit {:?}: {error}", output.status.code());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(command: &mut Command) -> Value {
    serde_json::from_str(&succeeds(command.arg("--json"))).unwrap()
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn they_are_read() {
    for version in versions() {
        let folder = copied(&version);
        for name in RUNS {
            let run = folder.path().join(name);
            assert_eq!(json(autoqd(&["verify"]).arg(&run))["ok"], true, "{version} {name}");
            let status = json(autoqd(&["status"]).arg(&run));
            assert_eq!((&status["state"], &status["iteration"]), (&"stopped".into(), &4.into()), "{status}");
            let table = autoqd::run_folder::ArchiveTable::read(&run).unwrap();
            assert_eq!(status["elites"], table.len(), "{version} {name}");
            for file in ["elites.csv", "elites.npz", "elites.parquet"] {
                succeeds(autoqd(&["export", "--out"]).arg(folder.path().join(file)).arg(&run));
            }
            let described = json(autoqd(&["describe", "--policy", &table.id[0].to_string()]).arg(&run));
            let measures: Vec<f64> = serde_json::from_value(described["measures"].clone()).unwrap();
            // Under the normaliser of the elite's own iteration, so that they are what the archive holds.
            let far = measures.iter().zip(table.measures.row(0)).map(|(a, b)| (a - b).abs());
            assert!(far.fold(0.0, f64::max) < 1e-9, "{version} {name}: {measures:?}");
        }
    }
}

#[test]
fn they_are_evaluated_under_their_reference_with_the_numbers_of_then() {
    for version in versions() {
        let folder = copied(&version);
        let reference = folder.path().join("reference.json");
        for name in &RUNS[..4] {
            let run = folder.path().join(name);
            let stored = read_json(&run.join("eval/metrics.json"));
            succeeds(autoqd(&["eval", "--reference"]).arg(&reference).arg(&run));
            let now = read_json(&run.join("eval/metrics.json"));
            for number in ["/mean_objective", "/gt/0/qd_score", "/vendi/value", "/quality_vendi"] {
                let number = format!("/metrics{number}");
                let [old, new] = [&stored, &now].map(|file| file.pointer(&number).unwrap().as_f64().unwrap());
                assert!((new - old).abs() < 1e-9 * old.abs(), "{name}{number}: {new}, not {old}");
            }
        }
    }
}

#[test]
fn they_are_reported_and_explored_with_their_measurements() {
    for version in versions() {
        let folder = copied(&version);
        let runs = RUNS.map(|name| folder.path().join(name));
        let page = folder.path().join("report.html");
        succeeds(autoqd(&["report", "--behaviours=1", "--seconds=0.2", "--out"]).arg(&page).args(&runs[..4]));
        succeeds(autoqd(&["report", "--behaviours=1", "--seconds=0.2", "--out"]).arg(&page).arg(&runs[4]));
        let listed = explored(&runs);
        for (name, run) in RUNS.iter().zip(listed.as_array().unwrap()) {
            assert_eq!((&run["id"], &run["iteration"]), (&(*name).into(), &4.into()), "{listed}");
        }
    }
}

/// What the explorer lists.
fn explored(runs: &[PathBuf]) -> Value {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let runs = RunView::open_all(runs, &Default::default()).unwrap();
    let server = runtime.block_on(Server::bind(runs, ServerConfig::default())).unwrap();
    let address = server.address();
    runtime.spawn(server.serve(std::future::pending()));
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /api/runs HTTP/1.0\r\nhost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn they_are_resumed_to_the_archives_of_then() {
    for version in versions() {
        let folder = copied(&version);
        let digests = read_json(&golden(&version).join("finished/digests.json"));
        for name in RUNS {
            let run = folder.path().join(name);
            succeeds(autoqd(&["resume"]).arg(&run));
            let verified = json(autoqd(&["verify"]).arg(&run));
            assert_eq!((&verified["ok"], &verified["iteration"]), (&true.into(), &6.into()), "{verified}");
            let learned = LEARNED.contains(&name);
            if !learned {
                assert_eq!(verified["archive_digest"], digests[name], "{version} {name}");
            }
            let finished = golden(&version).join(format!("finished/{name}.csv"));
            assert_same_metrics(&run.join("metrics.csv"), &finished, learned);
        }
    }
}

/// Every column of then has the numbers of then, whatever was added since; of learned methods the first two.
fn assert_same_metrics(now: &Path, then: &Path, learned: bool) {
    let [now, then] = [now, then].map(table);
    let columns = if learned { 2 } else { then[0].len() };
    for (column, name) in then[0].iter().enumerate().take(columns) {
        let place = now[0].iter().position(|n| n == name).unwrap_or_else(|| panic!("no column {name}"));
        let of =
            |table: &[Vec<String>], at: usize| table.iter().map(|row| row[at].clone()).collect::<Vec<_>>();
        assert_eq!(of(&now, place), of(&then, column), "{name}");
    }
}

fn table(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}
