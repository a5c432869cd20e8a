//! What rewards, health, observations and measures read from a world, whichever simulator steps it.

use mujoco_rs::prelude::MjData;
use mujoco_rs::wrappers::mj_model::traits::ModelType;

/// The state of a world after a step, under the names MuJoCo gives its parts.
pub(crate) trait State {
    fn qpos(&self) -> &[f64];
    fn qvel(&self) -> &[f64];
    fn xpos(&self) -> &[[f64; 3]];
    fn xmat(&self) -> &[[f64; 9]];
    fn site_xpos(&self) -> &[[f64; 3]];
    fn cfrc_ext(&self) -> &[[f64; 6]];
    fn sensordata(&self) -> &[f64];
    fn geom_xpos(&self) -> &[[f64; 3]];
    fn xipos(&self) -> &[[f64; 3]];
    fn cinert(&self) -> &[[f64; 10]];
    fn cvel(&self) -> &[[f64; 6]];
    fn qfrc_actuator(&self) -> &[f64];
    fn qfrc_constraint(&self) -> &[f64];
    fn ctrl(&self) -> &[f64];
}

/// What a task reads besides positions and velocities; a simulator may leave out the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Where bodies are.
    pub poses: bool,
    /// Where sites are; it needs the poses as well.
    pub sites: bool,
    /// Where geoms and centres of mass are; it needs the poses as well.
    pub points: bool,
    pub contact_forces: bool,
    pub sensors: bool,
    pub body_inertias: bool,
    pub body_velocities: bool,
    pub actuator_forces: bool,
    pub constraint_forces: bool,
}

impl Needs {
    pub const POSES: Self = Self {
        poses: true,
        sites: false,
        points: false,
        contact_forces: false,
        sensors: false,
        body_inertias: false,
        body_velocities: false,
        actuator_forces: false,
        constraint_forces: false,
    };

    pub fn and(self, other: Self) -> Self {
        Self {
            poses: self.poses | other.poses,
            sites: self.sites | other.sites,
            points: self.points | other.points,
            contact_forces: self.contact_forces | other.contact_forces,
            sensors: self.sensors | other.sensors,
            body_inertias: self.body_inertias | other.body_inertias,
            body_velocities: self.body_velocities | other.body_velocities,
            actuator_forces: self.actuator_forces | other.actuator_forces,
            constraint_forces: self.constraint_forces | other.constraint_forces,
        }
    }
}

impl<M: ModelType> State for MjData<M> {
    fn qpos(&self) -> &[f64] {
        self.qpos()
    }
    fn qvel(&self) -> &[f64] {
        self.qvel()
    }
    fn xpos(&self) -> &[[f64; 3]] {
        self.xpos()
    }
    fn xmat(&self) -> &[[f64; 9]] {
        self.xmat()
    }
    fn site_xpos(&self) -> &[[f64; 3]] {
        self.site_xpos()
    }
    fn cfrc_ext(&self) -> &[[f64; 6]] {
        self.cfrc_ext()
    }
    fn sensordata(&self) -> &[f64] {
        self.sensordata()
    }
    fn geom_xpos(&self) -> &[[f64; 3]] {
        self.geom_xpos()
    }
    fn xipos(&self) -> &[[f64; 3]] {
        self.xipos()
    }
    fn cinert(&self) -> &[[f64; 10]] {
        self.cinert()
    }
    fn cvel(&self) -> &[[f64; 6]] {
        self.cvel()
    }
    fn qfrc_actuator(&self) -> &[f64] {
        self.qfrc_actuator()
    }
    fn qfrc_constraint(&self) -> &[f64] {
        self.qfrc_constraint()
    }
    fn ctrl(&self) -> &[f64] {
        self.ctrl()
    }
}
