//! The network as the step loop runs it.

use super::{LayerShape, PolicySpec, Squash, Weights};
use crate::Error;
use crate::kernels::{Aligned, Instructions, LayerLayout, forward, padded};

/// A policy ready to act: parameters in single precision in the order the kernels read them.
///
/// # What it computes
/// Everything in single precision, each operation rounded by itself:
/// * a filter is computed in double precision: `(observation - mean) * scale`, limited to ±clip;
/// * observation and parameters are rounded from double precision once;
/// * a layer with more than 16 outputs starts at the bias and adds `x[j] * W[i][j]`, for j = 0, 16, 32, .., then
///   1, 17, 33, .., and so on to 15, 31, ..;
/// * a layer with at most 16 outputs has four sums, the first starting at the bias and the others at 0; input j
///   goes to sum `j % 4`, and they are joined as `(s0 + s1) + (s2 + s3)`;
/// * [`tanh`](crate::kernels::tanh), the larger of 0 and the sum (ReLU), or the sum itself;
/// * action = `centre + half * output`, limited to the bounds, where centre and half width of the bounds are
///   computed in double precision and rounded once; they are 0 and 1 where outputs are only limited.
///
/// [`reference::act`](super::reference::act) is the same in a dozen plain lines.
#[derive(Clone, Debug)]
pub struct Policy {
    filter: Option<Filter>,
    shapes: Vec<LayerShape>,
    layers: Vec<LayerLayout>,
    packed: Aligned,
    buffers: [Aligned; 2],
    scaling: Vec<Scaling>,
    parameter_count: usize,
    instructions: Instructions,
}

/// What is done to observations before the first layer.
#[derive(Clone, Debug)]
struct Filter {
    /// Mean and scale of each observation.
    numbers: Vec<(f64, f64)>,
    clip: f64,
}

impl Filter {
    fn of(spec: &PolicySpec) -> Option<Self> {
        let clip = spec.filter?.clip.unwrap_or(f64::INFINITY);
        Some(Self { numbers: vec![(0.0, 0.0); spec.observation_size], clip })
    }

    /// Takes the mean and then the scale of each observation.
    fn load(&mut self, parameters: &[f64]) {
        let (mean, scale) = parameters.split_at(self.numbers.len());
        self.numbers.iter_mut().zip(mean.iter().zip(scale)).for_each(|(own, (m, s))| *own = (*m, *s));
    }

    fn apply(&self, observation: &[f64], x: &mut [f32]) {
        for ((x, o), (mean, scale)) in x.iter_mut().zip(observation).zip(&self.numbers) {
            let scaled = (o - mean) * scale;
            let above = if -self.clip > scaled { -self.clip } else { scaled };
            let limited = if self.clip < above { self.clip } else { above };
            *x = limited as f32;
        }
    }
}

/// From the last layer's output to one action component.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaling {
    low: f32,
    high: f32,
    centre: f32,
    half: f32,
}

impl Scaling {
    pub(super) fn of(spec: &PolicySpec) -> Vec<Self> {
        let scaling = |(&low, &high): (&f64, &f64)| {
            let (centre, half) = match spec.squash {
                Squash::Tanh => ((low + high) / 2.0, (high - low) / 2.0),
                Squash::Clip => (0.0, 1.0),
            };
            Self { low: low as f32, high: high as f32, centre: centre as f32, half: half as f32 }
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
        let shapes = spec.shapes();
        let layers = layouts(&shapes);
        let width = spec.sizes().into_iter().map(padded).max().unwrap_or(0);
        Self {
            filter: Filter::of(spec),
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
        if let Some(filter) = &mut self.filter {
            let (own, after) = rest.split_at(2 * filter.numbers.len());
            filter.load(own);
            rest = after;
        }
        for (shape, layout) in self.shapes.iter().zip(&self.layers) {
            let (own, after) = rest.split_at(shape.parameter_count());
            let packed = &mut self.packed[layout.start..][..layout.packed_len()];
            match shape.layer.weights {
                Weights::Toeplitz => pack_toeplitz(shape, layout, own, packed),
                Weights::Dense => pack_dense(shape, layout, own, packed),
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
        match &self.filter {
            Some(filter) => filter.apply(observation, &mut self.buffers[0]),
            None => round_into(observation, &mut self.buffers[0]),
        }
        let last = forward(self.instructions, &self.layers, &self.packed, &mut self.buffers);
        for ((a, scaling), output) in action.iter_mut().zip(&self.scaling).zip(self.buffers[last].iter()) {
            *a = scaling.apply(*output);
        }
    }
}

fn layouts(shapes: &[LayerShape]) -> Vec<LayerLayout> {
    let mut start = 0;
    let layout = |shape: &LayerShape| {
        let LayerShape { inputs, layer } = *shape;
        let (outputs, weights, activation) = (layer.outputs, layer.weights, layer.activation);
        let layout = LayerLayout { inputs, outputs, weights, activation, start };
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
    let stride = padded(shape.outputs());
    for (i, row) in weights.chunks_exact(shape.inputs).enumerate() {
        row.iter().enumerate().for_each(|(j, w)| packed[j * stride + i] = *w as f32);
    }
    round_into(biases, &mut packed[layout.packed_weights()..]);
}

fn round_into(from: &[f64], to: &mut [f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from as f32);
}
