//! All layers of a policy in one call, so that the instruction set is chosen once per step.

use super::layer::{LayerLayout, layer};
use super::vector::{Plain, Vector};
use super::{Aligned, Instructions, padded};

/// Runs the layers one after the other. The input lies in `buffers[0]`; the index of the buffer that holds the
/// output is returned. Each buffer must take the padded outputs of every layer.
pub(crate) fn forward(
    instructions: Instructions,
    layers: &[LayerLayout],
    parameters: &[f32],
    buffers: &mut [Aligned; 2],
) -> usize {
    for layer in layers {
        assert!(parameters.len() >= layer.start + layer.packed_len());
        let needed = layer.inputs.max(padded(layer.outputs));
        assert!(buffers.iter().all(|b| b.len() >= needed));
    }
    // SAFETY: sizes were checked above, and a set that is not supported falls back to plain code.
    unsafe {
        match instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 if instructions.supported() => forward_avx512(layers, parameters, buffers),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 if instructions.supported() => forward_avx2(layers, parameters, buffers),
            #[cfg(target_arch = "x86_64")]
            Instructions::Sse2 => forward_in::<super::x86::Sse2>(layers, parameters, buffers),
            _ => forward_in::<Plain>(layers, parameters, buffers),
        }
    }
}

/// # Safety
/// Sizes as [`forward`] checks them, and `V`'s instructions present.
#[inline(always)]
unsafe fn forward_in<V: Vector>(
    layers: &[LayerLayout],
    parameters: &[f32],
    buffers: &mut [Aligned; 2],
) -> usize {
    let [a, b] = buffers;
    let mut ends = [a.as_mut_ptr(), b.as_mut_ptr()];
    for layout in layers {
        // SAFETY: checked by the caller; the two buffers are distinct.
        unsafe { layer::<V>(layout, parameters.as_ptr(), ends[0], ends[1]) };
        ends.swap(0, 1);
    }
    layers.len() % 2
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn forward_avx2(layers: &[LayerLayout], parameters: &[f32], buffers: &mut [Aligned; 2]) -> usize {
    // SAFETY: forwarded.
    unsafe { forward_in::<super::x86::Avx2>(layers, parameters, buffers) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn forward_avx512(layers: &[LayerLayout], parameters: &[f32], buffers: &mut [Aligned; 2]) -> usize {
    // SAFETY: forwarded.
    unsafe { forward_in::<super::x86::Avx512>(layers, parameters, buffers) }
}
