//! Forces that act along single joints: springs, dampers, actuators.

use crate::compile::{ActuatorPlan, Compiled, Spring};
use crate::model::JointKind;
use crate::simd::{LANES, Lane};
use crate::vector::{normalized, quaternion_product};

/// Adds springs and dampers of joints.
#[inline(always)]
pub(crate) fn add_joint_forces<F: Lane>(model: &Compiled, qpos: &[F], qvel: &[F], force: &mut [F]) {
    for (k, freedom) in model.freedoms.iter().enumerate() {
        if freedom.damping != 0.0 {
            force[k] = qvel[k].neg_mul_add(F::splat(freedom.damping), force[k]);
        }
    }
    for spring in &model.springs {
        add_spring(spring, qpos, force);
    }
}

/// Adds actuators of a model whose actuators are all on joints and without activation, and keeps their forces before
/// their gears.
#[inline(always)]
pub(crate) fn add_joint_actuators<F: Lane>(
    model: &Compiled,
    qpos: &[F],
    qvel: &[F],
    controls: &[F],
    force: &mut [F],
    scratch: &mut [F],
    kept: &mut [F],
) {
    if model.force_clamps.is_empty() {
        for ((actuator, &control), kept) in model.actuators.iter().zip(controls).zip(kept) {
            let k = actuator.freedom;
            let f = actuator_force(actuator, qpos, qvel, control);
            *kept = f;
            force[k] = f.mul_add(F::splat(actuator.gear), force[k]);
        }
        return;
    }
    scratch.fill(F::zero());
    for ((actuator, &control), kept) in model.actuators.iter().zip(controls).zip(kept) {
        let k = actuator.freedom;
        let f = actuator_force(actuator, qpos, qvel, control);
        *kept = f;
        scratch[k] = f.mul_add(F::splat(actuator.gear), scratch[k]);
    }
    add_clamped(model, force, scratch);
}

/// Adds forces of actuators, each within the bounds of its joint.
#[inline(always)]
pub(crate) fn add_clamped<F: Lane>(model: &Compiled, force: &mut [F], scratch: &mut [F]) {
    for &(k, range) in &model.force_clamps {
        scratch[k] = clamp(scratch[k], range);
    }
    for (sum, x) in force.iter_mut().zip(scratch) {
        *sum = *sum + *x;
    }
}

#[inline(always)]
pub(crate) fn clamp<F: Lane>(x: F, range: [f64; 2]) -> F {
    x.max(F::splat(range[0])).min(F::splat(range[1]))
}

/// The force before the gear.
#[inline(always)]
fn actuator_force<F: Lane>(actuator: &ActuatorPlan, qpos: &[F], qvel: &[F], control: F) -> F {
    let control = match actuator.control_range {
        Some(range) => clamp(control, range),
        None => control,
    };
    let mut force = if actuator.gain == 1.0 { control } else { control * F::splat(actuator.gain) };
    if let Some(bias) = actuator.bias {
        let length = qpos[actuator.coordinate] * F::splat(actuator.gear);
        let velocity = qvel[actuator.freedom] * F::splat(actuator.gear);
        let linear = length.mul_add(F::splat(bias[1]), F::splat(bias[0]));
        force = force + velocity.mul_add(F::splat(bias[2]), linear);
    }
    match actuator.force_range {
        Some(range) => clamp(force, range),
        None => force,
    }
}

#[inline(always)]
fn add_spring<F: Lane>(spring: &Spring, qpos: &[F], force: &mut [F]) {
    let k = F::splat(spring.stiffness);
    let (q, d) = (spring.coordinate, spring.freedom);
    let straight = match spring.kind {
        JointKind::Free => 3,
        JointKind::Slide | JointKind::Hinge => 1,
        JointKind::Ball => 0,
    };
    for i in 0..straight {
        force[d + i] = (qpos[q + i] - F::splat(spring.relaxed[i])).neg_mul_add(k, force[d + i]);
    }
    if matches!(spring.kind, JointKind::Free | JointKind::Ball) {
        let (from, relaxed) = (q + straight, &spring.relaxed[straight..]);
        let now = [qpos[from], qpos[from + 1], qpos[from + 2], qpos[from + 3]];
        let inverse =
            [F::splat(relaxed[0]), F::splat(-relaxed[1]), F::splat(-relaxed[2]), F::splat(-relaxed[3])];
        let turned = rotation_vector(quaternion_product(inverse, normalized(now)));
        for i in 0..3 {
            force[d + straight + i] = turned[i].neg_mul_add(k, force[d + straight + i]);
        }
    }
}

/// Axis times angle (in -pi..pi) of a unit quaternion, lane by lane: only ball and free springs and ball limits
/// need it.
#[inline(always)]
pub(crate) fn rotation_vector<F: Lane>(q: [F; 4]) -> [F; 3] {
    let q = [q[0].to_array(), q[1].to_array(), q[2].to_array(), q[3].to_array()];
    let mut out = [[0.0; LANES]; 3];
    for lane in 0..LANES {
        let axis = [q[1][lane], q[2][lane], q[3][lane]];
        let sine = (axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]).sqrt();
        let mut angle = 2.0 * sine.atan2(q[0][lane]);
        if angle > std::f64::consts::PI {
            angle -= 2.0 * std::f64::consts::PI;
        }
        let factor = if sine < 1e-15 { 2.0 } else { angle / sine };
        for i in 0..3 {
            out[i][lane] = axis[i] * factor;
        }
    }
    [F::from_array(out[0]), F::from_array(out[1]), F::from_array(out[2])]
}
