//! Where two rounded segments (spheres and capsules) touch.

use crate::simd::{Lane, Mask};

/// Capsules whose axes enclose less than 1e-4 rad count as parallel: squared sine of the angle.
const PARALLEL: f64 = 1e-8;
/// Centres nearer than this coincide.
const COINCIDENT: f64 = 1e-15;

/// A contact of two rounded segments.
pub(crate) struct Closest<F, const D: usize> {
    pub(crate) distance: F,
    pub(crate) point: [F; D],
    /// From the first to the second.
    pub(crate) normal: [F; D],
}

#[inline(always)]
fn dot<F: Lane, const D: usize>(a: [F; D], b: [F; D]) -> F {
    let mut sum = a[0] * b[0];
    for i in 1..D {
        sum = a[i].mul_add(b[i], sum);
    }
    sum
}

#[inline(always)]
fn sub<F: Lane, const D: usize>(a: [F; D], b: [F; D]) -> [F; D] {
    let mut out = a;
    for i in 0..D {
        out[i] = a[i] - b[i];
    }
    out
}

/// a s + b
#[inline(always)]
fn scale_add<F: Lane, const D: usize>(a: [F; D], s: F, b: [F; D]) -> [F; D] {
    let mut out = b;
    for i in 0..D {
        out[i] = a[i].mul_add(s, b[i]);
    }
    out
}

#[inline(always)]
fn to_unit<F: Lane>(x: F) -> F {
    x.max(-F::one()).min(F::one())
}

/// Two rounded segments: centres and half axes, which of them has an extent, radii.
pub(crate) struct Segments<F, const D: usize> {
    pub(crate) centers: [[F; D]; 2],
    pub(crate) half_axes: [[F; D]; 2],
    pub(crate) long: [bool; 2],
    pub(crate) radii: [f64; 2],
    pub(crate) margin: f64,
}

/// Where two segments touch, and in which lanes.
pub(crate) struct Touching<F: Lane, const D: usize> {
    pub(crate) lanes: F::Mask,
    pub(crate) closest: Closest<F, D>,
}

/// Squares and products of the half axes and the difference of the centres.
struct Products<F> {
    a: F,
    b: F,
    c: F,
    u: F,
    v: F,
}

impl<F: Lane, const D: usize> Segments<F, D> {
    /// Whether the bounding spheres are near each other in any lane.
    #[inline(always)]
    pub(crate) fn near(&self, half_lengths: f64) -> bool {
        let between = sub(self.centers[0], self.centers[1]);
        let reach = half_lengths + self.radii[0] + self.radii[1] + self.margin;
        dot(between, between).lt(F::splat(reach * reach)).any()
    }

    #[inline(always)]
    fn products(&self) -> Products<F> {
        let [first, second] = self.half_axes;
        let difference = sub(self.centers[0], self.centers[1]);
        Products {
            a: dot(first, first),
            b: -dot(first, second),
            c: dot(second, second),
            u: -dot(first, difference),
            v: dot(second, difference),
        }
    }

    /// The contact of two balls on the segments, in those of the lanes where they are nearer than the margin.
    #[inline(always)]
    fn balls(&self, x1: F, x2: F, among: F::Mask) -> Touching<F, D> {
        let first = scale_add(self.half_axes[0], x1, self.centers[0]);
        let second = scale_add(self.half_axes[1], x2, self.centers[1]);
        let difference = sub(second, first);
        let length = dot(difference, difference).sqrt();
        let distance = length - F::splat(self.radii[0]) - F::splat(self.radii[1]);
        let apart = F::splat(COINCIDENT).lt(length);
        let inverse = F::one() / length;
        let mut normal = difference;
        for i in 0..D {
            normal[i] = (difference[i] * inverse).keep(apart);
        }
        normal[0] = F::select(apart, normal[0], F::one());
        let inside = distance.mul_add(F::splat(0.5), F::splat(self.radii[0]));
        let point = scale_add(normal, inside, first);
        let lanes = distance.lt(F::splat(self.margin)).and(among);
        Touching { lanes, closest: Closest { distance, point, normal } }
    }

    /// The contact of segments that are not parallel, and the lanes in which they are.
    #[inline(always)]
    pub(crate) fn touching(&self) -> (Touching<F, D>, F::Mask) {
        let everywhere = F::Mask::from_bits(u8::MAX);
        let zero = F::zero();
        let p = self.products();
        match self.long {
            [false, false] => (self.balls(zero, zero, everywhere), everywhere.not()),
            [true, false] => (self.balls(to_unit(p.u / p.a), zero, everywhere), everywhere.not()),
            [false, true] => (self.balls(zero, to_unit(p.v / p.c), everywhere), everywhere.not()),
            [true, true] => {
                let determinant = p.a * p.c - p.b * p.b;
                let parallel = determinant.abs().lt(F::splat(PARALLEL) * p.a * p.c);
                let (x1, x2) = crossing(&p, determinant);
                (self.balls(x1, x2, parallel.not()), parallel)
            }
        }
    }

    /// Contacts of parallel segments: at both ends of the stretch along which they face each other. Where they do not,
    /// both are at the two ends that are nearest.
    #[inline(always)]
    pub(crate) fn touching_along(&self, parallel: F::Mask) -> [Touching<F, D>; 2] {
        let one = F::one();
        let products = self.products();
        let (start, end) = (facing(&products, -one), facing(&products, one));
        [self.balls(start.0, start.1, parallel), self.balls(end.0, end.1, parallel)]
    }
}

/// Parameters of an end of the first segment and of the point of the second that faces it; if none does, of the nearer
/// end of the second and of what faces that.
#[inline(always)]
fn facing<F: Lane>(&Products { a, b, c, u, v }: &Products<F>, end: F) -> (F, F) {
    let x2 = (v - b * end) / c;
    let limited = to_unit(x2);
    let inside = x2.abs().le(F::one());
    (F::select(inside, end, to_unit((u - b * limited) / a)), limited)
}

/// Parameters of the nearest points of two segments that are not parallel.
#[inline(always)]
fn crossing<F: Lane>(&Products { a, b, c, u, v }: &Products<F>, determinant: F) -> (F, F) {
    let one = F::one();
    let (over, over_a, over_c) = (one / determinant, one / a, one / c);
    let (mut x1, mut x2) = ((c * u - b * v) * over, (a * v - b * u) * over);
    let (high, low) = (one.lt(x1), x1.lt(-one));
    x2 = F::select(high, (v - b) * over_c, F::select(low, (v + b) * over_c, x2));
    x1 = F::select(high, one, F::select(low, -one, x1));
    let (high, low) = (one.lt(x2), x2.lt(-one));
    x1 = F::select(high, to_unit((u - b) * over_a), F::select(low, to_unit((u + b) * over_a), x1));
    x2 = F::select(high, one, F::select(low, -one, x2));
    (x1, x2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Array;

    fn segments(angle: f64, gap: f64) -> Segments<Array, 2> {
        let splat = |v: [f64; 2]| [Array::splat(v[0]), Array::splat(v[1])];
        Segments {
            centers: [splat([0.0, 0.0]), splat([0.0, gap])],
            half_axes: [splat([1.0, 0.0]), splat([angle.cos(), angle.sin()])],
            long: [true, true],
            radii: [0.1, 0.2],
            margin: 0.0,
        }
    }

    #[test]
    fn crossing_capsules_touch_once_and_parallel_ones_twice() {
        let (touching, parallel) = segments(0.3, 0.25).touching();
        assert_eq!((touching.lanes.bits(), parallel.bits()), (255, 0));
        let along = segments(5e-5, 0.25);
        let (touching, parallel) = along.touching();
        assert_eq!((touching.lanes.bits(), parallel.bits()), (0, 255));
        let lanes = along.touching_along(parallel).map(|t| t.lanes.bits());
        assert_eq!(lanes, [255, 255]);
        assert_eq!(segments(1.1e-4, 0.25).touching().1.bits(), 0, "parallel ends at 1e-4 rad");
    }

    #[test]
    fn parallel_capsules_touch_at_the_ends_of_their_common_stretch() {
        for (shift, ends) in [(0.5, [-0.5, 1.0]), (-0.5, [-1.0, 0.5]), (2.1, [1.028, 1.028])] {
            let mut along = segments(0.0, 0.2);
            along.centers[1][0] = Array::splat(shift);
            let touching = along.touching_along(along.touching().1);
            for (touching, end) in touching.iter().zip(ends) {
                assert_eq!(touching.lanes.bits(), 255);
                let at = touching.closest.point[0].get(0);
                assert!((at - end).abs() < 1e-3, "shift {shift}: {at} instead of {end}");
            }
        }
    }

    #[test]
    fn distance_point_and_normal_are_those_of_the_nearest_points() {
        let (touching, _) = segments(0.0, 0.29).touching();
        assert_eq!(touching.lanes.bits(), 0, "parallel lanes are reported apart");
        let mut apart = segments(std::f64::consts::FRAC_PI_2, 1.25);
        apart.margin = 0.01;
        let (touching, _) = apart.touching();
        assert_eq!(touching.lanes.bits(), 255);
        let c = &touching.closest;
        assert!((c.distance.get(0) - (0.25 - 0.3)).abs() < 1e-15);
        assert!((c.normal[1].get(0) - 1.0).abs() < 1e-15);
        assert!((c.point[1].get(0) - (0.1 - 0.025)).abs() < 1e-15);
    }
}
