//! Vectors and matrices of lanes.

use crate::rigid::{Mat3, Vec3};
use crate::simd::Lane;

pub(crate) type V2<F> = [F; 2];
pub(crate) type V3<F> = [F; 3];
/// A spatial vector: angular part, linear part at the reference point.
pub(crate) type V6<F> = [F; 6];
/// A rotation matrix by rows.
pub(crate) type M3<F> = [F; 9];

#[inline(always)]
pub(crate) fn zero3<F: Lane>() -> V3<F> {
    [F::zero(); 3]
}

#[inline(always)]
pub(crate) fn splat3<F: Lane>(x: Vec3) -> V3<F> {
    [F::splat(x[0]), F::splat(x[1]), F::splat(x[2])]
}

/// Component by component: `a` where the mask is set, else `b`.
#[inline(always)]
pub(crate) fn select3<F: Lane>(mask: F::Mask, a: V3<F>, b: V3<F>) -> V3<F> {
    [F::select(mask, a[0], b[0]), F::select(mask, a[1], b[1]), F::select(mask, a[2], b[2])]
}

#[inline(always)]
pub(crate) fn add3<F: Lane>(a: V3<F>, b: V3<F>) -> V3<F> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn splat2<F: Lane>(x: [f64; 2]) -> V2<F> {
    [F::splat(x[0]), F::splat(x[1])]
}

#[inline(always)]
pub(crate) fn sub3<F: Lane>(a: V3<F>, b: V3<F>) -> V3<F> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// a s + b
#[inline(always)]
pub(crate) fn scale_add3<F: Lane>(a: V3<F>, s: F, b: V3<F>) -> V3<F> {
    [a[0].mul_add(s, b[0]), a[1].mul_add(s, b[1]), a[2].mul_add(s, b[2])]
}

#[inline(always)]
pub(crate) fn scale3<F: Lane>(a: V3<F>, s: F) -> V3<F> {
    [a[0] * s, a[1] * s, a[2] * s]
}

#[inline(always)]
pub(crate) fn neg3<F: Lane>(a: V3<F>) -> V3<F> {
    [-a[0], -a[1], -a[2]]
}

#[inline(always)]
pub(crate) fn dot2<F: Lane>(a: V2<F>, b: V2<F>) -> F {
    a[0].mul_add(b[0], a[1] * b[1])
}

#[inline(always)]
pub(crate) fn dot3<F: Lane>(a: V3<F>, b: V3<F>) -> F {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

/// a . b with a constant a, exact zeros skipped.
#[inline(always)]
pub(crate) fn dot_constant<F: Lane>(a: Vec3, b: V3<F>) -> F {
    let mut sum = F::zero();
    for k in 0..3 {
        if a[k] != 0.0 {
            sum = b[k].mul_add(F::splat(a[k]), sum);
        }
    }
    sum
}

#[inline(always)]
pub(crate) fn dot6<F: Lane>(a: &V6<F>, b: &V6<F>) -> F {
    let angular = a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]));
    let linear = a[5].mul_add(b[5], a[4].mul_add(b[4], a[3] * b[3]));
    angular + linear
}

#[inline(always)]
pub(crate) fn cross<F: Lane>(a: V3<F>, b: V3<F>) -> V3<F> {
    [
        a[2].neg_mul_add(b[1], a[1] * b[2]),
        a[0].neg_mul_add(b[2], a[2] * b[0]),
        a[1].neg_mul_add(b[0], a[0] * b[1]),
    ]
}

/// a x b + c
#[inline(always)]
pub(crate) fn cross_add<F: Lane>(a: V3<F>, b: V3<F>, c: V3<F>) -> V3<F> {
    [
        a[2].neg_mul_add(b[1], a[1].mul_add(b[2], c[0])),
        a[0].neg_mul_add(b[2], a[2].mul_add(b[0], c[1])),
        a[1].neg_mul_add(b[0], a[0].mul_add(b[1], c[2])),
    ]
}

#[inline(always)]
pub(crate) fn angular<F: Lane>(a: &V6<F>) -> V3<F> {
    [a[0], a[1], a[2]]
}

#[inline(always)]
pub(crate) fn linear<F: Lane>(a: &V6<F>) -> V3<F> {
    [a[3], a[4], a[5]]
}

#[inline(always)]
pub(crate) fn spatial<F: Lane>(w: V3<F>, v: V3<F>) -> V6<F> {
    [w[0], w[1], w[2], v[0], v[1], v[2]]
}

#[inline(always)]
pub(crate) fn identity<F: Lane>() -> M3<F> {
    let (one, zero) = (F::one(), F::zero());
    [one, zero, zero, zero, one, zero, zero, zero, one]
}

#[inline(always)]
pub(crate) fn column<F: Lane>(r: &M3<F>, k: usize) -> V3<F> {
    [r[k], r[3 + k], r[6 + k]]
}

/// R c + a with a constant c, exact zeros skipped.
#[inline(always)]
pub(crate) fn place<F: Lane>(r: &M3<F>, c: &Vec3, a: V3<F>) -> V3<F> {
    let mut out = a;
    for k in 0..3 {
        if c[k] != 0.0 {
            let s = F::splat(c[k]);
            for i in 0..3 {
                out[i] = r[3 * i + k].mul_add(s, out[i]);
            }
        }
    }
    out
}

/// R c with a constant c.
#[inline(always)]
pub(crate) fn turn<F: Lane>(r: &M3<F>, c: &Vec3) -> V3<F> {
    place(r, c, zero3())
}

/// R C with a constant C.
#[inline(always)]
pub(crate) fn turn_matrix<F: Lane>(r: &M3<F>, c: &Mat3) -> M3<F> {
    let mut out = [F::zero(); 9];
    for j in 0..3 {
        let v = turn(r, &[c[j], c[3 + j], c[6 + j]]);
        for i in 0..3 {
            out[3 * i + j] = v[i];
        }
    }
    out
}

#[inline(always)]
pub(crate) fn multiply_vector<F: Lane>(r: &M3<F>, v: V3<F>) -> V3<F> {
    let mut out = zero3();
    for i in 0..3 {
        out[i] = r[3 * i + 2].mul_add(v[2], r[3 * i + 1].mul_add(v[1], r[3 * i] * v[0]));
    }
    out
}

#[inline(always)]
pub(crate) fn multiply_matrix<F: Lane>(a: &M3<F>, b: &M3<F>) -> M3<F> {
    let mut out = [F::zero(); 9];
    for j in 0..3 {
        let v = multiply_vector(a, column(b, j));
        for i in 0..3 {
            out[3 * i + j] = v[i];
        }
    }
    out
}

/// R' v
#[inline(always)]
pub(crate) fn transposed_vector<F: Lane>(r: &M3<F>, v: V3<F>) -> V3<F> {
    let mut out = zero3();
    for i in 0..3 {
        out[i] = r[6 + i].mul_add(v[2], r[3 + i].mul_add(v[1], r[i] * v[0]));
    }
    out
}

/// The rotation of a quaternion that need not have unit length.
#[inline(always)]
pub(crate) fn quaternion_rotation<F: Lane>(q: [F; 4]) -> M3<F> {
    let [w, x, y, z] = normalized(q);
    let (one, two) = (F::one(), F::splat(2.0));
    let (x2, y2, z2) = (x * two, y * two, z * two);
    [
        one - y2 * y - z2 * z,
        x2 * y - z2 * w,
        x2 * z + y2 * w,
        x2 * y + z2 * w,
        one - x2 * x - z2 * z,
        y2 * z - x2 * w,
        x2 * z - y2 * w,
        y2 * z + x2 * w,
        one - x2 * x - y2 * y,
    ]
}

#[inline(always)]
pub(crate) fn normalized<F: Lane>(q: [F; 4]) -> [F; 4] {
    let squared = q[3].mul_add(q[3], q[2].mul_add(q[2], q[1].mul_add(q[1], q[0] * q[0])));
    let inverse = F::one() / squared.sqrt();
    [q[0] * inverse, q[1] * inverse, q[2] * inverse, q[3] * inverse]
}

#[inline(always)]
pub(crate) fn quaternion_product<F: Lane>(p: [F; 4], q: [F; 4]) -> [F; 4] {
    let (a, b) = ([p[1], p[2], p[3]], [q[1], q[2], q[3]]);
    let v = cross_add(a, b, scale_add3(b, p[0], scale3(a, q[0])));
    [p[0].mul_add(q[0], -dot3(a, b)), v[0], v[1], v[2]]
}

/// Coordinates `c` of a planar body's frame in the plane: rotated and moved to `a`.
#[inline(always)]
pub(crate) fn place2<F: Lane>(rotation: V2<F>, c: [f64; 2], a: V2<F>) -> V2<F> {
    let mut out = a;
    if c[0] != 0.0 {
        let k = F::splat(c[0]);
        out = [rotation[0].mul_add(k, out[0]), rotation[1].mul_add(k, out[1])];
    }
    if c[1] != 0.0 {
        let k = F::splat(c[1]);
        out = [rotation[1].neg_mul_add(k, out[0]), rotation[0].mul_add(k, out[1])];
    }
    out
}
