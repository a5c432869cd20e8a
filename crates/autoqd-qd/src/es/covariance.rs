//! A covariance matrix with the factor it is sampled by.
//!
//! Sampling needs some A with A Aᵀ = C, whitening needs C^(-1/2) y, which is unique. Both are taken from C as it was at
//! the last refresh. Near a multiple of the identity, where CMA-ES with many parameters spends a whole run, a
//! Cholesky factor samples and a short series whitens; elsewhere it is the eigendecomposition, as in the literature.

use std::mem::MaybeUninit;

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, ColMut, MatMut, MatRef, Par};
use serde::{Deserialize, Serialize};

use super::Arithmetic;
use super::sampling::norm2;
use crate::linear;

/// Below this size the eigendecomposition is almost free.
const SMALL: usize = 64;
/// Largest distance from a multiple of the identity, relative to it, at which the series is used.
const NEAR: f64 = 0.3;
/// Eigenvalues are treated as at least this share of the largest when they are divided by.
const FLOOR: f64 = 1e-30;

/// What C was at the last refresh, in the form that sampling and whitening need.
#[derive(Debug, Clone)]
enum Factor {
    Identity,
    /// C = scale (I + E) with a small E; `matrix` holds the Cholesky factor, `deviation` bounds the norm of E.
    Near {
        scale: f64,
        deviation: f64,
    },
    /// `matrix` holds the eigenvectors; the values are absolute.
    Eigen {
        values: Vec<f64>,
    },
}

/// A symmetric matrix and its factor.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Packed")]
pub(crate) struct Covariance {
    n: usize,
    arithmetic: Arithmetic,
    /// C, column-major; only the lower triangle is kept up to date, so C cannot lose its symmetry.
    lower: Vec<f64>,
    /// C at the last refresh, lower triangle.
    reference: Vec<f64>,
    factor: Factor,
    /// Cholesky factor or eigenvectors, column-major.
    matrix: Vec<f64>,
    scratch: Vec<MaybeUninit<u8>>,
    series: [Vec<f64>; 2],
}

/// The stored form: two packed triangles; the factor is derived from the second.
#[derive(Serialize, Deserialize)]
struct Packed {
    n: usize,
    lower: Vec<f64>,
    reference: Option<Vec<f64>>,
}

impl Serialize for Covariance {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reference = (!matches!(self.factor, Factor::Identity)).then(|| pack(&self.reference, self.n));
        Packed { n: self.n, lower: pack(&self.lower, self.n), reference }.serialize(serializer)
    }
}

impl From<Packed> for Covariance {
    fn from(packed: Packed) -> Self {
        let mut c = Covariance::identity(packed.n);
        if let Some(reference) = &packed.reference {
            unpack(reference, packed.n, &mut c.lower);
            c.refresh();
        }
        unpack(&packed.lower, packed.n, &mut c.lower);
        c
    }
}

fn pack(lower: &[f64], n: usize) -> Vec<f64> {
    (0..n).flat_map(|j| lower[j * n + j..(j + 1) * n].iter().copied()).collect()
}

fn unpack(packed: &[f64], n: usize, lower: &mut [f64]) {
    let mut rest = packed;
    for j in 0..n {
        let (column, tail) = rest.split_at((n - j).min(rest.len()));
        lower[j * n + j..j * n + j + column.len()].copy_from_slice(column);
        rest = tail;
    }
}

impl Covariance {
    pub fn identity(n: usize) -> Self {
        let mut c = Self {
            n,
            arithmetic: Arithmetic::Portable,
            lower: vec![0.0; n * n],
            reference: vec![0.0; n * n],
            factor: Factor::Identity,
            matrix: vec![0.0; n * n],
            scratch: Vec::new(),
            series: [vec![0.0; n], vec![0.0; n]],
        };
        c.reset();
        c
    }

    /// A given matrix (row- or column-major). Where it is not symmetric the larger of the two entries counts, as in
    /// pyribs. The factor is fresh.
    pub fn from_matrix(matrix: &[f64], n: usize) -> Self {
        let mut c = Self::identity(n);
        for j in 0..n {
            for i in j..n {
                c.lower[j * n + i] = f64::max(matrix[j * n + i], matrix[i * n + j]);
            }
        }
        c.refresh();
        c
    }

    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Chooses the arithmetic; the factor is taken again from what it was taken from. It is not part of the stored form.
    pub fn set_arithmetic(&mut self, arithmetic: Arithmetic) {
        if self.arithmetic == arithmetic {
            return;
        }
        self.arithmetic = arithmetic;
        if !matches!(self.factor, Factor::Identity) {
            let now = self.lower.clone();
            self.lower.copy_from_slice(&self.reference);
            self.refresh();
            self.lower = now;
        }
    }

    pub fn reset(&mut self) {
        self.lower.fill(0.0);
        self.lower.iter_mut().step_by(self.n + 1).for_each(|d| *d = 1.0);
        self.factor = Factor::Identity;
    }

    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.lower[i.min(j) * self.n + i.max(j)]
    }

    pub fn trace(&self) -> f64 {
        self.lower.iter().step_by(self.n + 1).sum()
    }

    /// C <- keep C + Y Yᵀ for the columns of Y.
    pub fn update(&mut self, keep: f64, columns: &[f64]) {
        let n = self.n;
        for j in 0..n {
            self.lower[j * n + j..(j + 1) * n].iter_mut().for_each(|c| *c *= keep);
        }
        if self.arithmetic == Arithmetic::Portable {
            return linear::rank_update(&mut self.lower, n, columns);
        }
        let y = MatRef::from_column_major_slice(columns, n, columns.len() / n);
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        let c = MatMut::from_column_major_slice_mut(&mut self.lower, n, n);
        triangular::matmul(c, lower, Accum::Add, y, full, y.transpose(), full, 1.0, Par::Seq);
    }

    /// Takes the factor from the present C. Returns false when the decomposition fails; the factor is then the
    /// identity, so that samples stay finite until the strategy starts again.
    pub fn refresh(&mut self) -> bool {
        let (scale, deviation) = self.distance_from_identity();
        if self.n >= SMALL && deviation <= NEAR && self.cholesky() {
            self.factor = Factor::Near { scale, deviation };
        } else if let Some(values) = self.eigen() {
            self.factor = Factor::Eigen { values };
        } else {
            self.factor = Factor::Identity;
            return false;
        }
        self.reference.copy_from_slice(&self.lower);
        true
    }

    /// The nearest multiple of the identity, and the relative Frobenius norm of the rest, which bounds how far any
    /// eigenvalue can be from it.
    fn distance_from_identity(&self) -> (f64, f64) {
        let scale = self.trace() / self.n as f64;
        let mut rest = 0.0;
        for j in 0..self.n {
            let column = &self.lower[j * self.n + j..(j + 1) * self.n];
            let diagonal = column[0] - scale;
            rest += diagonal * diagonal + 2.0 * norm2(&column[1..]);
        }
        (scale, libm::sqrt(rest) / scale.abs())
    }

    fn cholesky(&mut self) -> bool {
        self.matrix.copy_from_slice(&self.lower);
        if self.arithmetic == Arithmetic::Portable {
            return linear::cholesky(&mut self.matrix, self.n);
        }
        let request = cholesky_in_place_scratch::<f64>(self.n, Par::Seq, Default::default());
        self.scratch.resize(request.unaligned_bytes_required(), MaybeUninit::uninit());
        let stack = MemStack::new(&mut self.scratch);
        let matrix = MatMut::from_column_major_slice_mut(&mut self.matrix, self.n, self.n);
        cholesky_in_place(matrix, Default::default(), Par::Seq, stack, Default::default()).is_ok()
    }

    /// Eigenvectors into `matrix`; returns the absolute eigenvalues in ascending order of the signed ones.
    fn eigen(&mut self) -> Option<Vec<f64>> {
        let n = self.n;
        if self.arithmetic == Arithmetic::Portable {
            let (values, vectors) = linear::symmetric_eigen(&self.lower, n)?;
            self.matrix = vectors;
            let values: Vec<f64> = values.iter().map(|v| v.abs()).collect();
            return values.iter().all(|v| v.is_finite()).then_some(values);
        }
        let request =
            self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
        self.scratch.resize(request.unaligned_bytes_required(), MaybeUninit::uninit());
        let stack = MemStack::new(&mut self.scratch);
        let mut values = vec![0.0; n];
        let c = MatRef::from_column_major_slice(&self.lower, n, n);
        let vectors = MatMut::from_column_major_slice_mut(&mut self.matrix, n, n);
        let diagonal = ColMut::from_slice_mut(&mut values).as_diagonal_mut();
        let done = self_adjoint_evd(c, diagonal, Some(vectors), Par::Seq, stack, Default::default()).is_ok();
        values.iter_mut().for_each(|v| *v = v.abs());
        (done && values.iter().all(|v| v.is_finite())).then_some(values)
    }

    /// out = A z for each row of `z`; `z` may be overwritten.
    pub fn transform(&self, z: &mut [f64], out: &mut [f64]) {
        let (n, rows) = (self.n, z.len() / self.n);
        let matrix = MatRef::from_column_major_slice(&self.matrix, n, n);
        let portable = self.arithmetic == Arithmetic::Portable;
        match &self.factor {
            Factor::Identity => out.copy_from_slice(z),
            Factor::Near { .. } if portable => linear::multiply_lower(&self.matrix, n, z, out),
            Factor::Near { .. } => {
                let z = MatRef::from_column_major_slice(z, n, rows);
                let out = MatMut::from_column_major_slice_mut(out, n, rows);
                let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
                triangular::matmul(out, full, Accum::Replace, matrix, lower, z, full, 1.0, Par::Seq);
            }
            Factor::Eigen { values } => {
                for row in z.chunks_exact_mut(n) {
                    row.iter_mut().zip(values).for_each(|(z, v)| *z *= libm::sqrt(*v));
                }
                if portable {
                    return linear::multiply(&self.matrix, n, z, out);
                }
                let z = MatRef::from_column_major_slice(z, n, rows);
                let out = MatMut::from_column_major_slice_mut(out, n, rows);
                matmul(out, Accum::Replace, matrix, z, 1.0, Par::Seq);
            }
        }
    }

    /// y <- C^(-1/2) y, with C as of the last refresh.
    pub fn whiten(&mut self, y: &mut [f64]) {
        match &self.factor {
            Factor::Identity => {}
            Factor::Near { scale, .. } => {
                let scale = *scale;
                self.inverse_root_series(scale, y);
            }
            Factor::Eigen { values } => {
                let n = self.n;
                let floor = f64::max(largest(values) * FLOOR, f64::MIN_POSITIVE);
                let [coordinates, _] = &mut self.series;
                if self.arithmetic == Arithmetic::Portable {
                    for (coordinate, vector) in coordinates.iter_mut().zip(self.matrix.chunks_exact(n)) {
                        *coordinate = linear::dot(vector, y);
                    }
                    coordinates.iter_mut().zip(values).for_each(|(c, v)| *c /= libm::sqrt(v.max(floor)));
                    return linear::multiply(&self.matrix, n, coordinates, y);
                }
                let basis = MatRef::from_column_major_slice(&self.matrix, n, n);
                let mut out = MatMut::from_column_major_slice_mut(coordinates, n, 1);
                let step = MatRef::from_column_major_slice(y, n, 1);
                matmul(out.as_mut(), Accum::Replace, basis.transpose(), step, 1.0, Par::Seq);
                coordinates.iter_mut().zip(values).for_each(|(c, v)| *c /= libm::sqrt(v.max(floor)));
                let coordinates = MatRef::from_column_major_slice(coordinates, n, 1);
                let y = MatMut::from_column_major_slice_mut(y, n, 1);
                matmul(y, Accum::Replace, basis, coordinates, 1.0, Par::Seq);
            }
        }
    }

    /// (scale (I + E))^(-1/2) y by the binomial series in E, until its terms no longer change the sum.
    fn inverse_root_series(&mut self, scale: f64, y: &mut [f64]) {
        let [mut term, mut next] = std::mem::take(&mut self.series);
        term.copy_from_slice(y);
        let enough = norm2(y) * (f64::EPSILON * f64::EPSILON / 16.0);
        // |E| <= NEAR, so each term is at most 0.3 times the one before: 32 of them reach the last bit.
        for k in 1..=32 {
            // binomial(-1/2, k) = binomial(-1/2, k-1) * (1/2 - k) / k
            let coefficient = (0.5 - f64::from(k)) / f64::from(k);
            linear::multiply_symmetric(&self.reference, self.n, &term, &mut next);
            next.iter_mut().zip(&term).for_each(|(e, t)| *e = coefficient * (*e / scale - t));
            y.iter_mut().zip(&next).for_each(|(y, e)| *y += e);
            std::mem::swap(&mut term, &mut next);
            if norm2(&term) <= enough {
                break;
            }
        }
        let root = libm::sqrt(scale);
        y.iter_mut().for_each(|y| *y /= root);
        self.series = [term, next];
    }

    /// Absolute eigenvalues at the last refresh, in ascending order of the signed ones.
    pub fn eigenvalues(&self) -> Option<Vec<f64>> {
        match &self.factor {
            Factor::Identity => Some(vec![1.0; self.n]),
            Factor::Eigen { values } => Some(values.clone()),
            Factor::Near { .. } => {
                let mut copy = self.clone();
                copy.lower.copy_from_slice(&self.reference);
                copy.eigen()
            }
        }
    }

    /// Condition number at the last refresh.
    pub fn condition(&self) -> f64 {
        self.eigenvalues().map_or(f64::INFINITY, |values| condition(&values))
    }

    /// An upper bound of the condition number, exact unless near a multiple of the identity, where it is below 2.
    pub fn condition_bound(&self) -> f64 {
        match &self.factor {
            Factor::Identity => 1.0,
            Factor::Near { deviation, .. } => (1.0 + deviation) / (1.0 - deviation),
            Factor::Eigen { values } => condition(values),
        }
    }

    /// Whether sigma times the root of the largest eigenvalue is below a limit. Near a multiple of the identity the
    /// largest eigenvalue lies between the mean and a bound; it is only computed when the answer depends on it.
    pub fn extent_below(&self, sigma: f64, limit: f64) -> bool {
        let below = |value: f64| sigma * libm::sqrt(value) < limit;
        match &self.factor {
            Factor::Identity => below(1.0),
            Factor::Near { scale, deviation } if below(*scale) => {
                below(scale * (1.0 + deviation)) || self.eigenvalues().is_some_and(|v| below(largest(&v)))
            }
            Factor::Near { .. } => false,
            Factor::Eigen { values } => below(largest(values)),
        }
    }
}

fn condition(values: &[f64]) -> f64 {
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    if smallest == 0.0 { f64::INFINITY } else { largest(values) / smallest }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}
