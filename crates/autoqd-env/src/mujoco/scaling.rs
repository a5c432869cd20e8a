//! Friction, mass, motors, damping and gravity of a compiled model, as multiples of what they are.

use super::{Model, Object, OwnData};
use crate::Perturbation;
use mujoco_rs::prelude::{MjtBias, MjtGain};

/// Factors on a model's physics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scales {
    pub friction: f64,
    pub mass: f64,
    pub motor: f64,
    pub damping: f64,
    pub gravity: f64,
}

impl Scales {
    pub const ONE: Self = Self { friction: 1.0, mass: 1.0, motor: 1.0, damping: 1.0, gravity: 1.0 };
}

/// The values of a model that are scaled, as they are at scale 1.
#[derive(Clone, Debug)]
pub(crate) struct Unscaled {
    geom_friction: Vec<f64>,
    pair_friction: Vec<[f64; 2]>,
    mass: Vec<f64>,
    inertia: Vec<[f64; 3]>,
    actuators: Vec<Actuator>,
    joint_force: Vec<[f64; 2]>,
    tendon_force: Vec<[f64; 2]>,
    freedom_damping: Damping,
    tendon_damping: Damping,
    actuator_damping: Damping,
    gravity: [f64; 3],
}

/// The most parameters of a gain or bias that are forces.
const MOST: usize = 3;

#[derive(Clone, Debug)]
struct Actuator {
    /// Which parameters of the gain and of the bias are forces, and their values.
    gain: (std::ops::Range<usize>, [f64; MOST]),
    bias: (std::ops::Range<usize>, [f64; MOST]),
    range: [f64; 2],
}

/// Linear coefficients and those of higher powers.
#[derive(Clone, Debug)]
struct Damping {
    linear: Vec<f64>,
    higher: Vec<f64>,
}

impl Damping {
    fn of<const N: usize>(linear: &[f64], higher: &[[f64; N]]) -> Self {
        Self { linear: linear.to_vec(), higher: higher.as_flattened().to_vec() }
    }
}

/// Writes multiples of `from` into `to`.
fn multiply(to: &mut [f64], from: &[f64], scale: f64) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = scale * from);
}

impl Unscaled {
    pub fn of(model: &Model) -> Self {
        Self {
            geom_friction: model.geom_friction().iter().map(|friction| friction[0]).collect(),
            pair_friction: model.pair_friction().iter().map(|f| [f[0], f[1]]).collect(),
            mass: model.body_mass().to_vec(),
            inertia: model.body_inertia().to_vec(),
            actuators: (0..model.actuator_gaintype().len()).map(|i| Actuator::of(model, i)).collect(),
            joint_force: model.jnt_actfrcrange().to_vec(),
            tendon_force: model.tendon_actfrcrange().to_vec(),
            freedom_damping: Damping::of(model.dof_damping(), model.dof_dampingpoly()),
            tendon_damping: Damping::of(model.tendon_damping(), model.tendon_dampingpoly()),
            actuator_damping: Damping::of(model.actuator_damping(), model.actuator_dampingpoly()),
            gravity: model.opt().gravity,
        }
    }

    /// Gives a world the scaled values, and what MuJoCo derives from them. The world must be reset afterwards.
    pub fn apply(&self, scales: &Scales, world: &mut OwnData) {
        // SAFETY: only numbers that no size or index depends on are written.
        let model = unsafe { world.model_mut() };
        for (to, from) in model.geom_friction_mut().iter_mut().zip(&self.geom_friction) {
            to[0] = scales.friction * from;
        }
        for (to, from) in model.pair_friction_mut().iter_mut().zip(&self.pair_friction) {
            multiply(&mut to[..2], from, scales.friction);
        }
        self.apply_forces(scales, model);
        multiply(model.body_mass_mut(), &self.mass, scales.mass);
        multiply(model.body_inertia_mut().as_flattened_mut(), self.inertia.as_flattened(), scales.mass);
        world.set_const();
    }

    /// Motors, damping and gravity, from which MuJoCo derives nothing.
    fn apply_forces(&self, scales: &Scales, model: &mut Model) {
        // SAFETY: these parameters are forces; none of them is an index.
        let gains = unsafe { model.actuator_gainprm_mut() };
        for (to, from) in gains.iter_mut().zip(&self.actuators) {
            multiply(&mut to[from.gain.0.clone()], &from.gain.1, scales.motor);
        }
        for (to, from) in model.actuator_biasprm_mut().iter_mut().zip(&self.actuators) {
            multiply(&mut to[from.bias.0.clone()], &from.bias.1, scales.motor);
        }
        for (to, from) in model.actuator_forcerange_mut().iter_mut().zip(&self.actuators) {
            multiply(to, &from.range, scales.motor);
        }
        multiply(
            model.jnt_actfrcrange_mut().as_flattened_mut(),
            self.joint_force.as_flattened(),
            scales.motor,
        );
        multiply(
            model.tendon_actfrcrange_mut().as_flattened_mut(),
            self.tendon_force.as_flattened(),
            scales.motor,
        );
        let damping = scales.damping;
        multiply(model.dof_damping_mut(), &self.freedom_damping.linear, damping);
        multiply(model.dof_dampingpoly_mut().as_flattened_mut(), &self.freedom_damping.higher, damping);
        multiply(model.tendon_damping_mut(), &self.tendon_damping.linear, damping);
        multiply(model.tendon_dampingpoly_mut().as_flattened_mut(), &self.tendon_damping.higher, damping);
        multiply(model.actuator_damping_mut(), &self.actuator_damping.linear, damping);
        multiply(model.actuator_dampingpoly_mut().as_flattened_mut(), &self.actuator_damping.higher, damping);
        multiply(&mut model.opt_mut().gravity, &self.gravity, scales.gravity);
    }
}

impl Actuator {
    fn of(model: &Model, i: usize) -> Self {
        let take = |range: std::ops::Range<usize>, parameters: &[f64]| {
            let mut values = [0.0; MOST];
            values[..range.len()].copy_from_slice(&parameters[range.clone()]);
            (range, values)
        };
        let gain = gain_forces(model, i).unwrap_or(0..0);
        let bias = bias_forces(model, i).unwrap_or(0..0);
        Self {
            gain: take(gain, &model.actuator_gainprm()[i]),
            bias: take(bias, &model.actuator_biasprm()[i]),
            range: model.actuator_forcerange()[i],
        }
    }
}

/// Peak force of a muscle, and the strength that it follows from where it is not given.
const MUSCLE_FORCES: std::ops::Range<usize> = 2..4;

/// Which parameters of an actuator's gain are forces; `None` for a gain whose parameters are something else.
fn gain_forces(model: &Model, i: usize) -> Option<std::ops::Range<usize>> {
    match model.actuator_gaintype()[i] {
        MjtGain::mjGAIN_FIXED => Some(0..1),
        MjtGain::mjGAIN_AFFINE => Some(0..3),
        MjtGain::mjGAIN_MUSCLE => Some(MUSCLE_FORCES),
        _ => None,
    }
}

fn bias_forces(model: &Model, i: usize) -> Option<std::ops::Range<usize>> {
    match model.actuator_biastype()[i] {
        MjtBias::mjBIAS_NONE => Some(0..0),
        MjtBias::mjBIAS_AFFINE => Some(0..3),
        MjtBias::mjBIAS_MUSCLE => Some(MUSCLE_FORCES),
        _ => None,
    }
}

/// Names an actuator whose strength cannot be scaled, if there is one.
pub(crate) fn check_motors(model: &Model) -> Result<(), String> {
    let strange = |&i: &usize| gain_forces(model, i).is_none() || bias_forces(model, i).is_none();
    match (0..model.actuator_gaintype().len()).find(strange) {
        None => Ok(()),
        Some(i) => {
            let name = model.id_to_name(Object::mjOBJ_ACTUATOR, i).unwrap_or_default();
            Err(format!(
                "motor_scale: the gain or bias of actuator {i} '{name}' is neither fixed, affine nor a muscle's; \
                 leave motor_scale out"
            ))
        }
    }
}

/// Motors, damping and gravity of a perturbation. (Friction and mass are changed in the MJCF.)
pub(crate) fn scale_forces(model: &mut Model, perturbation: &Perturbation) -> Result<(), String> {
    let Perturbation { motor_scale: motor, damping_scale: damping, gravity_scale: gravity, .. } =
        *perturbation;
    let scales = Scales { motor, damping, gravity, ..Scales::ONE };
    if scales == Scales::ONE {
        return Ok(());
    }
    if motor != 1.0 {
        check_motors(model)?;
    }
    Unscaled::of(model).apply_forces(&scales, model);
    Ok(())
}
