//! Where the bodies are, in a plane.

use crate::compile::{Compiled, PlanarPlan};
use crate::model::JointKind;
use crate::simd::{Lane, sin_cos};
use crate::vector::*;

/// Body quantities of one evaluation. A planar spatial vector is (angular, linear u, linear v) at the reference
/// point of its tree, the position of its first body.
pub(crate) struct Planar<F> {
    pub(crate) positions: Vec<V2<F>>,
    /// Cosine and sine of the angle.
    pub(crate) rotations: Vec<V2<F>>,
    pub(crate) angles: Vec<F>,
    /// Centres of mass relative to the reference point.
    pub(crate) centers: Vec<V2<F>>,
    /// Moment and first moment about the reference point; the mass is constant.
    pub(crate) inertias: Vec<V3<F>>,
    pub(crate) composite: Vec<V3<F>>,
    /// Motion of each degree of freedom.
    pub(crate) axes: Vec<V3<F>>,
    pub(crate) velocities: Vec<V3<F>>,
    pub(crate) accelerations: Vec<V3<F>>,
    pub(crate) forces: Vec<V3<F>>,
}

impl<F: Lane> Planar<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let (bodies, freedoms) = (model.bodies.len(), model.freedoms());
        let zero = F::zero();
        Self {
            positions: vec![[zero; 2]; bodies],
            rotations: vec![[F::one(), zero]; bodies],
            angles: vec![zero; bodies],
            centers: vec![[zero; 2]; bodies],
            inertias: vec![zero3(); bodies],
            composite: vec![zero3(); bodies],
            axes: vec![zero3(); freedoms],
            velocities: vec![zero3(); bodies],
            accelerations: vec![zero3(); bodies],
            forces: vec![zero3(); bodies],
        }
    }

    /// Positions, angles and motion axes.
    #[inline(always)]
    pub(crate) fn kinematics(&mut self, model: &Compiled, plan: &PlanarPlan, qpos: &[F]) {
        for (b, body) in model.bodies.iter().enumerate().skip(1) {
            let constants = &plan.bodies[b];
            let mut x = place2(self.rotations[body.parent], constants.position, self.positions[body.parent]);
            let mut angle = self.angles[body.parent];
            let mut rotation = self.rotations[body.parent];
            if constants.angle != 0.0 {
                angle = angle + F::splat(constants.angle);
                rotation = cos_sin(angle);
            }
            for j in body.joints.clone() {
                let (joint, flat) = (&model.joints[j], &plan.joints[j]);
                let displacement = qpos[joint.coordinate] - F::splat(joint.reference);
                if joint.kind == JointKind::Slide {
                    let axis = place2(rotation, flat.axis, [F::zero(); 2]);
                    x = [axis[0].mul_add(displacement, x[0]), axis[1].mul_add(displacement, x[1])];
                    self.axes[joint.freedom] = [F::zero(), axis[0], axis[1]];
                } else {
                    let anchor = place2(rotation, flat.position, x);
                    angle = displacement.mul_add(F::splat(flat.sign), angle);
                    rotation = cos_sin(angle);
                    x = place2(rotation, flat.position.map(|p| -p), anchor);
                    self.axes[joint.freedom] = [F::splat(flat.sign), anchor[0], anchor[1]];
                }
            }
            self.positions[b] = x;
            self.rotations[b] = rotation;
            self.angles[b] = angle;
            let reference = self.positions[body.root];
            let center = place2(rotation, constants.center, x);
            self.centers[b] = [center[0] - reference[0], center[1] - reference[1]];
            for j in body.joints.clone() {
                let (joint, flat) = (&model.joints[j], &plan.joints[j]);
                if joint.kind == JointKind::Hinge {
                    // The anchor is in the linear part; replace it by the velocity of the reference point.
                    let [w, u, v] = self.axes[joint.freedom];
                    let sign = F::splat(flat.sign);
                    self.axes[joint.freedom] = [w, sign * (v - reference[1]), sign * (reference[0] - u)];
                }
            }
        }
    }
}

#[inline(always)]
fn cos_sin<F: Lane>(angle: F) -> V2<F> {
    let (s, c) = sin_cos(angle);
    [c, s]
}
