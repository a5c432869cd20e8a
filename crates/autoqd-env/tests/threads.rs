//! The same bits from any number of threads, from new and from used worlds, without growing memory.
#![cfg(feature = "mujoco")]

mod common;

use autoqd_env::{Perturbation, Seed, load_task, task_names};
use common::rollout;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const EPISODES: u64 = 16;

/// All episodes of all tasks, computed by `threads` threads that each keep one world per task.
fn all_rollouts(threads: usize) -> Vec<Vec<u64>> {
    let tasks: Vec<_> =
        task_names().iter().map(|n| load_task(n, &Perturbation::default()).unwrap()).collect();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![Vec::new(); tasks.len() * EPISODES as usize]);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut worlds: Vec<_> = tasks.iter().map(|task| task.make().unwrap()).collect();
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= tasks.len() * EPISODES as usize {
                        break;
                    }
                    let world = &mut worlds[job % tasks.len()];
                    let bits = rollout(world.as_mut(), (job / tasks.len()) as u64, 40);
                    results.lock().unwrap()[job] = bits;
                }
            });
        }
    });
    results.into_inner().unwrap()
}

#[test]
fn one_two_and_eight_threads_give_the_same_bits() {
    let one = all_rollouts(1);
    assert!(one == all_rollouts(2));
    assert!(one == all_rollouts(8));
}

#[test]
fn a_new_world_and_a_used_one_give_the_same_bits() {
    for name in task_names() {
        let task = load_task(name, &Perturbation::default()).unwrap();
        let mut used = task.make().unwrap();
        for seed in 0..5 {
            let expected = rollout(task.make().unwrap().as_mut(), seed, 60);
            assert!(rollout(used.as_mut(), seed, 60) == expected, "{name}, seed {seed}");
        }
    }
}

/// Resident memory in bytes.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
#[cfg(target_os = "linux")]
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
