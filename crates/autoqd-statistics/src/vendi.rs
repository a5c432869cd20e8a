//! The Vendi score: the effective number of different policies in a population.
//!
//! VS = exp(-sum lambda ln lambda) over the eigenvalues of K/n, where K holds the similarities
//! exp(-gamma |x_i - x_j|^2) of the policies' embeddings. Up to [`DENSE_LIMIT`] policies the eigenvalues are those of
//! the whole matrix. Above, a pivoted Cholesky factor (see [`crate::low_rank`]) gives them up to a residual of known
//! size, and with it a rigorous bracket around the score.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par, Spec};
use rayon::prelude::*;

use crate::low_rank::LowRank;
use crate::points::{Points, squared_distance};

/// Largest population whose similarity matrix is decomposed as a whole.
pub const DENSE_LIMIT: usize = 3000;

/// Relative width of the bracket that the truncated method aims for.
pub const TOLERANCE: f64 = 2e-3;

/// A Vendi score with its bracket.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct VendiScore {
    /// The score: between one and the number of policies, zero for an empty population.
    pub value: f64,
    /// Lower end of the bracket; equal to the value where nothing was truncated.
    pub lower: f64,
    /// Upper end of the bracket; equal to the value where nothing was truncated.
    pub upper: f64,
    /// Number of eigenvalues computed.
    pub rank: usize,
}

impl VendiScore {
    fn exact(value: f64, rank: usize) -> Self {
        Self { value, lower: value, upper: value, rank }
    }
}

/// The Vendi score of a population under exp(-gamma d^2).
///
/// ```
/// use autoqd_statistics::{Points, vendi_score};
/// // Two groups of identical policies, far apart: two effective policies.
/// let embeddings = [0.0, 0.0, 0.0, 9.0, 9.0, 9.0];
/// let score = vendi_score(Points::new(&embeddings, 1), 1.0);
/// assert!((score.value - 2.0).abs() < 1e-12);
/// ```
pub fn vendi_score(points: Points<'_>, gamma: f64) -> VendiScore {
    if points.len() <= DENSE_LIMIT {
        vendi_dense(points, gamma)
    } else {
        vendi_truncated(points, gamma, TOLERANCE)
    }
}

/// The Vendi score from all eigenvalues of the similarity matrix.
pub fn vendi_dense(points: Points<'_>, gamma: f64) -> VendiScore {
    let n = points.len();
    VendiScore::exact(vendi_of_matrix(similarity(points, gamma), n as f64), n)
}

/// The Vendi score from a truncated pivoted Cholesky factor, for large populations.
///
/// `tolerance` is the relative width of the bracket at which the factor is good enough. Where the rollouts' noise
/// makes hardly any two policies alike the factor stops at its largest size, and the bracket is wider.
pub fn vendi_truncated(points: Points<'_>, gamma: f64, tolerance: f64) -> VendiScore {
    let n = points.len();
    if n == 0 {
        return VendiScore::exact(0.0, 0);
    }
    let target = residual_for(tolerance, n);
    let factor = LowRank::new(points, gamma, target);
    let r = factor.residual();
    let spread = if r > target { factor.residual_spread(points, gamma) } else { 0.0 };
    let mu: Vec<f64> = eigenvalues(factor.gram().as_ref()).iter().map(|value| value / n as f64).collect();
    bracket(&mu, r, spread, n)
}

/// The Vendi score of a given similarity matrix (row-major, symmetric, ones on the diagonal).
///
/// # Panics
/// If `kernel` is not a square matrix of `n` rows.
pub fn vendi_of_kernel(kernel: &[f64], n: usize) -> f64 {
    assert_eq!(kernel.len(), n * n, "a kernel of {n} policies has {} numbers", n * n);
    vendi_of_matrix(Mat::from_fn(n, n, |i, j| kernel[i * n + j]), n as f64)
}

/// The Vendi score under the cosine of the embeddings, from the eigenvalues of the smaller of X X' and X' X.
///
/// A row of zeros has no direction; it is similar to nothing but itself only in the sense that it is left out.
pub fn vendi_cosine(points: Points<'_>) -> f64 {
    let rows: Vec<Vec<f64>> = (0..points.len()).filter_map(|i| unit(points.row(i))).collect();
    let (n, d) = (rows.len(), points.dim());
    let x = Mat::from_fn(n, d, |i, j| rows[i][j]);
    let gram = if d < n { x.transpose() * &x } else { &x * x.transpose() };
    vendi_of_matrix(gram, n as f64)
}

fn unit(row: &[f64]) -> Option<Vec<f64>> {
    let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    (norm > 0.0).then(|| row.iter().map(|x| x / norm).collect())
}

fn vendi_of_matrix(kernel: Mat<f64>, trace: f64) -> f64 {
    let values: Vec<f64> = eigenvalues(kernel.as_ref()).iter().map(|value| value / trace).collect();
    if values.is_empty() { 0.0 } else { libm::exp(entropy(&values)) }
}

/// The similarity matrix. Every entry is computed for itself, so threads cannot change it; the direct difference
/// keeps the digits of policies that nearly coincide.
fn similarity(points: Points<'_>, gamma: f64) -> Mat<f64> {
    let n = points.len();
    let columns: Vec<Vec<f64>> = (0..n)
        .into_par_iter()
        .map(|j| (j..n).map(|i| libm::exp(-gamma * squared_distance(points.row(i), points.row(j)))).collect())
        .collect();
    Mat::from_fn(n, n, |i, j| if i >= j { columns[j][i - j] } else { columns[i][j - i] })
}

/// Eigenvalues of a symmetric matrix, of which the lower triangle is read. One thread: the bits must not depend on
/// how many there are.
fn eigenvalues(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let n = matrix.nrows();
    let params = Spec::default();
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::No, Par::Seq, params);
    let mut values = Diag::zeros(n);
    let mut memory = MemBuffer::new(scratch);
    match self_adjoint_evd(matrix, values.as_mut(), None, Par::Seq, MemStack::new(&mut memory), params) {
        Ok(()) => values.column_vector().iter().copied().collect(),
        // The iteration always converges on finite input; similarities are finite.
        Err(_) => vec![f64::NAN; n],
    }
}

/// -sum p ln p of values scaled to sum one; what rounding made negative counts as zero.
fn entropy(values: &[f64]) -> f64 {
    let total: f64 = values.iter().filter(|&&v| v > 0.0).sum();
    values.iter().map(|v| surprise(v / total)).sum()
}

/// f(x) = -x ln x.
fn surprise(x: f64) -> f64 {
    if x > 0.0 { -x * libm::log(x) } else { 0.0 }
}

/// The largest residual share r whose bracket is narrower than `tolerance`, by a bound that needs no eigenvalues:
/// f(mu + r) - f(mu) >= -r, so the width of the entropy is at most r (ln(n/r) + 1).
fn residual_for(tolerance: f64, n: usize) -> f64 {
    let width = libm::log1p(tolerance);
    let mut r = width;
    for _ in 0..60 {
        r = width / (libm::log(n as f64 / r) + 1.0);
    }
    r
}

/// H_m + f(mu_1 + r) - f(mu_1) <= H <= H_m + r ln(n/r) for the eigenvalues mu of the factor and the residual share r:
/// the residual is positive semidefinite, so all of it can at most sit on the largest eigenvalue or be spread evenly.
///
/// Within the bracket the score is that of the mu scaled to sum one, or, where the residual counts, that of the mu
/// and a residual whose own entropy is `spread`.
fn bracket(mu: &[f64], r: f64, spread: f64, n: usize) -> VendiScore {
    let top = mu.iter().copied().fold(0.0, f64::max);
    let found: f64 = mu.iter().map(|&m| surprise(m)).sum();
    let lower = found + surprise(top + r) - surprise(top);
    let upper = if r > 0.0 { found + r * libm::log(n as f64 / r) } else { found };
    let estimate = if spread > 0.0 { found + surprise(r) + r * spread } else { entropy(mu) };
    let value = estimate.clamp(lower, upper.max(lower));
    VendiScore { value: libm::exp(value), lower: libm::exp(lower), upper: libm::exp(upper), rank: mu.len() }
}
