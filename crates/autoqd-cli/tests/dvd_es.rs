//! DvD-ES with the real program: runs, resumes, and everything that works on run folders.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use autoqd::run_folder::ArchiveTable;

const SMALL: [&str; 8] = [
    "run",
    "point-maze",
    "--method=dvd-es",
    "--preset=quick",
    "--seed=3",
    "--set=dvd.agents=4",
    "--set=dvd.pairs=6",
    "--set=checkpoint_every=2",
];

fn autoqd(args: &[&str], paths: &[&Path]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_autoqd"));
    let output = command.args(args).args(paths).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout) + &text(&output.stderr))
    } else {
        Err(text(&output.stderr))
    }
}

fn run(folder: &Path, more: &[&str]) -> PathBuf {
    autoqd(&[&SMALL[..], more, &["--out"]].concat(), &[folder]).unwrap();
    folder.to_owned()
}

fn results(folder: &Path) -> Vec<Vec<u8>> {
    let names = ["archive.parquet", "descriptor.safetensors", "metrics.csv", "figures.csv"];
    names.map(|name| std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))).to_vec()
}

#[test]
fn a_run_that_stopped_goes_on_to_the_same_bytes_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    run(&whole, &["--set=iterations=6", "--threads=1"]);
    // Stops after the first iteration.
    run(&parts, &["--set=iterations=6", "--threads=2", "--max-env-steps=1"]);
    assert_eq!(std::fs::read_to_string(parts.join("metrics.csv")).unwrap().lines().count(), 2);
    autoqd(&["resume", "--threads=2"], &[&parts]).unwrap();
    assert!(results(&whole) == results(&parts));
}

#[test]
fn what_works_on_run_folders_works_on_both_variants() {
    let folder = tempfile::tempdir().unwrap();
    let runs = ["fixed", "released"].map(|variant| {
        let set = format!("--set=dvd.variant={variant}");
        run(&folder.path().join(variant), &["--set=iterations=4", &set])
    });
    let paths = [runs[0].as_path(), &runs[1]];
    for path in paths {
        let status = autoqd(&["status"], &[path]).unwrap();
        assert!(status.contains("dvd-es"), "{status}");
        autoqd(&["verify"], &[path]).unwrap();
        let table = ArchiveTable::read(path).unwrap();
        assert_eq!((table.len(), table.cell.clone()), (4, vec![0, 1, 2, 3]));
        let policy = table.policy().unwrap().unwrap();
        assert!(policy.filter.is_some() && policy.parameter_count() == table.parameters.width);
        let models = path.join("models");
        autoqd(&["export", "--format=onnx", "--out"], &[&models, path]).unwrap();
        assert_eq!(std::fs::read_dir(&models).unwrap().count(), 4);
        autoqd(&["export", "--out"], &[&folder.path().join("table.csv"), path]).unwrap();
        autoqd(&["cluster", "--count=2"], &[path]).unwrap();
        autoqd(&["select", "--space=embedding", "--count=2"], &[path]).unwrap();
        let message = autoqd(&["stability"], &[path]).unwrap_err();
        assert!(message.contains("has no descriptor"), "{message}");
    }
    let eval = autoqd(&["eval"], &paths).unwrap();
    assert!(eval.contains("dvd-es"), "{eval}");
    let compare = autoqd(&["compare"], &paths).unwrap();
    assert!(compare.contains("dvd-es"), "{compare}");
    let page = folder.path().join("report.html");
    autoqd(&["report", "--out"], &[&page, paths[0], paths[1]]).unwrap();
    assert!(page.exists());
}

#[test]
fn the_stored_return_is_the_one_that_the_stored_policy_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = run(&folder.path().join("run"), &["--set=iterations=5", "--set=episodes=3"]);
    let table = ArchiveTable::read(&path).unwrap();
    let task = autoqd_env::load_task("point-maze", &Default::default()).unwrap();
    let pool = autoqd::search::thread_pool(Some(1)).unwrap();
    let policy = table.policy().unwrap().unwrap();
    let physics = autoqd_env::Physics::default();
    let evaluator = autoqd::evaluator::LocalEvaluator::new(task, policy, physics, pool).unwrap();
    let candidates = autoqd::evaluator::Candidates {
        parameters: &table.parameters.values,
        dimension: table.parameters.width,
        seeds: &table.seeds.values,
        episodes: 3,
    };
    let again = autoqd::evaluator::Evaluator::evaluate(&evaluator, candidates, &[]).unwrap();
    for (i, evaluation) in again.iter().enumerate() {
        assert_eq!(evaluation.objective(), table.objective[i]);
        assert_eq!(evaluation.measures(), table.measures.row(i));
    }
}

#[test]
fn bad_settings_are_refused_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    for (set, expected) in [
        ("--set=dvd.agents=1", "dvd.agents = 1 is not allowed"),
        ("--set=dvd.pairs=0", "dvd.pairs = 0 is not allowed"),
        ("--set=dvd.arms=[2.0]", "dvd.arms = 2.0 is not allowed"),
    ] {
        let message = autoqd(&[&SMALL[..5], &[set, "--out"]].concat(), &[&out]).unwrap_err();
        assert!(message.contains(expected), "{message}");
        assert!(!out.exists());
    }
}
