//! Networks of TD3 and one update of them, step by step as Stable-Baselines3 does it.

use serde::{Deserialize, Serialize};

use crate::actor::{Actor, ActorState};
use crate::critics::{Critic, Critics, beside};
use crate::random::Stream;
use crate::replay::Batch;

/// Constants.
#[derive(Clone, Debug)]
pub struct Options {
    /// Units of the critics' hidden layers.
    pub hidden: Vec<usize>,
    /// Whether those of the critics are normalised.
    pub critic_layer_norm: bool,
    /// Of Adam.
    pub learning_rate: f64,
    /// Discount.
    pub gamma: f32,
    /// How far the slow copies move.
    pub tau: f32,
    /// Updates of the critics per update of the actor and of the slow copies.
    pub policy_delay: u64,
    /// Standard deviation of the noise on the slow actor's actions.
    pub target_noise: f32,
    /// Largest such noise.
    pub target_noise_clip: f32,
}

/// What an update computed on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Of the critics together.
    pub critic: f64,
    /// Of the actor; only in those updates in which it learns.
    pub actor: Option<f64>,
}

/// What is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Networks {
    /// The actor.
    pub actor: ActorState,
    /// Both critics.
    pub critics: [Critic; 2],
    updates: u64,
}

/// TD3.
pub struct Td3 {
    options: Options,
    actor: Actor,
    critics: Critics,
    updates: u64,
    scratch: Scratch,
}

/// Buffers of an update.
#[derive(Default)]
struct Scratch {
    next_actions: Vec<f32>,
    x: Vec<f32>,
    values: Vec<f32>,
}

impl Td3 {
    /// An actor with random critics.
    pub fn new(options: Options, actor: Actor, random: &mut Stream) -> Self {
        let (inputs, actions) = actor.sizes();
        let Options { hidden, critic_layer_norm, learning_rate, .. } = &options;
        let critics = Critics::new(inputs, actions, hidden, *critic_layer_norm, *learning_rate, random);
        Self { options, actor, critics, updates: 0, scratch: Scratch::default() }
    }

    /// The actor.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The actor.
    pub fn actor_mut(&mut self) -> &mut Actor {
        &mut self.actor
    }

    /// The critics.
    pub fn critics(&self) -> &Critics {
        &self.critics
    }

    /// Updates so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// What is to be stored.
    pub fn networks(&self) -> Networks {
        let [first, second] = self.critics.state();
        let critics = [first.clone(), second.clone()];
        Networks { actor: self.actor.state(), critics, updates: self.updates }
    }

    /// Takes stored networks; false if they have other sizes.
    pub fn restore(&mut self, networks: Networks) -> bool {
        self.updates = networks.updates;
        self.actor.restore(networks.actor) && self.critics.restore(networks.critics)
    }

    /// One update. `noise` has a standard normal number per action of the batch.
    pub fn update(&mut self, batch: &Batch, noise: &[f32]) -> Losses {
        self.updates += 1;
        let critic = self.learn_critics(batch, noise);
        if !self.updates.is_multiple_of(self.options.policy_delay) {
            return Losses { critic, actor: None };
        }
        let value = self.actor.climb(&self.critics, &batch.observations);
        let tau = self.options.tau;
        self.critics.follow(tau);
        self.actor.follow(tau);
        Losses { critic, actor: Some(-value) }
    }

    fn learn_critics(&mut self, batch: &Batch, noise: &[f32]) -> f64 {
        let Options { gamma, target_noise, target_noise_clip: clip, .. } = self.options;
        let Scratch { next_actions, x, values } = &mut self.scratch;
        let proposed = self.actor.target_actions(&batch.next_observations);
        next_actions.clear();
        next_actions.extend(proposed.into_iter().flatten().zip(noise).map(|(a, xi)| {
            let noise = (target_noise * xi).clamp(-clip, clip);
            (a + noise).clamp(-1.0, 1.0)
        }));
        beside(&batch.next_observations, next_actions, batch.len(), x);
        self.critics.target_values(x, values);
        for (i, value) in values.iter_mut().enumerate() {
            *value = batch.rewards[i] + (1.0 - batch.terminated[i]) * gamma * *value;
        }
        beside(&batch.observations, &batch.actions, batch.len(), x);
        self.critics.learn(x, values, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use autoqd::policy::{Activation, Biases, PolicySpec, Weights};

    use super::*;
    use crate::golden::{Golden, assert_close, parameters};

    #[derive(serde::Deserialize)]
    struct State {
        actor: Vec<Vec<f32>>,
        target_actor: Vec<Vec<f32>>,
        critics: [Vec<Vec<f32>>; 2],
        targets: [Vec<Vec<f32>>; 2],
    }

    #[derive(serde::Deserialize)]
    struct Logged {
        actor_loss: Option<f64>,
        critic_loss: f64,
    }

    fn td3() -> Td3 {
        let spec = PolicySpec::new(Weights::Dense, vec![8, 8], 4, vec![-1.0; 2], vec![1.0; 2]).unwrap();
        let spec = spec.with_activation(Activation::Relu).with_biases(Biases::All);
        let options = Options {
            hidden: vec![8, 8],
            critic_layer_norm: false,
            learning_rate: 1e-3,
            gamma: 0.99,
            tau: 0.005,
            policy_delay: 2,
            target_noise: 0.2,
            target_noise_clip: 0.5,
        };
        let mut random = Stream::new(1);
        let actor = Actor::new(&spec, 1e-3);
        Td3::new(options, actor, &mut random)
    }

    #[test]
    fn ten_updates_are_those_of_stable_baselines3() {
        let golden: Golden<State, Logged> = serde_json::from_str(include_str!("golden.json")).unwrap();
        let mut td3 = td3();
        let mut networks = td3.networks();
        networks.actor.parameters = parameters(&golden.start.actor, 1);
        networks.actor.target = parameters(&golden.start.target_actor, 1);
        for (i, critic) in networks.critics.iter_mut().enumerate() {
            critic.parameters = parameters(&golden.start.critics[i], 1);
            critic.target = parameters(&golden.start.targets[i], 1);
        }
        assert!(td3.restore(networks));
        for (i, update) in golden.updates.iter().enumerate() {
            let losses = td3.update(&update.batch(), &update.noise[0]);
            let error = |got: f64, expected: f64| (got - expected).abs() / expected.abs().max(1.0);
            assert!(error(losses.critic, update.losses.critic_loss) < 1e-5, "update {}", i + 1);
            assert_eq!(losses.actor.is_some(), update.losses.actor_loss.is_some());
            if let (Some(got), Some(expected)) = (losses.actor, update.losses.actor_loss) {
                assert!(error(got, expected) < 1e-5, "update {}: {got}, expected {expected}", i + 1);
            }
            let Some(after) = &update.after else { continue };
            let networks = td3.networks();
            assert_close("actor", &networks.actor.parameters, &parameters(&after.actor, 1));
            assert_close("slow actor", &networks.actor.target, &parameters(&after.target_actor, 1));
            for (i, critic) in networks.critics.iter().enumerate() {
                assert_close("critic", &critic.parameters, &parameters(&after.critics[i], 1));
                assert_close("slow copy", &critic.target, &parameters(&after.targets[i], 1));
            }
        }
        assert_eq!(golden.updates.len(), 10);
    }
}
