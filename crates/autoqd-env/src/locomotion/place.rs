//! Points of the world and single numbers of a state that a task file names.

use super::memory::{Memory, Spot};
use super::names::Names;
use super::state::{Needs, State};
use super::task_file::{Angle, Channel, Place};
use crate::EnvError;

impl Spot {
    pub(super) fn resolve(place: &Place, names: &Names<'_>) -> Result<Self, EnvError> {
        let Place { body, geom, site, center_of_mass, goal, point } = place;
        match (body, geom, site, center_of_mass, goal, point) {
            (Some(body), None, None, false, None, None) => Ok(Self::Body(names.body(body)?)),
            (None, Some(geom), None, false, None, None) => Ok(Self::Geom(names.geom(geom)?)),
            (None, None, Some(site), false, None, None) => Ok(Self::Site(names.site(site)?)),
            (None, None, None, true, None, None) => Ok(Self::Center),
            (None, None, None, false, Some(goal), None) => match names.goal(goal)? {
                known if known.count == 3 => Ok(Self::Goal(known.first)),
                known => {
                    Err(names.invalid(format!("goal '{goal}' is no place: it has {} numbers", known.count)))
                }
            },
            (None, None, None, false, None, Some(point)) if point.iter().all(|x| x.is_finite()) => {
                Ok(Self::Fixed(*point))
            }
            (None, None, None, false, None, Some(point)) => {
                Err(names.invalid(format!("point = {point:?} is not finite")))
            }
            _ => Err(names.invalid(
                "a place is one of `body`, `geom`, `site`, `center_of_mass = true`, `goal` and `point`",
            )),
        }
    }
}

/// One number of the state, with its name resolved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Position(usize),
    Velocity(usize),
    /// A joint's position minus a number of a goal.
    FromGoal {
        position: usize,
        goal: usize,
    },
    Along(Spot, usize),
    /// Velocity of a track along an axis.
    Moving(usize, usize),
    Turned(usize, Angle),
    Contact(usize),
    AirTime(usize),
    Distance(Spot, Spot),
    Goal(usize),
    Sensor(usize),
}

/// What a number can be of, for messages.
const KINDS: &str = "`of` is one of: a joint; a body, geom, site or center_of_mass with an axis; a body with an angle; \
                     a contact; an air_time; a distance; a goal; a sensor";

impl Number {
    pub fn resolve(channel: &Channel, names: &Names<'_>) -> Result<Self, EnvError> {
        check_fields(channel, names)?;
        let Channel { joint, sensor, contact, air_time, distance, goal, component, .. } = channel;
        let with = channel.with.as_deref();
        if let Some(joint) = joint {
            return of_joint(joint, channel, names);
        }
        if let Some(sensor) = sensor {
            return match names.sensor(sensor)? {
                (address, width) if component < &width => Ok(Self::Sensor(address + component)),
                (_, width) => Err(names.invalid(format!("sensor '{sensor}' has {width} numbers"))),
            };
        }
        if let Some(geom) = contact {
            return Ok(Self::Contact(names.contact(geom, with)?));
        }
        if let Some(geom) = air_time {
            return Ok(Self::AirTime(names.contact(geom, with)?));
        }
        if let Some(ends) = distance {
            return Ok(Self::Distance(Spot::resolve(&ends.from, names)?, Spot::resolve(&ends.to, names)?));
        }
        if let (Some(goal), None) = (goal, channel.axis) {
            return Ok(Self::Goal(names.goal_number(goal, *component)?));
        }
        of_place(channel, names)
    }

    pub fn needs(self) -> Needs {
        match self {
            Self::Along(spot, _) => spot.needs(),
            Self::Turned(..) => Needs::POSES,
            Self::Distance(from, to) => from.needs().and(to.needs()),
            Self::Sensor(_) => Needs { sensors: true, ..Needs::default() },
            // Tracks tell their needs themselves.
            Self::Moving(..) => Needs::default(),
            Self::Position(_) | Self::Velocity(_) | Self::FromGoal { .. } => Needs::default(),
            Self::Contact(_) | Self::AirTime(_) | Self::Goal(_) => Needs::default(),
        }
    }

    pub fn value(self, state: &impl State, memory: &Memory) -> f64 {
        match self {
            Self::Position(index) => state.qpos()[index],
            Self::Velocity(index) => state.qvel()[index],
            Self::FromGoal { position, goal } => state.qpos()[position] - memory.goals[goal],
            Self::Along(spot, axis) => spot.position(state, memory)[axis],
            Self::Moving(track, axis) => memory.velocity(track)[axis],
            Self::Turned(body, angle) => angle.of(&state.xmat()[body]),
            Self::Contact(contact) => f64::from(u8::from(memory.touching[contact])),
            Self::AirTime(contact) => memory.away(contact),
            Self::Distance(from, to) => {
                let (from, to) = (from.position(state, memory), to.position(state, memory));
                (0..3).map(|i| (to[i] - from[i]) * (to[i] - from[i])).sum::<f64>().sqrt()
            }
            Self::Goal(index) => memory.goals[index],
            Self::Sensor(index) => state.sensordata()[index],
        }
    }
}

/// Rejects fields that do not go together.
fn check_fields(channel: &Channel, names: &Names<'_>) -> Result<(), EnvError> {
    let place =
        channel.body.is_some() || channel.geom.is_some() || channel.site.is_some() || channel.center_of_mass;
    let goal_place = channel.goal.is_some() && channel.axis.is_some();
    let kinds = [
        channel.joint.is_some(),
        place,
        channel.sensor.is_some(),
        channel.contact.is_some(),
        channel.air_time.is_some(),
        channel.distance.is_some(),
        channel.goal.is_some(),
    ];
    let wrong = if kinds.iter().filter(|given| **given).count() != 1 {
        KINDS
    } else if channel.rate && !(channel.joint.is_some() || place && channel.axis.is_some()) {
        "`rate` is the velocity of a `joint`, or of a place along an `axis`"
    } else if channel.from_goal && channel.joint.is_none() {
        "`from_goal` is about a `joint`"
    } else if channel.with.is_some() && channel.contact.is_none() && channel.air_time.is_none() {
        "`with` is the other geom of a `contact` or `air_time`"
    } else if channel.angle.is_some() && channel.body.is_none() {
        "an `angle` is that of a `body`"
    } else if place && channel.axis.is_some() == channel.angle.is_some() {
        "`of` a body, geom or site needs an `axis`, or of a body an `angle`"
    } else if channel.axis.is_some() && !place && !goal_place {
        "an `axis` is that of a body, geom, site, center_of_mass or goal"
    } else {
        return Ok(());
    };
    Err(names.invalid(wrong))
}

fn of_joint(joint: &str, channel: &Channel, names: &Names<'_>) -> Result<Number, EnvError> {
    let component = channel.component;
    match (channel.rate, channel.from_goal) {
        (true, true) => Err(names.invalid("a joint takes `rate` or `from_goal`, not both")),
        (true, false) => {
            let freedoms = names.freedoms(std::slice::from_ref(&joint.to_string()))?;
            let index = freedoms.get(component).copied();
            index
                .map(Number::Velocity)
                .ok_or_else(|| names.invalid(format!("joint '{joint}' has {} velocities", freedoms.len())))
        }
        (false, true) => {
            Ok(Number::FromGoal { position: names.single(joint)?, goal: names.goal_of_joint(joint)? })
        }
        (false, false) => Ok(Number::Position(names.coordinate(joint, component)?)),
    }
}

fn of_place(channel: &Channel, names: &Names<'_>) -> Result<Number, EnvError> {
    if let (Some(body), Some(angle)) = (&channel.body, channel.angle) {
        return Ok(Number::Turned(names.body(body)?, angle));
    }
    let Channel { body, geom, site, center_of_mass, goal, .. } = channel.clone();
    let spot = Spot::resolve(&Place { body, geom, site, center_of_mass, goal, point: None }, names)?;
    let axis = channel.axis.ok_or_else(|| names.invalid(KINDS))?.index();
    match channel.rate {
        true => Ok(Number::Moving(names.track(spot), axis)),
        false => Ok(Number::Along(spot, axis)),
    }
}
