//! Main directions of weighted embeddings, with the same bits on every CPU.

use autoqd_qd::linear::{rank_update, symmetric_eigen};

use super::affine::dot;
use super::decompose::{Axes, largest_positive};
use crate::Error;

/// Directions whose variance is at least this share of the largest are taken from one product of the rows with
/// themselves: they are then exact to about twelve digits. The rest is taken from what is left of the rows.
const TOGETHER: f64 = 1e-4;
/// Sweeps of the rotations that make the columns of a small matrix orthogonal; a handful is usual.
const SWEEPS: usize = 60;

/// The first `k` right singular vectors of the rows sqrt(w_i) (psi_i - mu).
pub(super) fn principal_axes<R: AsRef<[f64]>>(
    embeddings: &[R],
    weights: &[f64],
    mean: &[f64],
    k: usize,
) -> Result<Axes, Error> {
    let (m, d) = (embeddings.len(), mean.len());
    let centred = |(row, w): (&R, &f64)| {
        let root = w.sqrt();
        row.as_ref().iter().zip(mean).map(move |(x, mean)| root * (x - mean)).collect::<Vec<f64>>()
    };
    let mut rows: Vec<f64> = embeddings.iter().zip(weights).flat_map(centred).collect();
    let mut axes = Axes { components: Vec::new(), variance: Vec::new(), total_variance: 0.0 };
    axes.total_variance = rows.iter().fold(0.0, |sum, x| sum + x * x);
    // As numpy's matrix_rank: singular values below this are rounding.
    let mut noise = None;
    'found: while d > 0 && axes.components.len() < k.min(m).min(d) {
        let directions = leading(&rows, m, d)
            .ok_or_else(|| Error::invalid("weighted PCA", "no convergence", "finite embeddings"))?;
        for mut direction in directions.into_iter().take(k.min(m).min(d) - axes.components.len()) {
            orthogonalise(&mut direction, &axes.components);
            let value = take_out(&mut rows, &direction);
            if value <= *noise.get_or_insert(value * m.max(d) as f64 * f64::EPSILON) {
                break 'found;
            }
            largest_positive(&mut direction);
            axes.components.push(direction);
            axes.variance.push(value * value);
        }
    }
    axes.components.resize(k, vec![0.0; d]);
    axes.variance.resize(k, 0.0);
    Ok(axes)
}

/// The directions of the largest variances of the rows, of length 1; at least one.
fn leading(rows: &[f64], m: usize, d: usize) -> Option<Vec<Vec<f64>>> {
    // Of the two products of the rows with themselves the smaller one has all the information.
    let size = m.min(d);
    let mut product = vec![0.0; size * size];
    if d <= m {
        rank_update(&mut product, d, rows);
    } else {
        let columns: Vec<f64> = (0..d).flat_map(|j| (0..m).map(move |i| rows[i * d + j])).collect();
        rank_update(&mut product, m, &columns);
    }
    let (values, vectors) = symmetric_eigen(&product, size)?;
    let enough = TOGETHER * values[size - 1];
    let count = values.iter().rev().take_while(|value| **value > enough).count().max(1);
    let vectors = vectors.rchunks_exact(size).take(count);
    Some(if d <= m {
        vectors.map(<[f64]>::to_vec).collect()
    } else {
        vectors.map(|vector| combined(rows, vector, d)).collect()
    })
}

/// The sum of the rows with the given factors.
fn combined(rows: &[f64], factors: &[f64], d: usize) -> Vec<f64> {
    let mut sum = vec![0.0; d];
    for (row, factor) in rows.chunks_exact(d).zip(factors) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * x);
    }
    sum
}

/// Makes a direction orthogonal to those found before and of length 1; the second pass removes what rounding left.
fn orthogonalise(direction: &mut [f64], found: &[Vec<f64>]) {
    for other in found.iter().chain(found) {
        let along = dot(direction, other);
        direction.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
    }
    let length = dot(direction, direction).sqrt();
    if length > 0.0 {
        direction.iter_mut().for_each(|x| *x /= length);
    }
}

/// Removes a direction from the rows; returns the singular value along it.
fn take_out(rows: &mut [f64], direction: &[f64]) -> f64 {
    let mut squares = 0.0;
    for row in rows.chunks_exact_mut(direction.len()) {
        let along = dot(row, direction);
        squares += along * along;
        row.iter_mut().zip(direction).for_each(|(x, v)| *x -= along * v);
    }
    squares.sqrt()
}

/// Singular values of a small matrix given by its columns, largest first (one-sided Jacobi rotations).
pub(super) fn singular_values(mut columns: Vec<Vec<f64>>) -> Vec<f64> {
    let size = columns.len().min(columns.first().map_or(0, Vec::len));
    for _ in 0..SWEEPS {
        let mut turned = false;
        for q in 1..columns.len() {
            let (left, right) = columns.split_at_mut(q);
            left.iter_mut().for_each(|p| turned |= make_orthogonal(p, &mut right[0]));
        }
        if !turned {
            break;
        }
    }
    let mut values: Vec<f64> = columns.iter().map(|column| dot(column, column).sqrt()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values.truncate(size);
    values
}

/// Turns two columns until they are orthogonal; returns whether they were not.
fn make_orthogonal(p: &mut [f64], q: &mut [f64]) -> bool {
    let (pp, qq, pq) = (dot(p, p), dot(q, q), dot(p, q));
    if pq.abs() <= f64::EPSILON * (pp * qq).sqrt() {
        return false;
    }
    let ratio = (qq - pp) / (2.0 * pq);
    let tan = 1.0_f64.copysign(ratio) / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
    let cos = 1.0 / (1.0 + tan * tan).sqrt();
    let sin = cos * tan;
    for (p, q) in p.iter_mut().zip(q) {
        (*p, *q) = (cos * *p - sin * *q, sin * *p + cos * *q);
    }
    true
}
