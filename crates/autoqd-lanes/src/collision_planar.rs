//! Contacts of a planar mechanism.

use crate::compile::{Compiled, ContactLaw, PlanarContact, PlanarPlan};
use crate::constraint::{Contacts, Found, finish_slot};
use crate::kernels::Kernels;
use crate::kinematics_planar::Planar;
use crate::segments::{Closest, Segments, Touching};
use crate::simd::{Lane, Mask};
use crate::vector::*;

impl<F: Kernels> Planar<F> {
    /// Finds all contacts and writes their Jacobians.
    #[inline(always)]
    pub(crate) fn collide(
        &self,
        model: &Compiled,
        plan: &PlanarPlan,
        qvel: &[F],
        contacts: &mut Contacts<F, 2>,
    ) {
        contacts.clear();
        for (id, (planar, contact)) in plan.contacts.iter().zip(&model.contacts).enumerate() {
            match planar {
                PlanarContact::Disc { body, center, radius, normal, offset } => {
                    let x = place2(self.rotations[*body], *center, self.positions[*body]);
                    let height = plane_height(*normal, x);
                    let distance = height - F::splat(offset + radius);
                    let active = distance.lt(F::splat(contact.law.margin));
                    if !active.any() {
                        continue;
                    }
                    let n: V2<F> = splat2(*normal);
                    // The contact point is half way into the penetration.
                    let down = distance.mul_add(F::splat(0.5), F::splat(*radius));
                    let point = [n[0].neg_mul_add(down, x[0]), n[1].neg_mul_add(down, x[1])];
                    contacts.upright &= *normal == [1.0, 0.0];
                    let found = Found { distance, point, normal: n, tangent: [F::zero(); 2] };
                    F::push(contacts, id, &contact.law, active, &found);
                }
                PlanarContact::Segments { bodies, centers, half_axes, half_lengths, radii } => {
                    let zero = [F::zero(); 2];
                    let (r1, r2) = (self.rotations[bodies[0]], self.rotations[bodies[1]]);
                    let segments = Segments {
                        centers: [
                            place2(r1, centers[0], self.positions[bodies[0]]),
                            place2(r2, centers[1], self.positions[bodies[1]]),
                        ],
                        half_axes: [place2(r1, half_axes[0], zero), place2(r2, half_axes[1], zero)],
                        long: [half_axes[0] != [0.0; 2], half_axes[1] != [0.0; 2]],
                        radii: *radii,
                        margin: contact.law.margin,
                    };
                    if !segments.near(*half_lengths) {
                        continue;
                    }
                    let (touching, parallel) = segments.touching();
                    push_segments(id, &contact.law, touching, contacts);
                    if parallel.any() {
                        for touching in segments.touching_along(parallel) {
                            push_segments(id, &contact.law, touching, contacts);
                        }
                    }
                }
            }
        }
        self.contact_jacobians(model, qvel, contacts);
    }

    #[inline(always)]
    fn contact_jacobians(&self, model: &Compiled, qvel: &[F], contacts: &mut Contacts<F, 2>) {
        let upright = contacts.upright;
        let (slots, jacobians) = contacts.with_jacobians();
        for (slot, jacobian) in slots.iter_mut().zip(jacobians.chunks_exact_mut(qvel.len())) {
            let (x, n) = (slot.point, slot.normal);
            let mut root = usize::MAX;
            let mut p = x;
            for (k, basis) in jacobian.iter_mut().enumerate() {
                if slot.touched >> k & 1 == 0 {
                    continue;
                }
                let body = &model.bodies[model.freedoms[k].body];
                if body.root != root {
                    root = body.root;
                    p = [x[0] - self.positions[root][0], x[1] - self.positions[root][1]];
                }
                let axis = &self.axes[k];
                let u = axis[0].neg_mul_add(p[1], axis[1]);
                let v = axis[0].mul_add(p[0], axis[2]);
                *basis = if upright {
                    // What the general form gives for a normal along u, to the bit.
                    [u, v]
                } else {
                    [n[0].mul_add(u, n[1] * v), n[0].mul_add(v, -(n[1] * u))]
                };
            }
            finish_slot(slot, jacobian, qvel);
        }
    }
}

#[inline(always)]
fn push_segments<F: Kernels>(
    id: usize,
    law: &ContactLaw,
    touching: Touching<F, 2>,
    contacts: &mut Contacts<F, 2>,
) {
    if touching.lanes.any() {
        let Closest { distance, point, normal } = touching.closest;
        contacts.upright = false;
        let found = Found { distance, point, normal, tangent: [F::zero(); 2] };
        F::push(contacts, id, law, touching.lanes, &found);
    }
}

/// normal . x; exact for the usual floor.
#[inline(always)]
fn plane_height<F: Lane>(normal: [f64; 2], x: V2<F>) -> F {
    if normal == [1.0, 0.0] { x[0] } else { dot2(splat2(normal), x) }
}
