//! The autoencoder of trajectories: an LSTM reads the states, its last h becomes the code, and a second LSTM that
//! starts from the code says each state from the one before (teacher forcing).

use candle_core::{Device, Result, Tensor};
use serde::{Deserialize, Serialize};

use crate::affine::affine;
use crate::operation::apply;
use crate::random::Stream;
use crate::recurrent::{Recurrence, step};
use crate::weights::Matrix;

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

/// Normalised trajectories of similar length, padded with zeros to the longest.
pub struct Batch {
    /// States, (steps, trajectories, size).
    pub states: Tensor,
    /// What the decoder sees before it says each state, same shape.
    pub previous: Tensor,
    /// 1 for a step of the trajectory, 0 for padding, (steps * trajectories, 1).
    pub mask: Tensor,
    /// Steps of each trajectory.
    pub lengths: Vec<usize>,
}

impl Batch {
    /// Pads trajectories, each row after row. The decoder sees the state before, or zeros (the mean state) at the
    /// first step and where `forget` says so.
    pub fn new(trajectories: &[Vec<f32>], size: usize, mut forget: impl FnMut() -> bool) -> Result<Self> {
        let lengths: Vec<usize> = trajectories.iter().map(|t| t.len() / size).collect();
        let (steps, batch) = (lengths.iter().copied().max().unwrap_or(0), trajectories.len());
        let mut states = vec![0.0; steps * batch * size];
        let mut previous = states.clone();
        let mut mask = vec![0.0f32; steps * batch];
        for (b, trajectory) in trajectories.iter().enumerate() {
            for (t, state) in trajectory.chunks_exact(size).enumerate() {
                let at = (t * batch + b) * size;
                states[at..at + size].copy_from_slice(state);
                mask[t * batch + b] = 1.0;
                if t > 0 && !forget() {
                    previous[at..at + size].copy_from_slice(&trajectory[(t - 1) * size..][..size]);
                }
            }
        }
        let tensor = |values| Tensor::from_vec(values, (steps, batch, size), &Device::Cpu);
        Ok(Self {
            states: tensor(states)?,
            previous: tensor(previous)?,
            mask: Tensor::from_vec(mask, (steps * batch, 1), &Device::Cpu)?,
            lengths,
        })
    }

    /// Steps of all trajectories.
    pub fn steps(&self) -> usize {
        self.lengths.iter().sum()
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

    /// h of a recurrent layer after every step.
    fn layer(weights: &[Tensor], inputs: &Tensor, first: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let (steps, batch, size) = inputs.dims3()?;
        let sums = affine(&inputs.reshape((steps * batch, size))?, &weights[0], &weights[2])?;
        let sums = sums.reshape((steps, batch, ()))?;
        let recurrence = Recurrence { lengths: lengths.to_vec() };
        apply(recurrence, [&sums, &weights[1], first])?.get(0)
    }

    /// The codes of a batch, as a function of the weights.
    pub fn codes(&self, weights: &[Tensor], batch: &Batch) -> Result<Tensor> {
        let (steps, trajectories, _) = batch.states.dims3()?;
        let first = Tensor::zeros((trajectories, self.units), batch.states.dtype(), &Device::Cpu)?;
        let h = Self::layer(&weights[ENCODER..], &batch.states, &first, &batch.lengths)?;
        affine(&h.get(steps - 1)?, &weights[CODE], &weights[CODE + 1])
    }

    /// Mean squared error over all steps and dimensions when each state is said from its code and the state before.
    pub fn decoding_loss(&self, weights: &[Tensor], codes: &Tensor, batch: &Batch) -> Result<Tensor> {
        let (steps, trajectories, size) = batch.states.dims3()?;
        let first = affine(codes, &weights[START], &weights[START + 1])?;
        let h = Self::layer(&weights[DECODER..], &batch.previous, &first, &batch.lengths)?;
        let h = h.reshape((steps * trajectories, self.units))?;
        let said = affine(&h, &weights[OUTPUT], &weights[OUTPUT + 1])?;
        let error =
            (said - batch.states.reshape((steps * trajectories, size))?)?.broadcast_mul(&batch.mask)?;
        error.sqr()?.sum_all()? / (size * batch.steps()) as f64
    }
}
