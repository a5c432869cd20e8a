//! Sparse symmetric matrices of lanes: factorisation, solution, product.
//!
//! The trunk of a pattern (its first rows, which every other row has as columns) is kept in registers: its size is a
//! constant of the functions below, one instance of which is compiled per size. The order of operations on every entry
//! does not depend on the size.

pub(crate) mod branches;

use crate::pattern::{LARGEST_TRUNK, Pattern};
use crate::simd::Lane;

/// Calls a function with the size of the pattern's trunk as its constant.
macro_rules! with_trunk {
    ($pattern:expr, $function:ident($($argument:expr),*)) => {
        match $pattern.trunk() {
            1 => $function::<F, 1>($pattern, $($argument),*),
            2 => $function::<F, 2>($pattern, $($argument),*),
            3 => $function::<F, 3>($pattern, $($argument),*),
            4 => $function::<F, 4>($pattern, $($argument),*),
            5 => $function::<F, 5>($pattern, $($argument),*),
            LARGEST_TRUNK => $function::<F, LARGEST_TRUNK>($pattern, $($argument),*),
            _ => $function::<F, 0>($pattern, $($argument),*),
        }
    };
}

/// Factors A = L' D L in place: rows of L without its unit diagonal, and the inverse of D.
#[inline(always)]
pub(crate) fn factor<F: Lane>(pattern: &Pattern, a: &mut [F], inverse_diagonal: &mut [F]) {
    with_trunk!(pattern, factor_from(a, inverse_diagonal));
}

/// The factors of a matrix that stays as it is; their diagonal is undefined.
#[inline(always)]
pub(crate) fn factors_of<F: Lane>(
    pattern: &Pattern,
    matrix: &[F],
    factors: &mut [F],
    inverse_diagonal: &mut [F],
) {
    match (pattern.trunk(), pattern.branch()) {
        (6, Some(2)) => branches::factor::<F, 6, 2>(pattern, matrix, &(), factors, inverse_diagonal),
        (6, Some(3)) => branches::factor::<F, 6, 3>(pattern, matrix, &(), factors, inverse_diagonal),
        (3, Some(3)) => branches::factor::<F, 3, 3>(pattern, matrix, &(), factors, inverse_diagonal),
        _ => {
            factors.copy_from_slice(matrix);
            factor(pattern, factors, inverse_diagonal);
        }
    }
}

/// Solves A x = b in place, with the factors of A.
#[inline(always)]
pub(crate) fn solve<F: Lane>(pattern: &Pattern, factors: &[F], inverse_diagonal: &[F], x: &mut [F]) {
    with_trunk!(pattern, solve_from(factors, inverse_diagonal, x));
}

/// y = A x
#[inline(always)]
pub(crate) fn multiply<F: Lane>(pattern: &Pattern, a: &[F], x: &[F], y: &mut [F]) {
    with_trunk!(pattern, multiply_from(a, x, y));
}

/// Where row `k` of the trunk starts.
const fn triangle(k: usize) -> usize {
    k * (k + 1) / 2
}

// Loops over the trunk run over all of it and leave out what is above the diagonal: so the compiler unrolls them.

#[inline(always)]
fn factor_from<F: Lane, const T: usize>(pattern: &Pattern, a: &mut [F], inverse_diagonal: &mut [F]) {
    let mut trunk = [[F::zero(); T]; T];
    for i in 0..T {
        for j in 0..T {
            if j <= i {
                trunk[i][j] = a[triangle(i) + j];
            }
        }
    }
    for k in (T..pattern.size()).rev() {
        let columns = pattern.columns(k);
        let n = columns.len();
        let (above, below) = a.split_at_mut(pattern.start(k));
        let row = &mut below[..n + 1];
        let inverse = F::one() / row[n];
        inverse_diagonal[k] = inverse;
        let mut head = [F::zero(); T];
        head.copy_from_slice(&row[..T]);
        for (c, &i) in columns.iter().enumerate().skip(T) {
            let t = row[c] * inverse;
            let target = &mut above[pattern.start(i)..][..c + 1];
            for j in 0..T {
                target[j] = head[j].neg_mul_add(t, target[j]);
            }
            for (x, y) in target.iter_mut().zip(&*row).skip(T) {
                *x = y.neg_mul_add(t, *x);
            }
        }
        for c in 0..T {
            let t = head[c] * inverse;
            row[c] = t;
            for j in 0..T {
                if j <= c {
                    trunk[c][j] = head[j].neg_mul_add(t, trunk[c][j]);
                }
            }
        }
        for x in &mut row[T..n] {
            *x = *x * inverse;
        }
    }
    factor_trunk(&mut trunk, a, inverse_diagonal);
}

/// Factors the trunk, from which all other rows are eliminated.
#[inline(always)]
fn factor_trunk<F: Lane, const T: usize>(trunk: &mut [[F; T]; T], a: &mut [F], inverse_diagonal: &mut [F]) {
    eliminate::<F, T, 5>(trunk, inverse_diagonal);
    eliminate::<F, T, 4>(trunk, inverse_diagonal);
    eliminate::<F, T, 3>(trunk, inverse_diagonal);
    eliminate::<F, T, 2>(trunk, inverse_diagonal);
    eliminate::<F, T, 1>(trunk, inverse_diagonal);
    eliminate::<F, T, 0>(trunk, inverse_diagonal);
    for i in 0..T {
        for j in 0..T {
            if j <= i {
                a[triangle(i) + j] = trunk[i][j];
            }
        }
    }
}

/// Eliminates row `K` of the trunk.
#[inline(always)]
fn eliminate<F: Lane, const T: usize, const K: usize>(trunk: &mut [[F; T]; T], inverse_diagonal: &mut [F]) {
    if K >= T {
        return;
    }
    let row = trunk[K];
    let inverse = F::one() / row[K];
    inverse_diagonal[K] = inverse;
    for c in 0..K {
        let t = row[c] * inverse;
        trunk[K][c] = t;
        for j in 0..K {
            if j <= c {
                trunk[c][j] = row[j].neg_mul_add(t, trunk[c][j]);
            }
        }
    }
}

#[inline(always)]
fn solve_from<F: Lane, const T: usize>(
    pattern: &Pattern,
    factors: &[F],
    inverse_diagonal: &[F],
    x: &mut [F],
) {
    let size = pattern.size();
    let (x, inverse_diagonal) = (&mut x[..size], &inverse_diagonal[..size]);
    let mut head = [F::zero(); T];
    head.copy_from_slice(&x[..T]);
    for k in (T..size).rev() {
        let t = x[k];
        let columns = &pattern.columns(k)[T..];
        let (first, rest) = factors[pattern.row(k)].split_at(T);
        for j in 0..T {
            head[j] = first[j].neg_mul_add(t, head[j]);
        }
        for (&i, l) in columns.iter().zip(rest) {
            x[i] = l.neg_mul_add(t, x[i]);
        }
    }
    let trunk = &factors[..triangle(T)];
    for k in (0..T).rev() {
        for j in 0..T {
            if j < k {
                head[j] = trunk[triangle(k) + j].neg_mul_add(head[k], head[j]);
            }
        }
    }
    for k in 0..T {
        head[k] = head[k] * inverse_diagonal[k];
    }
    for k in 0..T {
        for j in 0..T {
            if j < k {
                head[k] = trunk[triangle(k) + j].neg_mul_add(head[j], head[k]);
            }
        }
    }
    x[..T].copy_from_slice(&head);
    for k in T..size {
        let mut t = x[k] * inverse_diagonal[k];
        let columns = &pattern.columns(k)[T..];
        let (first, rest) = factors[pattern.row(k)].split_at(T);
        for j in 0..T {
            t = first[j].neg_mul_add(head[j], t);
        }
        for (&i, l) in columns.iter().zip(rest) {
            t = l.neg_mul_add(x[i], t);
        }
        x[k] = t;
    }
}

#[inline(always)]
fn multiply_from<F: Lane, const T: usize>(pattern: &Pattern, a: &[F], x: &[F], y: &mut [F]) {
    let size = pattern.size();
    let (x, y) = (&x[..size], &mut y[..size]);
    let (mut head, mut product) = ([F::zero(); T], [F::zero(); T]);
    head.copy_from_slice(&x[..T]);
    let trunk = &a[..triangle(T)];
    for k in 0..T {
        product[k] = trunk[triangle(k) + k] * head[k];
        for i in 0..T {
            if i < k {
                let m = trunk[triangle(k) + i];
                product[k] = m.mul_add(head[i], product[k]);
                product[i] = m.mul_add(head[k], product[i]);
            }
        }
    }
    for k in T..size {
        let columns = &pattern.columns(k)[T..];
        let (first, rest) = a[pattern.row(k)].split_at(T);
        let xk = x[k];
        let mut t = rest[columns.len()] * xk;
        for i in 0..T {
            t = first[i].mul_add(head[i], t);
            product[i] = first[i].mul_add(xk, product[i]);
        }
        for (&i, m) in columns.iter().zip(rest) {
            t = m.mul_add(x[i], t);
            y[i] = m.mul_add(xk, y[i]);
        }
        y[k] = t;
    }
    y[..T].copy_from_slice(&product);
}

/// The sum of the diagonal.
#[inline(always)]
pub(crate) fn trace<F: Lane>(pattern: &Pattern, a: &[F]) -> F {
    let mut sum = F::zero();
    for k in 0..pattern.size() {
        sum = sum + a[pattern.diagonal(k)];
    }
    sum
}

#[inline(always)]
pub(crate) fn dot<F: Lane>(a: &[F], b: &[F]) -> F {
    let mut sum = F::zero();
    for (x, y) in a.iter().zip(b) {
        sum = x.mul_add(*y, sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Array;

    /// Two branches of two on a trunk of two.
    const PARENTS: [Option<usize>; 6] = [None, Some(0), Some(1), Some(2), Some(1), Some(4)];

    /// A positive definite matrix with the pattern's entries, different in every lane.
    fn matrix(pattern: &Pattern, tree: &Pattern) -> Vec<Array> {
        let mut entries = vec![Array::zero(); pattern.entries()];
        for k in 0..pattern.size() {
            for (c, &i) in pattern.columns(k).iter().enumerate() {
                if tree.columns(k).contains(&i) {
                    let lanes = std::array::from_fn(|l| ((k * 7 + i * 3 + l) % 5) as f64 * 0.3 - 0.5);
                    entries[pattern.start(k) + c] = Array::from_array(lanes);
                }
            }
            entries[pattern.diagonal(k)] = Array::from_array(std::array::from_fn(|l| 4.0 + (k + l) as f64));
        }
        entries
    }

    fn vector(n: usize) -> Vec<Array> {
        (0..n).map(|k| Array::from_array(std::array::from_fn(|l| ((k * 5 + l) % 7) as f64 - 2.5))).collect()
    }

    #[test]
    fn a_solution_satisfies_its_equation() {
        let pattern = Pattern::tree(&PARENTS);
        let a = matrix(&pattern, &pattern);
        let (mut factors, mut diagonal) = (a.clone(), vec![Array::zero(); 6]);
        factor(&pattern, &mut factors, &mut diagonal);
        let b = vector(6);
        let (mut x, mut product) = (b.clone(), vec![Array::zero(); 6]);
        solve(&pattern, &factors, &diagonal, &mut x);
        multiply(&pattern, &a, &x, &mut product);
        for (p, b) in product.iter().zip(&b) {
            (0..8).for_each(|l| assert!((p.get(l) - b.get(l)).abs() < 1e-13));
        }
    }

    #[test]
    fn entries_outside_the_tree_that_are_zero_change_no_bit() {
        let (tree, full) = (Pattern::tree(&PARENTS), Pattern::full(6));
        let solutions = [&tree, &full].map(|pattern| {
            let mut a = matrix(pattern, &tree);
            let (mut diagonal, mut x) = (vec![Array::zero(); 6], vector(6));
            factor(pattern, &mut a, &mut diagonal);
            solve(pattern, &a, &diagonal, &mut x);
            x.iter().map(|x| x.to_array().map(f64::to_bits)).collect::<Vec<_>>()
        });
        assert_eq!(solutions[0], solutions[1]);
    }
}
