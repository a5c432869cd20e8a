//! A pivoted Cholesky factor of a Gaussian similarity matrix that is never formed.
//!
//! K = L L' + R with R positive semidefinite and a small trace. Pivots are taken greedily, but in blocks, so that nearly all
//! of the work is matrix products.

use std::cmp::Ordering;

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::points::Points;
use crate::sample::sample;

/// Candidates for pivots that are looked at together.
const BLOCK: usize = 64;

/// A candidate whose remaining diagonal fell below this share of the block's largest waits for a later block: its
/// neighbourhood has just been covered.
const KEEP: f64 = 0.1;

/// Most columns of a factor: at 10,000 policies about 10 s of one core. Where every policy has noise of its own the
/// residual stops falling long before it is negligible, and more columns would buy little.
const MOST_COLUMNS: usize = 1536;

/// Points at which the residual matrix is looked at to tell how its mass is spread.
const SPREAD_SAMPLE: usize = 512;

/// The factor L (n rows) and what is left of the diagonal.
pub struct LowRank {
    n: usize,
    /// Column-major.
    factor: Vec<f64>,
    /// Diagonal of K - L L'.
    diagonal: Vec<f64>,
}

/// Centred rows and their squared norms: squared distances come from products, which lose the fewest digits when the
/// origin is in the middle of the points.
struct Centred {
    rows: Mat<f64>,
    norms: Vec<f64>,
    gamma: f64,
}

impl LowRank {
    /// Factorises exp(-gamma d^2) until the residual's share of the trace is at most `residual`, or until the factor has
    /// as many columns as it may.
    pub fn new(points: Points<'_>, gamma: f64, residual: f64) -> Self {
        let n = points.len();
        let centred = Centred::new(points, gamma);
        let mut this = Self { n, factor: Vec::new(), diagonal: vec![1.0; n] };
        while this.residual() > residual && this.columns() < MOST_COLUMNS {
            let candidates = this.candidates();
            this.add_block(&centred, &candidates);
        }
        this
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.factor.len() / self.n
    }

    /// Share of the trace that the factor leaves out.
    pub fn residual(&self) -> f64 {
        self.diagonal.iter().sum::<f64>() / self.n as f64
    }

    /// L' L, whose eigenvalues are the non-zero ones of L L'; the lower triangle.
    pub fn gram(&self) -> Mat<f64> {
        let m = self.columns();
        let l = self.matrix();
        let mut gram = Mat::zeros(m, m);
        let (lower, full) =
            (triangular::BlockStructure::TriangularLower, triangular::BlockStructure::Rectangular);
        triangular::matmul(gram.as_mut(), lower, Accum::Replace, l.transpose(), full, l, full, 1.0, Par::Seq);
        gram
    }

    /// An estimate of -ln tr((R / tr R)^2), the entropy of order two of the residual, from a sample of its entries: near
    /// ln n where every policy has a remainder of its own, smaller where few directions are left.
    pub fn residual_spread(&self, points: Points<'_>, gamma: f64) -> f64 {
        let chosen = sample(self.n, SPREAD_SAMPLE, 0);
        let rows = points.pick(&chosen);
        let s = chosen.len();
        let mut block =
            Centred::new(Points::new(&rows, points.dim()), gamma).kernel_columns(&(0..s).collect::<Vec<_>>());
        let l = self.matrix();
        let picked = Mat::from_fn(s, l.ncols(), |i, j| l[(chosen[i], j)]);
        matmul(block.as_mut(), Accum::Add, &picked, picked.transpose(), -1.0, Par::Seq);
        let off_diagonal: f64 =
            (0..s).flat_map(|j| (0..j).map(move |i| (i, j))).map(|at| block[at] * block[at]).sum();
        let pairs = (s * (s - 1)) as f64 / 2.0;
        let n = self.n as f64;
        let squares =
            self.diagonal.iter().map(|d| d * d).sum::<f64>() + n * (n - 1.0) * off_diagonal / pairs.max(1.0);
        2.0 * libm::log(n * self.residual()) - libm::log(squares)
    }

    fn matrix(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.factor, self.n, self.columns())
    }

    /// The points with the largest remaining diagonal, the lowest index first among equals.
    fn candidates(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.n).collect();
        let count = BLOCK.min(self.n);
        if count < self.n {
            order.select_nth_unstable_by(count, |&a, &b| self.compare(a, b));
        }
        order.truncate(count);
        order.sort_unstable_by(|&a, &b| self.compare(a, b));
        order
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        self.diagonal[b].total_cmp(&self.diagonal[a]).then(a.cmp(&b))
    }

    /// Appends the columns of those candidates that are worth one.
    fn add_block(&mut self, centred: &Centred, candidates: &[usize]) {
        let mut columns = self.residual_columns(centred, candidates);
        let least = KEEP * self.diagonal[candidates[0]];
        let mut open: Vec<usize> = (0..candidates.len()).collect();
        while let Some(at) = self.best(candidates, &open, least) {
            let candidate = open.swap_remove(at);
            let pivot = candidates[candidate];
            let column = self.finish_column(columns.col_as_slice(candidate), pivot);
            for &other in &open {
                let scale = column[candidates[other]];
                subtract(columns.col_as_slice_mut(other), scale, &column);
            }
            self.factor.extend_from_slice(&column);
        }
    }

    /// Position in `open` of the candidate with the largest remaining diagonal, if that is at least `least`.
    fn best(&self, candidates: &[usize], open: &[usize], least: f64) -> Option<usize> {
        let best = (0..open.len()).min_by(|&a, &b| self.compare(candidates[open[a]], candidates[open[b]]))?;
        let remaining = self.diagonal[candidates[open[best]]];
        (remaining >= least && remaining > 0.0).then_some(best)
    }

    /// Scales a residual column by its pivot and takes it off the diagonal.
    fn finish_column(&mut self, residual: &[f64], pivot: usize) -> Vec<f64> {
        let scale = 1.0 / self.diagonal[pivot].sqrt();
        let column: Vec<f64> = residual.iter().map(|x| x * scale).collect();
        for (rest, x) in self.diagonal.iter_mut().zip(&column) {
            *rest = (*rest - x * x).max(0.0);
        }
        self.diagonal[pivot] = 0.0;
        column
    }

    /// Columns of K - L L' at the candidates.
    fn residual_columns(&self, centred: &Centred, candidates: &[usize]) -> Mat<f64> {
        let mut columns = centred.kernel_columns(candidates);
        if self.columns() > 0 {
            let l = self.matrix();
            let rows = Mat::from_fn(candidates.len(), l.ncols(), |i, j| l[(candidates[i], j)]);
            matmul(columns.as_mut(), Accum::Add, l, rows.transpose(), -1.0, Par::Seq);
        }
        columns
    }
}

impl Centred {
    fn new(points: Points<'_>, gamma: f64) -> Self {
        let (n, d) = (points.len(), points.dim());
        let mut mean = vec![0.0; d];
        for i in 0..n {
            mean.iter_mut().zip(points.row(i)).for_each(|(m, x)| *m += x);
        }
        mean.iter_mut().for_each(|m| *m /= n as f64);
        let rows = Mat::from_fn(n, d, |i, j| points.row(i)[j] - mean[j]);
        let norms = (0..n).map(|i| rows.row(i).iter().map(|x| x * x).sum()).collect();
        Self { rows, norms, gamma }
    }

    /// Columns of K at the candidates.
    fn kernel_columns(&self, candidates: &[usize]) -> Mat<f64> {
        let (n, d) = (self.rows.nrows(), self.rows.ncols());
        let picked = Mat::from_fn(candidates.len(), d, |i, j| self.rows[(candidates[i], j)]);
        let mut columns = Mat::zeros(n, candidates.len());
        matmul(columns.as_mut(), Accum::Replace, &self.rows, picked.transpose(), 1.0, Par::Seq);
        for (c, &candidate) in candidates.iter().enumerate() {
            self.products_to_similarities(columns.as_mut(), c, candidate);
        }
        columns
    }

    fn products_to_similarities(&self, mut columns: MatMut<'_, f64>, c: usize, candidate: usize) {
        for (i, norm) in self.norms.iter().enumerate() {
            let distance = (norm + self.norms[candidate] - 2.0 * columns[(i, c)]).max(0.0);
            columns[(i, c)] = libm::exp(-self.gamma * distance);
        }
        columns[(candidate, c)] = 1.0;
    }
}

/// y -= a x.
fn subtract(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y -= a * x);
}
