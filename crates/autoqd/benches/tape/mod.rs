//! Episodes recorded from an evaluation, and replayed on the bare simulator.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::clock;
use autoqd::evaluator::{Evaluation, Probe, Record, Transitions};
use autoqd::kernels::clean_registers;
use autoqd_env::{
    Action, BipedalWalkerTask, EnvSpec, Environment, LocomotionTask, Perturbation, Seed, WorldReuse,
};
use mujoco_rs::prelude::MjData;

/// The episodes of one iteration: where each starts, and the actions of its steps.
pub struct Tape {
    name: String,
    episodes: Vec<TapedEpisode>,
    action_size: usize,
}

struct TapedEpisode {
    seed: Seed,
    qpos: Vec<f64>,
    qvel: Vec<f64>,
    actions: Vec<f32>,
}

/// The probe that records a tape; passed to an evaluation as the last one.
pub fn probe() -> Probe {
    Probe::new(&Transitions).expect("a probe without constants")
}

/// Takes the last probe's records out of an evaluation: the actions of each episode.
pub fn take_actions(evaluations: &mut [Evaluation]) -> Vec<Vec<f32>> {
    let episodes = evaluations.iter_mut().flat_map(|e| &mut e.episodes);
    let actions = episodes.map(|episode| match episode.records.pop() {
        Some(Record::Trajectory(trajectory)) => trajectory.actions,
        _ => unreachable!("our own probe"),
    });
    actions.collect()
}

impl Tape {
    /// Episodes of a task from their seeds and actions.
    pub fn new(name: &str, spec: &EnvSpec, seeds: &[u64], actions: Vec<Vec<f32>>) -> Self {
        let mut world = (name != "bipedal-walker").then(|| locomotion(name).world().expect("a world"));
        let mut observation = vec![0.0; spec.observation_size];
        let episodes = actions.into_iter().zip(seeds).map(|(actions, seed)| {
            let seed = Seed::from(*seed);
            let (qpos, qvel) = world.as_mut().map_or_else(Default::default, |world| {
                world.reset(Some(&seed), &mut observation).expect("a start");
                (world.qpos().to_vec(), world.qvel().to_vec())
            });
            TapedEpisode { seed, qpos, qvel, actions }
        });
        Self { name: name.to_owned(), episodes: episodes.collect(), action_size: spec.action_size }
    }

    /// Steps per second of processor time of the bare simulator, times the threads; threads take one episode after the other. Putting worlds into their
    /// start states does not count, nor does waiting for the last episode.
    pub fn replay(&self, threads: usize) -> f64 {
        let next = AtomicUsize::new(0);
        let take = || self.episodes.get(next.fetch_add(1, Ordering::Relaxed));
        let replay = || {
            clean_registers();
            match self.name.as_str() {
                "bipedal-walker" => self.replay_box2d(take),
                _ => self.replay_mujoco(take),
            }
        };
        let stepping: f64 = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(replay)).collect();
            workers.into_iter().map(|worker| worker.join().expect("a replay")).sum()
        });
        let steps: usize = self.episodes.iter().map(|e| e.actions.len() / self.action_size).sum();
        (steps * threads) as f64 / stepping
    }

    fn replay_mujoco<'a>(&self, mut take: impl FnMut() -> Option<&'a TapedEpisode>) -> f64 {
        let task = locomotion(&self.name);
        let mut data = MjData::new(task.untuned_model().as_ref());
        let mut stepping = 0.0;
        while let Some(episode) = take() {
            data.reset();
            data.qpos_mut().copy_from_slice(&episode.qpos);
            data.qvel_mut().copy_from_slice(&episode.qvel);
            let start = clock::of_thread();
            for action in episode.actions.chunks_exact(self.action_size) {
                data.ctrl_mut().iter_mut().zip(action).for_each(|(c, a)| *c = f64::from(*a));
                (0..task.frame_skip()).for_each(|_| data.step());
            }
            stepping += clock::of_thread() - start;
        }
        std::hint::black_box(data.qpos());
        stepping
    }

    fn replay_box2d<'a>(&self, mut take: impl FnMut() -> Option<&'a TapedEpisode>) -> f64 {
        let mut walker = BipedalWalkerTask::default().walker(WorldReuse::Never).expect("a world");
        let mut observation = [0.0; 24];
        let mut stepping = 0.0;
        while let Some(episode) = take() {
            walker.reset(Some(&episode.seed), &mut observation).expect("a start");
            let start = clock::of_thread();
            for action in episode.actions.chunks_exact(self.action_size) {
                walker.advance_physics(Action::F32(action)).expect("a step");
            }
            stepping += clock::of_thread() - start;
        }
        stepping
    }
}

fn locomotion(name: &str) -> LocomotionTask {
    LocomotionTask::builtin(name, &Perturbation::default()).expect("a task of ours")
}
