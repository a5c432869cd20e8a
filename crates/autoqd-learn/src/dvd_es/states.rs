//! The states on which agents are compared: a sample of all that were seen lately.

use std::sync::Arc;

use autoqd::evaluator::{Episode, ProbeKind, Record, Step, Watcher};
use autoqd::seeds::{Purpose, derive};
use serde::{Deserialize, Serialize};

use crate::random::Stream;

/// Collects states at random times of each episode, each being what a step led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStates {
    /// Length of an observation.
    pub size: usize,
    /// States per episode.
    pub samples: usize,
    /// Lets the times differ between iterations whose episodes have the same seeds.
    pub key: u64,
}

impl ProbeKind for NextStates {
    const NAME: &'static str = "next-states";

    fn watcher(self: &Arc<Self>) -> Box<dyn Watcher> {
        Box::new(NextStatesWatcher { probe: **self, seed: 0, time: 0, picked: Vec::new() })
    }
}

struct NextStatesWatcher {
    probe: NextStates,
    seed: u64,
    time: u64,
    picked: Vec<f32>,
}

impl Watcher for NextStatesWatcher {
    fn begin(&mut self, seed: u64) {
        (self.seed, self.time) = (seed, 0);
        self.picked.clear();
    }

    /// Reservoir sampling: the state at time t replaces one of the n kept with probability n / (t + 1).
    fn step(&mut self, step: &Step<'_>) {
        if step.diverged {
            return;
        }
        let NextStates { size, samples, key } = self.probe;
        let state = step.next_observation.iter().map(|x| *x as f32);
        if self.picked.len() < samples * size {
            self.picked.extend(state);
        } else {
            let random = derive(self.seed, Purpose::Training, [key, self.time, 0]);
            let place = ((u128::from(random) * u128::from(self.time + 1)) >> 64) as usize;
            if place < samples {
                let kept = &mut self.picked[place * size..][..size];
                kept.iter_mut().zip(state).for_each(|(kept, x)| *kept = x);
            }
        }
        self.time += 1;
    }

    fn finish(&mut self, _last: &[f64]) -> Record {
        Record::States(self.picked.clone())
    }
}

/// States kept from one iteration to the next, and those of them that the agents are compared on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reservoir {
    kept: Vec<Vec<f32>>,
    chosen: Vec<u32>,
}

impl Reservoir {
    /// States that a probe must collect of each episode so that hardly ever one is missing.
    pub fn samples(capacity: usize, episodes: usize) -> usize {
        capacity.min(4 + 4 * capacity.div_ceil(episodes))
    }

    /// The states to compare agents on; none before the first iteration.
    pub fn chosen(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.chosen.iter().map(|i| self.kept[*i as usize].as_slice())
    }

    /// Keeps a uniform sample of everything seen in the episodes and of what was kept before, and chooses `count` of it.
    pub fn renew(&mut self, seen: Seen<'_>, capacity: usize, count: usize, random: &mut Stream) {
        let before = std::mem::take(&mut self.kept);
        // Every episode, and what was kept before as if it were one, has as many tickets as states.
        let lengths: Vec<usize> =
            seen.episodes().map(|episode| episode.length as usize).chain([before.len()]).collect();
        let shares = shares(&lengths, capacity, random);
        for (episode, share) in seen.episodes().zip(&shares).filter(|(_, share)| **share > 0) {
            let states = episode.records[seen.probe].states().chunks_exact(seen.size);
            self.kept.extend(subset(states.len(), *share, random).map(|i| seen.state(episode, i).to_vec()));
        }
        let share = shares[lengths.len() - 1];
        self.kept.extend(subset(before.len(), share, random).map(|i| before[i].clone()));
        self.chosen = subset(self.kept.len(), count, random).map(|i| i as u32).collect();
    }
}

/// The episodes of an iteration and where the states of [`NextStates`] are among their records.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The episodes, in the order of candidates.
    pub episodes: &'a [&'a Episode],
    /// Place of the probe.
    pub probe: usize,
    /// Length of an observation.
    pub size: usize,
}

impl<'a> Seen<'a> {
    fn episodes(self) -> impl Iterator<Item = &'a Episode> {
        self.episodes.iter().copied()
    }

    fn state(self, episode: &'a Episode, i: usize) -> &'a [f32] {
        &episode.records[self.probe].states()[i * self.size..][..self.size]
    }
}

/// How many of `count` tickets, drawn without putting any back, belong to each owner.
fn shares(tickets: &[usize], count: usize, random: &mut Stream) -> Vec<usize> {
    let ends: Vec<usize> = tickets
        .iter()
        .scan(0, |end, n| {
            *end += n;
            Some(*end)
        })
        .collect();
    let total = ends.last().copied().unwrap_or(0);
    let mut shares = vec![0; tickets.len()];
    // Floyd's sample of distinct numbers.
    let mut drawn = std::collections::BTreeSet::new();
    for last in total.saturating_sub(count)..total {
        let ticket = random.below(last + 1);
        let ticket = if drawn.insert(ticket) { ticket } else { last };
        drawn.insert(ticket);
        shares[ends.partition_point(|end| *end <= ticket)] += 1;
    }
    shares
}

/// Up to `count` different numbers below `n`, in random order.
fn subset(n: usize, count: usize, random: &mut Stream) -> impl Iterator<Item = usize> + use<> {
    let mut numbers: Vec<usize> = (0..n).collect();
    random.shuffle(&mut numbers);
    numbers.truncate(count);
    numbers.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(states: &[f32], length: u32) -> Episode {
        let records = vec![Record::States(states.to_vec())];
        Episode { total_reward: 0.0, length, diverged: false, measures: Vec::new(), records }
    }

    #[test]
    fn every_state_is_as_likely_whatever_the_length_of_its_episode() {
        let long: Vec<f32> = (0..30).map(|i| i as f32).collect();
        let (long, short) = (episode(&long, 30), episode(&[100.0; 10], 10));
        let episodes = [&long, &short];
        let seen = Seen { episodes: &episodes, probe: 0, size: 1 };
        let mut random = Stream::new(5);
        let mut from_short = 0;
        for _ in 0..2000 {
            let mut reservoir = Reservoir::default();
            reservoir.renew(seen, 8, 4, &mut random);
            assert_eq!((reservoir.kept.len(), reservoir.chosen().len()), (8, 4));
            from_short += reservoir.chosen().filter(|state| state[0] == 100.0).count();
        }
        assert!((1850..2150).contains(&from_short), "{from_short} of 8000, a quarter expected");
    }

    #[test]
    fn few_states_are_all_kept_and_old_ones_leave() {
        let few = episode(&[1.0, 2.0], 2);
        let mut random = Stream::new(1);
        let mut reservoir = Reservoir::default();
        reservoir.renew(Seen { episodes: &[&few], probe: 0, size: 1 }, 100, 20, &mut random);
        assert_eq!(reservoir.chosen().len(), 2);
        let many = episode(&[3.0; 1000], 1000);
        reservoir.renew(Seen { episodes: &[&many], probe: 0, size: 1 }, 100, 20, &mut random);
        let new = reservoir.kept.iter().filter(|state| state[0] == 3.0).count();
        assert!(new >= 98 && reservoir.kept.len() == 100);
    }
}
