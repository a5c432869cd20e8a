//! One step of the lanes engine from libmujoco's own states.
#![cfg(feature = "mujoco")]

use autoqd_env::lanes::{SideBySide, stream};
use autoqd_env::{LocomotionTask, NumpyRng, Perturbation};
use autoqd_lanes::{Backend, LANES};
use std::f64::consts::PI;

/// For Humanoid and HumanoidStandup, whose solver is PGS, libmujoco is set to Newton's method too.
const TASKS: [&str; 11] = [
    "ant",
    "half-cheetah",
    "hopper",
    "humanoid",
    "humanoid-standup",
    "inverted-double-pendulum",
    "inverted-pendulum",
    "pusher",
    "reacher",
    "swimmer",
    "walker2d",
];
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

/// A folded hopper in the air whose foot lies along the torso, but for less than 2e-4 rad.
fn fold(pair: &mut SideBySide, lane: usize, rng: &mut NumpyRng) {
    let world = &mut pair.worlds[lane];
    world.reset();
    let (thigh, leg) = (rng.uniform(-1.6, -0.9), rng.uniform(-2.75, -2.5));
    let foot = -1.5 * PI - thigh - leg + rng.uniform(-2e-4, 2e-4);
    world.qpos_mut().copy_from_slice(&[0.0, 3.0, 0.0, thigh, leg, foot]);
    world.qvel_mut().iter_mut().for_each(|v| *v = rng.uniform(-0.05, 0.05));
    world.forward();
}

#[test]
fn nearly_parallel_capsules_of_the_hopper_agree() {
    let task = LocomotionTask::builtin("hopper", &Perturbation::default()).unwrap();
    let mut pair = SideBySide::new(task.model(), Backend::best().unwrap()).unwrap();
    let mut rng = stream(13);
    let (mut worst, mut parallel) = (0.0_f64, 0);
    for _ in 0..500 {
        (0..LANES).for_each(|lane| fold(&mut pair, lane, &mut rng));
        pair.random_controls(1.0, &mut rng);
        // Where axes cross, the way out is rounding noise, in libmujoco as well.
        let crossing = |pair: &SideBySide, lane: usize| {
            pair.worlds[lane].contact().iter().any(|contact| contact.dist < -0.085)
        };
        let twice = |pair: &SideBySide, lane: usize| {
            pair.worlds[lane].contact().windows(2).any(|c| c[0].geom == c[1].geom)
        };
        let sound: Vec<usize> = (0..LANES).filter(|&lane| !crossing(&pair, lane)).collect();
        parallel += sound.iter().filter(|&&lane| twice(&pair, lane)).count();
        let deviations = pair.step();
        for lane in sound.into_iter().filter(|&lane| !crossing(&pair, lane)) {
            worst = worst.max(deviations[lane].state);
        }
    }
    println!("{parallel} times parallel, worst {worst:e}");
    assert!(parallel > 500, "{parallel} times parallel");
    assert!(worst <= 1e-9, "{worst:e}");
}
