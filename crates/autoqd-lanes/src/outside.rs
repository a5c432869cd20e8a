//! Contacts of shapes that the engine has no formulas for: it finds the pairs that are near in any lane, eight worlds at a
//! time, and asks a [`Narrow`](crate::Narrow) phase about the few lanes that are left, one after the other.

use crate::compile::{Bounds, Compiled, ContactLaw};
use crate::constraint::{Contacts, Found};
use crate::extra::clearance::Placed;
use crate::extra::outside::Outside;
use crate::kernels::Kernels;
use crate::kinematics_spatial::Spatial;
use crate::narrow::{GeomPose, Touching};
use crate::respond::lanes_of;
use crate::simd::{LANES, Lane, Mask};
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

    /// The rotation of a box in the world.
    #[inline(always)]
    fn frame_of(&self, bounds: &Bounds) -> M3<F> {
        turn_matrix(&self.rotations[bounds.body], &bounds.pose.rotation)
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
        let bounds = [&model.outside[pair[0]], &model.outside[pair[1]]];
        let offset = sub3(outside.centers[pair[1]], outside.centers[pair[0]]);
        let margin = law.margin;
        let near = match bounds[0].plane {
            // Above the plane by more than the reach.
            Some(normal) => {
                let up = turn(&self.rotations[bounds[0].body], &normal);
                dot3(up, offset).lt(F::splat(bounds[1].radius + margin))
            }
            None => {
                let reach = bounds[0].radius + bounds[1].radius + margin;
                dot3(offset, offset).lt(F::splat(reach * reach))
            }
        };
        if !near.any() {
            return;
        }
        let frames = [self.frame_of(bounds[0]), self.frame_of(bounds[1])];
        let place = Placed::new(&frames, offset);
        let near = match bounds[0].plane {
            Some(_) => place.reaches_below(near, bounds[1], margin),
            None => place.boxes_meet(near, bounds, margin),
        };
        if !near.any() {
            return;
        }
        let near = match &mut outside.clearances[law.pair] {
            Some(clearance) => clearance.unsettled(near, &place),
            None => near,
        };
        if near.any() {
            self.ask(near.bits(), id, law, bounds, &frames, &place, outside, contacts);
        }
    }

    /// Asks the narrow phase about some lanes.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn ask(
        &self,
        lanes: u8,
        id: usize,
        law: &ContactLaw,
        bounds: [&Bounds; 2],
        frames: &[M3<F>; 2],
        place: &Placed<F>,
        outside: &mut Outside<F>,
        contacts: &mut Contacts<F, 3>,
    ) {
        let origins = [self.origin_of(bounds[0]), self.origin_of(bounds[1])];
        for lane in lanes_of(lanes) {
            let poses = [pose_in(&origins[0], &frames[0], lane), pose_in(&origins[1], &frames[1], lane)];
            let Some((found, clear)) = outside.look(law, poses, lane) else { continue };
            if let Some(clearance) = &mut outside.clearances[law.pair] {
                clearance.set(lane, place, clear);
            }
            for touching in &outside.found[..found] {
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

    /// Where a geom is.
    #[inline(always)]
    fn origin_of(&self, bounds: &Bounds) -> V3<F> {
        place(&self.rotations[bounds.body], &bounds.pose.position, self.positions[bounds.body])
    }
}

/// The pose of a geom in one lane.
fn pose_in<F: Lane>(origin: &V3<F>, frame: &M3<F>, lane: usize) -> GeomPose {
    (std::array::from_fn(|i| origin[i].get(lane)), std::array::from_fn(|i| frame[i].get(lane)))
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
