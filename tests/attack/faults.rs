//! The n-th file-system call fails, or the process dies in it: afterwards the run goes on to the same archive.

use crate::program::{autoqd, is_orderly, output, same_as_undisturbed, start, start_or_resume, undisturbed};
use crate::{Random, attack};
use std::path::{Path, PathBuf};
use std::process::Command;

const FAULTS: [&str; 4] = ["kill", "torn", "EIO", "ENOSPC"];

/// The shim, compiled; `None` where there is no C compiler, and said so.
pub fn shim(folder: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/attack/shim.c");
    let library = folder.join("shim.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl");
    if compiler.status().is_ok_and(|status| status.success()) {
        return Some(library);
    }
    assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "no C compiler");
    eprintln!("skipped: no C compiler");
    None
}

/// Number of file-system calls of an undisturbed run.
fn calls(folder: &Path, shim: &Path) -> usize {
    let (run, count) = (folder.join("counted"), folder.join("count"));
    let mut command = start(&run);
    command.env("LD_PRELOAD", shim).env("AUTOQD_SHIM_FOLDER", &run).env("AUTOQD_SHIM_COUNT", &count);
    let output = output(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counts = std::fs::read_to_string(count).unwrap();
    counts.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_fault_at_any_file_system_call_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let calls = calls(folder.path(), &shim);
    assert!(calls > 50, "the shim saw only {calls} calls");
    attack("faults", 24, |number| {
        let mut random = Random::new(number);
        let (fault, at) = (*random.pick(&FAULTS), 1 + random.below(calls));
        let run = folder.path().join(format!("run-{number}"));
        let mut command = start(&run);
        command.env("LD_PRELOAD", &shim).env("AUTOQD_SHIM_FOLDER", &run);
        command.env("AUTOQD_SHIM_FAULT", fault).env("AUTOQD_SHIM_AT", at.to_string());
        let said = |reason: String| format!("{fault} at call {at} of {calls}: {reason}");
        is_orderly(&output(command)).map_err(said)?;
        // Half of the time another one soon after, while the first is being cleared away.
        if random.below(2) == 0 {
            let mut command = start_or_resume(&run);
            command.env("LD_PRELOAD", &shim).env("AUTOQD_SHIM_FOLDER", &run);
            command
                .env("AUTOQD_SHIM_FAULT", "kill")
                .env("AUTOQD_SHIM_AT", (1 + random.below(16)).to_string());
            is_orderly(&output(command)).map_err(said)?;
        }
        let resumed = output(start_or_resume(&run));
        if !resumed.status.success() {
            return Err(said(String::from_utf8_lossy(&resumed.stderr).into_owned()));
        }
        same_as_undisturbed(&run).map_err(said)?;
        std::fs::remove_dir_all(run).map_err(|e| e.to_string())
    });
}

#[test]
fn a_start_that_is_killed_while_it_clears_an_earlier_one_away_does_not_block_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let killed = |run: &Path, at: usize| {
        let mut command = start(run);
        command.env("LD_PRELOAD", &shim).env("AUTOQD_SHIM_FOLDER", run);
        command.env("AUTOQD_SHIM_FAULT", "kill").env("AUTOQD_SHIM_AT", at.to_string());
        output(command)
    };
    // Killed when it has kept its task and not yet written its configuration.
    let kept = (1..40).map(|at| (at, folder.path().join(format!("first-{at}")))).find(|(at, run)| {
        killed(run, *at);
        run.join("task/task.json").exists()
    });
    let (first, _) = kept.expect("a run keeps its task");
    for second in 1..12 {
        let run = folder.path().join(format!("second-{second}"));
        killed(&run, first);
        assert!(run.join("task").exists() && !run.join("config.toml").exists());
        killed(&run, second);
        let started = output(start_or_resume(&run));
        assert!(started.status.success(), "{second}: {}", String::from_utf8_lossy(&started.stderr));
    }
}

#[test]
fn a_full_disk_in_a_run_says_how_to_go_on_and_in_an_export_only_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let full = |mut command: Command, below: &Path, at: usize| {
        command.env("LD_PRELOAD", &shim).env("AUTOQD_SHIM_FOLDER", below);
        command.env("AUTOQD_SHIM_FAULT", "ENOSPC").env("AUTOQD_SHIM_AT", at.to_string());
        let output = output(command);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // Near the end of the run there are checkpoints.
    let run = folder.path().join("run");
    let (code, said) = full(start(&run), &run, calls(folder.path(), &shim) * 3 / 4);
    assert!(code == Some(2) && said.contains("Free some space"), "{said}");
    assert!(said.contains(&format!("autoqd resume {}", run.display())), "{said}");
    // An export's first calls open its file and write it.
    let exported = folder.path().join("exported");
    std::fs::create_dir(&exported).unwrap();
    let mut export = autoqd();
    export.arg("export").arg(undisturbed()).arg("--out").arg(exported.join("policies.csv"));
    let (code, said) = full(export, &exported, 2);
    assert!(code == Some(2) && said.contains("Free some space"), "{said}");
    assert!(!said.contains("resume"), "{said}");
    assert_eq!(std::fs::read_dir(&exported).unwrap().count(), 0);
}
