//! Steps per second of processor time on one core, observations and rewards included: libmujoco with the exact
//! tuning against the lanes engine, in turns. `cargo bench -p autoqd-env --bench lanes`
#[cfg(feature = "mujoco")]
fn main() {
    use autoqd_env::lanes::measure_speed;
    use autoqd_env::{LocomotionTask, Perturbation};
    use std::time::Duration;

    let rounds = std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(7);
    let task_filter: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!("{:<14}{:>12}   lanes: steps/s (times libmujoco)", "task", "libmujoco");
    for name in ["ant", "half-cheetah", "hopper", "swimmer", "walker2d"] {
        if !task_filter.is_empty() && !task_filter.iter().any(|f| name.contains(f.as_str())) {
            continue;
        }
        let task = LocomotionTask::builtin(name, &Perturbation::default()).expect("a built-in task");
        let speed = measure_speed(&task, rounds, Duration::from_millis(150)).expect("a supported model");
        print!("{name:<14}{:>12.0}", speed.reference);
        for (backend, rate) in &speed.lanes {
            print!("   {backend}: {rate:.0} ({:.1}x)", rate / speed.reference);
        }
        println!();
    }
}

#[cfg(not(feature = "mujoco"))]
fn main() {}
