//! What a step is worth.

use super::names::Names;
use super::numpy_sum::sum;
use super::observation::check_clip;
use super::state::State;
use super::task_file::Reward;
use crate::{Action, EnvError};

/// A term of the reward, with its names resolved.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub name: String,
    what: What,
    weight: f64,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Velocity { of: Mover, direction: [f64; 3] },
    Healthy,
    Height { body: usize },
    Control,
    Contact { clip: [f64; 2] },
    Distance { body: usize, site: usize },
}

/// What moves: a body, or a sliding joint along its own axis.
#[derive(Clone, Copy, Debug)]
enum Mover {
    Body(usize),
    Coordinate(usize),
}

impl Mover {
    fn position(self, data: &impl State) -> [f64; 3] {
        match self {
            Mover::Body(body) => data.xpos()[body],
            Mover::Coordinate(index) => [data.qpos()[index], 0.0, 0.0],
        }
    }
}

/// What a term may read besides the state.
pub(super) struct Step<'a> {
    pub action: Action<'a>,
    pub healthy: bool,
    /// Seconds of simulated time.
    pub seconds: f64,
}

impl Term {
    pub fn resolve(term: &Reward, names: &Names<'_>) -> Result<Self, EnvError> {
        let (name, default, weight, what) = match term {
            Reward::ForwardVelocity { name, body, joint, direction, weight } => {
                (name, "forward", weight, velocity(body.as_deref(), joint.as_deref(), *direction, names)?)
            }
            Reward::Healthy { name, weight } => (name, "survive", weight, What::Healthy),
            Reward::Height { name, body, weight } => {
                (name, "height", weight, What::Height { body: names.body(body)? })
            }
            Reward::ControlCost { name, weight } => (name, "ctrl", weight, What::Control),
            Reward::ContactCost { name, weight, clip } => {
                check_clip(*clip, names)?;
                let clip = clip.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                (name, "contact", weight, What::Contact { clip })
            }
            Reward::SiteDistance { name, body, site, weight } => {
                let (body, site) = (names.body(body)?, names.site(site)?);
                (name, "distance", weight, What::Distance { body, site })
            }
        };
        if !weight.is_finite() {
            return Err(
                names.invalid(format!("the weight {weight} of the reward term '{default}' is not finite"))
            );
        }
        Ok(Self { name: name.clone().unwrap_or_else(|| default.to_string()), what, weight: *weight })
    }

    pub fn is_cost(&self) -> bool {
        matches!(self.what, What::Control | What::Contact { .. } | What::Distance { .. })
    }

    pub fn needs_contact_forces(&self) -> bool {
        matches!(self.what, What::Contact { .. })
    }

    pub fn needs_poses(&self) -> bool {
        let body = matches!(self.what, What::Velocity { of: Mover::Body(_), .. });
        body || matches!(self.what, What::Height { .. } | What::Distance { .. })
    }

    /// What must be remembered from the state before the step.
    pub fn before(&self, data: &impl State) -> [f64; 3] {
        match self.what {
            What::Velocity { of, .. } => of.position(data),
            _ => [0.0; 3],
        }
    }

    /// The gain or, for costs, the cost of the step.
    pub fn value(&self, data: &impl State, before: [f64; 3], step: &Step<'_>) -> f64 {
        match self.what {
            What::Velocity { of, direction } => {
                self.weight * speed_along(direction, before, of.position(data), step.seconds)
            }
            What::Healthy => f64::from(u8::from(step.healthy)) * self.weight,
            What::Height { body } => self.weight * data.xpos()[body][2],
            What::Control => control_cost(self.weight, step.action),
            What::Contact { clip } => self.weight * contact_sum(data, clip),
            What::Distance { body, site } => {
                self.weight * distance(data.xpos()[body], data.site_xpos()[site])
            }
        }
    }
}

fn velocity(
    body: Option<&str>,
    joint: Option<&str>,
    direction: [f64; 3],
    names: &Names<'_>,
) -> Result<What, EnvError> {
    let of = match (body, joint) {
        (Some(body), None) => Mover::Body(names.body(body)?),
        (None, Some(joint)) => Mover::Coordinate(names.single(joint)?),
        _ => return Err(names.invalid("forward-velocity needs either `body` or `joint`")),
    };
    let length = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
    if !(length.is_finite() && length > 0.0) {
        return Err(names.invalid(format!("direction = {direction:?} has no length")));
    }
    Ok(What::Velocity { of, direction: direction.map(|d| d / length) })
}

/// Components without weight are left out, so that along an axis this is that axis' velocity to the bit.
fn speed_along(direction: [f64; 3], before: [f64; 3], after: [f64; 3], seconds: f64) -> f64 {
    let part = |i: usize| direction[i] * ((after[i] - before[i]) / seconds);
    (0..3).filter(|&i| direction[i] != 0.0).map(part).reduce(|a, b| a + b).unwrap_or(0.0)
}

/// As numpy computes it: single precision throughout for a single precision action.
fn control_cost(weight: f64, action: Action<'_>) -> f64 {
    match action {
        Action::F64(a) => weight * sum(a.len(), |i| a[i] * a[i]),
        Action::F32(a) => f64::from(weight as f32 * sum(a.len(), |i| a[i] * a[i])),
    }
}

fn contact_sum(data: &impl State, [low, high]: [f64; 2]) -> f64 {
    let forces = data.cfrc_ext().as_flattened();
    sum(forces.len(), |i| {
        let force = forces[i].clamp(low, high);
        force * force
    })
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]) * (a[i] - b[i])).sum::<f64>().sqrt()
}
