//! Actuators on tendons, and actuators with activations.

use crate::compile::{ActivationPlan, ActuatorPlan, Compiled};
use crate::forces::{add_clamped, clamp};
use crate::model::Activation;
use crate::simd::Lane;
use crate::tendons::Tendons;

/// What libmujoco divides by at least.
const LEAST_TIME: f64 = 1e-15;

/// The state that drives actuators, and what they do.
pub(crate) struct Driven<'a, F> {
    pub(crate) qpos: &'a [F],
    pub(crate) qvel: &'a [F],
    pub(crate) control: &'a [F],
    pub(crate) activation: &'a [F],
    /// How fast the activations change.
    pub(crate) activation_rate: &'a mut [F],
    pub(crate) force: &'a mut [F],
    pub(crate) scratch: &'a mut [F],
    /// Forces before their gears.
    pub(crate) kept: &'a mut [F],
}

/// Adds all actuators, keeps their forces before their gears, and how fast their activations change.
#[inline(always)]
pub(crate) fn add_actuators<F: Lane>(model: &Compiled, tendons: &Tendons<F>, driven: Driven<'_, F>) {
    let Driven { qpos, qvel, control, activation, activation_rate, force, scratch, kept } = driven;
    scratch.fill(F::zero());
    for (i, actuator) in model.actuators.iter().enumerate() {
        let control = match actuator.control_range {
            Some(range) => clamp(control[i], range),
            None => control[i],
        };
        let input = match &actuator.state {
            None => control,
            Some(plan) => {
                let now = activation[plan.index];
                let rate = rate(plan.kind, control, now);
                activation_rate[plan.index] = rate;
                if plan.early { next(plan, now, rate, model.options.timestep) } else { now }
            }
        };
        let (length, velocity) = match actuator.tendon {
            None => (qpos[actuator.coordinate], qvel[actuator.freedom]),
            Some(t) => (tendons.lengths[t], tendons.velocities[t]),
        };
        let f = actuator_force(actuator, input, length, velocity);
        kept[i] = f;
        let pull = f * F::splat(actuator.gear);
        match actuator.tendon {
            None => scratch[actuator.freedom] = scratch[actuator.freedom] + pull,
            Some(t) => tendons.add_pull(t, pull, scratch),
        }
    }
    add_clamped(model, force, scratch);
}

/// The force before the gear.
#[inline(always)]
fn actuator_force<F: Lane>(actuator: &ActuatorPlan, input: F, length: F, velocity: F) -> F {
    let (mut force, gear) = (input * F::splat(actuator.gain), F::splat(actuator.gear));
    if let Some(bias) = actuator.bias {
        let linear = (length * gear).mul_add(F::splat(bias[1]), F::splat(bias[0]));
        force = force + (velocity * gear).mul_add(F::splat(bias[2]), linear);
    }
    match actuator.force_range {
        Some(range) => clamp(force, range),
        None => force,
    }
}

/// How fast an activation changes.
#[inline(always)]
fn rate<F: Lane>(kind: Activation, control: F, activation: F) -> F {
    match kind {
        Activation::Immediate => F::zero(),
        Activation::Integrator => control,
        Activation::Filter(time) | Activation::ExactFilter(time) => {
            (control - activation) / F::splat(time.max(LEAST_TIME))
        }
    }
}

/// The activation after a time, if it changes at this rate now.
#[inline(always)]
pub(crate) fn next<F: Lane>(plan: &ActivationPlan, activation: F, rate: F, h: f64) -> F {
    let time = match plan.kind {
        Activation::ExactFilter(time) => {
            let time = time.max(LEAST_TIME);
            time * (1.0 - (-h / time).exp())
        }
        _ => h,
    };
    let next = rate.mul_add(F::splat(time), activation);
    match plan.range {
        Some(range) => clamp(next, range),
        None => next,
    }
}
