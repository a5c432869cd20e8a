//! What a policy sees.

use super::memory::{Memory, Spot, into_frame};
use super::names::Names;
use super::place::Number;
use super::state::{Needs, State};
use super::task_file::{Angle, Axis, Function, Observation, Place, Rotation};
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
    Offset { from: Spot, to: Spot, frame: Option<usize>, axes: Vec<usize> },
    Velocity { track: usize, frame: Option<usize>, axes: Vec<usize> },
    AngularVelocity { track: usize, frame: Option<usize> },
    Orientation { body: usize, written: Rotation },
    Contacts(Vec<usize>),
    Goal { first: usize, count: usize },
    Value(Number),
}

/// What an observation may hold besides the state.
pub(super) struct Past<'a> {
    /// The last action.
    pub action: &'a [f64],
    /// Since the start of the episode.
    pub seconds: f64,
    pub memory: &'a Memory,
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
            Observation::Place { at, axes, frame, clip } => {
                let (at, axes) = (Spot::resolve(at, names)?, indices(axes.as_deref()));
                let what = match frame_of(frame.as_deref(), names)? {
                    None => What::Place { at, axes },
                    Some(body) => What::Offset { from: Spot::Body(body), to: at, frame: Some(body), axes },
                };
                (what, *clip)
            }
            Observation::Offset { body, site, from, to, axes, frame } => {
                let (from, to) = ends(body.as_deref(), site.as_deref(), from.as_ref(), to.as_ref(), names)?;
                let frame = frame_of(frame.as_deref(), names)?;
                (What::Offset { from, to, frame, axes: indices(axes.as_deref()) }, None)
            }
            Observation::Velocity { of, axes, frame, clip } => {
                let track = names.track(Spot::resolve(of, names)?);
                let frame = frame_of(frame.as_deref(), names)?;
                (What::Velocity { track, frame, axes: indices(axes.as_deref()) }, *clip)
            }
            Observation::AngularVelocity { body, frame, clip } => {
                let track = names.track(Spot::Body(names.body(body)?));
                (What::AngularVelocity { track, frame: frame_of(frame.as_deref(), names)? }, *clip)
            }
            Observation::Orientation { body, r#as } => {
                (What::Orientation { body: names.body(body)?, written: *r#as }, None)
            }
            Observation::Contacts { geoms, with } => {
                let contacts = geoms.iter().map(|geom| names.contact(geom, with.as_deref()));
                (What::Contacts(contacts.collect::<Result<_, _>>()?), None)
            }
            Observation::Goal { name } => {
                let goal = names.goal(name)?;
                (What::Goal { first: goal.first, count: goal.count }, None)
            }
            Observation::Value { of, clip } => (What::Value(Number::resolve(of, names)?), *clip),
        };
        check_clip(clip, names)?;
        let size = what.size(names);
        if size == 0 {
            return Err(names.invalid(
                "this part of the observation is empty for the model; leave it out, or let it begin earlier",
            ));
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
            What::Offset { from, to, frame, .. } => from.needs().and(to.needs()).and(needs_of_frame(frame)),
            What::Velocity { frame, .. } | What::AngularVelocity { frame, .. } => needs_of_frame(frame),
            What::Orientation { .. } => Needs::POSES,
            What::Value(of) => of.needs(),
            What::Contacts(_) | What::Goal { .. } => none,
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
            What::Place { at, axes } => pick(own, axes, &at.position(data, past.memory)),
            What::Offset { from, to, frame, axes } => {
                let (from, to) = (from.position(data, past.memory), to.position(data, past.memory));
                let way = std::array::from_fn(|i| to[i] - from[i]);
                pick(own, axes, &seen_from(*frame, data, way));
            }
            What::Velocity { track, frame, axes } => {
                pick(own, axes, &seen_from(*frame, data, past.memory.velocity(*track)));
            }
            What::AngularVelocity { track, frame } => {
                own.copy_from_slice(&seen_from(*frame, data, past.memory.turning(*track)));
            }
            What::Orientation { body, written } => write_orientation(&data.xmat()[*body], *written, own),
            What::Contacts(contacts) => {
                let touching = |contact: &usize| f64::from(u8::from(past.memory.touching[*contact]));
                own.iter_mut().zip(contacts).for_each(|(value, contact)| *value = touching(contact));
            }
            What::Goal { first, count } => own.copy_from_slice(&past.memory.goals[*first..first + count]),
            What::Value(of) => own[0] = of.value(data, past.memory),
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
            What::Place { axes, .. } | What::Offset { axes, .. } | What::Velocity { axes, .. } => axes.len(),
            What::AngularVelocity { .. } => 3,
            What::Orientation { written: Rotation::Quaternion, .. } => 4,
            What::Orientation { written: Rotation::Matrix, .. } => 9,
            What::Orientation { written: Rotation::Angles, .. } => 3,
            What::Contacts(contacts) => contacts.len(),
            What::Goal { count, .. } => *count,
            What::Value(_) => 1,
        }
    }
}

fn pick(own: &mut [f64], indices: &[usize], values: &[f64]) {
    own.iter_mut().zip(indices).for_each(|(out, &i)| *out = values[i]);
}

fn indices(axes: Option<&[Axis]>) -> Vec<usize> {
    axes.map_or_else(|| vec![0, 1, 2], |axes| axes.iter().map(|axis| axis.index()).collect())
}

fn frame_of(body: Option<&str>, names: &Names<'_>) -> Result<Option<usize>, EnvError> {
    body.map(|name| names.body(name)).transpose()
}

fn needs_of_frame(frame: Option<usize>) -> Needs {
    if frame.is_some() { Needs::POSES } else { Needs::default() }
}

/// A vector of the world as a body sees it, or as it is.
fn seen_from(frame: Option<usize>, data: &impl State, vector: [f64; 3]) -> [f64; 3] {
    frame.map_or(vector, |body| into_frame(&data.xmat()[body], vector))
}

fn write_orientation(rotation: &[f64; 9], written: Rotation, out: &mut [f64]) {
    match written {
        Rotation::Matrix => out.copy_from_slice(rotation),
        Rotation::Angles => {
            out.copy_from_slice(&[Angle::Roll, Angle::Pitch, Angle::Yaw].map(|angle| angle.of(rotation)));
        }
        Rotation::Quaternion => out.copy_from_slice(&quaternion(rotation)),
    }
}

/// The quaternion of a rotation whose first number is not negative, from its largest number, which is exact enough to
/// divide by.
fn quaternion(r: &[f64; 9]) -> [f64; 4] {
    let squares = [
        1.0 + r[0] + r[4] + r[8],
        1.0 + r[0] - r[4] - r[8],
        1.0 - r[0] + r[4] - r[8],
        1.0 - r[0] - r[4] + r[8],
    ];
    let largest = (0..4).max_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap_or(0);
    let [a, b, c] = [r[7] - r[5], r[2] - r[6], r[3] - r[1]];
    let [d, e, f] = [r[1] + r[3], r[2] + r[6], r[5] + r[7]];
    let numbers = match largest {
        0 => [squares[0], a, b, c],
        1 => [a, squares[1], d, e],
        2 => [b, d, squares[2], f],
        _ => [c, e, f, squares[3]],
    };
    let scale = 0.5 / squares[largest].sqrt();
    let sign = if numbers[0] < 0.0 { -scale } else { scale };
    numbers.map(|number| number * sign)
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
