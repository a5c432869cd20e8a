//! What a policy sees.

use super::names::Names;
use super::state::State;
use super::task_file::Observation;
use crate::EnvError;
use crate::mujoco::Model;

/// A part of the observation, with its names resolved.
#[derive(Clone, Debug)]
pub(super) struct Part {
    what: What,
    clip: Option<[f64; 2]>,
    size: usize,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Positions { from: usize },
    Velocities,
    ContactForces,
    Sensors,
    Offset { body: usize, site: usize },
}

impl Part {
    pub fn resolve(part: &Observation, names: &Names<'_>) -> Result<Self, EnvError> {
        let (what, clip) = match part {
            Observation::Positions { from, clip } => (What::Positions { from: *from }, *clip),
            Observation::Velocities { clip } => (What::Velocities, *clip),
            Observation::ContactForces { clip } => (What::ContactForces, *clip),
            Observation::Sensors { clip } => (What::Sensors, *clip),
            Observation::Offset { body, site } => {
                (What::Offset { body: names.body(body)?, site: names.site(site)? }, None)
            }
        };
        check_clip(clip, names)?;
        let size = what.size(names.model);
        if size == 0 {
            return Err(names.invalid(format!("the observation part {part:?} is empty for this model")));
        }
        Ok(Self { what, clip, size })
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn needs_contact_forces(&self) -> bool {
        matches!(self.what, What::ContactForces)
    }

    pub fn needs_sensors(&self) -> bool {
        matches!(self.what, What::Sensors)
    }

    pub fn needs_poses(&self) -> bool {
        matches!(self.what, What::Offset { .. })
    }

    /// Writes this part at the start of `out` and returns the rest.
    pub fn write<'a>(&self, data: &impl State, out: &'a mut [f64]) -> &'a mut [f64] {
        let (own, rest) = out.split_at_mut(self.size);
        match self.what {
            What::Positions { from } => own.copy_from_slice(&data.qpos()[from..]),
            What::Velocities => own.copy_from_slice(data.qvel()),
            What::ContactForces => own.copy_from_slice(data.cfrc_ext()[1..].as_flattened()),
            What::Sensors => own.copy_from_slice(data.sensordata()),
            What::Offset { body, site } => {
                let (from, to) = (data.xpos()[body], data.site_xpos()[site]);
                own.iter_mut().enumerate().for_each(|(i, value)| *value = to[i] - from[i]);
            }
        }
        if let Some([low, high]) = self.clip {
            own.iter_mut().for_each(|value| *value = value.clamp(low, high));
        }
        rest
    }
}

impl What {
    fn size(self, model: &Model) -> usize {
        match self {
            What::Positions { from } => (model.nq() as usize).saturating_sub(from),
            What::Velocities => model.nv() as usize,
            What::ContactForces => 6 * (model.nbody() as usize - 1),
            What::Sensors => model.nsensordata() as usize,
            What::Offset { .. } => 3,
        }
    }
}

/// Rejects an empty or non-finite interval; `clamp` panics on those.
pub(super) fn check_clip(clip: Option<[f64; 2]>, names: &Names<'_>) -> Result<(), EnvError> {
    match clip {
        Some([low, high]) if low.is_nan() || high.is_nan() || low > high => {
            Err(names.invalid(format!("clip = [{low}, {high}] is not an interval")))
        }
        _ => Ok(()),
    }
}
