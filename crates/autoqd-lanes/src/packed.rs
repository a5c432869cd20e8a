//! Sparse symmetric matrices of lanes: factorisation, solution, product.

use crate::pattern::Pattern;
use crate::simd::Lane;

/// Factors A = L' D L in place: rows of L without its unit diagonal, and the inverse of D.
#[inline(always)]
pub(crate) fn factor<F: Lane>(pattern: &Pattern, a: &mut [F], inverse_diagonal: &mut [F]) {
    for k in (0..pattern.size()).rev() {
        let columns = pattern.columns(k);
        let n = columns.len();
        let (above, below) = a.split_at_mut(pattern.start(k));
        let row = &mut below[..n + 1];
        let inverse = F::one() / row[n];
        inverse_diagonal[k] = inverse;
        for (c, &i) in columns.iter().enumerate() {
            let t = row[c] * inverse;
            let start = pattern.start(i);
            for (x, y) in above[start..start + c + 1].iter_mut().zip(&row[..c + 1]) {
                *x = y.neg_mul_add(t, *x);
            }
        }
        for x in &mut row[..n] {
            *x = *x * inverse;
        }
    }
}

/// Solves A x = b in place, with the factors of A.
#[inline(always)]
pub(crate) fn solve<F: Lane>(pattern: &Pattern, factors: &[F], inverse_diagonal: &[F], x: &mut [F]) {
    let size = pattern.size();
    let x = &mut x[..size];
    for k in (0..size).rev() {
        let t = x[k];
        for (&i, l) in pattern.columns(k).iter().zip(&factors[pattern.start(k)..]) {
            x[i] = l.neg_mul_add(t, x[i]);
        }
    }
    for (x, d) in x.iter_mut().zip(inverse_diagonal) {
        *x = *x * *d;
    }
    for k in 0..size {
        let mut t = x[k];
        for (&i, l) in pattern.columns(k).iter().zip(&factors[pattern.start(k)..]) {
            t = l.neg_mul_add(x[i], t);
        }
        x[k] = t;
    }
}

/// y = A x
#[inline(always)]
pub(crate) fn multiply<F: Lane>(pattern: &Pattern, a: &[F], x: &[F], y: &mut [F]) {
    for k in 0..pattern.size() {
        let row = &a[pattern.row(k)];
        let columns = pattern.columns(k);
        let xk = x[k];
        let mut t = row[columns.len()] * xk;
        for (&i, m) in columns.iter().zip(row) {
            t = m.mul_add(x[i], t);
            y[i] = m.mul_add(xk, y[i]);
        }
        y[k] = t;
    }
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
