//! The same bits from any number of threads, from new and from used worlds.
#![cfg(feature = "mujoco")]

mod common;

use autoqd_env::{Perturbation, load_task, task_names};
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
