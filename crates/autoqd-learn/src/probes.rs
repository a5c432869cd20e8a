//! Which states of an episode the descriptors see.

use std::sync::Arc;

use autoqd::evaluator::{ProbeKind, Record, Step, Watcher};
use autoqd::seeds::{Purpose, derive};
use serde::{Deserialize, Serialize};

use crate::states::rounded;

/// The last state of an episode, then some states at uniformly random times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastState {
    /// Length of an observation.
    pub size: usize,
    /// Random states per episode.
    pub samples: usize,
}

impl ProbeKind for LastState {
    const NAME: &'static str = "last-state";

    fn watcher(self: &Arc<Self>) -> Box<dyn Watcher> {
        let (size, samples) = (self.size, self.samples);
        Box::new(LastStateWatcher { size, samples, seed: 0, time: 0, picked: Vec::new() })
    }
}

struct LastStateWatcher {
    size: usize,
    samples: usize,
    seed: u64,
    time: u64,
    picked: Vec<f32>,
}

impl Watcher for LastStateWatcher {
    fn begin(&mut self, seed: u64) {
        (self.seed, self.time) = (seed, 0);
        self.picked.clear();
    }

    /// Reservoir sampling: the state at time t replaces one of the n kept with probability n / (t + 1).
    fn step(&mut self, step: &Step<'_>) {
        let state = step.observation.iter().map(|x| rounded(*x));
        if self.picked.len() < self.samples * self.size {
            self.picked.extend(state);
        } else {
            let key = derive(self.seed, Purpose::Training, [self.time, 0, 0]);
            let place = ((u128::from(key) * u128::from(self.time + 1)) >> 64) as usize;
            if place < self.samples {
                self.picked[place * self.size..][..self.size]
                    .iter_mut()
                    .zip(state)
                    .for_each(|(to, x)| *to = x);
            }
        }
        self.time += 1;
    }

    fn finish(&mut self, last: &[f64]) -> Record {
        let mut states: Vec<f32> = last.iter().map(|x| *x as f32).collect();
        states.extend_from_slice(&self.picked);
        Record::States(states)
    }
}

/// Every so many states of an episode, from the first on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EveryNth {
    /// Steps from one state to the next.
    pub period: usize,
}

impl ProbeKind for EveryNth {
    const NAME: &'static str = "every-nth";

    fn watcher(self: &Arc<Self>) -> Box<dyn Watcher> {
        Box::new(EveryNthWatcher { period: self.period, time: 0, states: Vec::new() })
    }
}

struct EveryNthWatcher {
    period: usize,
    time: usize,
    states: Vec<f32>,
}

impl Watcher for EveryNthWatcher {
    fn begin(&mut self, _seed: u64) {
        self.time = 0;
        self.states.clear();
    }

    fn step(&mut self, step: &Step<'_>) {
        if self.time.is_multiple_of(self.period) {
            self.states.extend(step.observation.iter().map(|x| rounded(*x)));
        }
        self.time += 1;
    }

    fn finish(&mut self, _last: &[f64]) -> Record {
        Record::States(self.states.clone())
    }
}
