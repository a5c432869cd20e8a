//! Activations of a layer's sums.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tanh::{tanh, tanh_vector};
use super::vector::Vector;

/// The function after a layer's sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Activation {
    /// Hyperbolic tangent (the paper).
    #[default]
    Tanh,
    /// The sum where it is positive, else 0.
    Relu,
    /// The sum itself.
    None,
}

impl Activation {
    /// The function of one number, with the bits of the kernels. A NaN stays a NaN.
    pub fn apply(self, x: f32) -> f32 {
        match self {
            Self::Tanh => tanh(x),
            Self::Relu if 0.0 > x => 0.0,
            Self::Relu | Self::None => x,
        }
    }
}

/// Writes the activations of `R` registers of sums, one after the other.
///
/// One loop per function: a choice for each register would keep the compiler from interleaving their work.
///
/// # Safety
/// `to` must be writable for `R * LANES` numbers.
#[inline(always)]
pub(super) unsafe fn store_activations<V: Vector, const R: usize>(
    activation: Activation,
    sums: [V; R],
    to: *mut f32,
) {
    // SAFETY: forwarded. No closures here: they would be compiled without the instruction set of the kernel.
    unsafe {
        match activation {
            Activation::Tanh => {
                for (r, sum) in sums.into_iter().enumerate() {
                    tanh_vector(sum).store(to.add(r * V::LANES));
                }
            }
            Activation::Relu => {
                for (r, sum) in sums.into_iter().enumerate() {
                    V::splat(0.0).higher(sum).store(to.add(r * V::LANES));
                }
            }
            Activation::None => {
                for (r, sum) in sums.into_iter().enumerate() {
                    sum.store(to.add(r * V::LANES));
                }
            }
        }
    }
}
