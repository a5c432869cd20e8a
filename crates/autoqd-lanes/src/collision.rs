//! Contacts in three dimensions.

use crate::compile::{BallLimit, Compiled, ContactLaw, CylinderShape, HalfSpace, Segment, Touch};
use crate::constraint::{Contacts, Found, finish_slot};
use crate::extra::cone::finish_cone;
use crate::extra::outside::Outside;
use crate::forces::rotation_vector;
use crate::kernels::Kernels;
use crate::kinematics_spatial::Spatial;
use crate::respond::{impedance, row_weight};
use crate::rigid::{Pose, Vec3};
use crate::segments::{Closest, Segments, Touching};
use crate::simd::{Lane, Mask};
use crate::vector::*;

/// Shorter vectors have no direction.
const TINY: f64 = 1e-15;

type Slots<F> = Contacts<F, 3>;

impl<F: Kernels> Spatial<F> {
    /// Finds all contacts and the limits of ball joints, and writes their Jacobians.
    #[inline(always)]
    pub(crate) fn collide(
        &self,
        model: &Compiled,
        qpos: &[F],
        qvel: &[F],
        outside: &mut Outside<F>,
        contacts: &mut Slots<F>,
    ) {
        contacts.clear();
        self.place_bounds(model, outside);
        for (id, contact) in model.contacts.iter().enumerate() {
            let law = &contact.law;
            match &contact.touch {
                Touch::Ball { body, center, axis, radius, plane } => {
                    self.ball_on_plane(id, law, *body, center, *axis, *radius, plane, contacts);
                }
                Touch::Box { body, pose, half_size, plane } => {
                    self.box_on_plane(id, law, *body, pose, half_size, plane, contacts);
                }
                Touch::Cylinder { shape, plane } => self.cylinder_on_plane(id, law, shape, plane, contacts),
                Touch::Segments { first, second } => self.segments(id, law, first, second, contacts),
                Touch::Outside { pair } => self.touch_outside(model, id, law, *pair, outside, contacts),
            }
        }
        self.contact_jacobians(model, qvel, contacts);
        if model.cones {
            self.cone_jacobians(model, qvel, contacts);
        }
        for limit in &model.ball_limits {
            ball_limit(limit, qpos, qvel, contacts);
        }
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn ball_on_plane(
        &self,
        id: usize,
        law: &ContactLaw,
        body: usize,
        center: &Vec3,
        axis: Option<Vec3>,
        radius: f64,
        plane: &HalfSpace,
        contacts: &mut Slots<F>,
    ) {
        let (r, x) = (&self.rotations[body], self.positions[body]);
        // The usual floor: only the height is needed to see that nothing touches.
        let upright = plane.normal == [0.0, 0.0, 1.0];
        let mut center_at = None;
        let height = if upright {
            let mut z = x[2];
            for k in 0..3 {
                if center[k] != 0.0 {
                    z = r[6 + k].mul_add(F::splat(center[k]), z);
                }
            }
            z
        } else {
            let c = place(r, center, x);
            center_at = Some(c);
            dot_constant(plane.normal, c)
        };
        let distance = height - F::splat(plane.offset + radius);
        let active = distance.lt(F::splat(law.margin));
        if !active.any() {
            return;
        }
        let c = center_at.unwrap_or(place(r, center, x));
        let normal = splat3(plane.normal);
        let down = distance.mul_add(F::splat(0.5), F::splat(radius));
        let point = scale_add3(normal, -down, c);
        let tangent = match axis {
            Some(axis) => tangent_along(normal, turn(r, &axis)),
            None => default_tangent(normal),
        };
        F::push(contacts, id, law, active, &Found { distance, point, normal, tangent });
    }

    /// The lower corners, at most four in the order of their number.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn box_on_plane(
        &self,
        id: usize,
        law: &ContactLaw,
        body: usize,
        pose: &Pose,
        half_size: &Vec3,
        plane: &HalfSpace,
        contacts: &mut Slots<F>,
    ) {
        let center = place(&self.rotations[body], &pose.position, self.positions[body]);
        let axes = turn_matrix(&self.rotations[body], &pose.rotation);
        let normal = splat3(plane.normal);
        let height = dot_constant(plane.normal, center) - F::splat(plane.offset);
        let reach: f64 = half_size.iter().map(|h| h * h).sum::<f64>().sqrt();
        if !height.lt(F::splat(law.margin + reach)).any() {
            return;
        }
        let push = PlanePush { id, law, normal, tangent: default_tangent(normal) };
        let mut free = F::Mask::from_bits(u8::MAX);
        let mut found_before = [free.not(); 3];
        for corner in 0..8 {
            let local: Vec3 =
                std::array::from_fn(|i| if corner >> i & 1 == 1 { half_size[i] } else { -half_size[i] });
            let offset = turn(&axes, &local);
            let rise = dot_constant(plane.normal, offset);
            let distance = height + rise;
            let active = distance.lt(F::splat(law.margin)).and(rise.le(F::zero())).and(free);
            if !active.any() {
                continue;
            }
            push.push(distance, add3(offset, center), active, contacts);
            // Lanes with four corners are full.
            free = free.and(active.and(found_before[2]).not());
            found_before[2] = found_before[2].or(active.and(found_before[1]));
            found_before[1] = found_before[1].or(active.and(found_before[0]));
            found_before[0] = found_before[0].or(active);
        }
    }

    /// The lowest point of each disc, and two more of the lower disc that make a triangle.
    #[inline(always)]
    fn cylinder_on_plane(
        &self,
        id: usize,
        law: &ContactLaw,
        shape: &CylinderShape,
        plane: &HalfSpace,
        contacts: &mut Slots<F>,
    ) {
        let body = shape.body;
        let center = place(&self.rotations[body], &shape.pose.position, self.positions[body]);
        let height = dot_constant(plane.normal, center) - F::splat(plane.offset);
        let margin = F::splat(law.margin);
        if !height.lt(F::splat(law.margin + shape.radius.hypot(shape.half_length))).any() {
            return;
        }
        let frame = turn_matrix(&self.rotations[body], &shape.pose.rotation);
        let normal: V3<F> = splat3(plane.normal);
        let upward = column(&frame, 2);
        // The axis towards the plane.
        let rise = dot3(normal, upward);
        let flip = F::zero().lt(rise);
        let axis = select3(flip, neg3(upward), upward);
        let rise = F::select(flip, -rise, rise);
        // The radius that points down, or any if the disc lies flat.
        let lower = sub3(scale3(axis, rise), normal);
        let squared = dot3(lower, lower);
        let tilted = F::splat(TINY * TINY).le(squared);
        let factor = F::splat(shape.radius) / squared.sqrt();
        let flat = scale3(column(&frame, 0), F::splat(shape.radius));
        let spoke = select3(tilted, scale3(lower, factor), flat);
        let spoke_rise = dot3(spoke, normal);
        let half = F::splat(shape.half_length);
        let (axis, rise) = (scale3(axis, half), rise * half);
        let tangent = default_tangent(normal);
        let disc = add3(center, axis);
        let distance = height + rise + spoke_rise;
        let touching = distance.lt(margin);
        let push = PlanePush { id, law, normal, tangent };
        push.push(distance, add3(disc, spoke), touching, contacts);
        let distance = height - rise + spoke_rise;
        let active = touching.and(distance.lt(margin));
        push.push(distance, add3(sub3(center, axis), spoke), active, contacts);
        let minus_half = F::splat(-0.5);
        let distance = height + rise + spoke_rise * minus_half;
        let active = touching.and(distance.lt(margin));
        if active.any() {
            let side = unit(cross(spoke, axis));
            let side = scale3(side, F::splat(shape.radius * 3.0_f64.sqrt() / 2.0));
            let middle = scale_add3(spoke, minus_half, disc);
            push.push(distance, add3(middle, side), active, contacts);
            push.push(distance, sub3(middle, side), active, contacts);
        }
    }

    #[inline(always)]
    fn segments(
        &self,
        id: usize,
        law: &ContactLaw,
        first: &Segment,
        second: &Segment,
        contacts: &mut Slots<F>,
    ) {
        let (r1, r2) = (&self.rotations[first.body], &self.rotations[second.body]);
        let segments = Segments {
            centers: [
                place(r1, &first.center, self.positions[first.body]),
                place(r2, &second.center, self.positions[second.body]),
            ],
            half_axes: [turn(r1, &first.half_axis), turn(r2, &second.half_axis)],
            long: [first.half_axis != [0.0; 3], second.half_axis != [0.0; 3]],
            radii: [first.radius, second.radius],
            margin: law.margin,
        };
        if !segments.near(first.half_length + second.half_length) {
            return;
        }
        let (touching, parallel) = segments.touching();
        push_segments(id, law, touching, contacts);
        if parallel.any() {
            for touching in segments.touching_along(parallel) {
                push_segments(id, law, touching, contacts);
            }
        }
    }

    #[inline(always)]
    fn contact_jacobians(&self, model: &Compiled, qvel: &[F], contacts: &mut Slots<F>) {
        let (slots, jacobians) = contacts.with_jacobians();
        for (slot, jacobian) in slots.iter_mut().zip(jacobians.chunks_exact_mut(qvel.len())) {
            let (x, n, t) = (slot.point, slot.normal, slot.tangent);
            let second = cross(n, t);
            let mut root = usize::MAX;
            let mut p = x;
            for (k, basis) in jacobian.iter_mut().enumerate() {
                if slot.touched >> k & 1 == 0 {
                    continue;
                }
                let body = &model.bodies[model.freedoms[k].body];
                if body.root != root {
                    root = body.root;
                    p = sub3(x, self.positions[root]);
                }
                if model.free_root && k < 3 {
                    // Along x, y or z.
                    *basis = [n[k], t[k], second[k]];
                    continue;
                }
                let axis = &self.axes[k];
                let motion = cross_add(angular(axis), p, linear(axis));
                *basis = [dot3(n, motion), dot3(t, motion), dot3(second, motion)];
            }
            finish_slot(slot, jacobian, qvel);
        }
    }
}

impl<F: Kernels> Spatial<F> {
    #[inline(always)]
    fn cone_jacobians(&self, model: &Compiled, qvel: &[F], contacts: &mut Slots<F>) {
        for (slot, jacobian) in contacts.extra.cones.with_jacobians() {
            let (n, t) = (slot.normal, slot.tangent);
            let second = cross(n, t);
            for (k, basis) in jacobian.iter_mut().enumerate() {
                if slot.touched >> k & 1 == 0 {
                    continue;
                }
                let (motion, spin) = self.motion_at(model, k, slot.point);
                *basis = [
                    dot3(n, motion),
                    dot3(t, motion),
                    dot3(second, motion),
                    dot3(n, spin),
                    dot3(t, spin),
                    dot3(second, spin),
                ];
            }
            finish_cone(slot, jacobian, qvel);
        }
    }

    /// How a degree of freedom moves a point of a body it moves, and how it turns it.
    #[inline(always)]
    pub(crate) fn motion_at(&self, model: &Compiled, k: usize, point: V3<F>) -> (V3<F>, V3<F>) {
        let root = model.bodies[model.freedoms[k].body].root;
        let axis = &self.axes[k];
        let offset = sub3(point, self.positions[root]);
        (cross_add(angular(axis), offset, linear(axis)), angular(axis))
    }
}

/// Contacts of one geom with a plane.
struct PlanePush<'a, F> {
    id: usize,
    law: &'a ContactLaw,
    normal: V3<F>,
    tangent: V3<F>,
}

impl<F: Kernels> PlanePush<'_, F> {
    /// A contact half way between the point `at` of the geom and the plane.
    #[inline(always)]
    fn push(&self, distance: F, at: V3<F>, active: F::Mask, contacts: &mut Slots<F>) {
        if active.any() {
            let point = scale_add3(self.normal, distance * F::splat(-0.5), at);
            let found = Found { distance, point, normal: self.normal, tangent: self.tangent };
            F::push(contacts, self.id, self.law, active, &found);
        }
    }
}

#[inline(always)]
fn push_segments<F: Kernels>(id: usize, law: &ContactLaw, touching: Touching<F, 3>, contacts: &mut Slots<F>) {
    if touching.lanes.any() {
        let Closest { distance, point, normal } = touching.closest;
        let tangent = default_tangent(normal);
        F::push(contacts, id, law, touching.lanes, &Found { distance, point, normal, tangent });
    }
}

#[inline(always)]
fn unit<F: Lane>(v: V3<F>) -> V3<F> {
    let length = dot3(v, v).sqrt();
    let ok = F::splat(TINY).le(length);
    let inverse = F::one() / length;
    [F::select(ok, v[0] * inverse, F::one()), (v[1] * inverse).keep(ok), (v[2] * inverse).keep(ok)]
}

/// The direction of `axis` in the plane of `normal`.
#[inline(always)]
fn tangent_along<F: Lane>(normal: V3<F>, axis: V3<F>) -> V3<F> {
    unit(scale_add3(normal, -dot3(normal, axis), axis))
}

/// A tangent for contacts without a direction of their own: from y, or from z if the normal is near y.
#[inline(always)]
fn default_tangent<F: Lane>(normal: V3<F>) -> V3<F> {
    let steep = normal[1].lt(F::splat(0.5)).and(F::splat(-0.5).lt(normal[1]));
    let (zero, one) = (F::zero(), F::one());
    let guess = [zero, F::select(steep, one, zero), F::select(steep, zero, one)];
    tangent_along(normal, guess)
}

/// A ball joint at its largest angle: a contact without friction whose normal motion is minus the rate of the angle.
#[inline(always)]
fn ball_limit<F: Lane>(limit: &BallLimit, qpos: &[F], qvel: &[F], contacts: &mut Slots<F>) {
    let (q, d) = (limit.coordinate, limit.freedom);
    let turned = rotation_vector(normalized([qpos[q], qpos[q + 1], qpos[q + 2], qpos[q + 3]]));
    let angle = dot3(turned, turned).sqrt();
    let distance = F::splat(limit.angle) - angle;
    let pending = distance.lt(F::splat(limit.margin)).bits();
    if pending == 0 {
        return;
    }
    let axis = neg3(unit(turned));
    let beyond = distance - F::splat(limit.margin);
    let impedance = impedance(&limit.law.impedance, beyond);
    // Four coinciding rows share the weight.
    let weight = row_weight(impedance, limit.weight, 4.0);
    let rate = dot3(axis, [qvel[d], qvel[d + 1], qvel[d + 2]]);
    let restoring = impedance * beyond * F::splat(limit.law.stiffness);
    let reference = -rate.mul_add(F::splat(limit.law.damping), restoring);
    contacts.push_row(pending, d, axis, weight, reference);
}
