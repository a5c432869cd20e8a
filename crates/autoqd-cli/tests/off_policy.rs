//! SAC, TD3 and SMERL with the real program: runs, resumes, and everything that works on run folders.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use autoqd::run_folder::ArchiveTable;

/// A method and its settings for a run of seconds.
const METHODS: [(&str, &[&str]); 3] = [
    ("sac", &["--set=sac.hidden=[16,16]", "--set=sac.iteration_steps=150", "--set=sac.buffer=400"]),
    (
        "td3",
        &[
            "--set=td3.hidden=[16,16]",
            "--set=td3.iteration_steps=150",
            "--set=td3.buffer=400",
            "--set=td3.critic_layer_norm=true",
        ],
    ),
    (
        "smerl",
        &[
            "--set=sac.hidden=[16,16]",
            "--set=sac.iteration_steps=150",
            "--set=sac.buffer=400",
            "--set=smerl.optimum_steps=200",
            "--set=smerl.skills=3",
            "--set=smerl.discriminator_hidden=[16]",
        ],
    ),
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

fn run(method: usize, folder: &Path, more: &[&str]) -> (PathBuf, String) {
    let (name, settings) = METHODS[method];
    let method = format!("--method={name}");
    let start = ["run", "point-maze", &method, "--preset=quick", "--seed=3", "--set=checkpoint_every=2"];
    let shown = autoqd(&[&start[..], settings, more, &["--out"]].concat(), &[folder]).unwrap();
    (folder.to_owned(), shown)
}

fn results(folder: &Path) -> Vec<Vec<u8>> {
    let names = ["archive.parquet", "descriptor.safetensors", "metrics.csv", "figures.csv"];
    names.map(|name| std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))).to_vec()
}

#[test]
fn a_run_that_stopped_goes_on_to_the_same_bytes_on_any_number_of_threads() {
    for (method, (name, _)) in METHODS.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let [whole, parts] = ["whole", "parts"].map(|part| folder.path().join(part));
        run(method, &whole, &["--set=iterations=6", "--threads=1"]);
        // Stops in the middle of an episode, after the buffer has begun to forget.
        run(method, &parts, &["--set=iterations=6", "--threads=2", "--max-env-steps=1100"]);
        let lines = std::fs::read_to_string(parts.join("metrics.csv")).unwrap().lines().count();
        assert!((3..7).contains(&lines), "{name}: {lines} lines");
        autoqd(&["resume", "--threads=2"], &[&parts]).unwrap();
        assert!(results(&whole) == results(&parts), "{name}");
    }
}

#[test]
fn what_works_on_run_folders_works_on_them() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [0, 1, 2].map(|method| {
        let (path, shown) = run(method, &folder.path().join(METHODS[method].0), &["--set=iterations=3"]);
        assert!(shown.contains("the replay buffer of 400 transitions takes up to"), "{shown}");
        path
    });
    let paths = [runs[0].as_path(), &runs[1], &runs[2]];
    for (path, (name, _)) in paths.into_iter().zip(METHODS) {
        let status = autoqd(&["status"], &[path]).unwrap();
        assert!(status.contains(name), "{status}");
        autoqd(&["verify"], &[path]).unwrap();
        let table = ArchiveTable::read(path).unwrap();
        assert_eq!(table.len(), if name == "smerl" { 3 } else { 1 }, "{name}");
        let policy = table.policy().unwrap().unwrap();
        assert_eq!(policy.parameter_count(), table.parameters.width);
        let figures = std::fs::read_to_string(path.join("figures.csv")).unwrap();
        assert!(figures.contains("critic loss") && figures.contains("updates"), "{figures}");
        autoqd(&["export", "--format=onnx", "--out"], &[&path.join("models"), path]).unwrap();
    }
    autoqd(&["eval"], &paths).unwrap();
    let page = folder.path().join("report.html");
    autoqd(&["report", "--out"], &[&page, paths[0], paths[2]]).unwrap();
    assert!(page.exists());
}

#[test]
fn the_stored_return_is_the_one_that_the_stored_policy_has() {
    for method in 0..METHODS.len() {
        let folder = tempfile::tempdir().unwrap();
        let sets = ["--set=iterations=2", "--set=episodes=3"];
        let (path, _) = run(method, &folder.path().join("run"), &sets);
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
        }
    }
}

#[test]
fn bad_settings_are_refused_and_a_diverged_network_stops_with_the_setting_to_lower() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    for (method, set, expected) in [
        ("sac", "--set=sac.batch_size=2000000", "sac.batch_size = 2000000 is not allowed"),
        ("sac", "--set=sac.hidden=[]", "sac.hidden = [] is not allowed: there must be at least one"),
        ("sac", "--set=sac.tau=0", "sac.tau = 0.0 is not allowed"),
        ("td3", "--set=td3.batch_size=2000000", "td3.batch_size = 2000000 is not allowed"),
        ("smerl", "--set=smerl.skills=1", "smerl.skills = 1 is not allowed"),
        ("td3", "--set=td3.policy_delay=0", "td3.policy_delay = 0 is not allowed"),
    ] {
        let method = format!("--method={method}");
        let message = autoqd(&["run", "point-maze", &method, set, "--out"], &[&out]).unwrap_err();
        assert!(message.contains(expected), "{message}");
        assert!(!out.exists());
    }
    let wild = ["--set=sac.learning_rate=1e30", "--preset=quick", "--out"];
    let message = autoqd(&[&["run", "point-maze", "--method=sac"][..], &wild].concat(), &[&out]).unwrap_err();
    assert!(message.contains("loss of SAC is not finite in iteration 1"), "{message}");
    assert!(message.contains("sac.learning_rate"), "{message}");
}
