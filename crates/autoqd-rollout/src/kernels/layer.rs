//! One layer of a policy: `y = activation(W x + b)`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::activation::{Activation, store_activations};
use super::{padded, vector::Vector};

/// Layers with at most this many outputs add their products in [`PARTIAL_SUMS`] interleaved sums.
pub(crate) const NARROW: usize = 16;
/// Input `j` of a narrow layer goes to sum `j % 4`: one chain of additions would wait for each result.
pub(crate) const PARTIAL_SUMS: usize = 4;

/// Layers with more outputs take input 0, 16, 32, .., then 1, 17, 33, .., and so on: windows of a diagonal vector
/// that are 16 inputs apart share registers, which spares most loads of the widest vectors.
pub(crate) const STRIDE: usize = super::PAD;

/// Structure of a weight matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Weights {
    /// One weight per diagonal: a few hundred parameters instead of tens of thousands.
    // Packed as `W[i][j] = d[i - j + inputs - 1]`: top right corner first.
    #[default]
    Toeplitz,
    /// One weight per connection.
    // Packed as one row of outputs per input.
    Dense,
}

/// Sizes of a layer and its place in the packed parameters: weights, then biases, both padded with zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerLayout {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) weights: Weights,
    pub(crate) activation: Activation,
    /// Index of the first weight.
    pub(crate) start: usize,
}

impl LayerLayout {
    /// Packed numbers of the weights.
    pub(crate) fn packed_weights(&self) -> usize {
        match self.weights {
            Weights::Toeplitz => (self.inputs + padded(self.outputs)).saturating_sub(1),
            Weights::Dense => self.inputs * padded(self.outputs),
        }
    }

    /// Packed numbers of the layer.
    pub(crate) fn packed_len(&self) -> usize {
        self.packed_weights() + padded(self.outputs)
    }

    /// Offset of the weights of input 0 and output 0, and the stride from one input to the next.
    #[inline(always)]
    fn walk(&self) -> (usize, isize) {
        match self.weights {
            Weights::Toeplitz => (self.inputs.saturating_sub(1), -1),
            Weights::Dense => (0, padded(self.outputs) as isize),
        }
    }
}

/// Pointers of one layer; valid for its padded sizes.
#[derive(Clone, Copy)]
struct Layer {
    inputs: usize,
    /// Weights of input 0.
    weights: *const f32,
    step: isize,
    bias: *const f32,
    x: *const f32,
    y: *mut f32,
    activation: Activation,
}

/// Computes one layer.
///
/// # Safety
/// `parameters` must hold `layout.packed_len()` numbers from `layout.start`, `x` the inputs, and `y` must take
/// the padded outputs.
#[inline(always)]
pub(super) unsafe fn layer<V: Vector>(
    layout: &LayerLayout,
    parameters: *const f32,
    x: *const f32,
    y: *mut f32,
) {
    let (first, step) = layout.walk();
    // SAFETY: inside the packed layer.
    let (weights, bias) = unsafe {
        let start = parameters.add(layout.start);
        (start.add(first), start.add(layout.packed_weights()))
    };
    let layer = Layer { inputs: layout.inputs, weights, step, bias, x, y, activation: layout.activation };
    let vectors = layout.outputs.div_ceil(V::LANES);
    // SAFETY: every block stays within the padded outputs.
    unsafe {
        if layout.outputs <= V::Narrow::LANES {
            narrow::<V::Narrow>(layer, 0);
        } else if layout.outputs <= NARROW {
            for v in 0..vectors {
                narrow::<V>(layer, v * V::LANES);
            }
        } else {
            wide::<V>(layer, vectors);
        }
    }
}

/// # Safety
/// As [`layer`]; `vectors * LANES` outputs are computed.
#[inline(always)]
unsafe fn wide<V: Vector>(layer: Layer, vectors: usize) {
    let mut v = 0;
    // SAFETY: forwarded.
    unsafe {
        while v + 8 <= vectors {
            block::<V, 8>(layer, v * V::LANES);
            v += 8;
        }
        while v + 2 <= vectors {
            block::<V, 2>(layer, v * V::LANES);
            v += 2;
        }
        if v < vectors {
            block::<V, 1>(layer, v * V::LANES);
        }
    }
}

/// `R` registers of outputs from output `i`, each one sum: the bias, then the inputs in strided order.
///
/// # Safety
/// As [`layer`]; `i + R * LANES` must be within the padded outputs.
#[inline(always)]
unsafe fn block<V: Vector, const R: usize>(layer: Layer, i: usize) {
    // SAFETY: forwarded.
    unsafe {
        // No closures here: they would be compiled without the instruction set of the kernel.
        let mut sums = [V::splat(0.0); R];
        for (r, sum) in sums.iter_mut().enumerate() {
            *sum = V::load(layer.bias.add(i + r * V::LANES));
        }
        // With the constant step of a Toeplitz matrix the compiler sees which windows are the same.
        if layer.step == -1 {
            strided(layer, i, -1, &mut sums);
        } else {
            strided(layer, i, layer.step, &mut sums);
        }
        store_activations(layer.activation, sums, layer.y.add(i));
    }
}

/// Adds the products of all inputs to the sums, in strided order.
///
/// # Safety
/// As [`block`].
#[inline(always)]
unsafe fn strided<V: Vector, const R: usize>(layer: Layer, i: usize, step: isize, sums: &mut [V; R]) {
    const UNROLL: usize = 4;
    for first in 0..layer.inputs.min(STRIDE) {
        let mut j = first;
        // SAFETY: every input is below `layer.inputs`.
        unsafe {
            while j + (UNROLL - 1) * STRIDE < layer.inputs {
                add_products::<V, R, UNROLL>(layer, i, j, step, sums);
                j += UNROLL * STRIDE;
            }
            while j < layer.inputs {
                add_products::<V, R, 1>(layer, i, j, step, sums);
                j += STRIDE;
            }
        }
    }
}

/// Adds the products of `N` inputs, the first being `j`, to the sums.
///
/// # Safety
/// As [`block`]; the last of the inputs must exist.
#[inline(always)]
unsafe fn add_products<V: Vector, const R: usize, const N: usize>(
    layer: Layer,
    i: usize,
    j: usize,
    step: isize,
    sums: &mut [V; R],
) {
    // SAFETY: forwarded.
    unsafe {
        let weights = layer.weights.add(i).offset(step * j as isize);
        for n in 0..N {
            let x = V::splat(*layer.x.add(j + n * STRIDE));
            let weights = weights.offset(step * (n * STRIDE) as isize);
            for (r, sum) in sums.iter_mut().enumerate() {
                *sum = sum.add(x.mul(V::load(weights.add(r * V::LANES))));
            }
        }
    }
}

/// One register of outputs from output `i`, in four interleaved sums `s`, the bias in the first, joined as
/// `(s0 + s1) + (s2 + s3)`.
///
/// # Safety
/// As [`layer`].
#[inline(always)]
unsafe fn narrow<V: Vector>(layer: Layer, i: usize) {
    // SAFETY: forwarded; `wrapping_offset` steps past the last input without a read there.
    unsafe {
        let mut sums = [V::splat(0.0); PARTIAL_SUMS];
        sums[0] = V::load(layer.bias.add(i));
        let mut weights = layer.weights.add(i);
        let mut j = 0;
        while j < layer.inputs {
            for (p, sum) in sums.iter_mut().enumerate() {
                if j + p < layer.inputs {
                    *sum = sum.add(V::splat(*layer.x.add(j + p)).mul(V::load(weights)));
                    weights = weights.wrapping_offset(layer.step);
                }
            }
            j += PARTIAL_SUMS;
        }
        let [s0, s1, s2, s3] = sums;
        store_activations(layer.activation, [s0.add(s1).add(s2.add(s3))], layer.y.add(i));
    }
}
