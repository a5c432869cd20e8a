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
fn along<F: Lane, const D: usize>((center, half_axis): ([F; D], [F; D]), x: F) -> [F; D] {
    std::array::from_fn(|i| half_axis[i].mul_add(x, center[i]))
}

#[inline(always)]
fn to_unit<F: Lane>(x: F) -> F {
    x.max(-F::one()).min(F::one())
}

/// Two balls: reports a contact where they are nearer than `margin`.
#[inline(always)]
fn balls<F: Lane, const D: usize>(
    first: [F; D],
    second: [F; D],
    radii: [f64; 2],
    margin: f64,
) -> (F::Mask, Closest<F, D>) {
    let difference: [F; D] = std::array::from_fn(|i| second[i] - first[i]);
    let length = dot(difference, difference).sqrt();
    let distance = length - F::splat(radii[0]) - F::splat(radii[1]);
    let apart = F::splat(COINCIDENT).lt(length);
    let mut normal = difference.map(|x| (x / length).keep(apart));
    normal[0] = F::select(apart, normal[0], F::one());
    let inside = distance.mul_add(F::splat(0.5), F::splat(radii[0]));
    let point = std::array::from_fn(|i| normal[i].mul_add(inside, first[i]));
    (distance.lt(F::splat(margin)), Closest { distance, point, normal })
}

/// Calls `report` with the lanes in which the segments touch. `long` tells which of them has an extent.
#[inline(always)]
pub(crate) fn closest_points<F: Lane, const D: usize>(
    first: ([F; D], [F; D]),
    second: ([F; D], [F; D]),
    long: [bool; 2],
    radii: [f64; 2],
    margin: f64,
    mut report: impl FnMut(F::Mask, Closest<F, D>),
) {
    let mut touch = |x1: F, x2: F, among: F::Mask| {
        let (near, closest) = balls(along(first, x1), along(second, x2), radii, margin);
        let active = near.and(among);
        if active.any() {
            report(active, closest);
        }
        active
    };
    let everywhere = F::Mask::from_bits(u8::MAX);
    let one = F::one();
    let difference: [F; D] = std::array::from_fn(|i| first.0[i] - second.0[i]);
    let a = dot(first.1, first.1);
    let b = -dot(first.1, second.1);
    let c = dot(second.1, second.1);
    let u = -dot(first.1, difference);
    let v = dot(second.1, difference);
    match long {
        [false, false] => touch(F::zero(), F::zero(), everywhere),
        [true, false] => touch(to_unit(u / a), F::zero(), everywhere),
        [false, true] => touch(F::zero(), to_unit(v / c), everywhere),
        [true, true] => {
            let determinant = a * c - b * b;
            let parallel = determinant.abs().lt(F::splat(PARALLEL) * a * c);
            let (x1, x2) = crossing([a, b, c], u, v, determinant);
            touch(x1, x2, parallel.not());
            if parallel.any() {
                // Both ends of the first, then of the second segment, until two contacts are found.
                let ends = [(one, to_unit((v - b) / c)), (-one, to_unit((v + b) / c))];
                let hit = ends.map(|(x1, x2)| touch(x1, x2, parallel));
                let (once, twice) = (hit[0].or(hit[1]), hit[0].and(hit[1]));
                let hit = touch(to_unit((u - b) / a), one, parallel.and(twice.not()));
                let full = twice.or(once.and(hit));
                touch(to_unit((u + b) / a), -one, parallel.and(full.not()));
            }
            everywhere
        }
    };
}

/// Parameters of the nearest points of two segments that are not parallel.
#[inline(always)]
fn crossing<F: Lane>([a, b, c]: [F; 3], u: F, v: F, determinant: F) -> (F, F) {
    let one = F::one();
    let (mut x1, mut x2) = ((c * u - b * v) / determinant, (a * v - b * u) / determinant);
    let (high, low) = (one.lt(x1), x1.lt(-one));
    x2 = F::select(high, (v - b) / c, F::select(low, (v + b) / c, x2));
    x1 = F::select(high, one, F::select(low, -one, x1));
    let (high, low) = (one.lt(x2), x2.lt(-one));
    x1 = F::select(high, to_unit((u - b) / a), F::select(low, to_unit((u + b) / a), x1));
    x2 = F::select(high, one, F::select(low, -one, x2));
    (x1, x2)
}
