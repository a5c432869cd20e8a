//! The network as the step loop runs it.

use super::{LayerShape, PolicyKind, PolicySpec};
use crate::Error;
use crate::kernels::{Aligned, Instructions, LayerLayout, WeightLayout, forward, padded};

/// A policy ready to act: parameters in single precision in the order the kernels read them.
///
/// # What it computes
/// Everything in single precision, each operation rounded by itself:
/// * observation and parameters are rounded from double precision once;
/// * a layer with more than 16 outputs starts at the bias and adds `x[j] * W[i][j]`, for j = 0, 16, 32, .., then
///   1, 17, 33, .., and so on to 15, 31, ..;
/// * a layer with at most 16 outputs has four sums, the first starting at the bias and the others at 0; input j
///   goes to sum `j % 4`, and they are joined as `(s0 + s1) + (s2 + s3)`;
/// * [`tanh`](crate::kernels::tanh);
/// * action = `centre + half * output`, limited to the bounds, where centre and half width of the bounds are
///   computed in double precision and rounded once.
///
/// [`reference::act`](super::reference::act) is the same in a dozen plain lines.
#[derive(Clone, Debug)]
pub struct Policy {
    kind: PolicyKind,
    shapes: Vec<LayerShape>,
    layers: Vec<LayerLayout>,
    packed: Aligned,
    buffers: [Aligned; 2],
    scaling: Vec<Scaling>,
    parameter_count: usize,
    instructions: Instructions,
}

/// From tanh to one action component.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaling {
    low: f32,
    high: f32,
    centre: f32,
    half: f32,
}

impl Scaling {
    pub(super) fn of(spec: &PolicySpec) -> Vec<Self> {
        let scaling = |(&low, &high): (&f64, &f64)| Self {
            low: low as f32,
            high: high as f32,
            centre: ((low + high) / 2.0) as f32,
            half: ((high - low) / 2.0) as f32,
        };
        spec.action_low.iter().zip(&spec.action_high).map(scaling).collect()
    }

    pub(super) fn apply(&self, output: f32) -> f32 {
        let action = self.centre + self.half * output;
        let action = if self.low > action { self.low } else { action };
        if self.high < action { self.high } else { action }
    }
}

impl Policy {
    /// A policy with the given parameters, rounded once to single precision.
    pub fn new(spec: &PolicySpec, parameters: &[f64]) -> Result<Self, Error> {
        spec.validate()?;
        let mut policy = Self::zeroed(spec);
        policy.load(parameters)?;
        Ok(policy)
    }

    /// A policy whose parameters are all zero, to be filled by [`load`](Self::load).
    pub fn zeroed(spec: &PolicySpec) -> Self {
        let shapes = spec.layers();
        let layers = layouts(spec.kind, &shapes);
        let width = spec.sizes().into_iter().map(padded).max().unwrap_or(0);
        Self {
            kind: spec.kind,
            packed: Aligned::zeros(layers.last().map_or(0, |l| l.start + l.packed_len())),
            buffers: [Aligned::zeros(width), Aligned::zeros(width)],
            scaling: Scaling::of(spec),
            parameter_count: spec.parameter_count(),
            shapes,
            layers,
            instructions: Instructions::detect(),
        }
    }

    /// The same policy on a chosen instruction set. A set the CPU lacks gives plain
    /// code; the bits are the same in any case.
    pub fn with_instructions(mut self, instructions: Instructions) -> Self {
        self.instructions = instructions;
        self
    }

    /// Replaces the parameters, without allocation.
    pub fn load(&mut self, parameters: &[f64]) -> Result<(), Error> {
        let (expected, got) = (self.parameter_count, parameters.len());
        if expected != got {
            return Err(Error::ParameterCount { expected, got });
        }
        let mut rest = parameters;
        for (shape, layout) in self.shapes.iter().zip(&self.layers) {
            let (own, after) = rest.split_at(shape.parameter_count());
            let packed = &mut self.packed[layout.start..][..layout.packed_len()];
            match self.kind {
                PolicyKind::Toeplitz => pack_toeplitz(shape, layout, own, packed),
                PolicyKind::Dense => pack_dense(shape, layout, own, packed),
            }
            rest = after;
        }
        Ok(())
    }

    /// The action for one observation.
    ///
    /// # Panics
    /// If a slice does not have the length the policy was made for.
    pub fn act(&mut self, observation: &[f64], action: &mut [f32]) {
        assert_eq!(observation.len(), self.shapes[0].inputs, "length of the observation");
        assert_eq!(action.len(), self.scaling.len(), "length of the action");
        for (x, o) in self.buffers[0].iter_mut().zip(observation) {
            *x = *o as f32;
        }
        let last = forward(self.instructions, &self.layers, &self.packed, &mut self.buffers);
        for ((a, scaling), output) in action.iter_mut().zip(&self.scaling).zip(self.buffers[last].iter()) {
            *a = scaling.apply(*output);
        }
    }
}

fn layouts(kind: PolicyKind, shapes: &[LayerShape]) -> Vec<LayerLayout> {
    let weights = match kind {
        PolicyKind::Toeplitz => WeightLayout::Toeplitz,
        PolicyKind::Dense => WeightLayout::Dense,
    };
    let mut start = 0;
    let layout = |shape: &LayerShape| {
        let layout = LayerLayout { inputs: shape.inputs, outputs: shape.outputs, weights, start };
        start += padded(layout.packed_len());
        layout
    };
    shapes.iter().map(layout).collect()
}

fn pack_toeplitz(shape: &LayerShape, layout: &LayerLayout, own: &[f64], packed: &mut [f32]) {
    let (weights, biases) = own.split_at(shape.weight_count());
    round_into(weights, packed);
    round_into(biases, &mut packed[layout.packed_weights()..]);
}

fn pack_dense(shape: &LayerShape, layout: &LayerLayout, own: &[f64], packed: &mut [f32]) {
    let (weights, biases) = own.split_at(shape.weight_count());
    let stride = padded(shape.outputs);
    for (i, row) in weights.chunks_exact(shape.inputs).enumerate() {
        row.iter().enumerate().for_each(|(j, w)| packed[j * stride + i] = *w as f32);
    }
    round_into(biases, &mut packed[layout.packed_weights()..]);
}

fn round_into(from: &[f64], to: &mut [f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from as f32);
}
