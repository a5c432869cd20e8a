//! Cosine in single precision.

use super::vector::Vector;

/// Adding it rounds a number below 2^22 to the nearest integer, whose parity is then the lowest mantissa bit.
const ROUND: f32 = 12_582_912.0;
/// pi in three parts (Cody and Waite): the first two are short, so that their products with the integer are
/// exact up to |x| = 1e4 without a fused multiply-add.
const PI: [f32; 3] = [3.140_625, 9.675_026e-4, 1.509_958e-7];
/// sin(r) = r + r³ (S0 + S1 r² + ..), fitted for the smallest absolute error on ±pi/2.
const S: [f32; 4] = [-1.666_665_7e-1, 8.333_016e-3, -1.980_654_8e-4, 2.599_903_2e-6];

/// cos as the features compute it, by way of the sine, whose series has no cancellation:
///
/// * `s = (x * (1/pi) + 0.5) + 12582912`, `n = s - 12582912` (nearest integer), `h = n - 0.5`,
/// * `r = ((x - h * PI0) - h * PI1) - h * PI2`, within ±pi/2,
/// * `y = r + (r * u) * (S0 + S1 u + S2 u² + S3 u³)` with `u = r * r`, by Horner's rule,
/// * sign flipped if `n` is odd, limited to ±1.
///
/// The absolute error stays below 1.3e-7 up to |x| = 1e4 and below 1e-6 up to 1e5. A NaN stays a NaN, and the
/// result is within ±1 for any other number.
///
/// ```
/// assert!((autoqd_rollout::kernels::cosine(100.0) - 100.0_f64.cos() as f32).abs() < 1.3e-7);
/// ```
pub fn cosine(x: f32) -> f32 {
    let s = (x * std::f32::consts::FRAC_1_PI + 0.5) + ROUND;
    let h = (s - ROUND) - 0.5;
    let r = ((x - h * PI[0]) - h * PI[1]) - h * PI[2];
    let u = r * r;
    let y = r + (r * u) * (((S[3] * u + S[2]) * u + S[1]) * u + S[0]);
    let y = f32::from_bits(y.to_bits() ^ (s.to_bits() << 31));
    let y = if -1.0 > y { -1.0 } else { y };
    if 1.0 < y { 1.0 } else { y }
}

/// [`cosine`] of every lane.
#[inline(always)]
pub(super) fn cosine_vector<V: Vector>(x: V) -> V {
    let s = x.mul(V::splat(std::f32::consts::FRAC_1_PI)).add(V::splat(0.5)).add(V::splat(ROUND));
    let h = s.sub(V::splat(ROUND)).sub(V::splat(0.5));
    let mut r = x;
    for part in PI {
        r = r.sub(h.mul(V::splat(part)));
    }
    let u = r.mul(r);
    let mut p = V::splat(S[3]);
    for &c in S[..3].iter().rev() {
        p = p.mul(u).add(V::splat(c));
    }
    r.add(r.mul(u).mul(p)).negate_where_odd(s).limited(1.0)
}
