//! One step of the lanes engine from libmujoco's own states.
#![cfg(feature = "mujoco")]

use autoqd_env::lanes::{SideBySide, stream};
use autoqd_env::{LocomotionTask, Perturbation};
use autoqd_lanes::{Backend, LANES};

const TASKS: [&str; 5] = ["ant", "half-cheetah", "hopper", "swimmer", "walker2d"];
const AMPLITUDES: [f64; 3] = [0.05, 0.3, 1.0];

/// The largest deviation over `steps` steps of eight worlds per amplitude, without resets: they fall and rest.
fn worst_deviation(task: &str, steps: usize, seed: u64) -> (f64, f64) {
    let task = LocomotionTask::builtin(task, &Perturbation::default()).unwrap();
    let backend = Backend::best().expect("a CPU with fused multiply-add");
    let mut pair = SideBySide::new(task.model(), backend).unwrap();
    let mut rng = stream(seed);
    let (mut state, mut forces) = (0.0_f64, 0.0_f64);
    for amplitude in AMPLITUDES {
        (0..LANES).for_each(|lane| pair.reset(lane, 0.1, &mut rng));
        for _ in 0..steps {
            pair.random_controls(amplitude, &mut rng);
            for deviation in pair.step() {
                state = state.max(deviation.state);
                forces = forces.max(deviation.contact_forces);
            }
        }
    }
    (state, forces)
}

#[test]
fn single_steps_agree_with_libmujoco() {
    for task in TASKS {
        let (state, forces) = worst_deviation(task, 420, 11);
        println!("{task}: state {state:e}, contact forces {forces:e}");
        assert!(state <= 1e-9, "{task}: {state:e}");
        assert!(forces <= 1e-8, "{task}: contact forces {forces:e}");
    }
}

#[test]
#[ignore = "300 000 lane-steps per task take a minute"]
fn three_hundred_thousand_steps_agree_with_libmujoco() {
    for task in TASKS {
        let (state, forces) = worst_deviation(task, 12_500, 12);
        println!("{task}: state {state:e}, contact forces {forces:e}");
        assert!(state <= 1e-9, "{task}: {state:e}");
    }
}
