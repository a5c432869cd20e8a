//! Where the bodies are, in three dimensions.

use crate::compile::{Compiled, JointPlan, MovingBody};
use crate::frames::Frames;
use crate::model::JointKind;
use crate::simd::{Lane, sin_cos};
use crate::vector::*;

/// Symmetric inertia (xx, yy, zz, xy, xz, yz), first moment, mass; all about the reference point.
pub(crate) type SpatialInertia<F> = [F; 10];

/// Body quantities of one evaluation. Spatial vectors are in world axes at the reference point of their tree, the
/// position of its first body.
pub(crate) struct Spatial<F> {
    pub(crate) positions: Vec<V3<F>>,
    pub(crate) rotations: Vec<M3<F>>,
    /// Centres of mass.
    pub(crate) centers: Vec<V3<F>>,
    /// Principal axes of bodies with drag.
    pub(crate) principal: Vec<M3<F>>,
    pub(crate) inertias: Vec<SpatialInertia<F>>,
    pub(crate) composite: Vec<SpatialInertia<F>>,
    /// Motion of each degree of freedom.
    pub(crate) axes: Vec<V6<F>>,
    pub(crate) velocities: Vec<V6<F>>,
    pub(crate) accelerations: Vec<V6<F>>,
    pub(crate) forces: Vec<V6<F>>,
    /// Where the bodies were when they were last read.
    pub(crate) frames: Frames<F>,
}

impl<F: Lane> Spatial<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let (bodies, freedoms) = (model.bodies.len(), model.freedoms());
        let six = [F::zero(); 6];
        Self {
            positions: vec![zero3(); bodies],
            rotations: vec![identity(); bodies],
            centers: vec![zero3(); bodies],
            principal: vec![identity(); bodies],
            inertias: vec![[F::zero(); 10]; bodies],
            composite: vec![[F::zero(); 10]; bodies],
            axes: vec![six; freedoms],
            velocities: vec![six; bodies],
            accelerations: vec![six; bodies],
            forces: vec![six; bodies],
            frames: Frames::new(model),
        }
    }

    /// Positions, orientations and motion axes.
    #[inline(always)]
    pub(crate) fn kinematics(&mut self, model: &Compiled, qpos: &[F]) {
        for (b, body) in model.bodies.iter().enumerate().skip(1) {
            let parent = body.parent;
            let mut x = place(&self.rotations[parent], &body.position, self.positions[parent]);
            let mut r = match &body.rotation {
                None => self.rotations[parent],
                Some(rotation) => turn_matrix(&self.rotations[parent], rotation),
            };
            for joint in &model.joints[body.joints.clone()] {
                match joint.kind {
                    JointKind::Free => self.free(joint, qpos, &mut x, &mut r),
                    JointKind::Ball => self.ball(joint, qpos, &mut x, &mut r),
                    JointKind::Slide => self.slide(joint, qpos, &mut x, &r),
                    JointKind::Hinge => self.hinge(joint, qpos, &mut x, &mut r),
                }
            }
            self.positions[b] = x;
            self.rotations[b] = r;
            self.centers[b] = place(&r, &body.mass.center, x);
            self.refer_axes(model, body);
        }
    }

    /// Moves the body to the joint's coordinates; the rotations are about its own axes.
    #[inline(always)]
    fn free(&mut self, joint: &JointPlan, qpos: &[F], x: &mut V3<F>, r: &mut M3<F>) {
        let q = &qpos[joint.coordinate..joint.coordinate + 7];
        *x = [q[0], q[1], q[2]];
        *r = quaternion_rotation([q[3], q[4], q[5], q[6]]);
        for k in 0..3 {
            let mut translation = [F::zero(); 6];
            translation[3 + k] = F::one();
            self.axes[joint.freedom + k] = translation;
            self.axes[joint.freedom + 3 + k] = spatial(column(r, k), *x);
        }
    }

    #[inline(always)]
    fn ball(&mut self, joint: &JointPlan, qpos: &[F], x: &mut V3<F>, r: &mut M3<F>) {
        let q = &qpos[joint.coordinate..joint.coordinate + 4];
        let anchor = place(r, &joint.position, *x);
        *r = multiply_matrix(r, &quaternion_rotation([q[0], q[1], q[2], q[3]]));
        *x = place(r, &joint.position.map(|p| -p), anchor);
        for k in 0..3 {
            self.axes[joint.freedom + k] = spatial(column(r, k), anchor);
        }
    }

    #[inline(always)]
    fn slide(&mut self, joint: &JointPlan, qpos: &[F], x: &mut V3<F>, r: &M3<F>) {
        let axis = turn(r, &joint.axis);
        *x = scale_add3(axis, qpos[joint.coordinate] - F::splat(joint.reference), *x);
        self.axes[joint.freedom] = spatial(zero3(), axis);
    }

    #[inline(always)]
    fn hinge(&mut self, joint: &JointPlan, qpos: &[F], x: &mut V3<F>, r: &mut M3<F>) {
        let axis = turn(r, &joint.axis);
        let anchor = place(r, &joint.position, *x);
        let (s, c) = sin_cos(qpos[joint.coordinate] - F::splat(joint.reference));
        match joint.aligned {
            Some((k, sign)) => rotate_aligned(r, k, if sign < 0.0 { -s } else { s }, c),
            None => rotate_about(r, joint.axis, axis, s, c),
        }
        *x = place(r, &joint.position.map(|p| -p), anchor);
        self.axes[joint.freedom] = spatial(axis, anchor);
    }

    /// Rotations come with their anchor in the linear part; replaces it by the velocity of the reference point.
    #[inline(always)]
    fn refer_axes(&mut self, model: &Compiled, body: &MovingBody) {
        let reference = self.positions[body.root];
        for joint in &model.joints[body.joints.clone()] {
            let rotations = match joint.kind {
                JointKind::Slide => 0..0,
                JointKind::Hinge => 0..1,
                JointKind::Ball => 0..3,
                JointKind::Free => 3..6,
            };
            for k in rotations {
                let s = &mut self.axes[joint.freedom + k];
                *s = spatial(angular(s), cross(angular(s), sub3(reference, linear(s))));
            }
        }
    }
}

/// R := R Rot(e_k, angle)
#[inline(always)]
fn rotate_aligned<F: Lane>(r: &mut M3<F>, k: usize, s: F, c: F) {
    let (u, v) = ((k + 1) % 3, (k + 2) % 3);
    for i in 0..3 {
        let (a, b) = (r[3 * i + u], r[3 * i + v]);
        r[3 * i + u] = a.mul_add(c, b * s);
        r[3 * i + v] = b.mul_add(c, -(a * s));
    }
}

/// R := R Rot(axis, angle), `world` being R axis (Rodrigues: column k is c R e_k + s R (axis x e_k) + (1-c) axis_k R axis).
#[inline(always)]
fn rotate_about<F: Lane>(r: &mut M3<F>, axis: [f64; 3], world: V3<F>, s: F, c: F) {
    let old = *r;
    let rest = F::one() - c;
    for k in 0..3 {
        let (u, v) = ((k + 1) % 3, (k + 2) % 3);
        let along = rest * F::splat(axis[k]);
        for i in 0..3 {
            let across = old[3 * i + u] * F::splat(axis[v]) - old[3 * i + v] * F::splat(axis[u]);
            r[3 * i + k] = old[3 * i + k].mul_add(c, s.mul_add(across, along * world[i]));
        }
    }
}
