//! Eigenvalues and eigenvectors of symmetric matrices: Householder reflections to a tridiagonal matrix, then implicit
//! QL steps (Wilkinson and Reinsch, Handbook for Automatic Computation II), whose rotations are applied in batches.

use super::{dot, multiply_symmetric, wide};

/// Steps per eigenvalue; two are usual.
const STEPS: usize = 60;
/// Rows of the eigenvectors that see a batch of rotations together, so that they stay in a cache.
const ROWS: usize = 64;
/// Rotations of a batch per eigenvalue.
const SWEEPS: usize = 24;

/// The eigenvalues in ascending order and the eigenvectors, column after column, of the matrix of size `n` with the
/// given lower triangle, column after column. `None` when a number is not finite or the steps do not converge.
///
/// # Panics
/// When the length is not n².
pub fn symmetric_eigen(lower: &[f64], n: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    assert!(lower.len() == n * n, "size of a square matrix");
    let columns = || (0..n).flat_map(|j| lower[j * n + j..(j + 1) * n].iter());
    if !columns().all(|x| x.is_finite()) {
        return None;
    }
    let largest = columns().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    // A power of two, so that scaling rounds nothing, and squares neither overflow nor vanish.
    let exponent = if largest > 0.0 { libm::frexp(largest).1 } else { 0 };
    let mut a: Vec<f64> = lower.iter().map(|x| libm::scalbn(*x, -exponent)).collect();
    let mut vectors = vec![0.0; n * n];
    let mut tridiagonal = wide(
        #[inline(always)]
        || {
            let tridiagonal = reduce(&mut a, n);
            expand(&a, n, &tridiagonal.factors, &mut vectors);
            tridiagonal
        },
    );
    if !tridiagonal.diagonalise(n, &mut vectors) {
        return None;
    }
    let values: Vec<f64> = tridiagonal.diagonal.iter().map(|x| libm::scalbn(*x, exponent)).collect();
    Some(sorted(&values, &vectors, n))
}

fn sorted(values: &[f64], vectors: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let columns = order.iter().flat_map(|i| vectors[i * n..(i + 1) * n].iter().copied()).collect();
    (order.iter().map(|i| values[*i]).collect(), columns)
}

/// A tridiagonal matrix; entry `i` beside the diagonal is between `i` and `i + 1`.
struct Tridiagonal {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    /// Of the reflections I - factor v vᵀ.
    factors: Vec<f64>,
}

/// Reflections that make `a` tridiagonal; column k of `a` below its diagonal is left with their vector.
#[inline(always)]
fn reduce(a: &mut [f64], n: usize) -> Tridiagonal {
    let mut to =
        Tridiagonal { diagonal: vec![0.0; n], beside: vec![0.0; n], factors: vec![0.0; n.saturating_sub(1)] };
    let (mut v, mut w) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..n.saturating_sub(1) {
        to.diagonal[k] = a[k * n + k];
        let column = &mut a[k * n + k + 1..(k + 1) * n];
        let below = dot(&column[1..], &column[1..]);
        if below == 0.0 {
            to.beside[k] = column[0];
            continue;
        }
        let first = column[0];
        let length = libm::sqrt(first * first + below);
        let beside = if first > 0.0 { -length } else { length };
        to.beside[k] = beside;
        to.factors[k] = (beside - first) / beside;
        let scale = 1.0 / (first - beside);
        column.iter_mut().for_each(|x| *x *= scale);
        column[0] = 1.0;
        let m = n - k - 1;
        let (v, w) = (&mut v[..m], &mut w[..m]);
        v.copy_from_slice(column);
        let rest = &mut a[(k + 1) * n + k + 1..];
        multiply_symmetric(rest, n, v, w);
        let factor = to.factors[k];
        let along = 0.5 * factor * factor * dot(v, w);
        w.iter_mut().zip(&*v).for_each(|(w, v)| *w = factor * *w - along * v);
        for j in 0..m {
            let (vj, wj) = (v[j], w[j]);
            let column = &mut rest[j * n + j..j * n + m];
            for ((x, v), w) in column.iter_mut().zip(&v[j..]).zip(&w[j..]) {
                *x -= v * wj + w * vj;
            }
        }
    }
    if n > 0 {
        to.diagonal[n - 1] = a[n * n - 1];
    }
    to
}

/// The product of the reflections, four columns at a time.
#[inline(always)]
fn expand(a: &[f64], n: usize, factors: &[f64], vectors: &mut [f64]) {
    for (block, columns) in vectors.chunks_mut(4 * n.max(1)).enumerate() {
        let width = columns.len() / n;
        (0..width).for_each(|c| columns[c * n + 4 * block + c] = 1.0);
        // A reflection k leaves a column j <= k of the identity as it is.
        for k in (0..factors.len().min(4 * block + width)).rev().filter(|k| factors[*k] != 0.0) {
            let v = &a[k * n + k + 1..(k + 1) * n];
            for column in columns.chunks_exact_mut(n) {
                let column = &mut column[k + 1..];
                let along = factors[k] * dot(v, column);
                column.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
            }
        }
    }
}

/// A rotation of the columns `at` and `at + 1`.
struct Rotation {
    at: usize,
    cos: f64,
    sin: f64,
}

impl Tridiagonal {
    /// Implicit QL steps until nothing is left beside the diagonal.
    fn diagonalise(&mut self, n: usize, vectors: &mut [f64]) -> bool {
        let mut rotations = Vec::new();
        for low in 0..n {
            let mut steps = 0;
            while let Some(high) = self.block_from(low, n) {
                if steps == STEPS {
                    return false;
                }
                steps += 1;
                self.step(low, high, &mut rotations);
                if rotations.len() >= SWEEPS * n {
                    rotate(vectors, n, &mut rotations);
                }
            }
        }
        rotate(vectors, n, &mut rotations);
        true
    }

    /// The last index of the block that begins at `low`; none if the block has one entry.
    fn block_from(&self, low: usize, n: usize) -> Option<usize> {
        let (d, e) = (&self.diagonal, &self.beside);
        let negligible =
            |i: &usize| e[*i].abs() <= f64::EPSILON * (d[*i].abs() + d[*i + 1].abs()) + f64::MIN_POSITIVE;
        let high = (low..n - 1).find(negligible).unwrap_or(n - 1);
        (high > low).then_some(high)
    }

    /// One step with Wilkinson's shift.
    fn step(&mut self, low: usize, high: usize, rotations: &mut Vec<Rotation>) {
        let (d, e) = (&mut self.diagonal, &mut self.beside);
        let half = (d[low + 1] - d[low]) / (2.0 * e[low]);
        let root = libm::hypot(half, 1.0);
        let mut g = d[high] - d[low] + e[low] / (half + root.copysign(half));
        let (mut sin, mut cos, mut moved) = (1.0, 1.0, 0.0);
        for i in (low..high).rev() {
            let (f, b) = (sin * e[i], cos * e[i]);
            let r = libm::hypot(f, g);
            e[i + 1] = r;
            if r == 0.0 {
                d[i + 1] -= moved;
                e[high] = 0.0;
                return;
            }
            (sin, cos) = (f / r, g / r);
            let from = d[i + 1] - moved;
            let r = (d[i] - from) * sin + 2.0 * cos * b;
            moved = sin * r;
            d[i + 1] = from + moved;
            g = cos * r - b;
            rotations.push(Rotation { at: i, cos, sin });
        }
        d[low] -= moved;
        e[low] = g;
        e[high] = 0.0;
    }
}

/// Applies the rotations in their order to the columns, some rows at a time.
fn rotate(vectors: &mut [f64], n: usize, rotations: &mut Vec<Rotation>) {
    wide(
        #[inline(always)]
        || {
            for from in (0..n).step_by(ROWS) {
                let rows = ROWS.min(n - from);
                for Rotation { at, cos, sin } in &*rotations {
                    let (left, right) = vectors[at * n..(at + 2) * n].split_at_mut(n);
                    let (left, right) = (&mut left[from..from + rows], &mut right[from..from + rows]);
                    for (x, y) in left.iter_mut().zip(right) {
                        let old = *y;
                        *y = sin * *x + cos * old;
                        *x = cos * *x - sin * old;
                    }
                }
            }
        },
    );
    rotations.clear();
}
