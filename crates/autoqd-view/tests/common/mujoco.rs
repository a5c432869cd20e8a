//! MuJoCo beside a world of ours: the unmodified model, stepped with the same actions.
#![allow(dead_code)]

use std::sync::Arc;

use autoqd_env::{Locomotion, LocomotionTask, Pose};
use mujoco_rs::prelude::{MjData, MjModel};

/// The tasks that MuJoCo simulates.
pub const TASKS: [&str; 5] = ["ant", "half-cheetah", "hopper", "swimmer", "walker2d"];

pub struct Beside {
    data: MjData<Arc<MjModel>>,
    substeps: usize,
}

impl Beside {
    /// Starts from the state of a world that was just reset.
    pub fn new(task: &LocomotionTask, world: &Locomotion) -> Self {
        let model = Arc::clone(task.untuned_model());
        let mut data = MjData::new(model);
        data.qpos_mut().copy_from_slice(world.qpos());
        data.qvel_mut().copy_from_slice(world.qvel());
        data.forward();
        Self { data, substeps: task.frame_skip() }
    }

    pub fn step(&mut self, action: &[f64]) {
        self.data.ctrl_mut().copy_from_slice(action);
        for _ in 0..self.substeps {
            self.data.step();
        }
    }

    /// `geom_xpos` and `geom_xmat`.
    pub fn geoms(&self) -> Vec<Pose> {
        let geoms = self.data.geom_xpos().iter().zip(self.data.geom_xmat());
        geoms.map(|(position, rotation)| Pose { position: *position, rotation: *rotation }).collect()
    }
}
