//! SAC (Haarnoja et al., 2018): one policy, trained for return and for entropy, as Stable-Baselines3 does it.

mod learner;
mod section;

pub use learner::{Losses, Networks, Options, Sac};
pub use section::SacSection;

use autoqd::Error;
use autoqd::policy::{Activation, Biases, PolicySpec, Weights};
use autoqd::registry::TrainerContext;
use autoqd::seeds::{Purpose, derive};
use autoqd_env::EnvSpec;
use autoqd_qd::Rng;

use crate::error::LearnError;
use crate::mean::Mean;
use crate::off_policy::{self, Agent, OffPolicy, Unstable};
use crate::replay::{Batch, Replay};

/// What the presets set for this method: a million steps, and a first look.
pub(crate) const PRESETS: &[(&str, &str)] = &[
    ("paper", "iterations = 200\nepisodes = 5"),
    ("best", "iterations = 200\nepisodes = 5"),
    ("quick", "iterations = 20\nepisodes = 2\nsac.iteration_steps = 1000\nsac.hidden = [64, 64]"),
];

/// The trainer of `method = "sac"`.
pub fn trainer(context: TrainerContext<'_>) -> Result<OffPolicy<SacAgent>, Error> {
    let settings: SacSection = context.config.section()?;
    let spec = context.task.spec().clone();
    off_policy::check_task(&spec)?;
    let policy = policy(&settings.hidden, &spec)?;
    let seed = derive(context.config.seed, Purpose::InitialPolicy, [0; 3]);
    let agent = SacAgent {
        sac: Sac::new(options(&settings, spec.observation_size, spec.action_size), seed),
        batch: Batch::default(),
        noise: [Vec::new(), Vec::new()],
        size: settings.batch_size,
        figures: Figures::default(),
    };
    OffPolicy::new(context, loop_options(&settings, 0), policy, agent)
}

/// Dense ReLU layers with biases.
pub fn policy(hidden: &[usize], spec: &EnvSpec) -> Result<PolicySpec, Error> {
    let (low, high) = (spec.action_low.clone(), spec.action_high.clone());
    let policy = PolicySpec::new(Weights::Dense, hidden.to_vec(), spec.observation_size, low, high)?;
    Ok(policy.with_activation(Activation::Relu).with_biases(Biases::All))
}

/// SAC of these sizes.
pub fn options(settings: &SacSection, inputs: usize, actions: usize) -> Options {
    Options {
        inputs,
        actions,
        hidden: settings.hidden.clone(),
        critic_layer_norm: settings.critic_layer_norm,
        learning_rate: settings.learning_rate,
        gamma: settings.gamma as f32,
        tau: settings.tau as f32,
        entropy: settings.entropy_coefficient.value().map(|alpha| alpha as f32),
    }
}

/// The loop around it, with `extra` numbers per transition.
pub fn loop_options(settings: &SacSection, extra: usize) -> off_policy::Options {
    off_policy::Options {
        buffer: settings.buffer,
        learning_starts: settings.learning_starts,
        updates_per_step: settings.updates_per_step,
        iteration_steps: settings.iteration_steps,
        extra,
    }
}

/// Fills a buffer with standard normal numbers.
pub fn normals(random: &mut Rng, count: usize, out: &mut Vec<f32>) {
    out.clear();
    out.extend((0..count).map(|_| random.normal() as f32));
}

/// Writes the policy without exploration that an actor's network has: its means, with `constants` for the inputs after
/// the observation folded into the first layer's biases.
pub fn write_policy(sac: &Sac, constants: &[f32], row: &mut Vec<f64>) {
    let (network, parameters) = sac.actor();
    let mut rest = parameters;
    for (i, layer) in network.layers.iter().enumerate() {
        let (weights, after) = rest.split_at(layer.inputs * layer.outputs);
        let (biases, after) = after.split_at(layer.outputs);
        rest = after;
        let seen = layer.inputs - if i == 0 { constants.len() } else { 0 };
        // The last layer has the means first, then the deviations.
        let outputs = layer.outputs / if i + 1 == network.layers.len() { 2 } else { 1 };
        let weight = |input: usize, output: usize| f64::from(weights[input * layer.outputs + output]);
        row.extend((0..outputs).flat_map(|o| (0..seen).map(move |j| weight(j, o))));
        let bias = |o: usize| {
            let folded = constants.iter().zip(seen..layer.inputs).take(layer.inputs - seen);
            folded.fold(f64::from(biases[o]), |sum, (c, j)| sum + f64::from(*c) * weight(j, o))
        };
        row.extend((0..outputs).map(bias));
    }
}

/// Means of what the updates of an iteration computed.
#[derive(Default)]
pub struct Figures {
    critic: Mean,
    actor: Mean,
    alpha: Mean,
}

impl Figures {
    /// Counts an update, unless a loss is not finite.
    pub fn add(&mut self, losses: Losses) -> Result<(), Unstable> {
        if !(losses.critic.is_finite() && losses.actor.is_finite() && losses.alpha.is_finite()) {
            return Err(Unstable { what: "loss of SAC", remedy: "sac.learning_rate" });
        }
        self.critic.add(losses.critic);
        self.actor.add(losses.actor);
        self.alpha.add(losses.alpha);
        Ok(())
    }

    /// The means since the last call.
    pub fn take(&mut self) -> Vec<(String, f64)> {
        vec![
            ("critic loss".to_owned(), self.critic.take()),
            ("actor loss".to_owned(), self.actor.take()),
            ("entropy coefficient".to_owned(), self.alpha.take()),
        ]
    }
}

/// SAC in the loop.
pub struct SacAgent {
    sac: Sac,
    batch: Batch,
    noise: [Vec<f32>; 2],
    size: usize,
    figures: Figures,
}

impl Agent for SacAgent {
    fn policies(&self) -> usize {
        1
    }

    fn write_policies(&self, rows: &mut Vec<f64>) {
        write_policy(&self.sac, &[], rows);
    }

    fn explore(&mut self, observation: &[f32], random: &mut Rng, action: &mut [f32]) {
        normals(random, action.len(), &mut self.noise[0]);
        self.sac.act(observation, &self.noise[0], action);
    }

    fn update(&mut self, replay: &Replay, random: &mut Rng) -> Result<(), Unstable> {
        replay.sample(self.size, random, &mut self.batch);
        let count = self.batch.actions.len();
        self.noise.iter_mut().for_each(|noise| normals(random, count, noise));
        let losses = self.sac.update(&self.batch, [&self.noise[0], &self.noise[1]]);
        self.figures.add(losses)
    }

    fn figures(&mut self) -> Vec<(String, f64)> {
        self.figures.take()
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        postcard::to_allocvec(&self.sac.networks())
            .map_err(|e| LearnError::Stored { what: "networks", reason: e.to_string() }.into())
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        let wrong = |reason: String| LearnError::Stored { what: "networks", reason };
        let networks = postcard::from_bytes(state).map_err(|e| wrong(e.to_string()))?;
        if !self.sac.restore(networks) {
            return Err(wrong("they have other sizes".to_owned()).into());
        }
        Ok(())
    }
}
