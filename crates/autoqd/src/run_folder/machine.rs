//! What a run was computed with, as far as its bytes depend on it: the kind of CPU and the simulator.

use super::sealed::{read_sealed, write_sealed};
use super::{MACHINE_FILE, RunFolderError};
use serde::{Deserialize, Serialize};
use std::path::Path;

const VERSION: u32 = 1;

/// From which iteration on a run was computed with what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Iterations that were done before.
    pub after_iteration: u64,
    /// The program.
    pub program: String,
    /// The CPU, with those of its instructions that matrix products and decompositions are chosen by.
    pub cpu: String,
    /// The simulator.
    pub simulator: String,
    /// Why the bytes are not those of one machine, where machines of several kinds worked on the run together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inexact: Option<String>,
}

impl Machine {
    /// This machine, with the simulator that a note of
    /// [`Task::physics_note`](autoqd_env::Task::physics_note) names first.
    pub fn this(after_iteration: u64, physics_note: &str) -> Self {
        let simulator = physics_note.split(['(', ',', ';']).next().unwrap_or(physics_note).trim().to_owned();
        let program = concat!("autoqd ", env!("CARGO_PKG_VERSION")).to_owned();
        Self { after_iteration, program, cpu: cpu(), simulator, inexact: None }
    }
}

#[cfg(target_arch = "x86_64")]
fn cpu() -> String {
    let instructions = [
        ("avx", is_x86_feature_detected!("avx")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ];
    let there = instructions.into_iter().filter(|(_, there)| *there).map(|(name, _)| name);
    std::iter::once("x86-64").chain(there).collect::<Vec<_>>().join(" ")
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu() -> String {
    std::env::consts::ARCH.to_owned()
}

/// What a run was computed with, in order; nothing for runs made before it was recorded.
pub fn read_machines(run: &Path) -> Result<Vec<Machine>, RunFolderError> {
    match read_sealed(&run.join(MACHINE_FILE), VERSION) {
        Err(e) if e.is_not_found() => Ok(Vec::new()),
        other => other,
    }
}

/// Records that a run goes on with `now`. Another simulator is rejected: the archive would hold returns of both.
/// Another kind of CPU is recorded; the answer says what that means.
pub(super) fn go_on_with(run: &Path, now: Machine) -> Result<Option<String>, RunFolderError> {
    let mut machines = read_machines(run)?;
    let last = machines.last().cloned();
    match last {
        Some(last) if last.simulator != now.simulator && now.after_iteration > 0 => {
            let (run, old, new) = (run.to_owned(), last.simulator, now.simulator);
            return Err(RunFolderError::SimulatorChanged { run, old, new });
        }
        Some(last)
            if (&last.cpu, &last.simulator, &last.inexact) == (&now.cpu, &now.simulator, &now.inexact) =>
        {
            return Ok(None);
        }
        _ => {}
    }
    let notice = machines.last().filter(|last| last.cpu != now.cpu).map(|last| {
        format!(
            "this run was computed on {} before, now on {}: fits may round differently from here on, so that it may not \
             end like a run that never moved; {MACHINE_FILE} records it",
            last.cpu, now.cpu
        )
    });
    machines.push(now);
    write_sealed(&run.join(MACHINE_FILE), VERSION, &machines)?;
    Ok(notice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resume_that_changes_the_cpu_is_marked_and_one_that_changes_the_simulator_refused() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path();
        let first = Machine::this(0, "lanes engine (AVX2, 8 worlds at a time); a step differs by 1e-12");
        assert_eq!(first.simulator, "lanes engine");
        assert_eq!(go_on_with(run, first.clone()).unwrap(), None);
        assert_eq!(go_on_with(run, Machine { after_iteration: 3, ..first.clone() }).unwrap(), None);
        assert_eq!(read_machines(run).unwrap(), std::slice::from_ref(&first));
        let other = Machine { after_iteration: 4, cpu: "another".to_owned(), ..first.clone() };
        assert!(go_on_with(run, other.clone()).unwrap().unwrap().contains("another"));
        assert_eq!(read_machines(run).unwrap(), [first, other.clone()]);
        let slower = Machine { simulator: "libmujoco".to_owned(), ..other };
        let refused = go_on_with(run, slower).unwrap_err().to_string();
        assert!(refused.contains("lanes engine") && refused.contains("libmujoco"), "{refused}");
    }
}
