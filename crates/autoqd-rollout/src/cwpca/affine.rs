//! The map from embeddings to measures.

use serde::{Deserialize, Serialize};

/// desc(pi) = A psi + b, with the parts it was built from. Matrices are row-major with one row per measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AffineMap {
    /// Number of measures k.
    pub measures: usize,
    /// Length D of an embedding.
    pub dimension: usize,
    /// A = diag(scale) components, k x D.
    pub a: Vec<f64>,
    /// b = offset - A mean.
    pub b: Vec<f64>,
    /// The (weighted) mean embedding mu.
    pub mean: Vec<f64>,
    /// The directions P^T, k x D, orthonormal; rows of zeros for flat axes.
    pub components: Vec<f64>,
    /// s = 2 / (q_high - q_low); 0 for flat axes.
    pub scale: Vec<f64>,
    /// c = -1 - s q_low; 0 for flat axes.
    pub offset: Vec<f64>,
    /// (Weighted) variance along each axis.
    pub variance: Vec<f64>,
    /// (Weighted) variance over all directions.
    pub total_variance: f64,
}

impl AffineMap {
    /// The measures of an embedding.
    ///
    /// # Panics
    /// If the embedding does not have `dimension` numbers.
    pub fn map(&self, embedding: &[f64]) -> Vec<f64> {
        let mut measures = vec![0.0; self.measures];
        self.map_into(embedding, &mut measures);
        measures
    }

    /// Writes the measures of an embedding; each is a sum over the features in their order, then plus b.
    ///
    /// # Panics
    /// If the slices do not have `dimension` and `measures` numbers.
    pub fn map_into(&self, embedding: &[f64], measures: &mut [f64]) {
        assert_eq!(embedding.len(), self.dimension, "length of the embedding");
        assert_eq!(measures.len(), self.measures, "number of measures");
        for ((m, row), b) in measures.iter_mut().zip(self.a.chunks_exact(self.dimension)).zip(&self.b) {
            *m = dot(row, embedding) + b;
        }
    }

    /// The direction of one axis.
    pub fn component(&self, axis: usize) -> &[f64] {
        &self.components[axis * self.dimension..][..self.dimension]
    }

    /// Whether an axis has no variation, so that every policy has measure 0 there.
    pub fn is_flat(&self, axis: usize) -> bool {
        self.scale[axis] == 0.0
    }

    /// Whether every direction is of unit length or zero: true of fitted maps, which [`AffineMap::align`] can turn.
    pub fn is_orthonormal(&self) -> bool {
        let unit = |row: &[f64]| {
            let square = dot(row, row);
            square == 0.0 || (square - 1.0).abs() < 1e-6
        };
        self.components.chunks_exact(self.dimension).all(unit)
    }

    /// Share of the total variance along each axis; 0 if there is no variance at all.
    pub fn explained(&self) -> Vec<f64> {
        let share = |v: &f64| if self.total_variance > 0.0 { v / self.total_variance } else { 0.0 };
        self.variance.iter().map(share).collect()
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}
