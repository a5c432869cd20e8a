//! Networks of SAC and one update of them, step by step as Stable-Baselines3 does it.

use serde::{Deserialize, Serialize};

use crate::adam::Adam;
use crate::critics::{Critic, Critics, beside};
use crate::mlp::{Activation, Mlp, Pass};
use crate::random::Stream;
use crate::replay::Batch;
use crate::squashed::Squashed;

/// Sizes and constants.
#[derive(Clone, Debug)]
pub struct Options {
    /// Numbers that the networks see.
    pub inputs: usize,
    /// Length of an action.
    pub actions: usize,
    /// Units of the hidden layers of all networks.
    pub hidden: Vec<usize>,
    /// Whether those of the critics are normalised.
    pub critic_layer_norm: bool,
    /// Of Adam, for all networks.
    pub learning_rate: f64,
    /// Discount.
    pub gamma: f32,
    /// How far the slow copies move.
    pub tau: f32,
    /// A constant weight of the entropy; learned where there is none.
    pub entropy: Option<f32>,
}

/// What an update computed on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Of the critics together.
    pub critic: f64,
    /// Of the actor.
    pub actor: f64,
    /// The weight of the entropy that was used.
    pub alpha: f64,
}

/// What is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Networks {
    /// Weights and biases: means first, then logarithms of deviations.
    pub actor: Vec<f32>,
    actor_adam: Adam,
    /// Both critics.
    pub critics: [Critic; 2],
    /// Logarithm of the weight of the entropy.
    pub log_alpha: f32,
    alpha_adam: Adam,
}

/// SAC.
pub struct Sac {
    options: Options,
    network: Mlp,
    actor: Vec<f32>,
    actor_adam: Adam,
    critics: Critics,
    log_alpha: f32,
    alpha_adam: Adam,
    scratch: Scratch,
}

/// Buffers of an update.
#[derive(Default)]
struct Scratch {
    now: Pass<f32>,
    then: Pass<f32>,
    drawn: Squashed<f32>,
    drawn_next: Squashed<f32>,
    x: Vec<f32>,
    values: Vec<f32>,
    by_action: Vec<f32>,
    gradient: Vec<f32>,
}

impl Sac {
    /// Random networks.
    pub fn new(options: Options, seed: u64) -> Self {
        let mut random = Stream::new(seed);
        let Options { inputs, actions, critic_layer_norm: normalized, learning_rate: rate, .. } = options;
        let sizes: Vec<usize> = [&[inputs], &options.hidden[..], &[2 * actions]].concat();
        let network = Mlp::new(&sizes, Activation::Relu, Activation::Linear);
        let actor = network.initial(&mut random);
        let critics = Critics::new(inputs, actions, &options.hidden, normalized, rate, &mut random);
        Self {
            actor_adam: Adam::new(actor.len(), rate, None),
            alpha_adam: Adam::new(1, rate, None),
            log_alpha: options.entropy.map_or(0.0, libm::logf),
            scratch: Scratch { gradient: vec![0.0; actor.len()], ..Scratch::default() },
            options,
            network,
            actor,
            critics,
        }
    }

    /// The actor's network and parameters.
    pub fn actor(&self) -> (&Mlp, &[f32]) {
        (&self.network, &self.actor)
    }

    /// What is to be stored.
    pub fn networks(&self) -> Networks {
        let [first, second] = self.critics.state();
        Networks {
            actor: self.actor.clone(),
            actor_adam: self.actor_adam.clone(),
            critics: [first.clone(), second.clone()],
            log_alpha: self.log_alpha,
            alpha_adam: self.alpha_adam.clone(),
        }
    }

    /// Takes stored networks; false if they have other sizes.
    pub fn restore(&mut self, networks: Networks) -> bool {
        let len = self.actor.len();
        let fits = networks.actor.len() == len
            && networks.actor_adam.len() == len
            && networks.alpha_adam.len() == 1
            && self.critics.restore(networks.critics);
        if fits {
            (self.actor, self.actor_adam) = (networks.actor, networks.actor_adam);
            (self.log_alpha, self.alpha_adam) = (networks.log_alpha, networks.alpha_adam);
        }
        fits
    }

    /// Draws an action for one input.
    pub fn act(&mut self, input: &[f32], noise: &[f32], action: &mut [f32]) {
        let Scratch { now, drawn, .. } = &mut self.scratch;
        self.network.forward(&self.actor, input, now);
        drawn.draw(now.output(), noise, self.options.actions);
        action.copy_from_slice(&drawn.actions);
    }

    /// One update. `noise` has a number per action of the batch, for the observations and for the next ones.
    pub fn update(&mut self, batch: &Batch, noise: [&[f32]; 2]) -> Losses {
        let actions = self.options.actions;
        let Scratch { now, then, drawn, drawn_next, .. } = &mut self.scratch;
        let (network, actor) = (&self.network, &self.actor);
        let draw = |x: &[f32], noise: &[f32], pass: &mut Pass<f32>, drawn: &mut Squashed<f32>| {
            network.forward(actor, x, pass);
            drawn.draw(pass.output(), noise, actions);
        };
        rayon::join(
            || draw(&batch.observations, noise[0], now, drawn),
            || draw(&batch.next_observations, noise[1], then, drawn_next),
        );
        // The weight before its own step counts in this update.
        let alpha = libm::expf(self.log_alpha);
        self.learn_alpha();
        let critic = self.learn_critics(batch, alpha);
        let actor = self.learn_actor(batch, alpha);
        self.critics.follow(self.options.tau);
        Losses { critic, actor, alpha: f64::from(alpha) }
    }

    /// The weight of the entropy rises while there is less of it than one per action.
    fn learn_alpha(&mut self) {
        if self.options.entropy.is_some() {
            return;
        }
        let target = -(self.options.actions as f64);
        let densities = &self.scratch.drawn.log_density;
        let sum = densities.iter().fold(0.0, |sum, l| sum + f64::from(*l) + target);
        let gradient = -(sum / densities.len() as f64) as f32;
        self.alpha_adam.step(std::slice::from_mut(&mut self.log_alpha), &[gradient]);
    }

    fn learn_critics(&mut self, batch: &Batch, alpha: f32) -> f64 {
        let Scratch { drawn_next, x, values, .. } = &mut self.scratch;
        beside(&batch.next_observations, &drawn_next.actions, batch.len(), x);
        self.critics.target_values(x, values);
        for (i, value) in values.iter_mut().enumerate() {
            let next = *value - alpha * drawn_next.log_density[i];
            *value = batch.rewards[i] + (1.0 - batch.terminated[i]) * self.options.gamma * next;
        }
        beside(&batch.observations, &batch.actions, batch.len(), x);
        self.critics.learn(x, values, 0.5)
    }

    fn learn_actor(&mut self, batch: &Batch, alpha: f32) -> f64 {
        let Scratch { now, drawn, x, values, by_action, gradient, .. } = &mut self.scratch;
        let size = batch.len();
        beside(&batch.observations, &drawn.actions, size, x);
        self.critics.lower_by_action(x, values, by_action);
        let losses = drawn.log_density.iter().zip(values.iter());
        let sum = losses.fold(0.0, |sum, (l, q)| sum + f64::from(alpha) * f64::from(*l) - f64::from(*q));
        let share = 1.0 / size as f32;
        by_action.iter_mut().for_each(|g| *g = -*g * share);
        let mut of_outputs = std::mem::take(&mut now.gradient);
        drawn.backward(now.output(), alpha * share, by_action, &mut of_outputs);
        now.gradient = of_outputs;
        gradient.fill(0.0);
        self.network.backward(&self.actor, &batch.observations, now, gradient, false);
        self.actor_adam.step(&mut self.actor, gradient);
        sum / size as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{Golden, assert_close, parameters};

    #[derive(serde::Deserialize)]
    struct State {
        actor: Vec<Vec<f32>>,
        critics: [Vec<Vec<f32>>; 2],
        targets: [Vec<Vec<f32>>; 2],
        log_alpha: f32,
    }

    #[derive(serde::Deserialize)]
    struct Logged {
        ent_coef: f64,
        actor_loss: f64,
        critic_loss: f64,
    }

    fn options() -> Options {
        let (inputs, actions, hidden) = (4, 2, vec![8, 8]);
        Options {
            inputs,
            actions,
            hidden,
            critic_layer_norm: false,
            learning_rate: 3e-4,
            gamma: 0.99,
            tau: 0.005,
            entropy: None,
        }
    }

    #[test]
    fn ten_updates_are_those_of_stable_baselines3() {
        let golden: Golden<State, Logged> = serde_json::from_str(include_str!("golden.json")).unwrap();
        let mut sac = Sac::new(options(), 1);
        let mut networks = sac.networks();
        networks.actor = parameters(&golden.start.actor, 2);
        networks.log_alpha = golden.start.log_alpha;
        for (i, critic) in networks.critics.iter_mut().enumerate() {
            critic.parameters = parameters(&golden.start.critics[i], 1);
            critic.target = parameters(&golden.start.targets[i], 1);
        }
        assert!(sac.restore(networks));
        for (i, update) in golden.updates.iter().enumerate() {
            let losses = sac.update(&update.batch(), [&update.noise[0], &update.noise[1]]);
            let Logged { ent_coef, actor_loss, critic_loss } = update.losses;
            for (what, got, expected) in [
                ("alpha", losses.alpha, ent_coef),
                ("actor loss", losses.actor, actor_loss),
                ("critic loss", losses.critic, critic_loss),
            ] {
                let error = (got - expected).abs() / expected.abs().max(1.0);
                assert!(error < 1e-5, "update {}: {what} {got}, expected {expected}", i + 1);
            }
            let Some(after) = &update.after else { continue };
            let networks = sac.networks();
            assert_close("actor", &networks.actor, &parameters(&after.actor, 2));
            assert_close("log alpha", &[networks.log_alpha], &[after.log_alpha]);
            for (i, critic) in networks.critics.iter().enumerate() {
                assert_close("critic", &critic.parameters, &parameters(&after.critics[i], 1));
                assert_close("slow copy", &critic.target, &parameters(&after.targets[i], 1));
            }
        }
        assert_eq!(golden.updates.len(), 10);
    }

    #[test]
    fn updates_have_the_same_bits_on_one_thread_and_on_two() {
        let golden: Golden<State, Logged> = serde_json::from_str(include_str!("golden.json")).unwrap();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut sac = Sac::new(Options { hidden: vec![70, 40], ..options() }, 3);
                for update in &golden.updates {
                    sac.update(&update.batch(), [&update.noise[0], &update.noise[1]]);
                }
                sac.networks()
            })
        };
        assert!(run(1) == run(2));
    }
}
