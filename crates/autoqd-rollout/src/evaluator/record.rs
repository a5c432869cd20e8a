//! What probes collect.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ProbeKind, Step, Watcher};

/// What one probe collected over one episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// Numbers that summarise the episode, for instance its embedding.
    Summary(Vec<f64>),
    /// Observations picked from the episode, row-major.
    States(Vec<f32>),
    /// Every step of the episode.
    Trajectory(Trajectory),
}

impl Record {
    /// The summary.
    ///
    /// # Panics
    /// If the record holds something else: the caller that asks for a probe knows what it collects.
    pub fn summary(&self) -> &[f64] {
        match self {
            Record::Summary(values) => values,
            other => panic!("{} where a summary was expected", other.noun()),
        }
    }

    /// The picked observations.
    ///
    /// # Panics
    /// If the record holds something else: the caller that asks for a probe knows what it collects.
    pub fn states(&self) -> &[f32] {
        match self {
            Record::States(values) => values,
            other => panic!("{} where states were expected", other.noun()),
        }
    }

    /// The whole episode.
    ///
    /// # Panics
    /// If the record holds something else: the caller that asks for a probe knows what it collects.
    pub fn trajectory(&self) -> &Trajectory {
        match self {
            Record::Trajectory(trajectory) => trajectory,
            other => panic!("{} where a trajectory was expected", other.noun()),
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Record::Summary(_) => "a summary",
            Record::States(_) => "states",
            Record::Trajectory(_) => "a trajectory",
        }
    }
}

/// The steps of one episode in single precision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// Observations s_0 .. s_T, row-major: one more than there are steps.
    pub observations: Vec<f32>,
    /// Actions a_0 .. a_{T-1}, row-major.
    pub actions: Vec<f32>,
    /// Rewards r_0 .. r_{T-1}.
    pub rewards: Vec<f32>,
    /// Whether the task ended the episode; if not, the step limit did or it diverged.
    pub terminated: bool,
}

impl Trajectory {
    /// Number of steps.
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.rewards.is_empty()
    }

    /// Observation, action, reward, next observation and whether the task ended there, for every step.
    ///
    /// ```
    /// use autoqd_rollout::evaluator::Trajectory;
    /// let episode = Trajectory {
    ///     observations: vec![0.0, 1.0, 2.0],
    ///     actions: vec![0.5, 0.6],
    ///     rewards: vec![1.0, 3.0],
    ///     terminated: true,
    /// };
    /// let last = episode.steps().last().unwrap();
    /// assert_eq!(last, (&[1.0][..], &[0.6][..], 3.0, &[2.0][..], true));
    /// ```
    pub fn steps(&self) -> impl Iterator<Item = (&[f32], &[f32], f32, &[f32], bool)> {
        let n = self.len();
        let (state, action) = (self.observations.len() / (n + 1), self.actions.len() / n.max(1));
        (0..n).map(move |t| {
            let [now, next] = [t, t + 1].map(|t| &self.observations[t * state..][..state]);
            let terminated = self.terminated && t + 1 == n;
            (now, &self.actions[t * action..][..action], self.rewards[t], next, terminated)
        })
    }
}

/// The probe that collects every step, for those who learn from transitions. A step that diverged is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transitions;

impl ProbeKind for Transitions {
    const NAME: &'static str = "transitions";

    fn watcher(self: &Arc<Self>) -> Box<dyn Watcher> {
        Box::new(TrajectoryWatcher::default())
    }
}

#[derive(Default)]
struct TrajectoryWatcher(Trajectory);

impl Watcher for TrajectoryWatcher {
    fn begin(&mut self, _seed: u64) {
        let Trajectory { observations, actions, rewards, terminated } = &mut self.0;
        observations.clear();
        actions.clear();
        rewards.clear();
        *terminated = false;
    }

    fn step(&mut self, step: &Step<'_>) {
        let single = |x: &f64| *x as f32;
        if self.0.observations.is_empty() {
            self.0.observations.extend(step.observation.iter().map(single));
        }
        if !step.diverged {
            self.0.observations.extend(step.next_observation.iter().map(single));
            self.0.actions.extend_from_slice(step.action);
            self.0.rewards.push(step.reward as f32);
            self.0.terminated = step.terminated;
        }
    }

    fn finish(&mut self, _last: &[f64]) -> Record {
        // The watcher keeps its capacity for the next episode.
        Record::Trajectory(self.0.clone())
    }
}
