//! The step loop: one thread drives a batch of worlds whose lanes refill from a shared queue.

use autoqd_env::{Action, Seed, Transition, Worlds};

use super::probe::MakeWatcher;
use super::queue::Queue;
use super::{Candidates, Episode, Step, Watcher};
use crate::Error;
use crate::kernels::Instructions;
use crate::policy::{Policy, PolicySpec};

/// So many worlds at least cost no more than one: the widest vectors have as many lanes.
const WORLDS_TO_FILL: usize = 16;

/// One thread's worlds and everything it needs to run episodes in them, reused over iterations.
pub(super) struct Worker {
    worlds: Box<dyn Worlds>,
    lanes: Vec<Lane>,
    active: Vec<bool>,
    /// What the policies see next.
    observations: Vec<f64>,
    /// What they saw before the last step.
    previous: Vec<f64>,
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
    /// Whether the policy gave an action that is not a number, as overflowing parameters do.
    lost: bool,
}

impl Worker {
    pub(super) fn new(worlds: Box<dyn Worlds>, policy: &PolicySpec) -> Result<Self, Error> {
        let (n, spec) = (worlds.lanes(), worlds.spec());
        let (observation_size, action_size) = (spec.observation_size, spec.action_size);
        let instructions =
            if worlds.is_scalar() { Instructions::detect_beside_scalar() } else { Instructions::detect() };
        let lane = || {
            let policy = Policy::zeroed(policy).with_instructions(instructions);
            Lane { policy, watchers: Vec::new(), job: 0, total_reward: 0.0, length: 0, lost: false }
        };
        Ok(Self {
            lanes: (0..n).map(|_| lane()).collect(),
            active: vec![false; n],
            observations: vec![0.0; n * observation_size],
            previous: vec![0.0; n * observation_size],
            actions: vec![0.0; n * action_size],
            transitions: vec![Transition::default(); n],
            worlds,
        })
    }

    /// Runs episodes until the queue is empty, in about `share` worlds at a time if there are as many; returns them with
    /// their place in the queue.
    pub(super) fn run(
        &mut self,
        candidates: Candidates<'_>,
        probes: &[MakeWatcher],
        queue: &Queue,
        share: usize,
    ) -> Result<Vec<(usize, Episode)>, Error> {
        for lane in &mut self.lanes {
            lane.watchers = probes.iter().map(|watcher| watcher()).collect();
            if self.worlds.is_scalar() {
                lane.watchers.iter_mut().for_each(|watcher| watcher.beside_scalar());
            }
        }
        let mut finished = Vec::new();
        for lane in 0..self.lanes.len().min(share.next_multiple_of(WORLDS_TO_FILL)) {
            self.refill(lane, candidates, queue)?;
        }
        while self.active.contains(&true) {
            self.act();
            std::mem::swap(&mut self.observations, &mut self.previous);
            let actions = Action::F32(&self.actions);
            self.worlds.step(&self.active, actions, &mut self.observations, &mut self.transitions)?;
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
        (state.job, state.total_reward, state.length, state.lost) = (job, 0.0, 0, false);
        state.watchers.iter_mut().for_each(|watcher| watcher.begin(seed));
        let size = self.worlds.spec().observation_size;
        self.worlds.reset(lane, Some(&Seed::from(seed)), &mut self.observations[lane * size..][..size])?;
        self.active[lane] = true;
        Ok(())
    }

    /// Every active lane's policy acts on its observation.
    fn act(&mut self) {
        let (observation_size, action_size) = self.sizes();
        for (i, lane) in self.lanes.iter_mut().enumerate().filter(|(i, _)| self.active[*i]) {
            let observation = &self.observations[i * observation_size..][..observation_size];
            let action = &mut self.actions[i * action_size..][..action_size];
            lane.policy.act(observation, action);
            // One such policy must not end a search: its episode counts as diverged, like one that the simulator lost.
            if !action.iter().all(|x| x.is_finite()) {
                lane.lost = true;
                action.fill(0.0);
            }
        }
    }

    /// Records the step just taken in a lane, and shows it to the watchers; true when its episode is over.
    fn record_step(&mut self, lane: usize) -> bool {
        let (size, action_size) = self.sizes();
        let observation = &mut self.observations[lane * size..][..size];
        let transition = &mut self.transitions[lane];
        let finite = transition.reward.is_finite() && observation.iter().all(|x| x.is_finite());
        let state = &mut self.lanes[lane];
        transition.diverged |= !finite || state.lost;
        state.length += 1;
        if transition.diverged {
            // What a diverged step left behind must not reach any statistics.
            transition.reward = 0.0;
            observation.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
        }
        state.total_reward += transition.reward;
        let step = Step {
            observation: &self.previous[lane * size..][..size],
            action: &self.actions[lane * action_size..][..action_size],
            reward: transition.reward,
            next_observation: observation,
            terminated: transition.terminated,
            truncated: transition.truncated,
            diverged: transition.diverged,
        };
        state.watchers.iter_mut().for_each(|watcher| watcher.step(&step));
        transition.done()
    }

    fn finish(&mut self, lane: usize) -> (usize, Episode) {
        let (size, _) = self.sizes();
        let last = &self.observations[lane * size..][..size];
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
