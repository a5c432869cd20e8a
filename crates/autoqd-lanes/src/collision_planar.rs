//! Contacts of a planar mechanism.

use crate::compile::{Compiled, PlanarContact, PlanarPlan};
use crate::constraint::{Contacts, Found};
use crate::kinematics_planar::Planar;
use crate::segments::{Closest, closest_points};
use crate::simd::{Lane, Mask};
use crate::vector::*;

impl<F: Lane> Planar<F> {
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
                    let n = normal.map(F::splat);
                    // The contact point is half way into the penetration.
                    let down = distance.mul_add(F::splat(0.5), F::splat(*radius));
                    let point = [n[0].neg_mul_add(down, x[0]), n[1].neg_mul_add(down, x[1])];
                    contacts.upright &= *normal == [1.0, 0.0];
                    let found = Found { distance, point, normal: n, tangent: [F::zero(); 2] };
                    contacts.push(id, &contact.law, active, found);
                }
                PlanarContact::Segments { bodies, centers, half_axes, radii } => {
                    let segment = |k: usize| {
                        let (r, x) = (self.rotations[bodies[k]], self.positions[bodies[k]]);
                        (place2(r, centers[k], x), place2(r, half_axes[k], [F::zero(); 2]))
                    };
                    let lengths = half_axes.map(|a| a != [0.0; 2]);
                    let margin = contact.law.margin;
                    closest_points(segment(0), segment(1), lengths, *radii, margin, |active, closest| {
                        contacts.upright = false;
                        contacts.push(id, &contact.law, active, found(closest));
                    });
                }
            }
        }
        self.contact_jacobians(model, qvel, contacts);
    }

    #[inline(always)]
    fn contact_jacobians(&self, model: &Compiled, qvel: &[F], contacts: &mut Contacts<F, 2>) {
        for s in 0..contacts.count {
            let (x, n, upright) = (contacts.points[s], contacts.normals[s], contacts.upright);
            let mut root = usize::MAX;
            let mut p = x;
            contacts.fill(s, qvel, |k| {
                let body = &model.bodies[model.freedoms[k].body];
                if body.root != root {
                    root = body.root;
                    p = [x[0] - self.positions[root][0], x[1] - self.positions[root][1]];
                }
                let axis = &self.axes[k];
                let u = axis[0].neg_mul_add(p[1], axis[1]);
                let v = axis[0].mul_add(p[0], axis[2]);
                if upright {
                    // What the general form gives for a normal along u, to the bit.
                    [u, v]
                } else {
                    [n[0].mul_add(u, n[1] * v), n[0].mul_add(v, -(n[1] * u))]
                }
            });
        }
    }
}

/// normal . x; exact for the usual floor.
#[inline(always)]
fn plane_height<F: Lane>(normal: [f64; 2], x: V2<F>) -> F {
    if normal == [1.0, 0.0] { x[0] } else { dot2(normal.map(F::splat), x) }
}

#[inline(always)]
fn found<F: Lane>(closest: Closest<F, 2>) -> Found<F, 2> {
    Found {
        distance: closest.distance,
        point: closest.point,
        normal: closest.normal,
        tangent: [F::zero(); 2],
    }
}
