//! What several test programs share.
#![allow(dead_code)]

#[cfg(feature = "mujoco")]
pub mod quadruped;

use autoqd_env::{Action, Environment, NumpyRng, Seed};

pub const MUJOCO: [&str; 5] = ["ant", "half-cheetah", "hopper", "swimmer", "walker2d"];

/// A rollout under random actions as bits: observations, rewards, ends and measures.
pub fn rollout(environment: &mut dyn Environment, seed: u64, steps: usize) -> Vec<u64> {
    let spec = environment.spec().clone();
    let mut rng = NumpyRng::from_seed(&Seed::from(seed + 1000));
    let mut observation = vec![0.0; spec.observation_size];
    environment.reset(Some(&Seed::from(seed)), &mut observation).unwrap();
    let mut bits: Vec<u64> = observation.iter().map(|value| value.to_bits()).collect();
    for _ in 0..steps {
        let action: Vec<f32> = (0..spec.action_size).map(|_| rng.uniform(-1.0, 1.0) as f32).collect();
        let transition = environment.step(Action::F32(&action), &mut observation).unwrap();
        bits.extend(observation.iter().map(|value| value.to_bits()));
        bits.push(transition.reward.to_bits());
        if transition.done() {
            bits.push(u64::from(transition.terminated) + 2 * u64::from(transition.truncated));
            break;
        }
    }
    let mut measures = vec![0.0; spec.measures.len()];
    environment.measures(&mut measures);
    bits.extend(measures.iter().map(|value| value.to_bits()));
    bits
}
