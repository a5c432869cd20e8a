//! Geoms that are certainly apart: a narrow phase that found two geoms apart need not be asked again until one may have
//! come as near to the other as they were far.

use crate::compile::Bounds;
use crate::simd::{LANES, Lane, Mask};
use crate::vector::*;

/// What a comparison of rotations may lose to rounding.
const ROUNDING: f64 = 1e-9;
/// Where a distance was no help once, it is not asked for in so many of the next evaluations.
const PAUSE: u8 = 8;

/// Where the box around the second geom of a pair is, seen from the first.
pub(crate) struct Placed<F> {
    offset: V3<F>,
    rotation: M3<F>,
}

impl<F: Lane> Placed<F> {
    /// From the rotations of the boxes and the vector from the first centre to the second.
    #[inline(always)]
    pub(crate) fn new(frames: &[M3<F>; 2], offset: V3<F>) -> Self {
        let mut rotation = [F::zero(); 9];
        for i in 0..3 {
            for j in 0..3 {
                rotation[3 * i + j] = dot3(column(&frames[0], i), column(&frames[1], j));
            }
        }
        Self { offset: transposed_vector(&frames[0], offset), rotation }
    }

    /// Whether the second box reaches below the plane that the first geom is.
    #[inline(always)]
    pub(crate) fn reaches_below(&self, near: F::Mask, bounds: &Bounds, margin: f64) -> F::Mask {
        let mut reach = F::splat(margin + ROUNDING);
        for j in 0..3 {
            reach = self.rotation[6 + j].abs().mul_add(F::splat(bounds.half_size[j]), reach);
        }
        near.and(self.offset[2].lt(reach))
    }

    /// Whether no face of one box separates it from the other.
    #[inline(always)]
    pub(crate) fn boxes_meet(&self, near: F::Mask, bounds: [&Bounds; 2], margin: f64) -> F::Mask {
        let mut meeting = near;
        for i in 0..3 {
            let mut first = F::splat(bounds[0].half_size[i] + margin + ROUNDING);
            let mut second = F::splat(bounds[1].half_size[i] + margin + ROUNDING);
            let mut across = F::zero();
            for j in 0..3 {
                first = self.rotation[3 * i + j].abs().mul_add(F::splat(bounds[1].half_size[j]), first);
                second = self.rotation[3 * j + i].abs().mul_add(F::splat(bounds[0].half_size[j]), second);
                across = self.rotation[3 * j + i].mul_add(self.offset[j], across);
            }
            meeting = meeting.and(self.offset[i].abs().le(first));
            meeting = meeting.and(across.abs().le(second));
        }
        meeting
    }
}

/// How far two geoms can come nearer before they may touch.
pub(crate) struct Clearance<F> {
    /// Where they were when it was found.
    seen: Placed<F>,
    /// The distance that was left beyond the margin; below zero where it is not known.
    clear: F,
    /// Evaluations in which the distance is not to be asked for.
    pause: [u8; LANES],
    /// Radius of a ball that holds the second geom.
    radius: f64,
    /// Whether the first geom is a plane, along which motion does not count.
    plane: bool,
}

impl<F: Lane> Clearance<F> {
    pub(crate) fn new(bounds: [&Bounds; 2]) -> Self {
        let (zero, unknown) = (F::zero(), F::splat(-1.0));
        let seen = Placed { offset: zero3(), rotation: [zero; 9] };
        let plane = bounds[0].plane.is_some();
        Self { seen, clear: unknown, pause: [0; LANES], radius: bounds[1].radius, plane }
    }

    /// The lanes of `near` in which the geoms may touch.
    #[inline(always)]
    pub(crate) fn unsettled(&self, near: F::Mask, now: &Placed<F>) -> F::Mask {
        let (mut moved, mut turned) = (F::zero(), F::zero());
        for i in if self.plane { 2..3 } else { 0..3 } {
            let way = now.offset[i] - self.seen.offset[i];
            moved = way.mul_add(way, moved);
            for j in 0..3 {
                let change = now.rotation[3 * i + j] - self.seen.rotation[3 * i + j];
                turned = change.mul_add(change, turned);
            }
        }
        // No point of the ball went further: a rotation's change moves a unit vector by at most its Frobenius norm, and by
        // that over the root of two if all of the matrix is looked at.
        let share = if self.plane { 1.0 } else { 0.5 };
        let way = (turned * F::splat(share)).sqrt().mul_add(F::splat(self.radius), moved.sqrt());
        near.and(way.lt(self.clear).not())
    }

    /// Larger distances are not of interest.
    pub(crate) fn reach(&self) -> f64 {
        self.radius
    }

    /// Whether the distance in a lane is worth finding.
    pub(crate) fn is_wanted(&mut self, lane: usize) -> bool {
        let pause = &mut self.pause[lane];
        *pause = pause.saturating_sub(1);
        *pause == 0
    }

    /// Keeps what is known in a lane: how far the geoms are apart beyond the margin.
    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, now: &Placed<F>, clear: Option<f64>) {
        let Some(clear) = clear else { return self.clear.set(lane, -1.0) };
        for i in 0..3 {
            self.seen.offset[i].set(lane, now.offset[i].get(lane));
        }
        for i in 0..9 {
            self.seen.rotation[i].set(lane, now.rotation[i].get(lane));
        }
        self.clear.set(lane, clear);
        if clear < 0.01 * self.radius {
            self.pause[lane] = PAUSE;
        }
    }
}
