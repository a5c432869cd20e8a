//! What a policy sees.

use super::names::Names;
use super::place::Spot;
use super::state::{Needs, State};
use super::task_file::{Axis, Function, Observation, Place};
use crate::EnvError;

/// A part of the observation, with its names resolved.
#[derive(Clone, Debug)]
pub(super) struct Part {
    what: What,
    clip: Option<[f64; 2]>,
    size: usize,
}

#[derive(Clone, Debug)]
enum What {
    Positions { from: usize },
    Velocities,
    PositionsOf(Vec<usize>, Option<Function>),
    VelocitiesOf(Vec<usize>),
    ActuatorForces(Vec<usize>),
    ConstraintForces(Vec<usize>),
    ContactForces,
    BodyInertias,
    BodyVelocities,
    Sensors(Vec<usize>),
    PreviousAction,
    Vertical { body: usize },
    LocalVelocity { body: usize, freedom: usize },
    Clock { period: f64 },
    Place { at: Spot, axes: Vec<usize> },
    Offset { from: Spot, to: Spot, axes: Vec<usize> },
}

/// What an observation may hold besides the state.
pub(super) struct Past<'a> {
    /// The last action.
    pub action: &'a [f64],
    /// Since the start of the episode.
    pub seconds: f64,
}

impl Part {
    pub fn resolve(part: &Observation, names: &Names<'_>) -> Result<Self, EnvError> {
        let (nq, nv) = (names.model.nq() as usize, names.model.nv() as usize);
        let freedoms = |joints: &Option<Vec<String>>, from: usize| match joints {
            Some(joints) => names.freedoms(joints),
            None => Ok((from..nv).collect()),
        };
        let (what, clip) = match part {
            Observation::Positions { from, joints: None, function: None, clip } => {
                (What::Positions { from: *from }, *clip)
            }
            Observation::Positions { from, joints, function, clip } => {
                let indices = match joints {
                    Some(joints) => names.coordinates(joints)?,
                    None => (*from..nq).collect(),
                };
                (What::PositionsOf(indices, *function), *clip)
            }
            Observation::Velocities { joints: None, clip } => (What::Velocities, *clip),
            Observation::Velocities { joints, clip } => (What::VelocitiesOf(freedoms(joints, 0)?), *clip),
            Observation::ActuatorForces { from, joints, clip } => {
                (What::ActuatorForces(freedoms(joints, *from)?), *clip)
            }
            Observation::ConstraintForces { joints, clip } => {
                (What::ConstraintForces(freedoms(joints, 0)?), *clip)
            }
            Observation::BodyInertias { clip } => (What::BodyInertias, *clip),
            Observation::BodyVelocities { clip } => (What::BodyVelocities, *clip),
            Observation::ContactForces { clip } => (What::ContactForces, *clip),
            Observation::Sensors { names: None, clip } => {
                (What::Sensors((0..names.model.nsensordata() as usize).collect()), *clip)
            }
            Observation::Sensors { names: Some(chosen), clip } => {
                let ranges = chosen.iter().map(|name| names.sensor(name).map(|(at, n)| at..at + n));
                let ranges = ranges.collect::<Result<Vec<_>, _>>()?;
                (What::Sensors(ranges.into_iter().flatten().collect()), *clip)
            }
            Observation::PreviousAction {} => (What::PreviousAction, None),
            Observation::Vertical { body } => (What::Vertical { body: names.body(body)? }, None),
            Observation::LocalVelocity { body, clip } => {
                let (body, freedom) = (names.body(body)?, names.free_body(body)?);
                (What::LocalVelocity { body, freedom }, *clip)
            }
            Observation::Clock { period } => {
                if !(period.is_finite() && *period > 0.0) {
                    return Err(
                        names.invalid(format!("period = {period}; give a positive number of seconds"))
                    );
                }
                (What::Clock { period: *period }, None)
            }
            Observation::Place { at, axes, clip } => {
                (What::Place { at: Spot::resolve(at, names)?, axes: indices(axes.as_deref()) }, *clip)
            }
            Observation::Offset { body, site, from, to, axes } => {
                let (from, to) = ends(body.as_deref(), site.as_deref(), from.as_ref(), to.as_ref(), names)?;
                (What::Offset { from, to, axes: indices(axes.as_deref()) }, None)
            }
        };
        check_clip(clip, names)?;
        let size = what.size(names);
        if size == 0 {
            return Err(names.invalid(format!("the observation part {part:?} is empty for this model")));
        }
        Ok(Self { what, clip, size })
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn needs(&self) -> Needs {
        let none = Needs::default();
        match self.what {
            What::ActuatorForces(_) => Needs { actuator_forces: true, ..none },
            What::ConstraintForces(_) => Needs { constraint_forces: true, ..none },
            What::ContactForces => Needs { contact_forces: true, ..none },
            What::BodyInertias => Needs { body_inertias: true, ..none },
            What::BodyVelocities => Needs { body_velocities: true, ..none },
            What::Sensors(_) => Needs { sensors: true, ..none },
            What::PreviousAction | What::Clock { .. } => none,
            What::Vertical { .. } | What::LocalVelocity { .. } => Needs::POSES,
            What::Place { at, .. } => at.needs(),
            What::Offset { from, to, .. } => from.needs().and(to.needs()),
            What::Positions { .. } | What::Velocities | What::PositionsOf(..) | What::VelocitiesOf(_) => none,
        }
    }

    /// Writes this part at the start of `out` and returns the rest.
    pub fn write<'a>(&self, data: &impl State, past: &Past<'_>, out: &'a mut [f64]) -> &'a mut [f64] {
        let (own, rest) = out.split_at_mut(self.size);
        match &self.what {
            What::Positions { from } => own.copy_from_slice(&data.qpos()[*from..]),
            What::Velocities => own.copy_from_slice(data.qvel()),
            What::PositionsOf(indices, function) => {
                for (value, &i) in own.iter_mut().zip(indices) {
                    let q = data.qpos()[i];
                    *value = match function {
                        None => q,
                        Some(Function::Sin) => q.sin(),
                        Some(Function::Cos) => q.cos(),
                    };
                }
            }
            What::VelocitiesOf(indices) => pick(own, indices, data.qvel()),
            What::ActuatorForces(indices) => pick(own, indices, data.qfrc_actuator()),
            What::ConstraintForces(indices) => pick(own, indices, data.qfrc_constraint()),
            What::ContactForces => own.copy_from_slice(data.cfrc_ext()[1..].as_flattened()),
            What::BodyInertias => own.copy_from_slice(data.cinert()[1..].as_flattened()),
            What::BodyVelocities => own.copy_from_slice(data.cvel()[1..].as_flattened()),
            What::Sensors(indices) => pick(own, indices, data.sensordata()),
            What::PreviousAction => own.copy_from_slice(past.action),
            What::Vertical { body } => own.copy_from_slice(&data.xmat()[*body][6..]),
            What::LocalVelocity { body, freedom } => {
                let (r, v) = (&data.xmat()[*body], &data.qvel()[*freedom..*freedom + 6]);
                for i in 0..3 {
                    own[i] = r[i] * v[0] + r[3 + i] * v[1] + r[6 + i] * v[2];
                    own[3 + i] = v[3 + i];
                }
            }
            What::Clock { period } => {
                let angle = std::f64::consts::TAU * (past.seconds / period);
                own.copy_from_slice(&[angle.sin(), angle.cos()]);
            }
            What::Place { at, axes } => pick(own, axes, &at.position(data)),
            What::Offset { from, to, axes } => {
                let (from, to) = (from.position(data), to.position(data));
                own.iter_mut().zip(axes).for_each(|(value, &i)| *value = to[i] - from[i]);
            }
        }
        if let Some([low, high]) = self.clip {
            own.iter_mut().for_each(|value| *value = value.clamp(low, high));
        }
        rest
    }
}

impl What {
    fn size(&self, names: &Names<'_>) -> usize {
        let model = names.model;
        match self {
            What::Positions { from } => (model.nq() as usize).saturating_sub(*from),
            What::Velocities => model.nv() as usize,
            What::PositionsOf(indices, _)
            | What::VelocitiesOf(indices)
            | What::ActuatorForces(indices)
            | What::ConstraintForces(indices) => indices.len(),
            What::ContactForces | What::BodyVelocities => 6 * (model.nbody() as usize - 1),
            What::BodyInertias => 10 * (model.nbody() as usize - 1),
            What::Sensors(indices) => indices.len(),
            What::PreviousAction => model.nu() as usize,
            What::Vertical { .. } => 3,
            What::LocalVelocity { .. } => 6,
            What::Clock { .. } => 2,
            What::Place { axes, .. } | What::Offset { axes, .. } => axes.len(),
        }
    }
}

fn pick(own: &mut [f64], indices: &[usize], values: &[f64]) {
    own.iter_mut().zip(indices).for_each(|(out, &i)| *out = values[i]);
}

fn indices(axes: Option<&[Axis]>) -> Vec<usize> {
    axes.map_or_else(|| vec![0, 1, 2], |axes| axes.iter().map(|axis| axis.index()).collect())
}

/// The ends of an offset: a body and a site, or any two places.
fn ends(
    body: Option<&str>,
    site: Option<&str>,
    from: Option<&Place>,
    to: Option<&Place>,
    names: &Names<'_>,
) -> Result<(Spot, Spot), EnvError> {
    match (body, site, from, to) {
        (Some(body), Some(site), None, None) => {
            Ok((Spot::Body(names.body(body)?), Spot::Site(names.site(site)?)))
        }
        (None, None, Some(from), Some(to)) => Ok((Spot::resolve(from, names)?, Spot::resolve(to, names)?)),
        _ => Err(names.invalid("an offset leads from a `body` to a `site`, or from a place `from` to `to`")),
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
