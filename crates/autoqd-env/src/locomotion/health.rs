//! When a state is unhealthy, which may end the episode.

use super::memory::{Memory, Spot};
use super::names::Names;
use super::place::Number;
use super::state::{Needs, State};
use super::task_file::{Health, Place, Range};
use crate::EnvError;

/// A condition of health, with its names resolved.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    what: What,
    range: Range,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Coordinate(usize),
    Height(Spot),
    Tilt(usize),
    Value(Number),
    State { positions_from: usize },
    Finite,
}

impl Rule {
    pub fn resolve(rule: &Health, names: &Names<'_>) -> Result<Self, EnvError> {
        let (what, range) = match rule {
            Health::Joint { joint, component, range } => {
                (What::Coordinate(names.coordinate(joint, *component)?), *range)
            }
            Health::Height { body, site, range } => {
                let place = Place { body: body.clone(), site: site.clone(), ..Place::default() };
                (What::Height(Spot::resolve(&place, names)?), *range)
            }
            Health::Tilt { body, range } => (What::Tilt(names.body(body)?), *range),
            Health::Value { of, range } => (What::Value(Number::resolve(of, names)?), *range),
            Health::State { positions_from, range } => {
                if *positions_from > names.model.nq() as usize {
                    return Err(
                        names.invalid(format!("positions_from = {positions_from} is past the last position"))
                    );
                }
                (What::State { positions_from: *positions_from }, *range)
            }
            Health::Finite {} => return Ok(Self { what: What::Finite, range: Range::default() }),
        };
        if range.is_unbounded() {
            return Err(names.invalid(format!("this health rule has a range without bounds; {RANGE_HELP}")));
        }
        if !range.is_possible() {
            return Err(names.invalid("no value is in the range of this health rule; widen it"));
        }
        Ok(Self { what, range })
    }

    pub fn needs(&self) -> Needs {
        match self.what {
            What::Height(_) | What::Tilt(_) => Needs::POSES,
            What::Value(of) => of.needs(),
            What::Coordinate(_) | What::State { .. } | What::Finite => Needs::default(),
        }
    }

    pub fn holds(&self, data: &impl State, memory: &Memory) -> bool {
        match self.what {
            What::Coordinate(index) => self.range.contains(data.qpos()[index]),
            What::Height(spot) => self.range.contains(spot.position(data, memory)[2]),
            What::Tilt(body) => self.range.contains(data.xmat()[body][8].clamp(-1.0, 1.0).acos()),
            What::Value(of) => self.range.contains(of.value(data, memory)),
            What::State { positions_from } => {
                data.qpos()[positions_from..].iter().chain(data.qvel()).all(|&v| self.range.contains(v))
            }
            What::Finite => data.qpos().iter().chain(data.qvel()).all(|v| v.is_finite()),
        }
    }
}

const RANGE_HELP: &str = "give min, max, above or below";
