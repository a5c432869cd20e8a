//! One iteration of DvD-ES.

use std::time::Instant;

use autoqd::Error;
use autoqd::embedding::{RunningStatistics, StatisticsProbe};
use autoqd::evaluator::{Candidates, Episode, Evaluation, Probe};
use autoqd::policy::Policy;
use autoqd::random::NormalStream;
use autoqd::run_folder::IterationRow;
use autoqd::seeds::{self, Purpose, derive};
use autoqd::trainer::{Iteration, Times};
use rayon::prelude::*;

use super::DvdEs;
use super::agent::Agent;
use super::diversity::determinant;
use super::states::{NextStates, Reservoir, Seen};
use super::update::{Outcomes, ascend, gradient, scale_to};
use crate::error::LearnError;
use crate::evaluated::{self, Evaluated, mean_return};
use crate::random::Stream;

/// What rollouts are watched with, in this order.
const STATISTICS: usize = 0;
const STATES: usize = 1;

/// What an update did.
pub struct Update {
    lambda: f64,
    gradient_norm: f64,
}

impl DvdEs {
    /// One iteration: perturb, roll out, update all agents, evaluate them, learn from what was seen.
    pub fn advance(&mut self) -> Result<Iteration, Error> {
        let iteration = self.iteration + 1;
        let start = Instant::now();
        let noise = self.noise(iteration);
        let candidates = self.perturbed(&noise);
        let asked = start.elapsed().as_secs_f64();
        let rollouts = self.roll_out(&candidates, self.training_seeds(iteration), 1, iteration)?;
        let rolled = start.elapsed().as_secs_f64();
        let update = self.update(iteration, &noise, &candidates, &rollouts)?;
        let updated = start.elapsed().as_secs_f64();
        let policies: Vec<f64> = self.agents.iter().flat_map(Agent::policy).collect();
        let seeds = self.evaluation_seeds(iteration);
        let episodes = self.config.episodes;
        let evaluations = self.roll_out(&policies, seeds.clone(), episodes, iteration)?;
        let evaluated = start.elapsed().as_secs_f64();
        let latest: Vec<Evaluated> = policies
            .chunks_exact(self.policy.parameter_count())
            .zip(evaluations.iter().zip(seeds.chunks_exact(episodes)))
            .map(|(policy, (evaluation, seeds))| Evaluated::new(policy, iteration, evaluation, seeds))
            .collect();
        let figures = self.figures(&update, &latest)?;
        self.learn(iteration, &rollouts, &evaluations, latest);
        let end = start.elapsed().as_secs_f64();
        self.iteration = iteration;
        let times = Times {
            ask: asked,
            evaluate: (rolled - asked) + (evaluated - updated),
            tell: (updated - rolled) + (end - evaluated),
            refit: 0.0,
        };
        Ok(Iteration { metrics: self.metrics(&rollouts), figures, times, ..Iteration::default() })
    }

    /// The perturbations of all agents, one row per pair; each pair has a stream of its own.
    pub(super) fn noise(&self, iteration: u64) -> Vec<f64> {
        let (pairs, weights) = (self.settings.pairs as u64, self.weights());
        let mut noise = vec![0.0; self.agents.len() * self.settings.pairs * weights];
        self.pool.install(|| {
            noise.par_chunks_exact_mut(weights).enumerate().for_each(|(row, values)| {
                let (agent, pair) = (row as u64 / pairs, row as u64 % pairs);
                let seed = derive(self.config.seed, Purpose::Emitters, [iteration, agent, pair]);
                let mut stream = NormalStream::new(seed, b"dvd-pair");
                values.iter_mut().for_each(|value| *value = stream.normal());
            });
        });
        noise
    }

    /// The policies of all pairs: agent after agent, pair after pair, the positive one first.
    fn perturbed(&self, noise: &[f64]) -> Vec<f64> {
        let (pairs, sigma) = (self.settings.pairs, self.settings.sigma);
        let rows = noise.chunks_exact(self.weights()).enumerate();
        rows.flat_map(|(row, noise)| {
            let agent = &self.agents[row / pairs];
            [sigma, -sigma].map(|step| agent.perturbed(noise, step))
        })
        .flatten()
        .collect()
    }

    /// Both policies of a pair start from the same state, so that their difference is not the start's.
    fn training_seeds(&self, iteration: u64) -> Vec<u64> {
        let pairs = (self.agents.len() * self.settings.pairs) as u64;
        (0..pairs).flat_map(|pair| [self.seed(iteration, pair, 0); 2]).collect()
    }

    /// The seeds of the evaluations, which follow the pairs in the numbering of candidates.
    fn evaluation_seeds(&self, iteration: u64) -> Vec<u64> {
        let (agents, pairs) = (self.agents.len() as u64, (self.agents.len() * self.settings.pairs) as u64);
        let episodes = self.config.episodes as u64;
        let seeds = |agent: u64| (0..episodes).map(move |e| self.seed(iteration, pairs + agent, e));
        (0..agents).flat_map(seeds).collect()
    }

    fn seed(&self, iteration: u64, candidate: u64, episode: u64) -> u64 {
        if self.released() { 0 } else { seeds::episode(self.config.seed, iteration, candidate, episode) }
    }

    /// Evaluates policies and counts what it cost.
    fn roll_out(
        &mut self,
        parameters: &[f64],
        seeds: Vec<u64>,
        episodes: usize,
        iteration: u64,
    ) -> Result<Vec<Evaluation>, Error> {
        let (dimension, size) = (self.policy.parameter_count(), self.spec.observation_size);
        let samples = Reservoir::samples(self.settings.reservoir, self.pairs_of_all() * 2);
        let probes =
            [Probe::new(&StatisticsProbe(size))?, Probe::new(&NextStates { size, samples, key: iteration })?];
        let candidates = Candidates { parameters, dimension, seeds: &seeds, episodes };
        let evaluations = self.evaluator.evaluate(candidates, &probes)?;
        self.totals.evaluations += evaluations.len() as u64;
        self.totals.env_steps += evaluations.iter().map(Evaluation::steps).sum::<u64>();
        self.totals.diverged_episodes += evaluations.iter().map(|e| e.diverged() as u64).sum::<u64>();
        Ok(evaluations)
    }

    pub(super) fn pairs_of_all(&self) -> usize {
        self.agents.len() * self.settings.pairs
    }

    /// The joint step of all agents.
    fn update(
        &mut self,
        iteration: u64,
        noise: &[f64],
        candidates: &[f64],
        rollouts: &[Evaluation],
    ) -> Result<Update, Error> {
        let (weights, pairs) = (self.weights(), self.settings.pairs);
        let lambda = self.settings.arms[self.bandit.arm()];
        let determinants = if lambda > 0.0 { Some(self.determinants(candidates, 2 * pairs)?) } else { None };
        let returns: Vec<Vec<f64>> = rollouts.chunks_exact(2 * pairs).map(returns).collect();
        let outcomes = Outcomes { returns: &returns, determinants: determinants.as_deref(), lambda };
        let differences = outcomes.differences();
        let mut joint: Vec<f64> = self.pool.install(|| {
            let agents = differences.par_iter().zip(noise.par_chunks_exact(pairs * weights));
            agents.flat_map_iter(|(differences, noise)| gradient(differences, noise, weights)).collect()
        });
        let gradient_norm = scale_to(&mut joint, weights);
        if !gradient_norm.is_finite() {
            return Err(
                LearnError::NotFinite { what: "update of DvD-ES", iteration, remedy: "dvd.sigma" }.into()
            );
        }
        let step = ascend(&mut self.adam, &joint);
        if self.released() {
            self.adam.forget();
        }
        for (agent, step) in self.agents.iter_mut().zip(step.chunks_exact(weights)) {
            agent.weights.iter_mut().zip(step).for_each(|(w, step)| *w += step);
        }
        Ok(Update { lambda, gradient_norm })
    }

    /// The determinant of the agents' policies of equal number, for `rows` policies of each agent; nothing can be told
    /// before there are states.
    fn determinants(&self, policies: &[f64], rows: usize) -> Result<Vec<f64>, Error> {
        let states: Vec<Vec<f64>> =
            self.reservoir.chosen().map(|state| state.iter().map(|x| f64::from(*x)).collect()).collect();
        if states.is_empty() {
            return Ok(vec![0.0; rows]);
        }
        let width = self.policy.parameter_count();
        let embedding = |row: usize| {
            let mut policy = Policy::new(&self.policy, &policies[row * width..][..width])?;
            let mut actions = vec![0.0_f32; states.len() * self.spec.action_size];
            let each = actions.chunks_exact_mut(self.spec.action_size);
            each.zip(&states).for_each(|(action, state)| policy.act(state, action));
            Ok(actions)
        };
        let one = |row: usize| {
            let of_agents = (0..self.agents.len()).map(|agent| embedding(agent * rows + row));
            let embeddings = of_agents.collect::<Result<Vec<_>, Error>>()?;
            Ok(determinant(&embeddings.iter().map(Vec::as_slice).collect::<Vec<_>>()))
        };
        self.pool.install(|| (0..rows).into_par_iter().map(one).collect())
    }

    /// Numbers that only this method has, of the agents as they were evaluated last.
    fn figures(&self, update: &Update, latest: &[Evaluated]) -> Result<Vec<(String, f64)>, Error> {
        let policies: Vec<f64> = latest.iter().flat_map(|agent| agent.parameters.iter().copied()).collect();
        let determinant = self.determinants(&policies, 1)?[0];
        let figures = [
            ("mean return", mean_return(latest)),
            ("lambda", update.lambda),
            ("determinant", determinant),
            ("gradient norm", update.gradient_norm),
        ];
        Ok(figures.map(|(name, value)| (name.to_owned(), value)).to_vec())
    }

    /// Takes in what was seen: filters, bandit, states, population.
    fn learn(
        &mut self,
        iteration: u64,
        rollouts: &[Evaluation],
        evaluations: &[Evaluation],
        latest: Vec<Evaluated>,
    ) {
        let rows = rollouts.chunks_exact(2 * self.settings.pairs).zip(evaluations);
        // The released code counts evaluations once more for every worker; here there is one.
        let times = if self.released() { 2 } else { 1 };
        for (agent, (rollouts, evaluation)) in self.agents.iter_mut().zip(rows) {
            merge(&mut agent.seen, rollouts.iter());
            merge(&mut agent.seen, std::iter::repeat_n(evaluation, times));
        }
        let seed = |purpose| derive(self.config.seed, purpose, [iteration, u64::MAX, 0]);
        let mut random = NormalStream::new(seed(Purpose::Training), b"dvd-arms");
        self.bandit.pull(mean_return(&latest), self.settings.arms.len(), &mut random);
        let episodes: Vec<&Episode> =
            rollouts.iter().chain(evaluations).flat_map(|evaluation| &evaluation.episodes).collect();
        let seen = Seen { episodes: &episodes, probe: STATES, size: self.spec.observation_size };
        let mut random = Stream::new(seed(Purpose::Emitters));
        self.reservoir.renew(seen, self.settings.reservoir, self.settings.probe_states, &mut random);
        self.keep(latest);
    }

    /// Keeps the last iterate or the best of each agent.
    fn keep(&mut self, latest: Vec<Evaluated>) {
        if self.released() {
            self.population = latest;
            self.overwrite_the_best();
        } else if self.population.is_empty() {
            self.population = latest;
        } else {
            let better = self.population.iter_mut().zip(latest).filter(|(best, new)| new.beats(best));
            better.for_each(|(best, new)| *best = new);
        }
    }

    /// The last agent takes the place of the one that was evaluated best, as the released code has it.
    fn overwrite_the_best(&mut self) {
        let last = self.agents.len() - 1;
        let objective = |agent: usize| self.population[agent].objective;
        let best = (1..=last).fold(0, |best, i| if objective(i) > objective(best) { i } else { best });
        self.agents[best] = self.agents[last].clone();
        self.population[best] = self.population[last].clone();
    }

    fn metrics(&self, rollouts: &[Evaluation]) -> IterationRow {
        let batch: Vec<(f64, f64)> =
            rollouts.iter().map(|r| (r.episodes[0].total_reward, r.mean_length())).collect();
        let (sigma_min, sigma_max) = (self.settings.sigma, self.settings.sigma);
        let row = evaluated::metrics(self.iteration, self.totals, &self.population, &batch);
        IterationRow { sigma_min, sigma_max, ..row }
    }
}

/// The returns of an agent's perturbed policies; one that diverged is as bad as the worst that did not.
fn returns(rollouts: &[Evaluation]) -> Vec<f64> {
    let objectives: Vec<f64> = rollouts.iter().map(Evaluation::objective).collect();
    let lowest = objectives.iter().copied().filter(|r| r.is_finite()).fold(f64::INFINITY, f64::min);
    let worst = if lowest.is_finite() { lowest } else { 0.0 };
    objectives.into_iter().map(|r| if r.is_nan() { worst } else { r }).collect()
}

fn merge<'a>(seen: &mut RunningStatistics, evaluations: impl Iterator<Item = &'a Evaluation>) {
    for episode in evaluations.flat_map(|evaluation| &evaluation.episodes) {
        seen.merge(&RunningStatistics::from_row(episode.records[STATISTICS].summary()));
    }
}
