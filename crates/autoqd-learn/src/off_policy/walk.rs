//! The world in which an agent gathers experience, one step at a time.
//!
//! A world cannot be stored in the middle of an episode. But an episode is a pure function of its seed and the actions:
//! those are stored, and the episode is walked again when a run goes on.

use autoqd::Error;
use autoqd::seeds;
use autoqd_env::{Action, Environment, Seed, Task, Transition};
use serde::{Deserialize, Serialize};

/// What is stored of the present episode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// Number of the episode, from 0.
    pub episode: u64,
    /// Actions so far, as sent to the task.
    actions: Vec<f32>,
    total_reward: f64,
    length: u32,
}

/// A world and the episode in it.
pub struct Walk {
    world: Box<dyn Environment>,
    run_seed: u64,
    bounds: Vec<[f32; 2]>,
    path: Path,
    before: Vec<f32>,
    raw: Vec<f64>,
    now: Vec<f32>,
}

/// What a step led to.
pub struct Stepped {
    /// Reward and how the step ended.
    pub transition: Transition,
    /// Return and length of the episode that ended with this step.
    pub episode: Option<(f64, f64)>,
}

impl Walk {
    /// The first episode at its start.
    pub fn new(task: &dyn Task, run_seed: u64) -> Result<Self, Error> {
        let spec = task.spec();
        let bounds = spec.action_low.iter().zip(&spec.action_high).map(|(l, h)| [*l as f32, *h as f32]);
        let size = spec.observation_size;
        let mut walk = Self {
            bounds: bounds.collect(),
            world: task.make()?,
            run_seed,
            path: Path::default(),
            before: vec![0.0; size],
            raw: vec![0.0; size],
            now: vec![0.0; size],
        };
        walk.begin(0)?;
        Ok(walk)
    }

    /// Starts an episode. Evaluations have other seeds: their iterations are counted from 1.
    fn begin(&mut self, episode: u64) -> Result<(), Error> {
        let seed = seeds::episode(self.run_seed, 0, 0, episode);
        self.world.reset(Some(&Seed::from(seed)), &mut self.raw)?;
        self.path.actions.clear();
        self.path = Path { episode, actions: std::mem::take(&mut self.path.actions), ..Path::default() };
        self.round();
        Ok(())
    }

    fn round(&mut self) {
        self.now.iter_mut().zip(&self.raw).for_each(|(x, raw)| *x = *raw as f32);
    }

    /// What the agent sees.
    pub fn observation(&self) -> &[f32] {
        &self.now
    }

    /// What it saw before the last step, and what that step led to.
    pub fn last_step(&self) -> (&[f32], &[f32]) {
        (&self.before, &self.now)
    }

    /// Takes a step with an action within ±1. After the last step of an episode [`Walk::next_episode`] must follow.
    pub fn step(&mut self, action: &[f32]) -> Result<Stepped, Error> {
        let start = self.path.actions.len();
        let scaled = action.iter().zip(&self.bounds).map(|(a, [l, h])| l + 0.5 * (a + 1.0) * (h - l));
        self.path.actions.extend(scaled);
        self.before.copy_from_slice(&self.now);
        let mut transition = self.world.step(Action::F32(&self.path.actions[start..]), &mut self.raw)?;
        transition.diverged |= !(transition.reward.is_finite() && self.raw.iter().all(|x| x.is_finite()));
        self.path.length += 1;
        if !transition.diverged {
            self.path.total_reward += transition.reward;
            self.round();
        }
        let ended = (self.path.total_reward, f64::from(self.path.length));
        Ok(Stepped { episode: transition.done().then_some(ended), transition })
    }

    /// Starts the next episode.
    pub fn next_episode(&mut self) -> Result<(), Error> {
        self.begin(self.path.episode + 1)
    }

    /// The present episode, to be stored.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Walks a stored episode again, to where it was.
    pub fn follow(&mut self, path: Path) -> Result<(), Error> {
        self.begin(path.episode)?;
        for action in path.actions.chunks_exact(self.bounds.len()) {
            self.world.step(Action::F32(action), &mut self.raw)?;
        }
        self.path = path;
        self.round();
        Ok(())
    }
}
