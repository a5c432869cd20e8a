//! Contacts of shapes that the engine has no formulas for: it finds the pairs that are near in any lane, eight worlds at a
//! time, and asks a [`Narrow`](crate::Narrow) phase about the few lanes that are left, one after the other.

use crate::compile::{Bounds, Compiled, ContactLaw};
use crate::constraint::{Contacts, Found};
use crate::kernels::Kernels;
use crate::kinematics_spatial::Spatial;
use crate::narrow::{GeomPose, MOST_OF_PAIR, MOST_OF_WORLD, Outside, Touching};
use crate::respond::lanes_of;
use crate::simd::{LANES, Mask};
use crate::vector::*;

impl<F: Kernels> Spatial<F> {
    /// Where the boxes around the geoms are.
    #[inline(always)]
    pub(crate) fn place_bounds(&self, model: &Compiled, outside: &mut Outside<F>) {
        outside.kept = [0; LANES];
        for (center, bounds) in outside.centers.iter_mut().zip(&model.outside) {
            *center = place(&self.rotations[bounds.body], &bounds.center, self.positions[bounds.body]);
        }
    }

    /// Contacts of one pair, given by the numbers of their bounds.
    #[inline(always)]
    pub(crate) fn touch_outside(
        &self,
        model: &Compiled,
        id: usize,
        law: &ContactLaw,
        pair: [usize; 2],
        outside: &mut Outside<F>,
        contacts: &mut Contacts<F, 3>,
    ) {
        let bounds = pair.map(|g| &model.outside[g]);
        let near = match bounds[0].plane {
            // Above the plane by more than the reach.
            Some(normal) => {
                let up = turn(&self.rotations[bounds[0].body], &normal);
                let offset = sub3(outside.centers[pair[1]], outside.centers[pair[0]]);
                dot3(up, offset).lt(F::splat(bounds[1].radius + law.margin))
            }
            None => {
                let offset = sub3(outside.centers[pair[1]], outside.centers[pair[0]]);
                let reach = bounds[0].radius + bounds[1].radius + law.margin;
                let near = dot3(offset, offset).lt(F::splat(reach * reach));
                if !near.any() {
                    return;
                }
                self.boxes_meet(near, bounds, offset, law.margin)
            }
        };
        if near.any() {
            self.ask(near.bits(), id, law, bounds, outside, contacts);
        }
    }

    /// Whether no face of one box separates it from the other.
    #[inline(always)]
    fn boxes_meet(&self, near: F::Mask, bounds: [&Bounds; 2], offset: V3<F>, margin: f64) -> F::Mask {
        let frames = bounds.map(|b| turn_matrix(&self.rotations[b.body], &b.pose.rotation));
        let mut product = [F::zero(); 9];
        for i in 0..3 {
            for j in 0..3 {
                product[3 * i + j] = dot3(column(&frames[0], i), column(&frames[1], j)).abs();
            }
        }
        let mut meeting = near;
        for i in 0..3 {
            let mut first = F::splat(bounds[0].half_size[i] + margin);
            let mut second = F::splat(bounds[1].half_size[i] + margin);
            for j in 0..3 {
                first = product[3 * i + j].mul_add(F::splat(bounds[1].half_size[j]), first);
                second = product[3 * j + i].mul_add(F::splat(bounds[0].half_size[j]), second);
            }
            meeting = meeting.and(dot3(offset, column(&frames[0], i)).abs().le(first));
            meeting = meeting.and(dot3(offset, column(&frames[1], i)).abs().le(second));
        }
        meeting
    }

    fn ask(
        &self,
        lanes: u8,
        id: usize,
        law: &ContactLaw,
        bounds: [&Bounds; 2],
        outside: &mut Outside<F>,
        contacts: &mut Contacts<F, 3>,
    ) {
        let Some(narrow) = &mut outside.narrow else { return };
        let frames = bounds.map(|b| turn_matrix(&self.rotations[b.body], &b.pose.rotation));
        let origins =
            bounds.map(|b| place(&self.rotations[b.body], &b.pose.position, self.positions[b.body]));
        for lane in lanes_of(lanes) {
            let poses: [GeomPose; 2] =
                std::array::from_fn(|g| (origins[g].map(|x| x.get(lane)), frames[g].map(|x| x.get(lane))));
            let finite = poses.iter().all(|(x, r)| x.iter().chain(r).all(|v| v.is_finite()));
            if !finite {
                continue;
            }
            let count = narrow.touch(law.pair, poses, law.margin, &mut outside.found);
            let touching = outside.found[..count].iter().filter(|t| t.distance < law.margin);
            let room = MOST_OF_PAIR.min(MOST_OF_WORLD - outside.kept[lane]);
            for touching in touching.take(room) {
                outside.kept[lane] += 1;
                let found = Found {
                    distance: F::splat(touching.distance),
                    point: splat3(touching.point),
                    normal: splat3(touching.normal),
                    tangent: splat3(tangent_of(touching)),
                };
                F::push(contacts, id, law, F::Mask::from_bits(1 << lane), &found);
            }
        }
    }
}

/// The tangent made perpendicular to the normal; one from y, or from z if the normal is near y, if there is none.
fn tangent_of(touching: &Touching) -> [f64; 3] {
    let n = touching.normal;
    let mut t = touching.tangent;
    if t.iter().map(|x| x * x).sum::<f64>().sqrt() < 0.5 {
        t = if n[1] < 0.5 && n[1] > -0.5 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
    }
    let along: f64 = (0..3).map(|i| n[i] * t[i]).sum();
    let across: [f64; 3] = std::array::from_fn(|i| t[i] - along * n[i]);
    let length = across.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length < 1e-15 { [1.0, 0.0, 0.0] } else { across.map(|x| x / length) }
}
