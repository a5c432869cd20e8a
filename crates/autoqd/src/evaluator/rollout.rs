//! The step loop: one thread drives a batch of worlds whose lanes refill from a shared queue.

use std::sync::Arc;

use autoqd_env::{Seed, Transition, Worlds};

use super::queue::Queue;
use super::{Candidates, Episode, Probe, Watcher};
use crate::Error;
use crate::kernels::Instructions;
use crate::policy::{Policy, PolicySpec};

/// One thread's worlds and everything it needs to run episodes in them, reused over iterations.
pub(super) struct Worker {
    worlds: Box<dyn Worlds>,
    /// For policies and probes.
    instructions: Instructions,
    lanes: Vec<Lane>,
    active: Vec<bool>,
    observations: Vec<f64>,
    actions: Vec<f32>,
    transitions: Vec<Transition>,
}

/// The episode that runs in one lane.
struct Lane {
    policy: Policy,
    watchers: Vec<Box<dyn Watcher>>,
    job: usize,
    total_reward: f64,
    length: u32,
}

impl Worker {
    pub(super) fn new(worlds: Box<dyn Worlds>, policy: &PolicySpec) -> Result<Self, Error> {
        let (n, spec) = (worlds.lanes(), worlds.spec());
        let (observation_size, action_size) = (spec.observation_size, spec.action_size);
        let instructions =
            if worlds.is_scalar() { Instructions::detect_beside_scalar() } else { Instructions::detect() };
        let lane = || {
            let policy = Policy::zeroed(policy).with_instructions(instructions);
            Lane { policy, watchers: Vec::new(), job: 0, total_reward: 0.0, length: 0 }
        };
        Ok(Self {
            lanes: (0..n).map(|_| lane()).collect(),
            active: vec![false; n],
            observations: vec![0.0; n * observation_size],
            actions: vec![0.0; n * action_size],
            transitions: vec![Transition::default(); n],
            instructions,
            worlds,
        })
    }

    /// Runs episodes until the queue is empty; returns them with their place in the queue.
    pub(super) fn run(
        &mut self,
        candidates: Candidates<'_>,
        probes: &[Arc<dyn Probe>],
        queue: &Queue,
    ) -> Result<Vec<(usize, Episode)>, Error> {
        for lane in &mut self.lanes {
            lane.watchers = probes.iter().map(|probe| probe.watcher(self.instructions)).collect();
        }
        let mut finished = Vec::new();
        for lane in 0..self.lanes.len() {
            self.refill(lane, candidates, queue)?;
        }
        while self.active.contains(&true) {
            self.act();
            self.worlds.step(&self.active, &self.actions, &mut self.observations, &mut self.transitions)?;
            for lane in 0..self.lanes.len() {
                if self.active[lane] && self.record_step(lane) {
                    let (job, episode) = self.finish(lane);
                    queue.finished(job, episode.length);
                    finished.push((job, episode));
                    self.refill(lane, candidates, queue)?;
                }
            }
        }
        Ok(finished)
    }

    /// Starts the next episode of the queue in a lane, or leaves it idle when there is none.
    fn refill(&mut self, lane: usize, candidates: Candidates<'_>, queue: &Queue) -> Result<(), Error> {
        let Some(job) = queue.take() else {
            self.active[lane] = false;
            return Ok(());
        };
        let seed = candidates.seeds[job];
        let state = &mut self.lanes[lane];
        state.policy.load(candidates.row(job / candidates.episodes))?;
        (state.job, state.total_reward, state.length) = (job, 0.0, 0);
        state.watchers.iter_mut().for_each(|watcher| watcher.begin(seed));
        let size = self.worlds.spec().observation_size;
        self.worlds.reset(lane, &Seed::from(seed), &mut self.observations[lane * size..][..size])?;
        self.active[lane] = true;
        Ok(())
    }

    /// Every active lane's policy acts on its observation, and the probes look on.
    fn act(&mut self) {
        let (observation_size, action_size) = self.sizes();
        for (i, lane) in self.lanes.iter_mut().enumerate().filter(|(i, _)| self.active[*i]) {
            let observation = &self.observations[i * observation_size..][..observation_size];
            let action = &mut self.actions[i * action_size..][..action_size];
            lane.policy.act(observation, action);
            for watcher in &mut lane.watchers {
                watcher.observe(observation, action);
            }
        }
    }

    /// Books the step just taken in a lane; true when its episode is over.
    fn record_step(&mut self, lane: usize) -> bool {
        let (size, _) = self.sizes();
        let observation = &self.observations[lane * size..][..size];
        let transition = &mut self.transitions[lane];
        let finite = transition.reward.is_finite() && observation.iter().all(|x| x.is_finite());
        transition.diverged |= !finite;
        let state = &mut self.lanes[lane];
        state.length += 1;
        if !transition.diverged {
            state.total_reward += transition.reward;
        }
        transition.done()
    }

    fn finish(&mut self, lane: usize) -> (usize, Episode) {
        let (size, _) = self.sizes();
        let last = &mut self.observations[lane * size..][..size];
        // A diverged episode's last observation must not reach any statistics.
        last.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
        let mut measures = vec![0.0; self.worlds.spec().measures.len()];
        self.worlds.measures(lane, &mut measures);
        let state = &mut self.lanes[lane];
        let records = state.watchers.iter_mut().map(|watcher| watcher.finish(last)).collect();
        let episode = Episode {
            total_reward: state.total_reward,
            length: state.length,
            diverged: self.transitions[lane].diverged,
            measures,
            records,
        };
        (state.job, episode)
    }

    fn sizes(&self) -> (usize, usize) {
        let spec = self.worlds.spec();
        (spec.observation_size, spec.action_size)
    }
}
