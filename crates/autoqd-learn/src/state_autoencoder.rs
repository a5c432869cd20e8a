//! The autoencoder of single states: d -> 64 -> 32 -> k -> 32 -> 64 -> d, ReLU between, code and output linear.

use autoqd::descriptor::EpochLosses;
use serde::{Deserialize, Serialize};

use crate::error::LearnError;
use crate::mlp::{Activation, Layer, Mlp, Pass};
use crate::random::Stream;
use crate::real::Real;
use crate::section::AutoencoderSection;
use crate::squared_error;
use crate::trainer::{Loss, Trainee, train};
use crate::weights::{self, Matrix};

/// Weights of the autoencoder: weight and bias of each layer, first to last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateAutoencoder {
    /// Alternating weights and biases.
    pub matrices: Vec<Matrix>,
    /// How many layers belong to the encoder.
    encoder_layers: usize,
}

/// Normalised states with the places of those to train on and of those held back.
pub struct StateData {
    /// Row after row.
    pub rows: Vec<f32>,
    /// Rows to train on.
    pub training: Vec<usize>,
    /// Rows to validate on.
    pub validation: Vec<usize>,
}

impl StateAutoencoder {
    /// Random weights, uniform in ± 1 / sqrt(inputs of the layer).
    pub fn new(size: usize, hidden: &[usize], code: usize, seed: u64) -> Self {
        let mut random = Stream::new(seed);
        let encoder: Vec<usize> = [&[size], hidden, &[code]].concat();
        let decoder: Vec<usize> = encoder.iter().rev().copied().collect();
        let mut matrices = Vec::new();
        for (part, sizes) in [("encoder", encoder), ("decoder", decoder)] {
            for (i, layer) in sizes.windows(2).enumerate() {
                let limit = 1.0 / (layer[0] as f32).sqrt();
                let name = |what: &str| format!("{part}_{i}_{what}");
                matrices.push(Matrix::uniform(&name("weight"), layer[0], layer[1], limit, &mut random));
                matrices.push(Matrix::uniform(&name("bias"), 1, layer[1], limit, &mut random));
            }
        }
        Self { matrices, encoder_layers: hidden.len() + 1 }
    }

    /// The code of one normalised state. The bits do not depend on how many are encoded at a time.
    pub fn encode(&self, state: &[f32]) -> Vec<f32> {
        let mut x = state.to_vec();
        for (i, layer) in self.matrices.chunks_exact(2).take(self.encoder_layers).enumerate() {
            let mut y = layer[1].values.clone();
            layer[0].accumulate(&x, &mut y);
            if i + 1 < self.encoder_layers {
                y.iter_mut().for_each(|y| *y = y.max(0.0));
            }
            x = y;
        }
        x
    }

    /// The whole network as it is trained.
    fn network(&self) -> Mlp {
        let layers = self.matrices.len() / 2;
        let layer = |(i, layer): (usize, &[Matrix])| Layer {
            inputs: layer[0].rows,
            outputs: layer[0].columns,
            activation: match i + 1 == self.encoder_layers || i + 1 == layers {
                true => Activation::Linear,
                false => Activation::Relu,
            },
            normalized: false,
        };
        Mlp { layers: self.matrices.chunks_exact(2).enumerate().map(layer).collect() }
    }

    /// Trains on from the present weights and keeps those of the best epoch. Returns the loss curve.
    pub fn train(
        &mut self,
        data: StateData,
        options: &AutoencoderSection,
        seed: u64,
    ) -> Result<Vec<EpochLosses>, LearnError> {
        let size = self.matrices[0].rows;
        let (batch_size, random) = (options.batch_size, Stream::new(seed));
        let mut trainee = StateTrainee { network: self.network(), data, size, batch_size, random };
        let mut parameters = weights::parameters(&self.matrices);
        let losses = train(&mut trainee, &mut parameters, options)?;
        weights::set_parameters(&mut self.matrices, &parameters);
        Ok(losses)
    }
}

/// States and the passes over them.
#[derive(Default)]
struct Batch<T> {
    states: Vec<T>,
    pass: Pass<T>,
}

/// Mean squared error of the reconstruction over batch and dimensions.
fn loss<T: Real>(network: &Mlp, parameters: &[T], batch: &mut Batch<T>) -> T {
    let Batch { states, pass } = batch;
    network.forward(parameters, states, pass);
    let mut errors = std::mem::take(&mut pass.gradient);
    errors.clear();
    errors.extend(pass.output().iter().zip(&*states).map(|(said, state)| *said - *state));
    pass.gradient = errors;
    squared_error::mean(&pass.gradient, states.len())
}

/// Adds the gradient of the [`loss`] just computed.
fn backward<T: Real>(network: &Mlp, parameters: &[T], batch: &mut Batch<T>, gradient: &mut [T]) {
    let Batch { states, pass } = batch;
    squared_error::backward(&mut pass.gradient, states.len());
    network.backward(parameters, states, pass, gradient, false);
}

struct StateTrainee {
    network: Mlp,
    data: StateData,
    size: usize,
    batch_size: usize,
    random: Stream,
}

impl Trainee for StateTrainee {
    type Batch = Batch<f32>;

    const NAME: &'static str = "autoencoder of states";
    const CLIP: Option<f32> = None;
    // A batch is a fraction of a millisecond: handing half of it to another thread takes longer than computing it.
    const PARTS: usize = 1;

    fn training_batches(&mut self, _epoch: usize) -> Vec<Vec<usize>> {
        self.random.shuffle(&mut self.data.training);
        self.data.training.chunks(self.batch_size).map(<[usize]>::to_vec).collect()
    }

    fn validation_batches(&self) -> Vec<Vec<usize>> {
        // No gradients, no reason for small ones; what they compute still fits into the cache.
        self.data.validation.chunks(512).map(<[usize]>::to_vec).collect()
    }

    fn fill(&mut self, batch: &mut Batch<f32>, places: &[usize], _validation: bool) {
        batch.states.clear();
        for place in places {
            batch.states.extend_from_slice(&self.data.rows[place * self.size..][..self.size]);
        }
    }

    fn loss(&self, parameters: &[f32], batch: &mut Batch<f32>) -> Loss {
        let mean = loss(&self.network, parameters, batch);
        Loss { mean, weight: (batch.states.len() / self.size) as f64 }
    }

    fn backward(&self, parameters: &[f32], batch: &mut Batch<f32>, gradient: &mut [f32]) {
        backward(&self.network, parameters, batch, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differences::assert_gradient;

    /// States on a smooth surface of four dimensions in twelve.
    fn planted(count: usize) -> Vec<f32> {
        let mut random = Stream::new(5);
        let mixing: Vec<f32> = (0..4 * 12).map(|_| random.symmetric(1.0)).collect();
        let mut rows = Vec::new();
        for _ in 0..count {
            let hidden: Vec<f32> = (0..4).map(|_| random.symmetric(1.7)).collect();
            for j in 0..12 {
                let sum: f32 = (0..4).map(|k| mixing[4 * j + k] * hidden[k]).sum();
                rows.push(sum + 0.3 * libm::sinf(sum));
            }
        }
        rows
    }

    fn trained_loss(code: usize) -> f64 {
        let data = StateData {
            rows: planted(2500),
            training: (0..2000).collect(),
            validation: (2000..2500).collect(),
        };
        let options = AutoencoderSection { epochs: 40, ..AutoencoderSection::default() };
        let mut network = StateAutoencoder::new(12, &options.hidden, code, 3);
        let losses = network.train(data, &options, 4).unwrap();
        assert!(losses.len() > 10);
        losses.iter().map(|l| l.validation).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn four_codes_recover_a_planted_manifold_of_four_dimensions_and_fewer_do_not() {
        let rows = planted(2500);
        let variance = rows.iter().map(|x| f64::from(x * x)).sum::<f64>() / rows.len() as f64;
        let (four, two) = (trained_loss(4) / variance, trained_loss(2) / variance);
        assert!(four < 0.03, "unexplained with four codes: {four}");
        assert!(two > 5.0 * four, "unexplained with two codes: {two}, with four {four}");
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let network = StateAutoencoder::new(3, &[5, 4], 2, 9);
        let double = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<f64>>();
        let parameters = double(&weights::parameters(&network.matrices));
        let batch = || Batch { states: double(&planted(2)[..18]), pass: Pass::default() };
        let (network, mut passes) = (network.network(), batch());
        let mut gradient = vec![0.0; parameters.len()];
        loss(&network, &parameters, &mut passes);
        backward(&network, &parameters, &mut passes, &mut gradient);
        assert_gradient(&parameters, &gradient, |moved| loss(&network, moved, &mut batch()));
    }

    #[test]
    fn codes_are_those_of_the_trained_network() {
        let network = StateAutoencoder::new(12, &[64, 32], 4, 1);
        let (rows, mut pass) = (planted(10), Pass::default());
        let encoder = Mlp { layers: network.network().layers[..3].to_vec() };
        encoder.forward(&weights::parameters(&network.matrices[..6]), &rows, &mut pass);
        let ours = rows.chunks_exact(12).flat_map(|row| network.encode(row));
        assert!(pass.output().iter().zip(ours).all(|(a, b)| (a - b).abs() < 1e-5));
    }
}
