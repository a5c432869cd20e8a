//! numpy's ziggurat of the normal distribution: 256 layers, 52-bit magnitudes.

use std::sync::LazyLock;

use crate::NumpyRng;

/// Where the tail begins: the right edge of the lowest layer.
const TAIL: f64 = 3.654152885361009;
const INVERSE_TAIL: f64 = 0.2736612373297583;
/// Area of one layer as numpy's tables have it: 4 units in the last place under the exact value.
const LAYER_AREA: f64 = 0.004928673233974652;
/// 2^52.
const MAGNITUDES: f64 = 4_503_599_627_370_496.0;

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

struct Tables {
    /// Width of a layer per unit of magnitude.
    width: [f64; 256],
    /// Magnitudes below this fall inside the layer above and are taken at once.
    inside: [u64; 256],
    /// Density at the right edge of a layer.
    density: [f64; 256],
}

impl Tables {
    fn new() -> Self {
        let mut tables = Self { width: [0.0; 256], inside: [0; 256], density: [0.0; 256] };
        let mut edge = TAIL;
        let mut density = gauss(edge);
        tables.inside[0] = (TAIL * density / LAYER_AREA * MAGNITUDES).round_ties_even() as u64;
        tables.width[0] = LAYER_AREA / density / MAGNITUDES;
        tables.density[0] = 1.0;
        tables.width[255] = edge / MAGNITUDES;
        tables.density[255] = density;
        for layer in (1..255).rev() {
            let inner = (-2.0 * (LAYER_AREA / edge + density).ln()).sqrt();
            tables.inside[layer + 1] = (inner / edge * MAGNITUDES).round_ties_even() as u64;
            edge = inner;
            // One of numpy's numbers is not the nearest one; the layers below are derived from it.
            density = if layer == 38 { gauss(edge).next_up() } else { gauss(edge) };
            tables.width[layer] = edge / MAGNITUDES;
            tables.density[layer] = density;
        }
        tables
    }
}

fn gauss(x: f64) -> f64 {
    (-0.5 * x * x).exp()
}

/// One draw of the standard normal distribution.
pub(crate) fn standard_normal(rng: &mut NumpyRng) -> f64 {
    let tables = &*TABLES;
    loop {
        let bits = rng.next_u64();
        let layer = (bits & 255) as usize;
        let magnitude = (bits >> 9) & ((1 << 52) - 1);
        let distance = magnitude as f64 * tables.width[layer];
        let x = if bits & 256 == 0 { distance } else { -distance };
        if magnitude < tables.inside[layer] {
            return x;
        }
        if layer == 0 {
            return tail(rng, magnitude);
        }
        let (upper, lower) = (tables.density[layer - 1], tables.density[layer]);
        if (upper - lower) * rng.double() + lower < gauss(x) {
            return x;
        }
    }
}

/// A draw beyond the last layer. Its sign is a bit of the magnitude, not the sign bit.
fn tail(rng: &mut NumpyRng, magnitude: u64) -> f64 {
    loop {
        let a = -INVERSE_TAIL * (-rng.double()).ln_1p();
        let b = -(-rng.double()).ln_1p();
        if b + b > a * a {
            return if (magnitude >> 8) & 1 == 1 { -(TAIL + a) } else { TAIL + a };
        }
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    fn sha256(numbers: impl Iterator<Item = u64>) -> String {
        let mut hash = Sha256::new();
        numbers.for_each(|n| hash.update(n.to_le_bytes()));
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn tables_equal_those_numpy_ships() {
        let width = sha256(TABLES.width.iter().map(|x| x.to_bits()));
        let inside = sha256(TABLES.inside.iter().copied());
        let density = sha256(TABLES.density.iter().map(|x| x.to_bits()));
        assert_eq!(width, "33c6472209e1d09ea3548f0291e5e1ad67fb4f1d0305e9f1086689584b7bb7fa");
        assert_eq!(inside, "565295797825931547a1036f5b012a247be54abbe077c39fe06c8ed1e9d0a5a9");
        assert_eq!(density, "acd898d9d87e212f657755ba43b21e40958090a7ff2103c9e79f4ea1b0fe2bc5");
    }
}
