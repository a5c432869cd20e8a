//! The autoencoder of trajectories: an LSTM reads the states, its last h becomes the code, and a second LSTM that
//! starts from the code says each state from the one before (teacher forcing).

use serde::{Deserialize, Serialize};

use crate::dense;
use crate::lstm::{Lstm, LstmGradient, LstmPass, step};
use crate::random::Stream;
use crate::real::{Real, zeros};
use crate::squared_error;
use crate::weights::Matrix;

/// Number of matrices.
const MATRICES: usize = 12;
// Places of the matrices.
const ENCODER: usize = 0;
const CODE: usize = 3;
const START: usize = 5;
const DECODER: usize = 7;
const OUTPUT: usize = 10;

/// Weights of the autoencoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequenceAutoencoder {
    /// Encoder (input weights, recurrent weights, bias), code, first h of the decoder, decoder, output.
    pub matrices: Vec<Matrix>,
    /// Units of the recurrent layers.
    units: usize,
}

/// Normalised trajectories of similar length, padded with zeros to the longest, and the passes over them.
///
/// Buffers over time are (steps, trajectories, size).
#[derive(Clone, Debug)]
pub struct Batch<T> {
    /// States.
    states: Vec<T>,
    /// What the decoder sees before it says each state.
    previous: Vec<T>,
    /// Steps of each trajectory.
    lengths: Vec<usize>,
    encoder: LstmPass<T>,
    /// Code of each trajectory.
    pub codes: Vec<T>,
    /// First h of encoder, then decoder.
    first: Vec<T>,
    decoder: LstmPass<T>,
    /// What the decoder says, then its errors, then their gradients.
    errors: Vec<T>,
    /// Gradients that go back from layer to layer.
    gradient: Vec<T>,
    spare: Vec<T>,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self {
            states: Vec::new(),
            previous: Vec::new(),
            lengths: Vec::new(),
            encoder: LstmPass::default(),
            codes: Vec::new(),
            first: Vec::new(),
            decoder: LstmPass::default(),
            errors: Vec::new(),
            gradient: Vec::new(),
            spare: Vec::new(),
        }
    }
}

impl<T: Real> Batch<T> {
    /// Puts trajectories in, each row after row. The decoder sees the state before, or zeros (the mean state) at the
    /// first step and where `forget` says so.
    pub fn fill(&mut self, trajectories: &[Vec<T>], size: usize, mut forget: impl FnMut() -> bool) {
        self.lengths.clear();
        self.lengths.extend(trajectories.iter().map(|t| t.len() / size));
        let (steps, batch) = (self.lengths.iter().copied().max().unwrap_or(0), trajectories.len());
        zeros(&mut self.states, steps * batch * size);
        zeros(&mut self.previous, steps * batch * size);
        for (b, trajectory) in trajectories.iter().enumerate() {
            for (t, state) in trajectory.chunks_exact(size).enumerate() {
                let at = (t * batch + b) * size;
                self.states[at..at + size].copy_from_slice(state);
                if t > 0 && !forget() {
                    self.previous[at..at + size].copy_from_slice(&trajectory[(t - 1) * size..][..size]);
                }
            }
        }
    }

    /// Steps of all trajectories.
    pub fn steps(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// What the decoder said becomes its errors; padding has none.
    fn subtract_states(&mut self, size: usize) {
        let rows = self.errors.chunks_exact_mut(size).zip(self.states.chunks_exact(size));
        for (row, (errors, states)) in rows.enumerate() {
            let (t, b) = (row / self.lengths.len(), row % self.lengths.len());
            match t < self.lengths[b] {
                true => errors.iter_mut().zip(states).for_each(|(e, s)| *e -= *s),
                false => errors.fill(T::ZERO),
            }
        }
    }
}

impl SequenceAutoencoder {
    /// Random weights, uniform in ± 1 / sqrt(units); the forget gates start open, for a memory of many steps.
    pub fn new(size: usize, units: usize, code: usize, seed: u64) -> Self {
        let mut random = Stream::new(seed);
        let limit = 1.0 / (units as f32).sqrt();
        let mut matrix = |name: &str, rows, columns| Matrix::uniform(name, rows, columns, limit, &mut random);
        let mut matrices = vec![
            matrix("encoder_input_weight", size, 4 * units),
            matrix("encoder_recurrent_weight", units, 4 * units),
            matrix("encoder_bias", 1, 4 * units),
            matrix("code_weight", units, code),
            matrix("code_bias", 1, code),
            matrix("start_weight", code, units),
            matrix("start_bias", 1, units),
            matrix("decoder_input_weight", size, 4 * units),
            matrix("decoder_recurrent_weight", units, 4 * units),
            matrix("decoder_bias", 1, 4 * units),
            matrix("output_weight", units, size),
            matrix("output_bias", 1, size),
        ];
        for bias in [ENCODER + 2, DECODER + 2] {
            matrices[bias].values[units..2 * units].fill(1.0);
        }
        Self { matrices, units }
    }

    /// The code of one normalised trajectory. The bits do not depend on how many are encoded at a time.
    pub fn encode(&self, trajectory: &[f32]) -> Vec<f32> {
        let [input, recurrent, bias] = &self.matrices[ENCODER..ENCODER + 3] else { return Vec::new() };
        let (mut h, mut c) = (vec![0.0; self.units], vec![0.0; self.units]);
        let mut gates = vec![0.0; 4 * self.units];
        for state in trajectory.chunks_exact(input.rows) {
            gates.copy_from_slice(&bias.values);
            input.accumulate(state, &mut gates);
            recurrent.accumulate(&h, &mut gates);
            step(&gates, &mut h, &mut c);
        }
        let mut code = self.matrices[CODE + 1].values.clone();
        self.matrices[CODE].accumulate(&h, &mut code);
        code
    }

    /// The matrices within a buffer of parameters.
    fn split<'a, T>(&self, mut parameters: &'a [T]) -> [&'a [T]; MATRICES] {
        std::array::from_fn(|i| {
            let (own, rest) = parameters.split_at(self.matrices[i].values.len());
            parameters = rest;
            own
        })
    }

    /// The matrices within a buffer of gradients.
    fn split_mut<'a, T>(&self, mut gradients: &'a mut [T]) -> [&'a mut [T]; MATRICES] {
        std::array::from_fn(|i| {
            let (own, rest) = std::mem::take(&mut gradients).split_at_mut(self.matrices[i].values.len());
            gradients = rest;
            own
        })
    }

    /// Computes the codes of a batch.
    pub fn codes<T: Real>(&self, parameters: &[T], batch: &mut Batch<T>) {
        let matrices = self.split(parameters);
        let state = batch.lengths.len() * self.units;
        zeros(&mut batch.first, state);
        layer(&matrices, ENCODER).forward(&batch.states, &batch.first, &batch.lengths, &mut batch.encoder);
        let h = batch.encoder.last_h(state);
        dense::forward(h, matrices[CODE], matrices[CODE + 1], &mut batch.codes);
    }

    /// Mean squared error over all steps and dimensions when each state is said from its code and the state before.
    pub fn decoding_loss<T: Real>(&self, parameters: &[T], batch: &mut Batch<T>) -> T {
        let (matrices, size) = (self.split(parameters), self.matrices[OUTPUT].columns);
        dense::forward(&batch.codes, matrices[START], matrices[START + 1], &mut batch.first);
        layer(&matrices, DECODER).forward(&batch.previous, &batch.first, &batch.lengths, &mut batch.decoder);
        let h = batch.decoder.last_h(batch.states.len() / size * self.units);
        dense::forward(h, matrices[OUTPUT], matrices[OUTPUT + 1], &mut batch.errors);
        batch.subtract_states(size);
        squared_error::mean(&batch.errors, size * batch.steps())
    }

    /// Adds the gradient of the loss just computed, through decoder, codes and encoder.
    pub fn backward<T: Real>(&self, parameters: &[T], batch: &mut Batch<T>, gradient: &mut [T]) {
        let (matrices, mut sums) = (self.split(parameters), self.split_mut(gradient));
        let (size, count, state) = (self.matrices[OUTPUT].columns, batch.steps(), batch.first.len());
        let Batch { states, previous, lengths, encoder, codes, decoder, errors, gradient, spare, .. } = batch;
        squared_error::backward(errors, size * count);
        let h = decoder.last_h(states.len() / size * self.units);
        add_dense(&mut sums, OUTPUT, h, errors);
        dense::backward_to_inputs(errors, matrices[OUTPUT], size, gradient);
        let decoding = layer(&matrices, DECODER);
        decoding.backward(previous, gradient, lengths, decoder, &mut layer_sums(&mut sums, DECODER));
        add_dense(&mut sums, START, codes, &decoder.of_h);
        dense::backward_to_inputs(&decoder.of_h, matrices[START], self.units, gradient);
        add_dense(&mut sums, CODE, encoder.last_h(state), gradient);
        dense::backward_to_inputs(gradient, matrices[CODE], self.matrices[CODE].columns, spare);
        let encoding = layer(&matrices, ENCODER);
        encoding.backward(states, spare, lengths, encoder, &mut layer_sums(&mut sums, ENCODER));
    }
}

/// The recurrent layer whose matrices start at a place.
fn layer<'a, T>(matrices: &[&'a [T]; MATRICES], place: usize) -> Lstm<'a, T> {
    Lstm { input: matrices[place], recurrent: matrices[place + 1], bias: matrices[place + 2] }
}

/// Where the gradients of that layer are summed.
fn layer_sums<'a, T>(sums: &'a mut [&mut [T]; MATRICES], place: usize) -> LstmGradient<'a, T> {
    let [input, recurrent, bias, ..] = &mut sums[place..] else { unreachable!("three matrices per layer") };
    LstmGradient { input, recurrent, bias }
}

/// Adds the gradients of the dense layer whose weights and bias start at a place.
fn add_dense<T: Real>(sums: &mut [&mut [T]; MATRICES], place: usize, x: &[T], of_y: &[T]) {
    let [weights, bias, ..] = &mut sums[place..] else { unreachable!("two matrices per layer") };
    dense::backward(x, of_y, weights, bias);
}
