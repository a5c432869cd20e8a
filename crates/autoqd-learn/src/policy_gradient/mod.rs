//! The policy-gradient emitter of PGA-MAP-Elites (Nilsson and Cully, 2021): candidates are elites improved by a critic.
//!
//! It owns TD3's critics, a greedy actor and a replay buffer, and learns from the transitions of all candidates of an
//! iteration, whichever emitter they are from. The last of its candidates is the greedy actor itself.

mod random_start;
mod section;
#[cfg(test)]
mod tests;

pub use section::{NAME, PgSection, check};

use std::io::Write;

use autoqd::Error;
use autoqd::emitter::{SearchEmitter, Seen};
use autoqd::evaluator::{Probe, Transitions};
use autoqd::policy::PolicySpec;
use autoqd::registry::EmitterContext;
use autoqd_qd::{Archive, Emitter, Feedback, Restart, Rng, Rows};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::actor::{Actor, Improver};
use crate::error::LearnError;
use crate::mean::Mean;
use crate::random::Stream;
use crate::replay::{Batch, Replay, RowShape, Transition, memory_note};
use crate::sac::normals;
use crate::td3::{Networks, Options, Td3};
use random_start::{RandomStart, random_policy};

/// What the presets set for `method = "pga-me"`: the evaluations of the paper's searches, and a first look.
pub(crate) const PRESETS: &[(&str, &str)] = &[
    ("paper", PAPER),
    ("best", PAPER),
    (
        "quick",
        "iterations = 40\nepisodes = 1\nemitter = \"pg\"\nemitters = 2\nbatch_size = 10\nadd_mode = \"single\"\ncells = 20\n\
         learning_rate = 1.0\nthreshold_min = -inf\npolicy.kind = \"dense\"\npolicy.bias = \"all\"\n\
         policy.hidden = [64, 64]\npg.random_start = 3\npg.critic_hidden = [64, 64]\npg.critic_steps = 200",
    ),
];
const PAPER: &str = "iterations = 1600\nepisodes = 5\nemitter = \"pg\"\nemitters = 2\nbatch_size = 50\n\
     add_mode = \"single\"\ncells = 20\nlearning_rate = 1.0\nthreshold_min = -inf\npolicy.kind = \"dense\"\n\
     policy.bias = \"all\"";

/// Streams of an iteration.
const RANDOM: u64 = 0;

/// Builds one of the emitters of a run: the first follows policy gradients, the others are what stands beside it.
pub fn build(context: EmitterContext<'_>) -> Result<Box<dyn SearchEmitter>, Error> {
    let settings: PgSection = context.config.section()?;
    let batches = settings.batches(context.config.emitters, context.config.batch_size);
    let batch_size = batches[context.index];
    if context.index == 0 {
        return Ok(Box::new(PolicyGradient::new(settings, &context, batch_size)));
    }
    let (policy, registry, seed) = (context.policy.clone(), context.registry, context.seed);
    let inner = registry.emitter_named(&settings.beside, EmitterContext { batch_size, ..context })?;
    Ok(Box::new(RandomStart::new(inner, policy, settings.random_start, seed)))
}

/// The emitter.
pub struct PolicyGradient {
    settings: PgSection,
    policy: PolicySpec,
    batch_size: usize,
    td3: Td3,
    replay: Replay,
    random: Rng,
    /// Iterations asked for.
    asked: u64,
    batch: Batch,
    noise: Vec<f32>,
    critic: Mean,
    greedy: f64,
    /// Gradient steps of the present candidates.
    candidate_steps: usize,
}

/// What is stored besides the replay buffer.
#[derive(Serialize, Deserialize)]
struct State {
    networks: Networks,
    random: Rng,
    asked: u64,
}

impl PolicyGradient {
    fn new(settings: PgSection, context: &EmitterContext<'_>, batch_size: usize) -> Self {
        let policy = context.policy.clone();
        let mut random = Rng::new(context.seed, RANDOM);
        let mut actor = Actor::new(&policy, settings.critic_learning_rate);
        let mut first = vec![0.0; policy.parameter_count()];
        random_policy(&policy, &mut random, &mut first);
        actor.start(&first);
        let options = Options {
            hidden: settings.critic_hidden.clone(),
            critic_layer_norm: settings.critic_layer_norm,
            learning_rate: settings.critic_learning_rate,
            gamma: settings.gamma as f32,
            tau: settings.tau as f32,
            policy_delay: settings.policy_delay,
            target_noise: settings.target_noise as f32,
            target_noise_clip: settings.target_noise_clip as f32,
        };
        let td3 = Td3::new(options, actor, &mut Stream::new(context.seed));
        let replay = Replay::new(row_shape(&policy), settings.buffer);
        Self {
            settings,
            policy,
            batch_size,
            td3,
            replay,
            random,
            asked: 0,
            batch: Batch::default(),
            noise: Vec::new(),
            critic: Mean::default(),
            greedy: f64::NAN,
            candidate_steps: 0,
        }
    }

    /// States on which candidates are improved; all of an iteration share them.
    fn states(&mut self) -> Vec<Vec<f32>> {
        if self.replay.len() == 0 {
            return Vec::new();
        }
        let draw = |_| {
            self.replay.sample(self.settings.batch_size, &mut self.random, &mut self.batch);
            self.batch.observations.clone()
        };
        (0..self.settings.gradient_steps).map(draw).collect()
    }

    /// Remembers the first episodes of all candidates, in their order.
    fn remember(&mut self, seen: &Seen<'_>) {
        let bounds: Vec<[f32; 2]> = self
            .policy
            .action_low
            .iter()
            .zip(&self.policy.action_high)
            .map(|(l, h)| [*l as f32, *h as f32])
            .collect();
        let mut records = seen.records(0);
        let mut action = vec![0.0; bounds.len()];
        for evaluation in seen.evaluations {
            let own = records.by_ref().take(evaluation.episodes.len()).enumerate();
            for record in own.filter(|(e, _)| *e < self.settings.stored_episodes).map(|(_, record)| record) {
                for (observation, done, reward, next_observation, terminated) in record.trajectory().steps() {
                    for ((a, done), [low, high]) in action.iter_mut().zip(done).zip(&bounds) {
                        *a = 2.0 * (done - low) / (high - low) - 1.0;
                    }
                    let (action, extra) = (&action[..], &[][..]);
                    self.replay.push(&Transition {
                        observation,
                        action,
                        reward,
                        next_observation,
                        terminated,
                        extra,
                    });
                }
            }
        }
    }

    fn learn(&mut self) -> Result<(), LearnError> {
        if self.replay.len() == 0 {
            return Ok(());
        }
        for _ in 0..self.settings.critic_steps {
            self.replay.sample(self.settings.batch_size, &mut self.random, &mut self.batch);
            normals(&mut self.random, self.batch.actions.len(), &mut self.noise);
            let losses = self.td3.update(&self.batch, &self.noise);
            if !(losses.critic.is_finite() && losses.actor.is_none_or(f64::is_finite)) {
                let (what, remedy) = ("loss of the critics", "pg.critic_learning_rate");
                return Err(LearnError::NotFinite { what, iteration: self.asked, remedy });
            }
            self.critic.add(losses.critic);
        }
        Ok(())
    }
}

/// Elites improved by the critic, each on its own, on the same batches of states.
fn vary(td3: &Td3, rate: f64, elites: Rows<'_>, parents: &[usize], states: &[Vec<f32>], varied: &mut [f64]) {
    let shape = td3.actor().shape();
    let rows = varied.par_chunks_exact_mut(elites.width()).zip(parents);
    rows.for_each_init(
        || Improver::new(shape, rate),
        |improver, (row, parent)| {
            row.copy_from_slice(elites.row(*parent));
            improver.improve(shape, row, td3.critics(), states);
        },
    );
}

fn row_shape(policy: &PolicySpec) -> RowShape {
    RowShape { observation: policy.observation_size, action: policy.action_size(), extra: 0 }
}

impl Emitter for PolicyGradient {
    fn batch_size(&self) -> usize {
        self.batch_size
    }

    fn solution_dim(&self) -> usize {
        self.policy.parameter_count()
    }

    fn ask(&mut self, archive: &dyn Archive, out: &mut [f64]) -> autoqd_qd::Result<()> {
        self.asked += 1;
        let size = self.solution_dim();
        let (varied, greedy) = out.split_at_mut((self.batch_size - 1) * size);
        self.td3.actor().policy(greedy);
        if self.asked <= self.settings.random_start || archive.is_empty() {
            varied.chunks_exact_mut(size).for_each(|row| random_policy(&self.policy, &mut self.random, row));
            return Ok(());
        }
        let parents = archive.sample(self.batch_size - 1, &mut self.random)?;
        let states = self.states();
        self.candidate_steps = states.len() * parents.len();
        let rate = self.settings.learning_rate;
        vary(&self.td3, rate, archive.elites().solutions(), &parents, &states, varied);
        Ok(())
    }

    fn tell(
        &mut self,
        _archive: &dyn Archive,
        feedback: &Feedback<'_>,
    ) -> autoqd_qd::Result<Option<Restart>> {
        self.greedy = feedback.objective.last().copied().unwrap_or(f64::NAN);
        Ok(None)
    }
}

impl SearchEmitter for PolicyGradient {
    fn probes(&self) -> Result<Vec<Probe>, Error> {
        Ok(vec![Probe::new(&Transitions)?])
    }

    fn absorb(&mut self, seen: &Seen<'_>) -> Result<(), Error> {
        self.remember(seen);
        Ok(self.learn()?)
    }

    fn figures(&mut self) -> Vec<(String, f64)> {
        vec![
            ("greedy return".to_owned(), self.greedy),
            ("critic loss".to_owned(), self.critic.take()),
            ("updates".to_owned(), self.td3.updates() as f64),
            ("candidate steps".to_owned(), std::mem::take(&mut self.candidate_steps) as f64),
        ]
    }

    fn notices(&self) -> Vec<String> {
        vec![memory_note(row_shape(&self.policy), self.settings.buffer)]
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        let state = State { networks: self.td3.networks(), random: self.random.clone(), asked: self.asked };
        postcard::to_allocvec(&state)
            .map_err(|e| LearnError::Stored { what: "emitter", reason: e.to_string() }.into())
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        let wrong = |reason: String| LearnError::Stored { what: "emitter", reason };
        let state: State = postcard::from_bytes(state).map_err(|e| wrong(e.to_string()))?;
        if !self.td3.restore(state.networks) {
            return Err(wrong("its networks have other sizes".to_owned()).into());
        }
        (self.random, self.asked) = (state.random, state.asked);
        Ok(())
    }

    fn memory_len(&self) -> Option<usize> {
        Some(self.replay.stored_len())
    }

    fn write_memory(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.replay.write(out)
    }

    fn load_memory(&mut self, memory: &[u8]) -> Result<(), Error> {
        Ok(self.replay.read(memory)?)
    }
}
