//! The four methods with the real program: runs, resumes after a kill in the middle of a training, and everything that
//! works on run folders.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_autoqd");
const METHODS: [&str; 4] = ["autoqd", "regular", "aurora", "lstm-aurora"];

/// A small run whose iterations take milliseconds.
const SMALL: [&str; 10] = [
    "point-maze",
    "--preset=quick",
    "--seed=7",
    "--set=iterations=8",
    "--set=batch_size=6",
    "--set=episodes=2",
    "--set=checkpoint_every=2",
    "--set=update_schedule=[3,6]",
    "--set=policy.hidden=[16]",
    "--set=autoencoder.reservoir=500",
];

fn autoqd(args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(args).stdin(Stdio::null());
    command
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "exit {:?}: {error}", output.status.code());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn run_command(folder: &Path, method: &str, more: &[&str]) -> Command {
    let mut command = autoqd(&["run", "--method", method, "--out"]);
    command.arg(folder).args(SMALL).args(more);
    command
}

fn results(folder: &Path) -> Vec<Vec<u8>> {
    let names = ["archive.parquet", "descriptor.safetensors", "metrics.csv", "training.csv"];
    names.map(|name| std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))).to_vec()
}

#[test]
fn threads_of_the_search_and_of_the_tensor_library_do_not_change_the_bytes() {
    for method in &METHODS[2..] {
        let folder = tempfile::tempdir().unwrap();
        let run = |threads: &str| {
            let path = folder.path().join(threads);
            let option = format!("--threads={threads}");
            succeeds(run_command(&path, method, &[&option]).env("RAYON_NUM_THREADS", threads));
            results(&path)
        };
        assert_eq!(run("1"), run("4"), "{method}");
    }
}

/// Waits until the log of a run has so many rows.
fn wait_for_rows(folder: &Path, rows: usize) {
    let start = Instant::now();
    while std::fs::read_to_string(folder.join("metrics.csv")).unwrap_or_default().lines().count() <= rows {
        assert!(start.elapsed() < Duration::from_secs(60), "no row {rows} in {}", folder.display());
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_run_killed_in_the_middle_of_a_training_goes_on_to_the_same_bytes() {
    let long =
        ["--set=update_schedule=[5]", "--set=autoencoder.epochs=2000", "--set=autoencoder.patience=2000"];
    for method in &METHODS[2..] {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole");
        succeeds(&mut run_command(&whole, method, &long));
        // How long a training takes differs between machines by far more than the time a signal needs:
        // a kill that came after the training is tried again, sooner.
        let killed = (0..8)
            .map(|attempt| (folder.path().join(attempt.to_string()), Duration::from_millis(400 >> attempt)))
            .find(|(killed, delay)| {
                let mut child = run_command(killed, method, &long).stderr(Stdio::null()).spawn().unwrap();
                wait_for_rows(killed, 4);
                std::thread::sleep(*delay);
                child.kill().unwrap();
                child.wait().unwrap();
                std::fs::read_to_string(killed.join("metrics.csv")).unwrap().lines().count() == 5
            });
        let (killed, _) = killed.unwrap_or_else(|| panic!("{method}: no kill came during the training"));
        succeeds(autoqd(&["resume"]).arg(&killed));
        assert!(results(&whole) == results(&killed), "{method}");
        assert_eq!(std::fs::read_to_string(whole.join("training.csv")).unwrap().lines().count(), 2001);
    }
}

#[test]
fn what_works_on_run_folders_works_with_every_method() {
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<PathBuf> = METHODS.iter().map(|method| folder.path().join(method)).collect();
    for (method, run) in METHODS.iter().zip(&runs) {
        succeeds(&mut run_command(run, method, &["--set=autoencoder.epochs=5"]));
        succeeds(autoqd(&["verify"]).arg(run));
        let status = succeeds(autoqd(&["status"]).arg(run));
        assert!(status.contains(method), "{status}");
    }
    let small = ["--policies=4", "--rollouts=3"];
    let stability = succeeds(autoqd(&["stability"]).args(small).args(&runs));
    assert!(METHODS.iter().all(|method| stability.contains(method)), "{stability}");
    let eval = succeeds(autoqd(&["eval"]).args(&runs));
    assert!(METHODS.iter().all(|method| eval.contains(method)), "{eval}");
    let compare = succeeds(autoqd(&["compare"]).args(&runs));
    assert!(METHODS.iter().all(|method| compare.contains(method)), "{compare}");
    runs.iter().for_each(|run| groups_and_choices_are_of_all_policies(run));
    let page = folder.path().join("report.html");
    succeeds(autoqd(&["report", "--out"]).arg(&page).args(&runs));
    assert!(page.exists());
}

/// Grouping and choosing in embedding space needs nothing that only some methods store.
fn groups_and_choices_are_of_all_policies(run: &Path) {
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&succeeds(autoqd(args).arg("--json").arg(run))).unwrap()
    };
    let elites = json(&["status"])["elites"].as_u64().unwrap();
    let clusters = json(&["cluster", "--count=3", "--threads=1"]);
    assert_eq!(clusters, json(&["cluster", "--count=3", "--threads=2"]));
    let groups = clusters["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 3, "{clusters}");
    let sizes = groups.iter().map(|group| group["size"].as_u64().unwrap());
    assert_eq!(sizes.sum::<u64>(), elites, "{clusters}");
    assert!(
        groups.iter().all(|group| group["policies"].as_array().unwrap().contains(&group["medoid"]["id"]))
    );
    let chosen = json(&["select", "--space=embedding", "--top=100%", "--count=4"]);
    assert_eq!(chosen["policies"].as_array().unwrap().len(), 4, "{chosen}");
}

#[test]
fn describing_an_elite_gives_the_measures_it_is_stored_under() {
    for method in &METHODS[2..] {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        succeeds(&mut run_command(&run, method, &["--set=autoencoder.epochs=3"]));
        let table = autoqd::run_folder::ArchiveTable::read(&run).unwrap();
        let id = table.id[0].to_string();
        let described = succeeds(autoqd(&["describe", "--json", "--policy", &id]).arg(&run));
        let described: serde_json::Value = serde_json::from_str(&described).unwrap();
        let measures: Vec<f64> = serde_json::from_value(described["measures"].clone()).unwrap();
        assert_eq!(measures, table.measures.row(0), "{method}");
    }
}
