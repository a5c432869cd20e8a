//! The weights of a network outside the tensor library: what is stored, and what encoders compute with.

use autoqd::run_folder::Tensor;
use candle_core::{Device, Var};
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

/// The matrices as variables that can be trained.
pub fn variables(matrices: &[Matrix]) -> candle_core::Result<Vec<Var>> {
    let variable = |m: &Matrix| Var::from_slice(&m.values, (m.rows, m.columns), &Device::Cpu);
    matrices.iter().map(variable).collect()
}

/// The numbers of variables, in the order of [`variables`].
pub fn values(variables: &[Var]) -> candle_core::Result<Vec<Vec<f32>>> {
    variables.iter().map(|v| v.flatten_all()?.to_vec1::<f32>()).collect()
}
