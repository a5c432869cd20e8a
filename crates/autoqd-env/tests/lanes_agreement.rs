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

/// Convex shapes on arms that swing into each other and over a tilted plane, slowly and fast, near and far.
const CONVEX: &str = r#"<mujoco><option timestep="0.004"/>
  <asset><mesh name="rock" vertex="0.1 0 0 -0.1 0.02 0 0 0.12 0.03 0 -0.1 0.01 0.02 0.01 0.15 0 0 -0.08"/></asset>
  <default><geom density="300" condim="3"/><joint damping="0.2"/></default>
  <worldbody><geom type="plane" size="5 5 1" euler="0 8 0"/>
    <body pos="0 0 0.5"><joint name="a" axis="0 1 0"/><geom type="mesh" mesh="rock" pos="0.25 0 0"/>
      <body pos="0.3 0 0"><joint name="b" axis="0 0 1"/><geom type="ellipsoid" size="0.05 0.08 0.12" pos="0.2 0 0"/></body></body>
    <body pos="0 0.35 0.5"><joint name="c" axis="0 1 0"/><geom type="cylinder" size="0.06 0.1" pos="0.25 0 0"/>
      <body pos="0.3 0 0"><joint name="d" axis="0 0 1"/><geom type="mesh" mesh="rock" pos="0.2 0 0"/></body></body>
    <body pos="0.3 0.17 1"><freejoint/><geom type="mesh" mesh="rock"/></body>
  </worldbody>
  <actuator><motor joint="a"/><motor joint="b"/><motor joint="c"/><motor joint="d"/></actuator></mujoco>"#;

#[test]
fn convex_shapes_that_were_found_apart_touch_when_libmujoco_says_so() {
    let backend = Backend::best().expect("a CPU with fused multiply-add");
    let mut pair = SideBySide::from_mjcf(CONVEX, backend).unwrap();
    let mut rng = stream(3);
    let (mut touching, mut apart, mut differ, mut far) = (0, 0, 0, 0);
    for episode in 0..6 {
        (0..LANES).for_each(|lane| pair.reset(lane, 0.5, &mut rng));
        for step in 0..400 {
            if step % 20 == 0 {
                pair.random_controls([0.1, 1.0, 4.0][episode % 3], &mut rng);
            }
            for (lane, deviation) in pair.step().iter().enumerate() {
                let (mut own, theirs) = (0, pair.worlds[lane].contact().len());
                pair.batch().contact_pairs(lane, |_| own += 1);
                touching += usize::from(theirs > 0);
                apart += usize::from(theirs == 0);
                differ += usize::from(own != theirs);
                far += usize::from(deviation.state > 1e-9);
            }
        }
    }
    let steps = touching + apart;
    println!("{touching} of {steps} steps with contacts, {differ} with other contacts, {far} further apart");
    assert!(touching > steps / 5 && apart > steps / 20, "{touching} and {apart}");
    // libmujoco itself finds such contacts by an iteration whose end depends on the last bit.
    assert!(differ * 200 < steps, "other contacts in {differ} of {steps} steps");
    assert!(far * 10 < steps, "{far} of {steps} steps differ");
}
