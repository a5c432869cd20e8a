//! How constraints respond: impedance and weight of a row; and what contacts of every kind share.

use crate::compile::Impedance;
use crate::simd::{LANES, Lane};

/// MuJoCo's smallest regularisation.
const LEAST_REGULARIZATION: f64 = 1e-15;

/// Impedance at a distance from the margin.
#[inline(always)]
pub(crate) fn impedance<F: Lane>(law: &Impedance, distance: F) -> F {
    let start = F::splat(law.start);
    let Some(inverse_width) = law.inverse_width else { return start };
    let one = F::one();
    let x = distance.abs() * F::splat(inverse_width);
    let y = if law.power == 1.0 {
        x
    } else {
        let rest = one - x;
        let below = F::splat(law.below) * power(x, law.power);
        let above = one - F::splat(law.above) * power(rest, law.power);
        F::select(x.le(F::splat(law.midpoint)), below, above)
    };
    F::select(one.le(x), one, y).mul_add(F::splat(law.rise), start)
}

#[inline(always)]
fn power<F: Lane>(x: F, exponent: f64) -> F {
    if exponent == 2.0 {
        return x * x;
    }
    let mut lanes = x.to_array();
    for x in &mut lanes {
        *x = x.max(0.0).powf(exponent);
    }
    F::from_array(lanes)
}

/// The stiffness of a row, from its impedance: 1 / R with R = (1 - d)/d weight factor.
#[inline(always)]
pub(crate) fn row_weight<F: Lane>(impedance: F, weight: f64, factor: f64) -> F {
    let regularization = (F::one() - impedance) * F::splat(weight) / impedance;
    F::one() / (regularization.max(F::splat(LEAST_REGULARIZATION)) * F::splat(factor))
}

/// The id of a slot's lane that holds no contact.
pub(crate) const NO_CONTACT: u32 = u32::MAX;

/// Writes the lanes of a mask.
#[inline(always)]
pub(crate) fn put<F: Lane>(mask: F::Mask, new: F, old: &mut F) {
    *old = F::select(mask, new, *old);
}

/// The lanes of a set.
#[inline(always)]
pub(crate) fn lanes_of(bits: u8) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| bits >> lane & 1 == 1)
}
