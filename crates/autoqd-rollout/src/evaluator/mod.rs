//! From parameters and seeds to returns, lengths, measures and what the probes saw.
//!
//! An [`Evaluator`] is a pure function: the answer for a candidate depends on its parameters, its seeds and the
//! probes alone. That is what makes runs reproducible, and what lets evaluations run anywhere.

mod local;
mod probe;
mod queue;
mod record;
mod rollout;
mod told;
pub mod wire;
mod work;

pub use local::LocalEvaluator;
pub use probe::{Probe, ProbeKind, ProbeKinds, Step, Watcher};
pub use record::{Record, Trajectory, Transitions};
pub use told::{ToldEpisode, ToldEvaluator};
pub use work::Work;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::policy::PolicySpec;

/// Candidates to evaluate.
#[derive(Clone, Copy)]
pub struct Candidates<'a> {
    /// Parameters, row-major, one row per candidate.
    pub parameters: &'a [f64],
    /// Length of a row of `parameters`.
    pub dimension: usize,
    /// Seeds, row-major, one row per candidate and one seed per episode.
    pub seeds: &'a [u64],
    /// Episodes per candidate.
    pub episodes: usize,
}

impl<'a> Candidates<'a> {
    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.parameters.len() / self.dimension
    }

    /// Whether there is no candidate.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// Checks the lengths against each other and against the policy.
    fn check(&self, policy: &PolicySpec) -> Result<(), Error> {
        let (expected, got) = (policy.parameter_count(), self.dimension);
        if expected != got {
            return Err(Error::ParameterCount { expected, got });
        }
        if self.episodes == 0 || self.seeds.len() != self.len() * self.episodes {
            let got = format!("{} seeds for {} candidates", self.seeds.len(), self.len());
            return Err(Error::invalid(
                "episodes",
                got,
                "one seed per candidate and episode, at least one each",
            ));
        }
        Ok(())
    }

    /// Parameters of candidate `i`.
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.parameters[i * self.dimension..][..self.dimension]
    }
}

/// The result of one episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Undiscounted sum of rewards.
    pub total_reward: f64,
    /// Steps taken.
    pub length: u32,
    /// Whether the simulation diverged or returned a number that is not finite.
    pub diverged: bool,
    /// Hand-designed measures of the task.
    pub measures: Vec<f64>,
    /// What each probe collected, in the order of the probes.
    pub records: Vec<Record>,
}

/// All episodes of one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The episodes, in the order of their seeds.
    pub episodes: Vec<Episode>,
}

impl Evaluation {
    /// Mean return over the episodes; NaN when any of them diverged, so that no archive stores the candidate.
    pub fn objective(&self) -> f64 {
        if self.diverged() > 0 {
            return f64::NAN;
        }
        self.mean(|episode| episode.total_reward)
    }

    /// Number of episodes that diverged.
    pub fn diverged(&self) -> usize {
        self.episodes.iter().filter(|episode| episode.diverged).count()
    }

    /// Population standard deviation of the return over the episodes.
    pub fn return_std(&self) -> f64 {
        let mean = self.mean(|episode| episode.total_reward);
        self.mean(|episode| (episode.total_reward - mean) * (episode.total_reward - mean)).sqrt()
    }

    /// Mean episode length.
    pub fn mean_length(&self) -> f64 {
        self.mean(|episode| f64::from(episode.length))
    }

    /// Steps simulated.
    pub fn steps(&self) -> u64 {
        self.episodes.iter().map(|episode| u64::from(episode.length)).sum()
    }

    /// Hand-designed measures, mean over the episodes.
    pub fn measures(&self) -> Vec<f64> {
        self.mean_rows(|episode| &episode.measures)
    }

    /// What a summarising probe collected, mean over the episodes.
    pub fn mean_summary(&self, probe: usize) -> Vec<f64> {
        self.mean_rows(|episode| episode.records[probe].summary())
    }

    fn mean(&self, value: impl Fn(&Episode) -> f64) -> f64 {
        self.episodes.iter().map(value).sum::<f64>() / self.episodes.len() as f64
    }

    fn mean_rows<'a>(&'a self, row: impl Fn(&'a Episode) -> &'a [f64]) -> Vec<f64> {
        let mut mean = vec![0.0; row(&self.episodes[0]).len()];
        for episode in &self.episodes {
            for (m, value) in mean.iter_mut().zip(row(episode)) {
                *m += value;
            }
        }
        let n = self.episodes.len() as f64;
        mean.iter_mut().for_each(|m| *m /= n);
        mean
    }
}

/// The pure function from candidates and probes to evaluations, in candidate order.
pub trait Evaluator: Send + Sync {
    /// Evaluates every candidate; `probes` say what to collect from each episode.
    fn evaluate(&self, candidates: Candidates<'_>, probes: &[Probe]) -> Result<Vec<Evaluation>, Error>;

    /// Which simulator the evaluations run on, as text for the user.
    fn physics_note(&self) -> String;

    /// How far the evaluation in progress is, if that can be seen.
    fn work(&self) -> Option<Arc<Work>> {
        None
    }

    /// What has happened since this was last asked and a user should know, such as workers that were lost.
    fn news(&self) -> Vec<String> {
        Vec::new()
    }

    /// Why the evaluations may not be those of this machine to the bit; nothing where they are.
    fn inexact(&self) -> Option<String> {
        None
    }
}
