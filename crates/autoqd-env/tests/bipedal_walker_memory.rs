//! BipedalWalker's worlds free their memory. A test program of its own, since it measures the whole process.
#![cfg(feature = "box2d")]

use autoqd_env::{BipedalWalkerTask, Environment, Seed, WorldReuse};

#[test]
fn memory_does_not_grow_over_resets() {
    no_growth(5_000);
}

#[test]
#[ignore = "20 s of resets"]
fn memory_does_not_grow_over_a_hundred_thousand_resets() {
    no_growth(100_000);
}

fn no_growth(resets: u64) {
    for reuse in [WorldReuse::Never, WorldReuse::Always] {
        let mut walker = BipedalWalkerTask::default().walker(reuse).unwrap();
        let mut cycle = |resets: u64| {
            for seed in 0..resets {
                walker.reset(Some(&Seed::from(seed)), &mut [0.0; 24]).unwrap();
            }
            resident_kilobytes()
        };
        let Some(before) = cycle(500) else {
            eprintln!("skipped: no /proc/self/statm");
            return;
        };
        let after = cycle(resets).unwrap();
        // A leak of one body per reset would be 150 bytes each.
        assert!(after < before + 500, "{before} kB before {resets} resets, {after} kB after ({reuse:?})");
    }
}

fn resident_kilobytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split_whitespace().nth(1)?.parse::<u64>().ok()? * 4)
}
