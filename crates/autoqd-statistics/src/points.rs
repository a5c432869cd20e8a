//! Rows of numbers, one per policy, and distances between them.

use rayon::prelude::*;

/// One row of `dim` numbers per policy: embeddings or measures.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    data: &'a [f64],
    dim: usize,
}

impl<'a> Points<'a> {
    /// Rows of length `dim`, one after the other.
    ///
    /// # Panics
    /// If `dim` is zero or `data` is not a whole number of rows.
    pub fn new(data: &'a [f64], dim: usize) -> Self {
        assert!(
            dim > 0 && data.len().is_multiple_of(dim),
            "{} numbers are not a whole number of rows of {dim}",
            data.len()
        );
        Self { data, dim }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.data.len() / self.dim
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Length of a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.data[i * self.dim..][..self.dim]
    }

    /// All rows, one after the other.
    pub fn data(&self) -> &'a [f64] {
        self.data
    }

    /// The rows with these indices, copied.
    pub fn pick(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|&i| self.row(i).iter().copied()).collect()
    }

    /// Squared distances of all pairs i < j, row by row: (0,1), (0,2), ..., (1,2), ...
    pub fn pair_distances(&self) -> Vec<f64> {
        let rows: Vec<Vec<f64>> = (0..self.len())
            .into_par_iter()
            .map(|i| (i + 1..self.len()).map(|j| squared_distance(self.row(i), self.row(j))).collect())
            .collect();
        rows.concat()
    }
}

/// Squared Euclidean distance, summed in a fixed order.
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    // Eight sums side by side: the order is fixed, and the compiler can use vector instructions.
    let mut sums = [0.0; 8];
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let (b_blocks, b_rest) = b.as_chunks::<8>();
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..8 {
            let d = x[lane] - y[lane];
            sums[lane] += d * d;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| (x - y) * (x - y)).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_all_pairs_in_order() {
        let data = [0.0, 0.0, 3.0, 4.0, 0.0, 1.0];
        assert_eq!(Points::new(&data, 2).pair_distances(), [25.0, 1.0, 18.0]);
        assert_eq!(Points::new(&data, 2).pick(&[2, 0]), [0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn long_rows_use_every_component() {
        let a: Vec<f64> = (0..19).map(f64::from).collect();
        let b = vec![0.0; 19];
        assert_eq!(squared_distance(&a, &b), (0..19).map(|i| f64::from(i * i)).sum::<f64>());
    }
}
