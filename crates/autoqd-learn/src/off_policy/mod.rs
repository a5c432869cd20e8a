//! The loop of methods that learn from a replay buffer: act, remember, update, and now and then evaluate.
//!
//! One iteration is a number of training steps followed by an evaluation of the policies without exploration, with
//! which they are stored.

mod train;
mod walk;

use std::sync::Arc;
use std::time::Instant;

use autoqd::Error;
use autoqd::config::RunConfig;
use autoqd::evaluator::{Candidates, Evaluation, Evaluator};
use autoqd::policy::PolicySpec;
use autoqd::registry::{EvaluatorContext, TrainerContext};
use autoqd::search::thread_pool;
use autoqd::seeds::{self, Purpose, derive};
use autoqd::trainer::{Iteration, Times, Totals};
use autoqd_env::EnvSpec;
use autoqd_qd::Rng;

use crate::error::LearnError;
use crate::evaluated::{self, Evaluated, mean_return};
use crate::replay::{Replay, RowShape, Transition};
use walk::{Stepped, Walk};

/// What a method does in this loop.
pub trait Agent: Send {
    /// Policies it trains.
    fn policies(&self) -> usize;

    /// Writes the parameters of all policies, one row each.
    fn write_policies(&self, rows: &mut Vec<f64>);

    /// Numbers that it keeps with every transition.
    fn extra(&self) -> &[f32] {
        &[]
    }

    /// An episode begins.
    fn begin_episode(&mut self, _random: &mut Rng) {}

    /// An episode ended whose transitions were pushed as the numbers in `pushed`.
    fn end_episode(&mut self, _total_reward: f64, _pushed: std::ops::Range<u64>, _replay: &mut Replay) {}

    /// An action within ±1 for training.
    fn explore(&mut self, observation: &[f32], random: &mut Rng, action: &mut [f32]);

    /// One update from the buffer.
    fn update(&mut self, replay: &Replay, random: &mut Rng) -> Result<(), Unstable>;

    /// What is shown of the updates since the last call, by name.
    fn figures(&mut self) -> Vec<(String, f64)>;

    /// An iteration ends, after so many training steps in all: methods with stages change them here.
    fn end_iteration(&mut self, _steps: u64, _recent: &[f64], _replay: &mut Replay) {}

    /// The state.
    fn save(&self) -> Result<Vec<u8>, Error>;

    /// Restores what [`Agent::save`] returned.
    fn load(&mut self, state: &[u8]) -> Result<(), Error>;
}

/// A loss that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unstable {
    /// Whose.
    pub what: &'static str,
    /// The setting to lower.
    pub remedy: &'static str,
}

/// Sizes and rates of the loop.
#[derive(Clone, Debug)]
pub struct Options {
    /// Transitions that the buffer holds.
    pub buffer: usize,
    /// First steps, with uniform random actions and without updates.
    pub learning_starts: u64,
    /// Updates per training step.
    pub updates_per_step: f64,
    /// Training steps per iteration.
    pub iteration_steps: u64,
    /// Numbers that the agent keeps with a transition.
    pub extra: usize,
}

/// What the loop remembers besides its parts.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Progress {
    iteration: u64,
    totals: Totals,
    /// Training steps.
    steps: u64,
    updates: u64,
    /// Returns of the latest training episodes, oldest first.
    recent: Vec<f64>,
    /// Number of the present episode's first transition among those pushed.
    episode_start: u64,
    population: Vec<Evaluated>,
}

/// Training episodes whose mean return is shown.
const RECENT: usize = 100;

/// Streams of a training step.
const ACT: u64 = 0;
const UPDATE: u64 = 1;
const EPISODE: u64 = 2;

/// The loop with an agent in it.
pub struct OffPolicy<A> {
    config: RunConfig,
    options: Options,
    spec: EnvSpec,
    policy: PolicySpec,
    evaluator: Arc<dyn Evaluator>,
    pool: Arc<rayon::ThreadPool>,
    agent: A,
    walk: Walk,
    replay: Replay,
    progress: Progress,
}

impl<A: Agent> OffPolicy<A> {
    /// The loop at its start.
    pub fn new(
        context: TrainerContext<'_>,
        options: Options,
        policy: PolicySpec,
        agent: A,
    ) -> Result<Self, Error> {
        let TrainerContext { config, task, registry } = context;
        let spec = task.spec().clone();
        let pool = thread_pool(config.threads())?;
        let walk = Walk::new(&*task, config.seed)?;
        let context = EvaluatorContext {
            config: Some(&config),
            task,
            policy: policy.clone(),
            physics: config.physics,
            pool: pool.clone(),
            probes: registry.probes().clone(),
        };
        let evaluator = registry.evaluator(&config.evaluator, context)?;
        let replay = Replay::new(row_shape(&spec, &options), options.buffer);
        let progress = Progress::default();
        let mut own = Self { config, options, spec, policy, evaluator, pool, agent, walk, replay, progress };
        own.begin_episode();
        Ok(own)
    }

    /// Random numbers of one purpose at one training step.
    fn random(&self, purpose: u64) -> Rng {
        Rng::new(derive(self.config.seed, Purpose::Training, [self.progress.steps, purpose, 0]), 0)
    }

    fn begin_episode(&mut self) {
        let mut random = self.random(EPISODE);
        self.agent.begin_episode(&mut random);
        self.progress.episode_start = self.replay.pushed();
    }

    /// One iteration.
    fn advance(&mut self) -> Result<Iteration, Error> {
        let pool = self.pool.clone();
        let start = Instant::now();
        let (mut batch, mut stepping, mut updating) = (Vec::new(), 0.0, 0.0);
        pool.install(|| {
            for _ in 0..self.options.iteration_steps {
                let (both, updated) = self.step_and_update(&mut batch)?;
                stepping += both - updated;
                updating += updated;
            }
            Ok::<(), Error>(())
        })?;
        let trained = start.elapsed().as_secs_f64();
        let steps = self.progress.steps;
        self.agent.end_iteration(steps, &self.progress.recent, &mut self.replay);
        let latest = self.evaluate(self.progress.iteration + 1)?;
        let evaluated = start.elapsed().as_secs_f64();
        self.progress.population = latest;
        self.progress.iteration += 1;
        let times = Times {
            ask: trained - stepping - updating,
            // Of the training steps only what did not pass during updates.
            evaluate: stepping + (evaluated - trained),
            tell: updating,
            refit: 0.0,
        };
        let Progress { iteration, totals, population, .. } = &self.progress;
        // Where no training episode ended, those of the evaluation stand for them.
        let shown = population.iter().map(|policy| (policy.objective, policy.length_mean));
        let batch = if batch.is_empty() { shown.collect() } else { batch };
        let metrics = evaluated::metrics(*iteration, *totals, population, &batch);
        Ok(Iteration { metrics, figures: self.figures(), times, ..Iteration::default() })
    }

    fn figures(&mut self) -> Vec<(String, f64)> {
        let Progress { population, recent, steps, updates, .. } = &self.progress;
        let mut figures = vec![
            ("return".to_owned(), mean_return(population)),
            ("training return".to_owned(), recent.iter().sum::<f64>() / recent.len() as f64),
            ("training steps".to_owned(), *steps as f64),
            ("training episodes".to_owned(), self.walk.path().episode as f64),
            ("updates".to_owned(), *updates as f64),
        ];
        figures.extend(self.agent.figures());
        figures
    }

    /// One training step and the updates due with it, at the same time: the updates draw from what was remembered before
    /// the step. `ended` gets return and length of the episode that ended with it. Returns the seconds of both
    /// together and those of the updates.
    fn step_and_update(&mut self, ended: &mut Vec<(f64, f64)>) -> Result<(f64, f64), Error> {
        let mut action = [0.0; MOST_ACTIONS];
        let action = &mut action[..self.spec.action_size];
        let mut random = self.random(ACT);
        if self.progress.steps < self.options.learning_starts {
            action.iter_mut().for_each(|a| *a = (2.0 * random.uniform() - 1.0) as f32);
        } else {
            self.agent.explore(self.walk.observation(), &mut random, action);
        }
        self.progress.steps += 1;
        let (due, random) = (self.updates_due(), &mut self.random(UPDATE));
        let (walk, agent, replay) = (&mut self.walk, &mut self.agent, &self.replay);
        let ((stepped, (updated, seconds)), both) = timed(|| {
            rayon::join(
                || walk.step(action),
                || timed(|| (0..due).try_for_each(|_| agent.update(replay, random))),
            )
        });
        updated.map_err(|Unstable { what, remedy }| LearnError::NotFinite {
            what,
            iteration: self.progress.iteration + 1,
            remedy,
        })?;
        self.progress.updates += due;
        self.remember(action, stepped?, ended)?;
        Ok((both, seconds))
    }

    /// How many updates are due with the present step.
    fn updates_due(&self) -> u64 {
        let Progress { steps, .. } = self.progress;
        if steps <= self.options.learning_starts || self.replay.len() == 0 {
            return 0;
        }
        let due = |steps: u64| (steps as f64 * self.options.updates_per_step).floor() as u64;
        due(steps) - due(steps - 1)
    }

    /// What a step led to goes into the buffer, and after the last step of an episode the next one begins.
    fn remember(
        &mut self,
        action: &[f32],
        stepped: Stepped,
        ended: &mut Vec<(f64, f64)>,
    ) -> Result<(), Error> {
        self.progress.totals.env_steps += 1;
        if !stepped.transition.diverged {
            let (observation, next_observation) = self.walk.last_step();
            self.replay.push(&Transition {
                observation,
                action,
                reward: stepped.transition.reward as f32,
                next_observation,
                terminated: stepped.transition.terminated,
                extra: self.agent.extra(),
            });
        }
        if let Some((total, length)) = stepped.episode {
            self.progress.totals.diverged_episodes += u64::from(stepped.transition.diverged);
            ended.push((total, length));
            if self.progress.recent.len() == RECENT {
                self.progress.recent.remove(0);
            }
            self.progress.recent.push(total);
            let pushed = self.progress.episode_start..self.replay.pushed();
            self.agent.end_episode(total, pushed, &mut self.replay);
            self.walk.next_episode()?;
            self.begin_episode();
        }
        Ok(())
    }

    /// Evaluates the policies as they are now.
    fn evaluate(&mut self, iteration: u64) -> Result<Vec<Evaluated>, Error> {
        let (dimension, episodes) = (self.policy.parameter_count(), self.config.episodes);
        let mut parameters = Vec::new();
        self.agent.write_policies(&mut parameters);
        let policies = self.agent.policies() as u64;
        let seed = |policy: u64, e: u64| seeds::episode(self.config.seed, iteration, policy, e);
        let seeds: Vec<u64> =
            (0..policies).flat_map(|policy| (0..episodes as u64).map(move |e| seed(policy, e))).collect();
        let candidates = Candidates { parameters: &parameters, dimension, seeds: &seeds, episodes };
        let evaluations = self.evaluator.evaluate(candidates, &[])?;
        let totals = &mut self.progress.totals;
        totals.evaluations += evaluations.len() as u64;
        totals.env_steps += evaluations.iter().map(Evaluation::steps).sum::<u64>();
        totals.diverged_episodes += evaluations.iter().map(|e| e.diverged() as u64).sum::<u64>();
        let rows = parameters.chunks_exact(dimension).zip(seeds.chunks_exact(episodes));
        Ok(rows
            .zip(&evaluations)
            .map(|((row, seeds), evaluation)| Evaluated::new(row, iteration, evaluation, seeds))
            .collect())
    }
}

/// A piece of work and the seconds it took.
fn timed<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let start = Instant::now();
    (work(), start.elapsed().as_secs_f64())
}

/// More numbers than any action has.
const MOST_ACTIONS: usize = 256;

/// Checks what the loop needs of a task.
pub fn check_task(spec: &EnvSpec) -> Result<(), Error> {
    if !(1..=MOST_ACTIONS).contains(&spec.action_size) {
        return Err(Error::invalid(
            "length of an action",
            spec.action_size,
            "1 to 256 numbers for this method",
        ));
    }
    let bounds = spec.action_low.iter().zip(&spec.action_high);
    match bounds.clone().find(|(low, high)| !(low.is_finite() && high.is_finite() && low < high)) {
        None => Ok(()),
        Some((low, high)) => Err(Error::invalid(
            "range of an action",
            format!("{low} to {high}"),
            "finite bounds: the policy's outputs are scaled to them; give the actuator a control range",
        )),
    }
}

fn row_shape(spec: &EnvSpec, options: &Options) -> RowShape {
    let (observation, action) = (spec.observation_size, spec.action_size);
    RowShape { observation, action, extra: options.extra }
}
