//! Interrupted, terminated and killed at any moment, again and again: the archive is that of a run that never stopped.

use crate::program::{is_orderly, same_as_undisturbed, start_or_resume};
use crate::{Random, attack};
use std::process::Command;
use std::time::Duration;

#[test]
fn a_storm_of_signals_changes_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    attack("signals", 4, |number| {
        let mut random = Random::new(number);
        let run = folder.path().join(format!("run-{number}"));
        for _ in 0..1 + random.below(4) {
            let child = start_or_resume(&run).spawn().map_err(|e| e.to_string())?;
            std::thread::sleep(Duration::from_micros(random.next() % 60_000));
            let signal = *random.pick(&["-INT", "-TERM", "-KILL", "-HUP"]);
            let _ = Command::new("kill").args([signal, &child.id().to_string()]).output();
            let ended = child.wait_with_output().map_err(|e| e.to_string())?;
            // A signal before the program watches for it ends it as any program.
            if ended.status.code().is_some() {
                is_orderly(&ended)?;
            }
        }
        let ended = crate::program::output(start_or_resume(&run));
        if !ended.status.success() {
            return Err(String::from_utf8_lossy(&ended.stderr).into_owned());
        }
        same_as_undisturbed(&run)?;
        std::fs::remove_dir_all(run).map_err(|e| e.to_string())
    });
}
