//! What a policy did, frame by frame.

use autoqd_env::{Pose, Scene};

/// The recorded poses of one episode.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The shapes.
    pub scene: Scene,
    /// One pose per shape, frame after frame; the first frame is the start.
    poses: Vec<Pose>,
    /// Reward of the step that led to each frame; 0 for the first.
    pub rewards: Vec<f64>,
    /// Steps of the task between two frames.
    pub stride: usize,
}

impl Replay {
    /// A replay without frames.
    pub fn new(scene: Scene, stride: usize) -> Self {
        Self { scene, poses: Vec::new(), rewards: Vec::new(), stride: stride.max(1) }
    }

    /// Appends a frame. Poses beyond the number of shapes are dropped, missing ones stay at the origin.
    pub fn push(&mut self, poses: &[Pose], reward: f64) {
        let shapes = self.scene.shapes.len();
        self.poses.extend((0..shapes).map(|i| poses.get(i).copied().unwrap_or(Pose::IDENTITY)));
        self.rewards.push(reward);
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.rewards.len()
    }

    /// The poses of one frame, in the order of the shapes.
    ///
    /// # Panics
    /// If there is no such frame.
    pub fn poses(&self, frame: usize) -> &[Pose] {
        let shapes = self.scene.shapes.len();
        &self.poses[frame * shapes..(frame + 1) * shapes]
    }

    /// Seconds of simulated time between two frames.
    pub fn seconds_per_frame(&self) -> f64 {
        self.scene.seconds_per_step * self.stride as f64
    }

    /// Sum of the rewards.
    pub fn total_reward(&self) -> f64 {
        self.rewards.iter().sum()
    }
}
