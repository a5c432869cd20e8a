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
