//! What a step is worth.

use super::dot::Blas;
use super::memory::{Memory, Spot};
use super::names::Names;
use super::numpy_sum::sum;
use super::observation::check_clip;
use super::place::Number;
use super::shaped::Worth;
use super::state::{Needs, State};
use super::task_file::{Effort, EffortKind, Motion, Place, Reward};
use crate::{Action, EnvError};

/// A term of the reward, with its names resolved.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub name: String,
    /// Terms of one product are multiplied with each other.
    pub product: Option<usize>,
    what: What,
    weight: f64,
}

#[derive(Clone, Debug)]
enum What {
    Velocity { of: Mover, direction: [f64; 3] },
    Healthy,
    Height { at: Spot },
    Value { of: Number, worth: Worth },
    Motion { body: usize, motion: Motion, worth: Worth },
    Upright { body: usize, worth: Worth },
    Effort { of: EffortKind, worth: Worth },
    AirTime { contacts: Vec<usize>, target: f64 },
    Clearance { feet: Vec<(Spot, usize)>, height: f64 },
    Slip { feet: Vec<(usize, usize)> },
    Posture { joints: Vec<(usize, f64)> },
    Torque,
    Power,
    ActionRate,
    Control(Effort),
    Contact { clip: [f64; 2], max: f64 },
    JointVelocities { freedoms: Vec<usize>, weights: Vec<f64> },
    SiteDistance { body: usize, site: usize },
    Distance { from: Spot, to: Spot },
    SquaredDistance { from: Spot, to: Spot, weights: [f64; 3] },
}

/// What moves: a body, a sliding joint along its own axis, or the centre of mass of all bodies.
#[derive(Clone, Debug)]
enum Mover {
    Body(usize),
    Coordinate(usize),
    Center { masses: Vec<f64>, total: f64 },
}

impl Mover {
    fn position(&self, data: &impl State) -> [f64; 3] {
        match self {
            Mover::Body(body) => data.xpos()[*body],
            Mover::Coordinate(index) => [data.qpos()[*index], 0.0, 0.0],
            Mover::Center { masses, total } => {
                let mut moment = [0.0; 3];
                for (mass, center) in masses.iter().zip(data.xipos()) {
                    moment.iter_mut().zip(center).for_each(|(sum, x)| *sum += mass * x);
                }
                moment.map(|sum| sum / total)
            }
        }
    }
}

/// What a term may read besides the state.
pub(super) struct Step<'a> {
    pub action: Action<'a>,
    pub healthy: bool,
    /// Seconds of simulated time.
    pub seconds: f64,
    pub blas: Blas,
    /// The action before; zero in the first step.
    pub previous_action: &'a [f64],
    pub memory: &'a Memory,
}

impl Term {
    /// `start` are the positions that episodes start from, `products` the names of products so far.
    pub fn resolve(
        term: &Reward,
        start: &[f64],
        products: &mut Vec<String>,
        names: &Names<'_>,
    ) -> Result<Self, EnvError> {
        let (name, default, weight, what) = match term {
            Reward::ForwardVelocity { name, body, joint, center_of_mass, direction, weight } => {
                let of = mover(body.as_deref(), joint.as_deref(), *center_of_mass, names)?;
                (name, "forward", *weight, What::Velocity { of, direction: unit(*direction, names)? })
            }
            Reward::Healthy { name, weight } => (name, "survive", *weight, What::Healthy),
            Reward::Height { name, body, geom, site, weight } => {
                let (body, geom, site) = (body.clone(), geom.clone(), site.clone());
                let at = Spot::resolve(&Place { body, geom, site, ..Place::default() }, names)?;
                (name, "height", *weight, What::Height { at })
            }
            Reward::Value { name, of, target, tolerance, scale, shape, weight, .. } => {
                let worth = Worth::resolve(target.as_ref(), *tolerance, *scale, *shape, names)?;
                (name, "value", *weight, What::Value { of: Number::resolve(of, names)?, worth })
            }
            Reward::Velocity { name, body, motion, target, tolerance, scale, shape, weight, .. } => {
                let worth = Worth::resolve(target.as_ref(), *tolerance, *scale, *shape, names)?;
                (name, "velocity", *weight, What::Motion { body: names.body(body)?, motion: *motion, worth })
            }
            Reward::Upright { name, body, target, tolerance, scale, shape, weight, .. } => {
                let worth = Worth::resolve(target.as_ref(), *tolerance, *scale, *shape, names)?;
                (name, "upright", *weight, What::Upright { body: names.body(body)?, worth })
            }
            Reward::Effort { name, of, target, tolerance, scale, shape, weight, .. } => {
                let worth = Worth::resolve(target.as_ref(), *tolerance, *scale, *shape, names)?;
                (name, "effort", *weight, What::Effort { of: *of, worth })
            }
            Reward::AirTime { name, geoms, target, weight } => {
                if !target.is_finite() {
                    return Err(names.invalid(format!("air-time: target = {target}; give seconds")));
                }
                let contacts = each(geoms, "air-time", names, |geom| names.contact(geom, None))?;
                (name, "air time", *weight, What::AirTime { contacts, target: *target })
            }
            Reward::FootClearanceCost { name, geoms, height, weight } => {
                if !height.is_finite() {
                    return Err(names.invalid(format!("foot-clearance-cost: height = {height}; give metres")));
                }
                let feet = each(geoms, "foot-clearance-cost", names, |geom| {
                    let at = Spot::Geom(names.geom(geom)?);
                    Ok((at, names.track(at)))
                })?;
                (name, "foot clearance", *weight, What::Clearance { feet, height: *height })
            }
            Reward::SlipCost { name, geoms, weight } => {
                let feet = each(geoms, "slip-cost", names, |geom| {
                    Ok((names.contact(geom, None)?, names.track(Spot::Geom(names.geom(geom)?))))
                })?;
                (name, "slip", *weight, What::Slip { feet })
            }
            Reward::PostureCost { name, joints, weight } => {
                let joints = names.coordinates(joints)?.into_iter().map(|q| (q, start[q])).collect();
                (name, "posture", *weight, What::Posture { joints })
            }
            Reward::TorqueCost { name, weight } => (name, "torque", *weight, What::Torque),
            Reward::PowerCost { name, weight } => (name, "power", *weight, What::Power),
            Reward::ActionRateCost { name, weight } => (name, "action rate", *weight, What::ActionRate),
            Reward::ControlCost { name, weight, of } => (name, "ctrl", *weight, What::Control(*of)),
            Reward::ContactCost { name, weight, clip, max } => {
                check_clip(*clip, names)?;
                let clip = clip.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                (name, "contact", *weight, What::Contact { clip, max: max.unwrap_or(f64::INFINITY) })
            }
            Reward::VelocityCost { name, joints, weights } => {
                let freedoms = names.freedoms(joints)?;
                finite_weights(weights, names)?;
                if freedoms.len() != weights.len() {
                    let (n, m) = (freedoms.len(), weights.len());
                    return Err(names.invalid(format!("velocity-cost: {n} velocities, but {m} weights")));
                }
                (name, "velocity", 1.0, What::JointVelocities { freedoms, weights: weights.clone() })
            }
            Reward::SiteDistance { name, body, site, weight } => {
                let (body, site) = (names.body(body)?, names.site(site)?);
                (name, "distance", *weight, What::SiteDistance { body, site })
            }
            Reward::Distance { name, from, to, weight } => {
                let (from, to) = (Spot::resolve(from, names)?, Spot::resolve(to, names)?);
                (name, "distance", *weight, What::Distance { from, to })
            }
            Reward::SquaredDistance { name, from, to, weights } => {
                let (from, to) = (Spot::resolve(from, names)?, Spot::resolve(to, names)?);
                finite_weights(weights, names)?;
                (name, "distance", 1.0, What::SquaredDistance { from, to, weights: *weights })
            }
        };
        if !weight.is_finite() {
            return Err(
                names.invalid(format!("the weight {weight} of the reward term '{default}' is not finite"))
            );
        }
        let name = name.clone().unwrap_or_else(|| default.to_string());
        let product = product_of(term).map(|product| {
            products.iter().position(|known| known == product).unwrap_or_else(|| {
                products.push(product.to_string());
                products.len() - 1
            })
        });
        Ok(Self { name, product, what, weight })
    }

    pub fn is_cost(&self) -> bool {
        match self.what {
            What::Velocity { .. }
            | What::Healthy
            | What::Height { .. }
            | What::Value { .. }
            | What::Motion { .. }
            | What::Effort { .. }
            | What::AirTime { .. }
            | What::Upright { .. } => false,
            What::Clearance { .. }
            | What::Slip { .. }
            | What::Posture { .. }
            | What::Torque
            | What::Power
            | What::ActionRate
            | What::Control(_)
            | What::Contact { .. }
            | What::JointVelocities { .. }
            | What::SiteDistance { .. }
            | What::Distance { .. }
            | What::SquaredDistance { .. } => true,
        }
    }

    pub fn needs(&self) -> Needs {
        match &self.what {
            What::Contact { .. } => Needs { contact_forces: true, ..Needs::default() },
            What::Value { of, .. } => of.needs(),
            What::Effort { of: EffortKind::Torque | EffortKind::Power, .. } => {
                Needs { actuator_forces: true, ..Needs::default() }
            }
            What::Effort { .. } | What::AirTime { .. } => Needs::default(),
            // What is followed tells its needs itself.
            What::Clearance { .. } | What::Slip { .. } => Needs { points: true, ..Needs::POSES },
            What::Height { at } => at.needs(),
            What::Torque | What::Power => Needs { actuator_forces: true, ..Needs::default() },
            What::Posture { .. } | What::ActionRate => Needs::default(),
            What::Motion { .. } | What::Upright { .. } => Needs::POSES,
            What::Velocity { of: Mover::Coordinate(_), .. }
            | What::Healthy
            | What::Control(_)
            | What::JointVelocities { .. } => Needs::default(),
            What::Velocity { of: Mover::Center { .. }, .. } => Needs { points: true, ..Needs::POSES },
            What::Velocity { .. } => Needs::POSES,
            What::SiteDistance { site, .. } => Spot::Site(*site).needs(),
            What::Distance { from, to } | What::SquaredDistance { from, to, .. } => {
                from.needs().and(to.needs())
            }
        }
    }

    /// What must be remembered from the state before the step.
    pub fn before(&self, data: &impl State) -> [f64; 3] {
        match &self.what {
            What::Velocity { of, .. } => of.position(data),
            What::Motion { body, motion: Motion::Turn, .. } => [heading(&data.xmat()[*body]), 0.0, 0.0],
            What::Motion { body, .. } => data.xpos()[*body],
            _ => [0.0; 3],
        }
    }

    /// The gain or, for costs, the cost of the step.
    pub fn value(&self, data: &impl State, before: [f64; 3], step: &Step<'_>) -> f64 {
        match &self.what {
            What::Velocity { of, direction } => {
                self.weight * speed_along(*direction, before, of.position(data), step.seconds)
            }
            What::Healthy => f64::from(u8::from(step.healthy)) * self.weight,
            What::Height { at } => self.weight * at.position(data, step.memory)[2],
            What::Value { of, worth } => self.weight * worth.of(of.value(data, step.memory), step.memory),
            What::Motion { body, motion, worth } => {
                self.weight * worth.of(motion_of(data, *body, *motion, before, step.seconds), step.memory)
            }
            What::Upright { body, worth } => self.weight * worth.of(data.xmat()[*body][8], step.memory),
            What::Effort { of, worth } => self.weight * worth.of(effort(*of, data, step), step.memory),
            What::AirTime { contacts, target } => {
                let ended =
                    contacts.iter().map(|&contact| step.memory.ended(contact)).filter(|&time| time > 0.0);
                self.weight * ended.map(|time| time - target).sum::<f64>()
            }
            What::Clearance { feet, height } => {
                let cost = |&(at, track): &(Spot, usize)| {
                    let missed = at.position(data, step.memory)[2] - height;
                    missed * missed * horizontal(step.memory.velocity(track)).sqrt()
                };
                self.weight * feet.iter().map(cost).sum::<f64>()
            }
            What::Slip { feet } => {
                let down = feet.iter().filter(|(contact, _)| step.memory.touching[*contact]);
                self.weight * down.map(|&(_, track)| horizontal(step.memory.velocity(track))).sum::<f64>()
            }
            What::Posture { joints } => {
                let square = |&(q, start): &(usize, f64)| (data.qpos()[q] - start) * (data.qpos()[q] - start);
                self.weight * joints.iter().map(square).sum::<f64>()
            }
            What::Torque => self.weight * data.qfrc_actuator().iter().map(|f| f * f).sum::<f64>(),
            What::Power => {
                let powers = data.qfrc_actuator().iter().zip(data.qvel()).map(|(f, v)| (f * v).abs());
                self.weight * powers.sum::<f64>()
            }
            What::ActionRate => {
                let change = |i: usize| step.action.get(i) - step.previous_action[i];
                self.weight * (0..step.action.len()).map(|i| change(i) * change(i)).sum::<f64>()
            }
            What::Control(Effort::Action) => control_cost(self.weight, step.action),
            What::Control(Effort::Control) => control_cost(self.weight, Action::F64(data.ctrl())),
            What::Contact { clip, max } => (self.weight * contact_sum(data, *clip)).min(*max),
            What::JointVelocities { freedoms, weights } => {
                let square = |(&k, weight): (&usize, &f64)| weight * power(data.qvel()[k], 2.0);
                freedoms.iter().zip(weights).map(square).reduce(|a, b| a + b).unwrap_or(0.0)
            }
            What::SiteDistance { body, site } => {
                self.weight * distance(data.xpos()[*body], data.site_xpos()[*site])
            }
            What::Distance { from, to } => {
                let (from, to) = (from.position(data, step.memory), to.position(data, step.memory));
                self.weight * step.blas.length(std::array::from_fn(|i| to[i] - from[i]))
            }
            What::SquaredDistance { from, to, weights } => {
                let (from, to) = (from.position(data, step.memory), to.position(data, step.memory));
                let part = |i: usize| weights[i] * power(from[i] - to[i], 2.0);
                (0..3).filter(|&i| weights[i] != 0.0).map(part).reduce(|a, b| a + b).unwrap_or(0.0)
            }
        }
    }
}

fn product_of(term: &Reward) -> Option<&str> {
    match term {
        Reward::Value { product, .. }
        | Reward::Velocity { product, .. }
        | Reward::Effort { product, .. }
        | Reward::Upright { product, .. } => product.as_deref(),
        _ => None,
    }
}

/// Resolves every geom of a term that needs at least one.
fn each<T>(
    geoms: &[String],
    kind: &str,
    names: &Names<'_>,
    resolve: impl Fn(&str) -> Result<T, EnvError>,
) -> Result<Vec<T>, EnvError> {
    if geoms.is_empty() {
        return Err(names.invalid(format!("{kind} needs at least one geom")));
    }
    geoms.iter().map(|geom| resolve(geom)).collect()
}

/// The square of a horizontal speed.
fn horizontal(velocity: [f64; 3]) -> f64 {
    velocity[0] * velocity[0] + velocity[1] * velocity[1]
}

/// Root mean square over the actuators.
fn effort(of: EffortKind, data: &impl State, step: &Step<'_>) -> f64 {
    let count = step.action.len();
    let squares: f64 = match of {
        EffortKind::Action => (0..count).map(|i| step.action.get(i) * step.action.get(i)).sum(),
        EffortKind::ActionRate => {
            let change = |i: usize| step.action.get(i) - step.previous_action[i];
            (0..count).map(|i| change(i) * change(i)).sum()
        }
        EffortKind::Control => data.ctrl().iter().map(|u| u * u).sum(),
        EffortKind::Torque => data.qfrc_actuator().iter().map(|f| f * f).sum(),
        EffortKind::Power => {
            let powers = data.qfrc_actuator().iter().zip(data.qvel()).map(|(f, v)| f * v);
            powers.map(|power| power * power).sum()
        }
    };
    (squares / count as f64).sqrt()
}

/// The direction of a body's x axis in the horizontal plane.
fn heading(rotation: &[f64; 9]) -> f64 {
    rotation[3].atan2(rotation[0])
}

/// Mean velocity during a step, in the directions of the body's heading after it.
fn motion_of(data: &impl State, body: usize, motion: Motion, before: [f64; 3], seconds: f64) -> f64 {
    let (x, angle) = (data.xpos()[body], heading(&data.xmat()[body]));
    let way: [f64; 3] = std::array::from_fn(|i| x[i] - before[i]);
    let change = match motion {
        Motion::Forward => angle.cos() * way[0] + angle.sin() * way[1],
        Motion::Sideways => angle.cos() * way[1] - angle.sin() * way[0],
        Motion::Up => way[2],
        Motion::Turn => {
            let turned = angle - before[0];
            turned - std::f64::consts::TAU * (turned / std::f64::consts::TAU).round()
        }
    };
    change / seconds
}

fn finite_weights(weights: &[f64], names: &Names<'_>) -> Result<(), EnvError> {
    match weights.iter().all(|weight| weight.is_finite()) {
        true => Ok(()),
        false => Err(names.invalid(format!("weights = {weights:?} are not all finite"))),
    }
}

/// The platform's power, as Python calls it for a single number: a product can differ in its last digit.
#[inline(never)]
fn power(x: f64, exponent: f64) -> f64 {
    x.powf(std::hint::black_box(exponent))
}

fn mover(
    body: Option<&str>,
    joint: Option<&str>,
    center: bool,
    names: &Names<'_>,
) -> Result<Mover, EnvError> {
    match (body, joint, center) {
        (Some(body), None, false) => Ok(Mover::Body(names.body(body)?)),
        (None, Some(joint), false) => Ok(Mover::Coordinate(names.single(joint)?)),
        (None, None, true) => {
            let masses = names.model.body_mass().to_vec();
            let total = sum(masses.len(), |i| masses[i]);
            Ok(Mover::Center { masses, total })
        }
        _ => Err(names.invalid("forward-velocity needs either `body` or `joint` or `center_of_mass = true`")),
    }
}

fn unit(direction: [f64; 3], names: &Names<'_>) -> Result<[f64; 3], EnvError> {
    let length = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
    if !(length.is_finite() && length > 0.0) {
        return Err(names.invalid(format!("direction = {direction:?} has no length")));
    }
    Ok(direction.map(|d| d / length))
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
