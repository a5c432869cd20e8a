//! Hyperbolic tangent in single precision.

use super::vector::Vector;

/// Beyond this the result is constant: one rounding step below 1.
const LIMIT: f32 = 7.9;
/// Numerator over x in powers of x², fitted for the smallest relative error on `-LIMIT..=LIMIT`.
const P: [f32; 5] = [1.0, 1.345_062_9e-1, 3.579_002_3e-3, 2.202_341_4e-5, 1.542_821_3e-8];
/// Denominator in powers of x².
const Q: [f32; 5] = [1.0, 4.678_395_7e-1, 2.619_227_8e-2, 3.423_667_2e-4, 8.598_877e-7];

/// tanh as the policies compute it: with `x` limited to ±7.9 and `u = x * x`,
///
/// `x * (1 + P1 u + .. + P4 u^4) / (1 + Q1 u + .. + Q4 u^4)`,
///
/// both polynomials by Horner's rule, then the product, then the quotient. The relative error stays below
/// 3.3e-7 (2.8 units in the last place). A NaN stays a NaN.
///
/// ```
/// assert!((autoqd_rollout::kernels::tanh(0.5) - 0.5_f32.tanh()).abs() < 2e-7);
/// assert_eq!(autoqd_rollout::kernels::tanh(f32::INFINITY), autoqd_rollout::kernels::tanh(8.0));
/// ```
#[inline]
pub fn tanh(x: f32) -> f32 {
    let x = if -LIMIT > x { -LIMIT } else { x };
    let x = if LIMIT < x { LIMIT } else { x };
    let u = x * x;
    let horner = |c: &[f32; 5]| c[..4].iter().rev().fold(c[4], |sum, c| sum * u + c);
    x * horner(&P) / horner(&Q)
}

#[inline(always)]
fn horner<V: Vector>(coefficients: &[f32; 5], u: V) -> V {
    let mut sum = V::splat(coefficients[4]);
    for &c in coefficients[..4].iter().rev() {
        sum = sum.mul(u).add(V::splat(c));
    }
    sum
}

/// [`tanh`] of every lane.
#[inline(always)]
pub(super) fn tanh_vector<V: Vector>(x: V) -> V {
    let x = x.limited(LIMIT);
    let u = x.mul(x);
    x.mul(horner(&P, u)).div(horner(&Q, u))
}
