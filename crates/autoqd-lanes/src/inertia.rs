//! The inertia matrix, by composite rigid bodies.

use crate::compile::{Compiled, MovingBody, PlanarPlan};
use crate::kinematics_planar::Planar;
use crate::kinematics_spatial::{Spatial, SpatialInertia};
use crate::simd::Lane;
use crate::vector::*;

impl<F: Lane> Spatial<F> {
    /// Inertias of the bodies and of their subtrees, and the packed inertia matrix.
    #[inline(always)]
    pub(crate) fn inertia(&mut self, model: &Compiled, mass_matrix: &mut [F]) {
        for (b, body) in model.bodies.iter().enumerate().skip(1) {
            let own = self.body_inertia(b, body);
            self.inertias[b] = own;
            self.composite[b] = own;
        }
        for (b, body) in model.bodies.iter().enumerate().skip(1).rev() {
            if body.parent > 0 {
                let (before, own) = self.composite.split_at_mut(b);
                for (sum, x) in before[body.parent].iter_mut().zip(&own[0]) {
                    *sum = *sum + *x;
                }
            }
        }
        for (k, freedom) in model.freedoms.iter().enumerate() {
            let force = inertia_times(&self.composite[freedom.body], &self.axes[k]);
            let row = &mut mass_matrix[model.tree.row(k)];
            let columns = model.tree.columns(k);
            row[columns.len()] = dot6(&force, &self.axes[k]) + F::splat(freedom.armature);
            let known = if model.free_root { columns.len().min(6) } else { 0 };
            for (i, entry) in row[..known].iter_mut().enumerate() {
                // Translations along x, y and z, then rotations about the reference point.
                *entry = if i < 3 { force[3 + i] } else { dot3(angular(&force), angular(&self.axes[i])) };
            }
            for (entry, &i) in row.iter_mut().zip(columns).skip(known) {
                *entry = dot6(&force, &self.axes[i]);
            }
        }
    }

    #[inline(always)]
    fn body_inertia(&mut self, b: usize, body: &MovingBody) -> SpatialInertia<F> {
        let r = &self.rotations[b];
        let properties = &body.mass;
        if body.drag.is_some() {
            self.principal[b] = turn_matrix(r, &properties.axes);
        }
        let mut i = rotated_inertia(r, &properties.axes, properties.moments);
        let reference = self.positions[body.root];
        let d = sub3(self.centers[b], reference);
        let mass = F::splat(properties.mass);
        let m = scale3(d, mass);
        let (xx, yy, zz) = (m[0] * d[0], m[1] * d[1], m[2] * d[2]);
        i[0] = i[0] + yy + zz;
        i[1] = i[1] + xx + zz;
        i[2] = i[2] + xx + yy;
        i[3] = m[0].neg_mul_add(d[1], i[3]);
        i[4] = m[0].neg_mul_add(d[2], i[4]);
        i[5] = m[1].neg_mul_add(d[2], i[5]);
        [i[0], i[1], i[2], i[3], i[4], i[5], m[0], m[1], m[2], mass]
    }
}

/// R A diag(moments) A' R' as a multiple of the identity plus one term per axis that differs: one for capsules.
#[inline(always)]
fn rotated_inertia<F: Lane>(r: &M3<F>, axes: &[f64; 9], moments: [f64; 3]) -> [F; 6] {
    let equal = |a: usize, b: usize| (moments[a] - moments[b]).abs() < 1e-14 * moments[a];
    let base = if equal(1, 2) { 1 } else { 0 };
    let common = F::splat(moments[base]);
    let mut i = [common, common, common, F::zero(), F::zero(), F::zero()];
    for k in 0..3 {
        if k == base || equal(base, k) {
            continue;
        }
        let u = turn(r, &[axes[k], axes[3 + k], axes[6 + k]]);
        let e = scale3(u, F::splat(moments[k] - moments[base]));
        i[0] = e[0].mul_add(u[0], i[0]);
        i[1] = e[1].mul_add(u[1], i[1]);
        i[2] = e[2].mul_add(u[2], i[2]);
        i[3] = e[0].mul_add(u[1], i[3]);
        i[4] = e[0].mul_add(u[2], i[4]);
        i[5] = e[1].mul_add(u[2], i[5]);
    }
    i
}

/// The momentum of a motion.
#[inline(always)]
pub(crate) fn inertia_times<F: Lane>(i: &SpatialInertia<F>, v: &V6<F>) -> V6<F> {
    let (w, l, moment) = (angular(v), linear(v), [i[6], i[7], i[8]]);
    let torque = [
        i[4].mul_add(w[2], i[3].mul_add(w[1], i[0] * w[0])),
        i[5].mul_add(w[2], i[1].mul_add(w[1], i[3] * w[0])),
        i[2].mul_add(w[2], i[5].mul_add(w[1], i[4] * w[0])),
    ];
    spatial(cross_add(moment, l, torque), cross_add(w, moment, scale3(l, i[9])))
}

impl<F: Lane> Planar<F> {
    /// Inertias of the bodies and of their subtrees, and the packed inertia matrix.
    #[inline(always)]
    pub(crate) fn inertia(&mut self, model: &Compiled, plan: &PlanarPlan, mass_matrix: &mut [F]) {
        for (b, body) in model.bodies.iter().enumerate().skip(1) {
            let (d, mass) = (self.centers[b], F::splat(body.mass.mass));
            let m = [d[0] * mass, d[1] * mass];
            let moment = m[0].mul_add(d[0], m[1].mul_add(d[1], F::splat(plan.bodies[b].inertia)));
            self.inertias[b] = [moment, m[0], m[1]];
            self.composite[b] = self.inertias[b];
        }
        for (b, body) in model.bodies.iter().enumerate().skip(1).rev() {
            if body.parent > 0 {
                let (before, own) = self.composite.split_at_mut(b);
                for (sum, x) in before[body.parent].iter_mut().zip(&own[0]) {
                    *sum = *sum + *x;
                }
            }
        }
        for (k, freedom) in model.freedoms.iter().enumerate() {
            let mass = F::splat(model.bodies[freedom.body].subtree_mass);
            let force = planar_inertia_times(&self.composite[freedom.body], mass, &self.axes[k]);
            let row = &mut mass_matrix[model.tree.row(k)];
            let columns = model.tree.columns(k);
            row[columns.len()] = dot3(force, self.axes[k]) + F::splat(freedom.armature);
            for (entry, &i) in row.iter_mut().zip(columns) {
                *entry = dot3(force, self.axes[i]);
            }
        }
    }
}

/// The momentum of a planar motion.
#[inline(always)]
pub(crate) fn planar_inertia_times<F: Lane>(i: &V3<F>, mass: F, v: &V3<F>) -> V3<F> {
    [
        i[0].mul_add(v[0], i[1].mul_add(v[2], -(i[2] * v[1]))),
        i[2].neg_mul_add(v[0], mass * v[1]),
        i[1].mul_add(v[0], mass * v[2]),
    ]
}
