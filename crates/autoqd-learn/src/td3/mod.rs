//! TD3 (Fujimoto et al., 2018): one deterministic policy and twin critics, as Stable-Baselines3 has it.

mod learner;
mod section;

pub use learner::{Networks, Options, Td3};
pub use section::Td3Section;

use autoqd::Error;
use autoqd::registry::TrainerContext;
use autoqd::seeds::{Purpose, derive};
use autoqd_qd::Rng;

use crate::actor::Actor;
use crate::error::LearnError;
use crate::mean::Mean;
use crate::mlp::Pass;
use crate::off_policy::{self, Agent, OffPolicy, Unstable};
use crate::random::Stream;
use crate::replay::{Batch, Replay};
use crate::sac::{normals, policy};

/// What the presets set for this method: a million steps, and a first look.
pub(crate) const PRESETS: &[(&str, &str)] = &[
    ("paper", "iterations = 200\nepisodes = 5"),
    ("best", "iterations = 200\nepisodes = 5"),
    ("quick", "iterations = 20\nepisodes = 2\ntd3.iteration_steps = 1000\ntd3.hidden = [64, 64]"),
];

/// The trainer of `method = "td3"`.
pub fn trainer(context: TrainerContext<'_>) -> Result<OffPolicy<Td3Agent>, Error> {
    let settings: Td3Section = context.config.section()?;
    let spec = context.task.spec().clone();
    off_policy::check_task(&spec)?;
    let policy = policy(&settings.hidden, &spec)?;
    let seed = derive(context.config.seed, Purpose::InitialPolicy, [0; 3]);
    let options = Options {
        hidden: settings.hidden.clone(),
        critic_layer_norm: settings.critic_layer_norm,
        learning_rate: settings.learning_rate,
        gamma: settings.gamma as f32,
        tau: settings.tau as f32,
        policy_delay: settings.policy_delay,
        target_noise: settings.target_noise as f32,
        target_noise_clip: settings.target_noise_clip as f32,
    };
    let mut random = Stream::new(seed);
    let mut actor = Actor::new(&policy, settings.learning_rate);
    actor.start_uniform(&mut random);
    let agent = Td3Agent {
        td3: Td3::new(options, actor, &mut random),
        noise_on_actions: settings.exploration_noise as f32,
        size: settings.batch_size,
        pass: Pass::default(),
        batch: Batch::default(),
        noise: Vec::new(),
        critic: Mean::default(),
        value: Mean::default(),
    };
    let options = off_policy::Options {
        buffer: settings.buffer,
        learning_starts: settings.learning_starts,
        updates_per_step: settings.updates_per_step,
        iteration_steps: settings.iteration_steps,
        extra: 0,
    };
    OffPolicy::new(context, options, policy, agent)
}

/// TD3 in the loop.
pub struct Td3Agent {
    td3: Td3,
    noise_on_actions: f32,
    size: usize,
    pass: Pass<f32>,
    batch: Batch,
    noise: Vec<f32>,
    critic: Mean,
    value: Mean,
}

impl Agent for Td3Agent {
    fn policies(&self) -> usize {
        1
    }

    fn write_policies(&self, rows: &mut Vec<f64>) {
        let start = rows.len();
        rows.resize(start + self.td3.actor().numbers(), 0.0);
        self.td3.actor().policy(&mut rows[start..]);
    }

    fn explore(&mut self, observation: &[f32], random: &mut Rng, action: &mut [f32]) {
        let proposed = self.td3.actor_mut().actions(observation, &mut self.pass);
        for (action, proposed) in action.iter_mut().zip(proposed) {
            *action = (proposed + self.noise_on_actions * random.normal() as f32).clamp(-1.0, 1.0);
        }
    }

    fn update(&mut self, replay: &Replay, random: &mut Rng) -> Result<(), Unstable> {
        replay.sample(self.size, random, &mut self.batch);
        normals(random, self.batch.actions.len(), &mut self.noise);
        let losses = self.td3.update(&self.batch, &self.noise);
        if !(losses.critic.is_finite() && losses.actor.is_none_or(f64::is_finite)) {
            return Err(Unstable { what: "loss of TD3", remedy: "td3.learning_rate" });
        }
        self.critic.add(losses.critic);
        losses.actor.iter().for_each(|loss| self.value.add(*loss));
        Ok(())
    }

    fn figures(&mut self) -> Vec<(String, f64)> {
        vec![("critic loss".to_owned(), self.critic.take()), ("actor loss".to_owned(), self.value.take())]
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        postcard::to_allocvec(&self.td3.networks())
            .map_err(|e| LearnError::Stored { what: "networks", reason: e.to_string() }.into())
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        let wrong = |reason: String| LearnError::Stored { what: "networks", reason };
        let networks = postcard::from_bytes(state).map_err(|e| wrong(e.to_string()))?;
        if !self.td3.restore(networks) {
            return Err(wrong("they have other sizes".to_owned()).into());
        }
        Ok(())
    }
}
