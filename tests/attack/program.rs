//! The real program, on a run of a fraction of a second.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// A search that writes every kind of file, and often.
pub const SETTINGS: [&str; 10] = [
    "--preset=quick",
    "--threads=1",
    "--set=iterations=4",
    "--set=batch_size=3",
    "--set=emitters=2",
    "--set=episodes=1",
    "--set=update_schedule=[2]",
    "--set=policy.hidden=[3]",
    "--set=embedding.features=8",
    "--set=checkpoint_every=1",
];

pub fn autoqd() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_autoqd"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The command that starts the run.
pub fn start(run: &Path) -> Command {
    let mut command = autoqd();
    command.args(["run", "point-maze", "--out"]).arg(run).args(SETTINGS);
    command
}

/// The command that starts the run, or goes on with it.
pub fn start_or_resume(run: &Path) -> Command {
    if !run.join("config.toml").exists() {
        return start(run);
    }
    let mut command = autoqd();
    command.arg("resume").arg(run);
    command
}

pub fn output(mut command: Command) -> Output {
    command.output().expect("the program starts")
}

/// A program that ends by itself says what is wrong in one message, and never panics or aborts.
pub fn is_orderly(output: &Output) -> Result<(), String> {
    use std::os::unix::process::ExitStatusExt;
    let text = String::from_utf8_lossy(&output.stderr);
    match (output.status.code(), output.status.signal()) {
        (Some(0..=2 | 130), _) | (None, Some(9)) if !text.contains("panicked") => Ok(()),
        (code, signal) => Err(format!("exit {code:?}, signal {signal:?}: {text}")),
    }
}

pub fn verified(run: &Path) -> Result<serde_json::Value, String> {
    let mut command = autoqd();
    command.args(["verify", "--json"]).arg(run);
    let output = output(command);
    is_orderly(&output)?;
    serde_json::from_slice(&output.stdout).map_err(|e| format!("verify: {e}"))
}

/// Checks that a run is complete and found what a run without any trouble finds.
pub fn same_as_undisturbed(run: &Path) -> Result<(), String> {
    let found = verified(run)?;
    match found["ok"] == true && found["iteration"] == 4 && found["archive_digest"] == *digest() {
        true => Ok(()),
        false => Err(format!("not as undisturbed: {found}")),
    }
}

/// A finished run that nothing has disturbed.
pub fn undisturbed() -> &'static Path {
    static RUN: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, run) = RUN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let output = output(start(&run));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (folder, run)
    });
    run
}

fn digest() -> &'static serde_json::Value {
    static DIGEST: OnceLock<serde_json::Value> = OnceLock::new();
    DIGEST.get_or_init(|| verified(undisturbed()).unwrap()["archive_digest"].clone())
}

/// A copy of a run's files.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => {
                fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
            }
        }
    }
}

/// All files below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}
