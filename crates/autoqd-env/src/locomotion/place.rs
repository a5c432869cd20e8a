//! Points of the world and single numbers of a state that a task file names.

use super::names::Names;
use super::state::{Needs, State};
use super::task_file::{Axis, Channel, Place};
use crate::EnvError;

/// A point of the world, with its name resolved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    Body(usize),
    Geom(usize),
    Site(usize),
    Fixed([f64; 3]),
}

impl Spot {
    pub fn resolve(place: &Place, names: &Names<'_>) -> Result<Self, EnvError> {
        match (&place.body, &place.geom, &place.site, place.point) {
            (Some(body), None, None, None) => Ok(Self::Body(names.body(body)?)),
            (None, Some(geom), None, None) => Ok(Self::Geom(names.geom(geom)?)),
            (None, None, Some(site), None) => Ok(Self::Site(names.site(site)?)),
            (None, None, None, Some(point)) if point.iter().all(|x| x.is_finite()) => Ok(Self::Fixed(point)),
            (None, None, None, Some(point)) => Err(names.invalid(format!("point = {point:?} is not finite"))),
            _ => Err(names.invalid("a place is one of `body`, `geom`, `site` and `point`")),
        }
    }

    pub fn needs(self) -> Needs {
        Needs { points: matches!(self, Self::Geom(_)), ..Needs::POSES }
    }

    pub fn position(self, state: &impl State) -> [f64; 3] {
        match self {
            Self::Body(body) => state.xpos()[body],
            Self::Geom(geom) => state.geom_xpos()[geom],
            Self::Site(site) => state.site_xpos()[site],
            Self::Fixed(point) => point,
        }
    }
}

impl Axis {
    pub fn index(self) -> usize {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }
}

/// One number of the state, with its name resolved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Position(usize),
    Velocity(usize),
    Along(Spot, usize),
    Sensor(usize),
}

impl Number {
    pub fn resolve(channel: &Channel, names: &Names<'_>) -> Result<Self, EnvError> {
        let Channel { joint, body, geom, site, sensor, axis, component, rate } = channel;
        if *rate && joint.is_none() {
            return Err(names.invalid("`rate` is the velocity of a `joint`"));
        }
        match (joint, sensor) {
            (Some(joint), None) if *rate => {
                let freedoms = names.freedoms(std::slice::from_ref(joint))?;
                let index = freedoms.get(*component).copied();
                index.map(Self::Velocity).ok_or_else(|| {
                    names.invalid(format!("joint '{joint}' has {} velocities", freedoms.len()))
                })
            }
            (Some(joint), None) => Ok(Self::Position(names.coordinate(joint, *component)?)),
            (None, Some(sensor)) => match names.sensor(sensor)? {
                (address, width) if *component < width => Ok(Self::Sensor(address + component)),
                (_, width) => Err(names.invalid(format!("sensor '{sensor}' has {width} numbers"))),
            },
            (None, None) => {
                let place = Place { body: body.clone(), geom: geom.clone(), site: site.clone(), point: None };
                let axis = axis.ok_or_else(|| names.invalid("`of` a body, geom or site needs an `axis`"))?;
                Ok(Self::Along(Spot::resolve(&place, names)?, axis.index()))
            }
            _ => Err(names.invalid("`of` is either a joint, a body, geom or site, or a sensor")),
        }
    }

    pub fn needs(self) -> Needs {
        match self {
            Self::Along(spot, _) => spot.needs(),
            Self::Sensor(_) => Needs { sensors: true, ..Needs::default() },
            Self::Position(_) | Self::Velocity(_) => Needs::default(),
        }
    }

    pub fn value(self, state: &impl State) -> f64 {
        match self {
            Self::Position(index) => state.qpos()[index],
            Self::Velocity(index) => state.qvel()[index],
            Self::Along(spot, axis) => spot.position(state)[axis],
            Self::Sensor(index) => state.sensordata()[index],
        }
    }
}
