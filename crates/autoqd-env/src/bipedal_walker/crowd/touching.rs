//! Where bodies touch the ground, in all lanes: their velocity constraints, and how overlaps are taken away.

use super::super::kernels::Kernels;
use super::super::solver::WideContact;
use super::super::vector::{clockwise, cross, dot, minus, negative, plus, scale};
use super::super::wide::{Mask, Wide};
use super::geometry::{SKIN, SLOP};
use super::manifold::Manifold;
use super::pose::{Pose, Vec2, clamp, grounded, put, select, splat};
use super::robot::Part;

const MOST_CORRECTION: f32 = 0.2;
/// Condition number of two contact points beyond which one of them is left out.
const MOST_CONDITION: f32 = 1000.0;

/// Where one body touches one edge, in every lane that has such a contact.
#[derive(Clone, Copy, Debug)]
pub struct WideManifold<F: Wide> {
    on_body: F::Mask,
    normal: Vec2<F>,
    point: Vec2<F>,
    locals: [Vec2<F>; 2],
    /// Whether the first and the second point exist.
    present: [F::Mask; 2],
    any: [bool; 2],
}

/// The numbers of the body in a contact.
#[derive(Clone, Copy)]
pub struct Weight<F: Wide> {
    pub local_center: Vec2<F>,
    pub inverse_mass: F,
    pub inverse_inertia: F,
}

/// As [`Weight`], the same for all lanes.
#[derive(Clone, Copy, Debug)]
pub struct WeightOf {
    pub local_center: [f32; 2],
    pub inverse_mass: f32,
    pub inverse_inertia: f32,
}

impl WeightOf {
    pub fn new(part: &Part) -> Self {
        Self {
            local_center: part.local_center,
            inverse_mass: part.inverse_mass,
            inverse_inertia: part.inverse_inertia,
        }
    }

    #[inline(always)]
    pub fn wide<F: Wide>(&self) -> Weight<F> {
        Weight {
            local_center: splat(self.local_center),
            inverse_mass: F::splat(self.inverse_mass),
            inverse_inertia: F::splat(self.inverse_inertia),
        }
    }
}

impl<F: Kernels> WideManifold<F> {
    pub const ZERO: Self = Self {
        on_body: F::Mask::NONE,
        normal: [F::ZERO; 2],
        point: [F::ZERO; 2],
        locals: [[F::ZERO; 2]; 2],
        present: [F::Mask::NONE; 2],
        any: [false; 2],
    };

    /// To be called before the lanes of a step are loaded.
    pub fn clear(&mut self) {
        (self.present, self.any) = ([F::Mask::NONE; 2], [false; 2]);
    }

    pub fn load(&mut self, lane: usize, from: &Manifold) {
        self.on_body.set(lane, from.on_body);
        put(&mut self.normal, lane, from.normal);
        put(&mut self.point, lane, from.point);
        for (j, point) in from.points[..from.count].iter().enumerate() {
            put(&mut self.locals[j], lane, point.local);
            self.present[j].set(lane, true);
            self.any[j] = true;
        }
    }

    /// Normal towards the body, and the `j`-th point and what its distance is measured from.
    #[inline(always)]
    pub fn place(&self, j: usize, pose: &Pose<F>, local_center: Vec2<F>) -> (Vec2<F>, Vec2<F>, Vec2<F>) {
        let (q, p) = (pose.rotation, pose.position(local_center));
        let normal = select(self.on_body, q.apply(self.normal), grounded(self.normal));
        let (point, local) = (self.point, self.locals[j]);
        let on_ground = [F::ZERO; 2];
        let plane = select(self.on_body, plus(q.apply(point), p), plus(grounded(point), on_ground));
        let clip = select(self.on_body, plus(grounded(local), on_ground), plus(q.apply(local), p));
        (normal, plane, clip)
    }

    /// Box2D's normals point from the ground to the body.
    #[inline(always)]
    pub fn outward(&self, normal: Vec2<F>) -> Vec2<F> {
        select(self.on_body, negative(normal), normal)
    }

    /// Velocity constraints at the present pose, with the impulses that `contact` holds already.
    #[inline(always)]
    pub fn prepare(&self, contact: &mut WideContact<F>, pose: &Pose<F>, weight: &Weight<F>) {
        let (m, i) = (weight.inverse_mass, weight.inverse_inertia);
        let mut arms_cross_normal = [F::ZERO; 2];
        for j in 0..2 {
            if !self.any[j] {
                continue;
            }
            let (normal, plane, clip) = self.place(j, pose, weight.local_center);
            let skin = F::splat(SKIN);
            let near = plus(clip, scale(skin - dot(minus(clip, plane), normal), normal));
            let far = minus(clip, scale(skin, normal));
            let point = scale(F::splat(0.5), plus(near, far));
            let normal = self.outward(normal);
            contact.normal = normal;
            let to = &mut contact.points[j];
            to.ground = [F::NEGATIVE_ZERO * point[1], F::ZERO * point[0]];
            to.lever.arm = minus(point, pose.center);
            (to.lever.inverse_mass, to.lever.inverse_inertia) = (m, i);
            let rn = cross(to.lever.arm, normal);
            arms_cross_normal[j] = rn;
            to.normal_mass = (m + i * rn * rn).inverse_if_positive();
            let rt = cross(to.lever.arm, clockwise(normal));
            to.tangent_mass = (m + i * rt * rt).inverse_if_positive();
            to.velocity_bias = F::ZERO;
        }
        (contact.one_point, contact.two_points) = (self.present[0], F::Mask::NONE);
        if self.any[1] {
            let [a, b] = arms_cross_normal;
            let (k11, k22, k12) = (m + i * a * a, m + i * b * b, m + i * a * b);
            let fine = (k11 * k11).is_less(F::splat(MOST_CONDITION) * (k11 * k22 - k12 * k12));
            contact.k = [[k11, k12], [k12, k22]];
            let det = (k11 * k22 - k12 * k12).inverse_unless_zero();
            contact.normal_mass = [[det * k22, -det * k12], [-det * k12, det * k11]];
            contact.two_points = self.present[1].and(fine);
            contact.one_point = self.present[0].and(contact.two_points.not());
        }
        contact.any_one = contact.one_point.any();
        contact.any_two = contact.two_points.any();
    }

    /// Takes away a part of the overlaps; returns the deepest so far.
    #[inline(always)]
    pub fn push_out(&self, pose: &mut Pose<F>, weight: &Weight<F>, share: f32, lanes: u32, deepest: F) -> F {
        let mut deepest = deepest;
        for j in 0..2 {
            if !self.any[j] {
                continue;
            }
            pose.turn(lanes);
            let (normal, plane, clip) = self.place(j, pose, weight.local_center);
            let skin = F::splat(SKIN);
            let separation = dot(minus(clip, plane), normal) - skin - skin;
            let normal = self.outward(normal);
            let arm = minus(clip, pose.center);
            let present = self.present[j];
            deepest = F::select(present, deepest.min(separation), deepest);
            let overlap = F::splat(share) * (separation + F::splat(SLOP));
            let wanted = clamp(overlap, -MOST_CORRECTION, 0.0);
            let rn = cross(arm, normal);
            let k = weight.inverse_mass + weight.inverse_inertia * rn * rn;
            let impulse = F::select(k.is_positive(), -wanted / k, F::ZERO);
            let push = scale(impulse, normal);
            let center = plus(pose.center, scale(weight.inverse_mass, push));
            let angle = pose.angle + weight.inverse_inertia * cross(arm, push);
            pose.center = select(present, center, pose.center);
            pose.angle = F::select(present, angle, pose.angle);
        }
        deepest
    }
}
