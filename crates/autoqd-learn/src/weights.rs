//! The weights of a network as they are stored, and as encoders compute with them.

use autoqd::run_folder::Tensor;
use serde::{Deserialize, Serialize};

use crate::random::Stream;

/// A named matrix, row-major; a vector is a matrix with one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// Name.
    pub name: String,
    /// Number of rows: inputs of a layer.
    pub rows: usize,
    /// Number of columns: outputs of a layer.
    pub columns: usize,
    /// The numbers.
    pub values: Vec<f32>,
}

impl Matrix {
    /// Entries uniform in ±`limit`.
    pub fn uniform(name: &str, rows: usize, columns: usize, limit: f32, random: &mut Stream) -> Self {
        let values = (0..rows * columns).map(|_| random.symmetric(limit)).collect();
        Self { name: name.to_owned(), rows, columns, values }
    }

    /// Adds `x W` to `y`. Vectors run over the outputs and every output adds its products in the order of the inputs,
    /// so the bits depend neither on the batch nor on the instruction set.
    pub fn accumulate(&self, x: &[f32], y: &mut [f32]) {
        for (x, row) in x.iter().zip(self.values.chunks_exact(self.columns)) {
            for (y, w) in y.iter_mut().zip(row) {
                *y += x * w;
            }
        }
    }

    /// For readers outside this program.
    pub fn tensor(&self) -> Tensor {
        let shape = if self.rows == 1 { vec![self.columns] } else { vec![self.rows, self.columns] };
        Tensor::f32(&self.name, &shape, &self.values)
    }
}

/// The numbers of all matrices in turn: the parameters of a network in training.
pub fn parameters(matrices: &[Matrix]) -> Vec<f32> {
    matrices.iter().flat_map(|matrix| &matrix.values).copied().collect()
}

/// Puts parameters back, in the order of [`parameters`].
pub fn set_parameters(matrices: &mut [Matrix], mut parameters: &[f32]) {
    for matrix in matrices {
        let (own, rest) = parameters.split_at(matrix.values.len());
        matrix.values.copy_from_slice(own);
        parameters = rest;
    }
}
