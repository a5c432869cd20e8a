//! From the n-th allocation on there is no memory: the program says so, and the run goes on afterwards.

use crate::faults::shim;
use crate::program::{is_orderly, output, same_as_undisturbed, start, start_or_resume};
use crate::{Random, attack};
use std::path::Path;
use std::process::Command;

/// Small allocations are too many to try, and the large ones are those that fail.
const SIZES: [usize; 3] = [256, 4096, 65_536];

fn with_shim(mut command: Command, shim: &Path, size: usize) -> Command {
    command.env("LD_PRELOAD", shim).env("AUTOQD_SHIM_SIZE", size.to_string());
    // A backtrace allocates as well.
    command.env("RUST_BACKTRACE", "0");
    command
}

/// Number of allocations of an undisturbed run.
fn allocations(folder: &Path, shim: &Path, size: usize) -> usize {
    let count = folder.join("count");
    let mut command = with_shim(start(&folder.join(format!("counted-{size}"))), shim, size);
    command.env("AUTOQD_SHIM_COUNT", &count);
    assert!(output(command).status.success());
    let counts = std::fs::read_to_string(count).unwrap();
    counts.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn an_allocation_that_fails_ends_the_program_with_a_message_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let counts = SIZES.map(|size| allocations(folder.path(), &shim, size));
    assert!(counts.iter().all(|count| *count > 5), "the shim saw only {counts:?} allocations");
    attack("allocations", 24, |number| {
        let mut random = Random::new(number);
        let which = random.below(SIZES.len());
        let at = 1 + random.below(counts[which]);
        let run = folder.path().join(format!("run-{number}"));
        let mut command = with_shim(start_or_resume(&run), &shim, SIZES[which]);
        command.env("AUTOQD_SHIM_MEMORY", at.to_string());
        let said = |reason: String| format!("allocation {at} of {} bytes or more: {reason}", SIZES[which]);
        let ended = output(command);
        let error = String::from_utf8_lossy(&ended.stderr);
        // The one library that panics without memory: zstd, as the Parquet library calls it.
        let within_zstd = error.contains("zstd returned null pointer");
        if !within_zstd {
            is_orderly(&ended).map_err(said)?;
        }
        if ended.status.code() == Some(2) && !error.contains("error: ") {
            return Err(said(format!("no message: {error}")));
        }
        let resumed = output(start_or_resume(&run));
        if !resumed.status.success() {
            return Err(said(String::from_utf8_lossy(&resumed.stderr).into_owned()));
        }
        same_as_undisturbed(&run).map_err(said)?;
        std::fs::remove_dir_all(run).map_err(|e| e.to_string())
    });
}
