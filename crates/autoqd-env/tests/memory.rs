//! Worlds do not grow. The only test of its binary, because it reads the memory of the whole process.
#![cfg(all(feature = "mujoco", target_os = "linux"))]

mod common;

use autoqd_env::{Perturbation, Seed, load_task};

/// Resident memory in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn a_hundred_thousand_resets_do_not_grow_memory() {
    for name in common::MUJOCO {
        let task = load_task(name, &Perturbation::default()).unwrap();
        let mut observation = vec![0.0; task.spec().observation_size];
        let mut world = task.make().unwrap();
        let mut before = 0;
        for seed in 0..100_000_u64 {
            world.reset(Some(&Seed::from(seed)), &mut observation).unwrap();
            if seed == 1000 {
                before = resident();
            }
        }
        let grown = resident().saturating_sub(before);
        assert!(grown < 8 << 20, "{name} grew by {grown} bytes");
    }
}
