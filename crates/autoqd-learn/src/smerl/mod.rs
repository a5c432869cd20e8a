//! SMERL (Kumar et al., 2020): skills trained by one SAC, rewarded for being told apart where their return is near the
//! optimum.
//!
//! Networks see the skill as numbers after the observation, 1 for it and 0 for the others. For a given skill these are
//! constants and become part of the first layer's biases: the population is plain policies, one per skill.

mod discriminator;
mod section;

pub use section::{Gate, SmerlSection};

use autoqd::Error;
use autoqd::registry::TrainerContext;
use autoqd::seeds::{Purpose, derive};
use autoqd_qd::Rng;
use serde::{Deserialize, Serialize};

use crate::critics::beside;
use crate::error::LearnError;
use crate::mean::Mean;
use crate::off_policy::{self, Agent, OffPolicy, Unstable};
use crate::random::Stream;
use crate::replay::{Batch, Replay};
use crate::sac::{self, Figures, Networks, Sac, SacSection, loop_options, normals, write_policy};
use discriminator::{Discriminator, Weights};

/// What the presets set for this method: the steps of the paper after those of the optimum, and a first look.
pub(crate) const PRESETS: &[(&str, &str)] = &[
    ("paper", "iterations = 3800\nepisodes = 5\nsac.hidden = [128, 128]"),
    ("best", "iterations = 3800\nepisodes = 5\nsac.hidden = [128, 128]"),
    (
        "quick",
        "iterations = 30\nepisodes = 2\nsac.hidden = [64, 64]\nsac.iteration_steps = 1000\nsmerl.skills = 5\n\
         smerl.optimum_steps = 10000\nsmerl.discriminator_hidden = [64, 64]",
    ),
];

/// Episodes from which the fork takes the mean returns of skills.
const EPISODES: usize = 100;
/// What is kept with a transition: the skill, and the return of its episode once that is known.
const EXTRA: usize = 2;
const UNKNOWN: f32 = f32::NEG_INFINITY;

/// The trainer of `method = "smerl"`.
pub fn trainer(context: TrainerContext<'_>) -> Result<OffPolicy<Smerl>, Error> {
    let settings: SmerlSection = context.config.section()?;
    let of_sac: SacSection = context.config.section()?;
    let spec = context.task.spec().clone();
    off_policy::check_task(&spec)?;
    let policy = sac::policy(&of_sac.hidden, &spec)?;
    let seed = |stage: u64| derive(context.config.seed, Purpose::InitialPolicy, [stage, 0, 0]);
    let (observation, actions) = (spec.observation_size, spec.action_size);
    let hidden = &settings.discriminator_hidden;
    let rate = settings.discriminator_rate;
    let random = &mut Stream::new(seed(2));
    let agent = Smerl {
        first: Sac::new(sac::options(&of_sac, observation, actions), seed(0)),
        skilled: Sac::new(sac::options(&of_sac, observation + settings.skills, actions), seed(1)),
        discriminator: Discriminator::new(observation, hidden, settings.skills, rate, random),
        optimum: settings.optimum.value(),
        skill: 0,
        episodes: Vec::new(),
        extra: [0.0, UNKNOWN],
        size: of_sac.batch_size,
        batch: Batch::default(),
        seen: Seen::default(),
        noise: [Vec::new(), Vec::new()],
        figures: Figures::default(),
        open: Mean::default(),
        told: Mean::default(),
        settings,
    };
    OffPolicy::new(context, loop_options(&of_sac, EXTRA), policy, agent)
}

/// SMERL in the loop.
pub struct Smerl {
    settings: SmerlSection,
    /// Plain SAC, which finds the optimum.
    first: Sac,
    /// SAC that sees the skill.
    skilled: Sac,
    discriminator: Discriminator,
    /// Not known while plain SAC is trained.
    optimum: Option<f64>,
    skill: usize,
    /// Skill and return of the latest episodes, oldest first.
    episodes: Vec<(u32, f64)>,
    extra: [f32; EXTRA],
    size: usize,
    batch: Batch,
    seen: Seen,
    noise: [Vec<f32>; 2],
    figures: Figures,
    open: Mean,
    told: Mean,
}

/// Buffers of an update.
#[derive(Default)]
struct Seen {
    skills: Vec<usize>,
    one_hot: Vec<f32>,
    states: Vec<f32>,
    logs: Vec<f32>,
    swap: Vec<f32>,
}

/// What is stored.
#[derive(Serialize, Deserialize)]
struct State {
    first: Networks,
    skilled: Networks,
    discriminator: Weights,
    optimum: Option<f64>,
    skill: usize,
    episodes: Vec<(u32, f64)>,
}

impl Smerl {
    /// 1 for the skill, 0 for the others.
    fn one_hot(&self, skill: usize) -> Vec<f32> {
        (0..self.settings.skills).map(|z| if z == skill { 1.0 } else { 0.0 }).collect()
    }

    /// Mean return of each skill over the latest episodes; 0 where there was none, as in the fork.
    fn means(&self) -> Vec<f64> {
        let of = |skill: u32| self.episodes.iter().filter(move |(z, _)| *z == skill).map(|(_, total)| *total);
        let mean = |skill: u32| of(skill).sum::<f64>() / (of(skill).count() as f64).max(1.0);
        (0..self.settings.skills as u32).map(mean).collect()
    }

    /// Adds the reward for being told apart where the gate is open; returns the share of those transitions.
    fn add_rewards(&mut self, optimum: f64) -> f64 {
        let Self { settings, batch, seen, discriminator, .. } = self;
        seen.skills.clear();
        seen.skills.extend(batch.extra.chunks_exact(EXTRA).map(|extra| extra[0] as usize));
        discriminator.log_probabilities(&batch.next_observations, &seen.skills, &mut seen.logs);
        let (weight, threshold) = (settings.weight(), settings.threshold(optimum));
        let uniform = libm::logf(settings.skills as f32);
        let means = self.means();
        let mut open = 0;
        for (i, skill) in self.seen.skills.iter().enumerate() {
            let judged = match self.settings.gate {
                Gate::Trajectory => f64::from(self.batch.extra[i * EXTRA + 1]),
                Gate::Fork => means[*skill],
            };
            if judged >= threshold {
                self.batch.rewards[i] += weight * (self.seen.logs[i] + uniform);
                open += 1;
            }
        }
        f64::from(open) / self.batch.len() as f64
    }

    /// Puts the skill after every observation of the batch; the plain ones stay in `seen.states`.
    fn show_skills(&mut self) {
        let Self { batch, seen, settings, .. } = self;
        let (rows, skills) = (batch.len(), settings.skills);
        seen.one_hot.clear();
        seen.one_hot.resize(rows * skills, 0.0);
        seen.skills.iter().enumerate().for_each(|(i, skill)| seen.one_hot[i * skills + skill] = 1.0);
        seen.states.clone_from(&batch.observations);
        beside(&seen.states, &seen.one_hot, rows, &mut batch.observations);
        seen.swap.clone_from(&batch.next_observations);
        beside(&seen.swap, &seen.one_hot, rows, &mut batch.next_observations);
    }
}

impl Agent for Smerl {
    fn policies(&self) -> usize {
        if self.optimum.is_some() { self.settings.skills } else { 1 }
    }

    fn write_policies(&self, rows: &mut Vec<f64>) {
        if self.optimum.is_none() {
            return write_policy(&self.first, &[], rows);
        }
        (0..self.settings.skills).for_each(|skill| write_policy(&self.skilled, &self.one_hot(skill), rows));
    }

    fn extra(&self) -> &[f32] {
        &self.extra
    }

    fn begin_episode(&mut self, random: &mut Rng) {
        self.skill = random.index(self.settings.skills);
        self.extra[0] = self.skill as f32;
    }

    fn end_episode(&mut self, total_reward: f64, pushed: std::ops::Range<u64>, replay: &mut Replay) {
        for number in pushed {
            if let Some(extra) = replay.extra_mut(number) {
                extra[1] = total_reward as f32;
            }
        }
        if self.episodes.len() == EPISODES {
            self.episodes.remove(0);
        }
        self.episodes.push((self.skill as u32, total_reward));
    }

    fn explore(&mut self, observation: &[f32], random: &mut Rng, action: &mut [f32]) {
        normals(random, action.len(), &mut self.noise[0]);
        if self.optimum.is_none() {
            return self.first.act(observation, &self.noise[0], action);
        }
        let mut input = std::mem::take(&mut self.seen.swap);
        input.clear();
        input.extend_from_slice(observation);
        input.extend((0..self.settings.skills).map(|z| if z == self.skill { 1.0 } else { 0.0 }));
        self.skilled.act(&input, &self.noise[0], action);
        self.seen.swap = input;
    }

    fn update(&mut self, replay: &Replay, random: &mut Rng) -> Result<(), Unstable> {
        replay.sample(self.size, random, &mut self.batch);
        let count = self.batch.actions.len();
        self.noise.iter_mut().for_each(|noise| normals(random, count, noise));
        let Some(optimum) = self.optimum else {
            let losses = self.first.update(&self.batch, [&self.noise[0], &self.noise[1]]);
            return self.figures.add(losses);
        };
        let open = self.add_rewards(optimum);
        self.show_skills();
        let losses = self.skilled.update(&self.batch, [&self.noise[0], &self.noise[1]]);
        self.figures.add(losses)?;
        let told = self.discriminator.learn(&self.seen.states, &self.seen.skills);
        if !told.is_finite() {
            return Err(Unstable {
                what: "loss of SMERL's discriminator",
                remedy: "smerl.discriminator_rate",
            });
        }
        self.open.add(open);
        self.told.add(told);
        Ok(())
    }

    fn figures(&mut self) -> Vec<(String, f64)> {
        let mut figures = self.figures.take();
        figures.push(("optimum".to_owned(), self.optimum.unwrap_or(f64::NAN)));
        figures.push(("gate open".to_owned(), self.open.take()));
        figures.push(("discriminator loss".to_owned(), self.told.take()));
        figures
    }

    /// Once plain SAC has had its steps, the optimum is known and skills begin, with nothing remembered.
    fn end_iteration(&mut self, steps: u64, recent: &[f64], replay: &mut Replay) {
        if self.optimum.is_none() && steps >= self.settings.optimum_steps && !recent.is_empty() {
            self.optimum = Some(recent.iter().sum::<f64>() / recent.len() as f64);
            self.episodes.clear();
            replay.clear();
        }
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        let state = State {
            first: self.first.networks(),
            skilled: self.skilled.networks(),
            discriminator: self.discriminator.weights().clone(),
            optimum: self.optimum,
            skill: self.skill,
            episodes: self.episodes.clone(),
        };
        postcard::to_allocvec(&state)
            .map_err(|e| LearnError::Stored { what: "networks", reason: e.to_string() }.into())
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        let wrong = |reason: String| LearnError::Stored { what: "networks", reason };
        let state: State = postcard::from_bytes(state).map_err(|e| wrong(e.to_string()))?;
        let fits = self.first.restore(state.first)
            && self.skilled.restore(state.skilled)
            && self.discriminator.restore(state.discriminator);
        if !fits || state.skill >= self.settings.skills {
            return Err(wrong("they have other sizes".to_owned()).into());
        }
        (self.optimum, self.skill, self.episodes) = (state.optimum, state.skill, state.episodes);
        self.extra = [self.skill as f32, UNKNOWN];
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use autoqd::policy::{Policy, PolicySpec};

    use super::*;

    #[test]
    fn a_skill_folded_into_biases_acts_as_the_network_that_sees_it() {
        let settings = SacSection { hidden: vec![7, 6], ..SacSection::default() };
        let mut sac = Sac::new(sac::options(&settings, 4 + 3, 2), 5);
        let spec = autoqd_env::load_task("point-maze", &Default::default()).unwrap().spec().clone();
        let spec = autoqd_env::EnvSpec {
            observation_size: 4,
            action_size: 2,
            action_low: vec![-1.0; 2],
            action_high: vec![1.0; 2],
            ..spec
        };
        let shape: PolicySpec = sac::policy(&settings.hidden, &spec).unwrap();
        let observation = [0.3, -0.8, 0.1, 1.2];
        let mut actions = Vec::new();
        for skill in 0..3 {
            let one_hot: Vec<f32> = (0..3).map(|z| if z == skill { 1.0 } else { 0.0 }).collect();
            let mut row = Vec::new();
            write_policy(&sac, &one_hot, &mut row);
            let mut policy = Policy::new(&shape, &row).unwrap();
            let mut action = [0.0; 2];
            policy.act(&observation, &mut action);
            let input: Vec<f32> = observation.iter().map(|x| *x as f32).chain(one_hot).collect();
            let mut expected = [0.0; 2];
            sac.act(&input, &[0.0; 2], &mut expected);
            assert!(action.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6));
            actions.push(action);
        }
        assert!(actions[0] != actions[1] && actions[1] != actions[2]);
    }

    #[test]
    fn the_threshold_lies_below_the_optimum_whatever_its_sign() {
        let settings = SmerlSection::default();
        assert_eq!((settings.threshold(100.0), settings.threshold(-100.0)), (90.0, -110.0));
        let fork = SmerlSection { gate: Gate::Fork, ..settings };
        assert_eq!((fork.threshold(100.0), fork.weight()), (95.0, 1.0));
    }
}
