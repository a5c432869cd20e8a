//! Evaluations of episodes that happened elsewhere and are told afterwards.

use std::sync::{Mutex, PoisonError};

use super::{Candidates, Episode, Evaluation, Evaluator, Probe, ProbeKinds, Step, Watcher};
use crate::Error;

/// An episode as someone else recorded it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToldEpisode {
    /// Every observation, row-major: one per step, and perhaps the one after the last step.
    pub observations: Vec<f64>,
    /// Every action, row-major: one per step.
    pub actions: Vec<f32>,
    /// Every reward; empty for zeros.
    pub rewards: Vec<f64>,
    /// What counts as the return; by default the sum of the rewards.
    pub objective: Option<f64>,
    /// Whether the task ended the episode.
    pub terminated: bool,
    /// Hand-designed measures.
    pub measures: Vec<f64>,
}

/// An evaluator that knows the episodes of its candidates already, and shows them to the probes.
///
/// It is what a search is advanced with whose evaluations happen outside: ask the search, roll out, [`tell`](Self::tell)
/// the episodes, step the search. A number that is not finite makes an episode one that diverged.
///
/// ```
/// use autoqd_rollout::evaluator::{Candidates, Evaluator, Probe, ProbeKinds, ToldEpisode, ToldEvaluator, Transitions};
/// let evaluator = ToldEvaluator::new(1, 1, ProbeKinds::default());
/// let episode = ToldEpisode {
///     observations: vec![0.0, 0.5, 1.0],
///     actions: vec![1.0, 1.0],
///     rewards: vec![2.0, 3.0],
///     ..ToldEpisode::default()
/// };
/// evaluator.tell(vec![vec![episode]])?;
/// let candidates = Candidates { parameters: &[0.0], dimension: 1, seeds: &[7], episodes: 1 };
/// let evaluations = evaluator.evaluate(candidates, &[Probe::new(&Transitions)?])?;
/// assert_eq!(evaluations[0].objective(), 5.0);
/// assert_eq!(evaluations[0].episodes[0].records[0].trajectory().len(), 2);
/// # Ok::<(), autoqd_rollout::Error>(())
/// ```
pub struct ToldEvaluator {
    observation_size: usize,
    action_size: usize,
    kinds: ProbeKinds,
    told: Mutex<Vec<Vec<ToldEpisode>>>,
}

impl ToldEvaluator {
    /// An evaluator of episodes with observations and actions of these lengths.
    pub fn new(observation_size: usize, action_size: usize, kinds: ProbeKinds) -> Self {
        Self { observation_size, action_size, kinds, told: Mutex::default() }
    }

    /// Tells the episodes of the next candidates, in their order, at least one each.
    pub fn tell(&self, episodes: Vec<Vec<ToldEpisode>>) -> Result<(), Error> {
        for (candidate, own) in episodes.iter().enumerate() {
            if own.is_empty() {
                return Err(wrong(candidate, 0, "no episode", "at least one episode per candidate"));
            }
            for (number, episode) in own.iter().enumerate() {
                self.check(candidate, number, episode)?;
            }
        }
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = episodes;
        Ok(())
    }

    fn check(&self, candidate: usize, number: usize, episode: &ToldEpisode) -> Result<(), Error> {
        let steps = episode.actions.len() / self.action_size.max(1);
        let rows = episode.observations.len() / self.observation_size.max(1);
        let whole = episode.actions.len() == steps * self.action_size
            && episode.observations.len() == rows * self.observation_size;
        if !whole || steps == 0 || !(rows == steps || rows == steps + 1) {
            let got = format!(
                "{} numbers of observations and {} of actions",
                episode.observations.len(),
                episode.actions.len()
            );
            let expected = "T actions, T or T + 1 observations, T at least 1, of the lengths of the task";
            return Err(wrong(candidate, number, &got, expected));
        }
        if !episode.rewards.is_empty() && episode.rewards.len() != steps {
            let got = format!("{} rewards for {steps} actions", episode.rewards.len());
            return Err(wrong(candidate, number, &got, "one reward per action"));
        }
        Ok(())
    }

    fn replay(&self, told: &ToldEpisode, seed: u64, watchers: &mut [Box<dyn Watcher>]) -> Episode {
        let (size, action_size) = (self.observation_size, self.action_size);
        let steps = told.actions.len() / action_size;
        let last_row = told.observations.len() / size - 1;
        let row = |t: usize| &told.observations[t.min(last_row) * size..][..size];
        let finite =
            told.observations.iter().chain(&told.rewards).chain(&told.objective).all(|x| x.is_finite())
                && told.actions.iter().all(|x| x.is_finite());
        watchers.iter_mut().for_each(|watcher| watcher.begin(seed));
        let reward = |t: usize| told.rewards.get(t).copied().unwrap_or(0.0);
        let (nothing, no_action) = (vec![0.0; size], vec![0.0; action_size]);
        if !finite {
            // Numbers that are not finite must not reach any statistics; as in a rollout, zeros stand for them.
            let step = Step {
                observation: &nothing,
                action: &no_action,
                reward: 0.0,
                next_observation: &nothing,
                terminated: false,
                truncated: false,
                diverged: true,
            };
            watchers.iter_mut().for_each(|watcher| watcher.step(&step));
        }
        for t in (0..steps).filter(|_| finite) {
            let step = Step {
                observation: row(t),
                action: &told.actions[t * action_size..][..action_size],
                reward: reward(t),
                next_observation: row(t + 1),
                terminated: told.terminated && t + 1 == steps,
                truncated: !told.terminated && t + 1 == steps,
                diverged: false,
            };
            watchers.iter_mut().for_each(|watcher| watcher.step(&step));
        }
        let last = if finite { row(steps) } else { &nothing };
        let total: f64 = told.objective.unwrap_or_else(|| (0..steps).map(reward).sum());
        Episode {
            total_reward: if finite { total } else { 0.0 },
            length: steps as u32,
            diverged: !finite,
            measures: told.measures.clone(),
            records: watchers.iter_mut().map(|watcher| watcher.finish(last)).collect(),
        }
    }
}

impl Evaluator for ToldEvaluator {
    fn evaluate(&self, candidates: Candidates<'_>, probes: &[Probe]) -> Result<Vec<Evaluation>, Error> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() != candidates.len() {
            let got = format!("episodes of {} candidates", told.len());
            return Err(Error::invalid(
                "what was told",
                format!("{got}, asked for {}", candidates.len()),
                "episodes of every candidate",
            ));
        }
        let makers = probes.iter().map(|probe| self.kinds.decode(probe)).collect::<Result<Vec<_>, _>>()?;
        let mut watchers: Vec<Box<dyn Watcher>> = makers.iter().map(|make| make()).collect();
        let evaluation = |(i, episodes): (usize, &Vec<ToldEpisode>)| {
            let seed =
                |e: usize| candidates.seeds.get(i * candidates.episodes + e).copied().unwrap_or(e as u64);
            let episodes = episodes.iter().enumerate();
            Evaluation {
                episodes: episodes.map(|(e, told)| self.replay(told, seed(e), &mut watchers)).collect(),
            }
        };
        Ok(told.iter().enumerate().map(evaluation).collect())
    }

    fn physics_note(&self) -> String {
        "evaluated elsewhere".to_owned()
    }
}

fn wrong(candidate: usize, episode: usize, got: &str, expected: &'static str) -> Error {
    Error::invalid("what was told", format!("candidate {candidate}, episode {episode}: {got}"), expected)
}
