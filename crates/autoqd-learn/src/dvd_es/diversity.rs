//! How different the agents act: determinants of kernel matrices over their actions on the same states.

/// Keeps divisions by a spread of 0 harmless.
pub const SOFTENING: f64 = 1e-8;
/// Standardised actions beyond this count as this.
const CLIP: f64 = 2.0;

/// The determinant of the kernel matrix of one embedding per agent: 1 where all differ, towards 0 where two coincide.
///
/// Each feature is standardised over the agents and clipped to ±2; the kernel is exp(-|u - v|² / features).
pub fn determinant(embeddings: &[&[f32]]) -> f64 {
    let (agents, features) = (embeddings.len(), embeddings[0].len());
    let mut rows = vec![0.0; agents * features];
    for feature in 0..features {
        let mut column: Vec<f64> = embeddings.iter().map(|row| f64::from(row[feature])).collect();
        standardize(&mut column);
        for (agent, value) in column.into_iter().enumerate() {
            rows[agent * features + feature] = value.clamp(-CLIP, CLIP);
        }
    }
    let row = |agent: usize| &rows[agent * features..][..features];
    let kernel = |a: usize, b: usize| {
        let squares = row(a).iter().zip(row(b)).map(|(x, y)| (x - y) * (x - y));
        libm::exp(-squares.sum::<f64>() / features as f64)
    };
    let matrix = (0..agents * agents).map(|i| kernel(i / agents, i % agents)).collect();
    positive_determinant(matrix, agents)
}

/// Subtracts the mean and divides by the population standard deviation, softened.
pub fn standardize(values: &mut [f64]) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let divisor = variance.sqrt() + SOFTENING;
    values.iter_mut().for_each(|x| *x = (*x - mean) / divisor);
}

/// The determinant of a positive matrix by Cholesky; 0 where rounding leaves it not positive.
fn positive_determinant(mut matrix: Vec<f64>, n: usize) -> f64 {
    let mut product = 1.0;
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| matrix[i * n + k] * matrix[j * n + k]).sum();
            let rest = matrix[i * n + j] - dot;
            if i != j {
                matrix[i * n + j] = rest / matrix[j * n + j];
            } else if rest > 0.0 {
                product *= rest;
                matrix[i * n + i] = rest.sqrt();
            } else {
                return 0.0;
            }
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_agents_have_determinant_0_and_two_opposite_ones_the_kernel_s() {
        let same = [0.3_f32, -0.4];
        assert_eq!(determinant(&[&same, &same, &same]), 0.0);
        // Standardised to ±1 in both features: squared distance 8, over 2 features.
        let got = determinant(&[&[0.5, -0.5], &[-0.5, 0.5]]);
        let off = libm::exp(-4.0);
        assert!((got - (1.0 - off * off)).abs() < 1e-6, "{got}");
    }

    #[test]
    fn the_determinant_of_a_matrix_known_by_hand() {
        let matrix = vec![4.0, 2.0, 0.0, 2.0, 3.0, 1.0, 0.0, 1.0, 2.0];
        assert!((positive_determinant(matrix, 3) - 12.0).abs() < 1e-12);
        assert_eq!(positive_determinant(vec![1.0, 2.0, 2.0, 1.0], 2), 0.0);
    }

    #[test]
    fn values_without_spread_standardise_to_0() {
        let mut values = [7.0; 4];
        standardize(&mut values);
        assert_eq!(values, [0.0; 4]);
    }
}
