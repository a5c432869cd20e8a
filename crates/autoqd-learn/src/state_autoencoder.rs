//! The autoencoder of single states: d -> 64 -> 32 -> k -> 32 -> 64 -> d, ReLU between, code and output linear.

use candle_core::{Device, Result, Tensor, Var};
use serde::{Deserialize, Serialize};

use crate::affine::affine;
use crate::error::LearnError;
use crate::random::Stream;
use crate::section::AutoencoderSection;
use crate::trainer::{Loss, Trained, Trainee, train};
use crate::weights::{Matrix, variables};

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

    /// The reconstruction of a batch of states, as a function of the weights.
    pub fn reconstruct(&self, weights: &[Tensor], states: &Tensor) -> Result<Tensor> {
        let layers = weights.len() / 2;
        let mut x = states.clone();
        for (i, layer) in weights.chunks_exact(2).enumerate() {
            x = affine(&x, &layer[0], &layer[1])?;
            if i + 1 != self.encoder_layers && i + 1 != layers {
                x = x.relu()?;
            }
        }
        Ok(x)
    }

    /// Mean squared error of the reconstruction over batch and dimensions.
    pub fn loss(&self, weights: &[Tensor], states: &Tensor) -> Result<Tensor> {
        (self.reconstruct(weights, states)? - states)?.sqr()?.mean_all()
    }

    /// Trains on from the present weights and keeps those of the best epoch.
    pub fn train(
        &mut self,
        data: StateData,
        options: &AutoencoderSection,
        seed: u64,
    ) -> std::result::Result<Trained, LearnError> {
        let tensor = |source| LearnError::Tensor { what: StateTrainee::NAME, source };
        let variables = variables(&self.matrices).map_err(tensor)?;
        let weights = variables.iter().map(|v| v.as_tensor().clone()).collect();
        let size = self.matrices[0].rows;
        let batch_size = options.batch_size;
        let random = Stream::new(seed);
        let mut trainee = StateTrainee { network: self, variables, weights, data, size, batch_size, random };
        let trained = train(&mut trainee, options)?;
        self.set(&trained.best);
        Ok(trained)
    }

    fn set(&mut self, values: &[Vec<f32>]) {
        self.matrices.iter_mut().zip(values).for_each(|(m, values)| m.values.clone_from(values));
    }
}

struct StateTrainee<'a> {
    network: &'a StateAutoencoder,
    variables: Vec<Var>,
    weights: Vec<Tensor>,
    data: StateData,
    size: usize,
    batch_size: usize,
    random: Stream,
}

impl Trainee for StateTrainee<'_> {
    type Batch = Tensor;

    const NAME: &'static str = "autoencoder of states";
    const CLIP: Option<f32> = None;
    // A batch is a fraction of a millisecond: handing half of it to another thread takes longer than computing it.
    const PARTS: usize = 1;

    fn variables(&self) -> &[Var] {
        &self.variables
    }

    fn training_batches(&mut self, _epoch: usize) -> Vec<Vec<usize>> {
        self.random.shuffle(&mut self.data.training);
        self.data.training.chunks(self.batch_size).map(<[usize]>::to_vec).collect()
    }

    fn validation_batches(&self) -> Vec<Vec<usize>> {
        // No gradients, no reason for small ones; with more, candle's threads would join in and wait for each other.
        self.data.validation.chunks(512).map(<[usize]>::to_vec).collect()
    }

    fn batch(&mut self, places: &[usize], _validation: bool) -> Result<Tensor> {
        let row = |i: &usize| &self.data.rows[i * self.size..][..self.size];
        let rows: Vec<f32> = places.iter().flat_map(row).copied().collect();
        Tensor::from_vec(rows, (places.len(), self.size), &Device::Cpu)
    }

    fn loss(&self, states: &Tensor) -> Result<Loss> {
        let mean = self.network.loss(&self.weights, states)?;
        Ok(Loss { mean, weight: states.dim(0)? as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::values;
    use candle_core::DType;

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
        let trained = network.train(data, &options, 4).unwrap();
        assert!(trained.losses.len() > 10);
        trained.losses.iter().map(|l| l.validation).fold(f64::INFINITY, f64::min)
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
        let states = Tensor::from_vec(planted(2)[..18].to_vec(), (6, 3), &Device::Cpu).unwrap();
        let states = states.to_dtype(DType::F64).unwrap();
        let double = |v: &Var| Var::from_tensor(&v.to_dtype(DType::F64).unwrap()).unwrap();
        let variables: Vec<Var> = variables(&network.matrices).unwrap().iter().map(double).collect();
        let loss = || {
            let weights: Vec<Tensor> = variables.iter().map(|v| v.as_tensor().clone()).collect();
            network.loss(&weights, &states).unwrap()
        };
        let gradients = loss().backward().unwrap();
        for variable in &variables {
            let gradient = gradients.get(variable).unwrap().flatten_all().unwrap().to_vec1::<f64>().unwrap();
            let values = variable.flatten_all().unwrap().to_vec1::<f64>().unwrap();
            for i in 0..values.len() {
                let at = |delta: f64| {
                    let mut moved = values.clone();
                    moved[i] += delta;
                    variable.set(&Tensor::from_vec(moved, variable.shape(), &Device::Cpu).unwrap()).unwrap();
                    loss().to_scalar::<f64>().unwrap()
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                at(0.0);
                let error = (difference - gradient[i]).abs() / difference.abs().max(1e-3);
                assert!(error < 1e-4, "{difference} and {}", gradient[i]);
            }
        }
    }

    #[test]
    fn codes_are_those_of_the_trained_graph() {
        let network = StateAutoencoder::new(12, &[64, 32], 4, 1);
        let weights: Vec<Tensor> =
            variables(&network.matrices).unwrap().iter().map(|v| v.as_tensor().clone()).collect();
        let rows = planted(10);
        let mut x = Tensor::from_slice(&rows, (10, 12), &Device::Cpu).unwrap();
        for (i, layer) in weights.chunks_exact(2).take(3).enumerate() {
            x = x.matmul(&layer[0]).unwrap().broadcast_add(&layer[1]).unwrap();
            x = if i < 2 { x.relu().unwrap() } else { x };
        }
        let graph = x.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let ours = rows.chunks_exact(12).flat_map(|row| network.encode(row));
        assert!(graph.iter().zip(ours).all(|(a, b)| (a - b).abs() < 1e-5));
        assert_eq!(values(&variables(&network.matrices).unwrap()).unwrap()[0], network.matrices[0].values);
    }
}
