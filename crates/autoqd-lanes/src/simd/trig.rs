//! Sine and cosine.

use super::{Lane, Mask};

/// Coefficients of the classical minimax polynomials on [-pi/4, pi/4], highest power first.
const SIN: [f64; 6] = [
    1.589_690_995_211_55e-10,
    -2.505_076_025_340_686_3e-8,
    2.755_731_370_707_006_8e-6,
    -1.984_126_982_985_795e-4,
    8.333_333_333_322_49e-3,
    -1.666_666_666_666_663_2e-1,
];
const COS: [f64; 6] = [
    -1.135_964_755_778_819_5e-11,
    2.087_572_321_298_175e-9,
    -2.755_731_435_139_066_3e-7,
    2.480_158_728_947_673e-5,
    -1.388_888_888_887_411e-3,
    4.166_666_666_666_66e-2,
];

/// Pi/2 in two parts: the second is what the first lacks.
const HALF_PI: f64 = std::f64::consts::FRAC_PI_2;
const HALF_PI_LOW: f64 = 6.123_233_995_736_766e-17;

#[inline(always)]
fn polynomial<F: Lane>(coefficients: &[f64; 6], z: F) -> F {
    let mut sum = F::splat(coefficients[0]);
    for &c in &coefficients[1..] {
        sum = sum.mul_add(z, F::splat(c));
    }
    sum
}

/// Sine and cosine within 1.5 ulp of 1 for |x| up to 1e10, the largest coordinate a simulation may reach.
#[inline(always)]
pub(crate) fn sin_cos<F: Lane>(x: F) -> (F, F) {
    let quadrant = (x * F::splat(std::f64::consts::FRAC_2_PI)).round();
    // Both steps are exact but for one rounding, because the product is fused.
    let r = quadrant.neg_mul_add(F::splat(HALF_PI), x);
    let r = quadrant.neg_mul_add(F::splat(HALF_PI_LOW), r);
    let z = r * r;
    let sin = (r * z).mul_add(polynomial(&SIN, z), r);
    let cos = (z * z).mul_add(polynomial(&COS, z), z.neg_mul_add(F::splat(0.5), F::one()));
    // quadrant mod 4, in -2..=2.
    let turn = (quadrant * F::splat(0.25)).round().neg_mul_add(F::splat(4.0), quadrant);
    let half = F::splat(0.5);
    let opposite = F::splat(1.5).lt(turn.abs());
    let odd = half.lt(turn.abs()).and(opposite.not());
    let (s, c) = (F::select(odd, cos, sin), F::select(odd, sin, cos));
    let negative_sin = opposite.or(turn.lt(-half));
    let negative_cos = opposite.or(odd.and(half.lt(turn)));
    (F::select(negative_sin, -s, s), F::select(negative_cos, -c, c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Array;

    #[test]
    fn sine_and_cosine_agree_with_the_platform() {
        let mut x = 1e-9;
        while x < 1e10 {
            for sign in [1.0, -1.0] {
                let (s, c) = sin_cos(Array::splat(sign * x));
                let (s0, c0) = (sign * x).sin_cos();
                assert!((s.get(3) - s0).abs() < 3e-16, "sin {x}: {} {s0}", s.get(3));
                assert!((c.get(5) - c0).abs() < 3e-16, "cos {x}: {} {c0}", c.get(5));
            }
            x *= 1.000_37;
        }
    }
}
