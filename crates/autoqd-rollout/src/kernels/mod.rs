//! Single-precision kernels of the step loop: policy layers, activations, random Fourier features.
//!
//! Every kernel is written once, generically over a vector type, and compiled for each instruction set; the
//! widest one the CPU has is picked at run time. Vectors always run over *outputs*, never over a sum, and no
//! multiply is fused with an add, so each number goes through the same roundings in the same order whatever
//! the width: all instruction sets give the same bits, and so does numpy in float32 when it follows the
//! orders documented at [`Policy`](crate::policy::Policy) and
//! [`FeatureMap`](crate::embedding::FeatureMap).

mod activation;
mod aligned;
mod cosine;
mod fourier;
mod instructions;
mod layer;
mod network;
mod tanh;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use activation::Activation;
pub(crate) use aligned::Aligned;
pub use cosine::cosine;
pub(crate) use fourier::{FourierLayout, STEPS, fourier_steps};
pub use instructions::{Instructions, clean_registers};
pub use layer::Weights;
pub(crate) use layer::{LayerLayout, NARROW, PARTIAL_SUMS, STRIDE};
pub(crate) use network::forward;
pub use tanh::tanh;

/// Widest vector of any instruction set, in numbers. Buffers are padded to multiples of it.
pub(crate) const PAD: usize = 16;

/// `n` rounded up to a multiple of [`PAD`].
pub(crate) fn padded(n: usize) -> usize {
    n.div_ceil(PAD) * PAD
}
