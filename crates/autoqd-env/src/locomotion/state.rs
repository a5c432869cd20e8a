//! What rewards, health, observations and measures read from a world, whichever simulator steps it.

use crate::mujoco::Data;

/// The state of a world after a step, under the names MuJoCo gives its parts.
pub(crate) trait State {
    fn qpos(&self) -> &[f64];
    fn qvel(&self) -> &[f64];
    fn xpos(&self) -> &[[f64; 3]];
    fn xmat(&self) -> &[[f64; 9]];
    fn site_xpos(&self) -> &[[f64; 3]];
    fn cfrc_ext(&self) -> &[[f64; 6]];
    fn sensordata(&self) -> &[f64];
}

impl State for Data {
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
}
