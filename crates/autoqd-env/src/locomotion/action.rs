//! From an action to controls.

use super::names::Names;
use super::task_file::{ActionMap, Scale};
use crate::{Action, EnvError};
use mujoco_rs::prelude::MjtTrn;

/// How an action becomes controls, with its names resolved.
#[derive(Clone, Debug)]
pub(crate) struct ActionPlan {
    center: Vec<f64>,
    scale: Vec<f64>,
    delta: bool,
    filter: f64,
    /// Bounds of the controls.
    range: Vec<[f64; 2]>,
}

impl ActionPlan {
    /// `start` are the positions that episodes start from.
    pub(super) fn resolve(map: &ActionMap, start: &[f64], names: &Names<'_>) -> Result<Self, EnvError> {
        let model = names.model;
        let count = model.nu() as usize;
        let center = match map.around.as_deref() {
            None => vec![0.0; count],
            Some("start") => (0..count).map(|i| joint_position(i, start, names)).collect::<Result<_, _>>()?,
            Some(keyframe) => {
                let key = names.keyframe(keyframe)?;
                model.key_ctrl()[key * count..][..count].to_vec()
            }
        };
        let scale = match &map.scale {
            Scale::All(scale) => vec![*scale; count],
            Scale::Each(scales) if scales.len() == count => scales.clone(),
            Scale::Each(scales) => {
                let given = scales.len();
                return Err(names.invalid(format!("[action] has {given} scales for {count} actuators")));
            }
        };
        if !scale.iter().all(|scale| scale.is_finite()) || !(0.0..1.0).contains(&map.filter) {
            return Err(names.invalid("[action] needs finite scales, and a filter from 0 to below 1"));
        }
        let range = |i: usize| match model.actuator_ctrllimited()[i] {
            true => model.actuator_ctrlrange()[i],
            false => [f64::NEG_INFINITY, f64::INFINITY],
        };
        let range = (0..count).map(range).collect();
        Ok(Self { center, scale, delta: map.delta, filter: map.filter, range })
    }

    /// The controls before the first action.
    pub fn start(&self, control: &mut [f64]) {
        control.copy_from_slice(&self.center);
    }

    /// The next controls in place of the last.
    pub fn apply(&self, action: Action<'_>, control: &mut [f64]) {
        for (i, control) in control.iter_mut().enumerate() {
            let base = if self.delta { *control } else { self.center[i] };
            let wanted = base + self.scale[i] * action.get(i);
            let smooth = self.filter * *control + (1.0 - self.filter) * wanted;
            *control = smooth.max(self.range[i][0]).min(self.range[i][1]);
        }
    }
}

/// The position of an actuator's joint.
fn joint_position(actuator: usize, start: &[f64], names: &Names<'_>) -> Result<f64, EnvError> {
    let model = names.model;
    if model.actuator_trntype()[actuator] != MjtTrn::mjTRN_JOINT {
        let message = "[action] around = \"start\" needs actuators of joints; name a keyframe instead";
        return Err(names.invalid(message));
    }
    let joint = model.actuator_trnid()[actuator][0] as usize;
    Ok(start[model.jnt_qposadr()[joint] as usize] * model.actuator_gear()[actuator][0])
}
