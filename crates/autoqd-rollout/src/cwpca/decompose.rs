//! Step 2 of Appendix C: mean and main directions of weighted embeddings.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, Par};

use super::affine::dot;
use crate::Error;

/// Directions by falling variance; a direction without variance is all zeros.
pub(super) struct Axes {
    pub(super) components: Vec<Vec<f64>>,
    pub(super) variance: Vec<f64>,
    pub(super) total_variance: f64,
}

/// sum_i w_i psi_i, in the order of the rows.
pub(super) fn weighted_mean<R: AsRef<[f64]>>(
    embeddings: &[R],
    weights: &[f64],
    dimension: usize,
) -> Vec<f64> {
    let mut mean = vec![0.0; dimension];
    for (row, w) in embeddings.iter().zip(weights) {
        mean.iter_mut().zip(row.as_ref()).for_each(|(mean, x)| *mean += w * x);
    }
    mean
}

/// The first `k` right singular vectors of the rows sqrt(w_i) (psi_i - mu).
pub(super) fn principal_axes<R: AsRef<[f64]>>(
    embeddings: &[R],
    weights: &[f64],
    mean: &[f64],
    k: usize,
) -> Result<Axes, Error> {
    let (m, d) = (embeddings.len(), mean.len());
    let rows = Mat::from_fn(m, d, |i, j| weights[i].sqrt() * (embeddings[i].as_ref()[j] - mean[j]));
    let (singular, vectors) = right_singular(&rows)?;
    // As numpy's matrix_rank: singular values below this are rounding.
    let noise = singular.first().copied().unwrap_or(0.0) * m.max(d) as f64 * f64::EPSILON;
    let mut axes = Axes { components: Vec::new(), variance: Vec::new(), total_variance: 0.0 };
    axes.total_variance = singular.iter().fold(0.0, |sum, s| sum + s * s);
    for axis in 0..k {
        let value = singular.get(axis).copied().unwrap_or(0.0);
        let real = value > noise;
        let column = |j: usize| if real { vectors[(j, axis)] } else { 0.0 };
        let mut component: Vec<f64> = (0..d).map(column).collect();
        largest_positive(&mut component);
        axes.components.push(component);
        axes.variance.push(if real { value * value } else { 0.0 });
    }
    Ok(axes)
}

/// Singular values of a matrix given by its columns, largest first.
pub(super) fn singular_values(columns: &[Vec<f64>]) -> Result<Vec<f64>, Error> {
    let rows = columns.first().map_or(0, Vec::len);
    Ok(right_singular(&Mat::from_fn(rows, columns.len(), |i, j| columns[j][i]))?.0)
}

/// Singular values and right singular vectors, on one thread, so that the bits do not depend on their number.
fn right_singular(rows: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>), Error> {
    let (m, d) = rows.shape();
    let size = m.min(d);
    let mut values = faer::diag::Diag::<f64>::zeros(size);
    let mut vectors = Mat::<f64>::zeros(d, size);
    let (no, thin) = (ComputeSvdVectors::No, ComputeSvdVectors::Thin);
    let scratch = svd_scratch::<f64>(m, d, no, thin, Par::Seq, Default::default());
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    svd(rows.as_ref(), values.as_mut(), None, Some(vectors.as_mut()), Par::Seq, stack, Default::default())
        .map_err(|_| Error::invalid("singular value decomposition", "no convergence", "finite embeddings"))?;
    Ok((values.column_vector().iter().copied().collect(), vectors))
}

/// Turns a direction so that its entry of largest magnitude (the first of equals) is positive.
pub(super) fn largest_positive(component: &mut [f64]) {
    let largest = component.iter().fold(0.0_f64, |best, x| if x.abs() > best.abs() { *x } else { best });
    if largest < 0.0 {
        component.iter_mut().for_each(|x| *x = -*x);
    }
}

/// `k` random orthonormal directions (fewer if the space has fewer), with the variance of the data along them.
pub(super) fn random_axes<R: AsRef<[f64]>>(
    embeddings: &[R],
    weights: &[f64],
    mean: &[f64],
    k: usize,
    mut normal: impl FnMut() -> f64,
) -> Axes {
    let mut components: Vec<Vec<f64>> = Vec::new();
    for _ in 0..k.min(mean.len()) {
        let mut row: Vec<f64> = mean.iter().map(|_| normal()).collect();
        // The second pass removes what rounding left of the first.
        for other in components.iter().chain(&components) {
            let along = dot(&row, other);
            row.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
        }
        let length = dot(&row, &row).sqrt();
        row.iter_mut().for_each(|x| *x /= length);
        components.push(row);
    }
    components.resize(k, vec![0.0; mean.len()]);
    let centred = |row: &R| row.as_ref().iter().zip(mean).map(|(x, mean)| x - mean).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = embeddings.iter().map(centred).collect();
    let mean_square =
        |f: &dyn Fn(&[f64]) -> f64| rows.iter().zip(weights).fold(0.0, |sum, (r, w)| sum + w * f(r));
    let variance = components.iter().map(|c| mean_square(&|row| dot(row, c) * dot(row, c))).collect();
    Axes { variance, total_variance: mean_square(&|row| dot(row, row)), components }
}
