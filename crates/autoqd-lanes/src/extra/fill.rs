//! The entries of the solver's matrix when constraints couple branches of a tree: those of the inertia matrix, those that
//! the constraints of the moment add, and what elimination fills in.
//!
//! Few contacts couple branches, so nearly all of the full triangle is zero. Leaving exact zeros out changes no bit.

use crate::compile::Compiled;
use crate::pattern::{Pattern, before, bits, through};
use crate::simd::Lane;

/// Rows of a matrix stored as the full triangle: which of their columns are not zero.
pub(crate) struct Fill {
    /// Ancestors of every degree of freedom.
    tree: Vec<u64>,
    rows: Vec<u64>,
    /// Columns of all rows as runs from the first to the one after the last, row by row, and where those of each row start.
    runs: Vec<(u8, u8)>,
    starts: Vec<usize>,
    /// The lanes it was found for.
    pub(crate) lanes: Option<u8>,
}

impl Fill {
    pub(crate) fn new(model: &Compiled) -> Self {
        let size = model.freedoms();
        let ancestors = |k| model.tree.columns(k).iter().fold(0, |set, i| set | 1 << i);
        let tree: Vec<u64> = (0..size).map(ancestors).collect();
        let runs = Vec::with_capacity(size * size / 4 + size);
        Self { rows: tree.clone(), tree, runs, starts: vec![0; size + 1], lanes: None }
    }

    /// Begins with the inertia matrix, for some lanes.
    pub(crate) fn begin(&mut self, lanes: u8) {
        self.lanes = Some(lanes);
        self.rows.copy_from_slice(&self.tree);
    }

    /// Adds the entries of a constraint over some degrees of freedom.
    pub(crate) fn add(&mut self, touched: u64) {
        let Some(last) = touched.checked_ilog2() else { return };
        // One branch has its entries already.
        if touched & !(self.tree[last as usize] | 1 << last) != 0 {
            bits(touched).for_each(|k| self.rows[k] |= touched & before(k));
        }
    }

    /// Adds what elimination, from the last row to the first, fills in: a row's columns become columns of the row of its
    /// last column, which hands them on.
    pub(crate) fn finish(&mut self) {
        for k in (0..self.rows.len()).rev() {
            let row = self.rows[k];
            if let Some(parent) = row.checked_ilog2() {
                self.rows[parent as usize] |= row & before(parent as usize);
            }
        }
        self.runs.clear();
        for (k, &row) in self.rows.iter().enumerate() {
            let mut rest = row;
            while rest != 0 {
                let first = rest.trailing_zeros();
                let length = (rest >> first).trailing_ones();
                self.runs.push((first as u8, (first + length) as u8));
                rest &= !(through(length as usize - 1) << first);
            }
            self.starts[k + 1] = self.runs.len();
        }
    }

    /// The runs of columns of a row.
    #[inline(always)]
    fn runs(&self, k: usize) -> &[(u8, u8)] {
        &self.runs[self.starts[k]..self.starts[k + 1]]
    }

    /// Copies the inertia matrix to where the full triangle has its rows; other entries become zero.
    #[inline(always)]
    pub(crate) fn spread<F: Lane>(&self, tree: &Pattern, mass: &[F], full: &Pattern, out: &mut [F]) {
        for k in 0..full.size() {
            let (row, source) = (&mut out[full.row(k)], &mass[tree.row(k)]);
            for &(first, end) in self.runs(k) {
                row[usize::from(first)..usize::from(end)].fill(F::zero());
            }
            let columns = tree.columns(k);
            for (&i, m) in columns.iter().zip(source) {
                row[i] = *m;
            }
            row[k] = source[columns.len()];
        }
    }

    /// Factors A = L' D L in place, in the order of operations of [`crate::packed::factor`].
    #[inline(always)]
    pub(crate) fn factor<F: Lane>(&self, full: &Pattern, a: &mut [F], inverse_diagonal: &mut [F]) {
        for k in (0..full.size()).rev() {
            let runs = self.runs(k);
            let (above, below) = a.split_at_mut(full.start(k));
            let row = &mut below[..k + 1];
            let inverse = F::one() / row[k];
            inverse_diagonal[k] = inverse;
            for (r, &(first, end)) in runs.iter().enumerate() {
                for i in usize::from(first)..usize::from(end) {
                    let t = row[i] * inverse;
                    let target = &mut above[full.start(i)..][..i + 1];
                    for &(from, to) in &runs[..r] {
                        let run = usize::from(from)..usize::from(to);
                        subtract(&mut target[run.clone()], &row[run], t);
                    }
                    let run = usize::from(first)..i + 1;
                    subtract(&mut target[run.clone()], &row[run], t);
                }
            }
            for &(first, end) in runs {
                for x in &mut row[usize::from(first)..usize::from(end)] {
                    *x = *x * inverse;
                }
            }
        }
    }

    /// Solves A x = b in place, with the factors of A.
    #[inline(always)]
    pub(crate) fn solve<F: Lane>(&self, full: &Pattern, factors: &[F], inverse_diagonal: &[F], x: &mut [F]) {
        let size = full.size();
        let x = &mut x[..size];
        for k in (0..size).rev() {
            let (t, row) = (x[k], &factors[full.row(k)]);
            for &(first, end) in self.runs(k) {
                let run = usize::from(first)..usize::from(end);
                subtract(&mut x[run.clone()], &row[run], t);
            }
        }
        for k in 0..size {
            let row = &factors[full.row(k)];
            let mut t = x[k] * inverse_diagonal[k];
            for &(first, end) in self.runs(k) {
                let run = usize::from(first)..usize::from(end);
                for (l, x) in row[run.clone()].iter().zip(&x[run]) {
                    t = l.neg_mul_add(*x, t);
                }
            }
            x[k] = t;
        }
    }
}

/// target - row t
#[inline(always)]
fn subtract<F: Lane>(target: &mut [F], row: &[F], t: F) {
    for (x, y) in target.iter_mut().zip(row) {
        *x = y.neg_mul_add(t, *x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed;
    use crate::simd::Array;

    /// Two branches of two on a trunk of two, and a tree of its own.
    const PARENTS: [Option<usize>; 7] = [None, Some(0), Some(1), Some(2), Some(1), Some(4), None];

    fn fill_of(tree: &Pattern) -> Fill {
        let ancestors = |k| tree.columns(k).iter().fold(0, |set, i| set | 1 << i);
        let rows: Vec<u64> = (0..tree.size()).map(ancestors).collect();
        Fill {
            rows: rows.clone(),
            tree: rows,
            runs: Vec::new(),
            starts: vec![0; tree.size() + 1],
            lanes: None,
        }
    }

    #[test]
    fn what_constraints_fill_in_gives_the_bits_of_the_full_triangle() {
        let (tree, full) = (Pattern::tree(&PARENTS), Pattern::full(PARENTS.len()));
        let mass: Vec<_> = (0..tree.entries()).map(|i| Array::splat((i % 5) as f64 * 0.3 - 0.5)).collect();
        for touched in [0b0001100_u64, 0b1000100, 0b0101000, 0b1111111] {
            let mut fill = fill_of(&tree);
            fill.begin(u8::MAX);
            fill.add(touched);
            fill.finish();
            let nothing = Array::splat(f64::NAN);
            let mut sparse = vec![nothing; full.entries()];
            fill.spread(&tree, &mass, &full, &mut sparse);
            for k in 0..full.size() {
                for i in bits(touched & through(k)).filter(|_| touched >> k & 1 == 1) {
                    let entry = &mut sparse[full.start(k) + i];
                    *entry = *entry + Array::splat(0.1 + (i * k) as f64 * 0.01);
                }
                let diagonal = &mut sparse[full.diagonal(k)];
                *diagonal = *diagonal + Array::splat(9.0);
            }
            let mut dense: Vec<_> = sparse.clone();
            for x in &mut dense {
                *x = Array::from_array(x.to_array().map(|x| if x.is_nan() { 0.0 } else { x }));
            }
            let size = full.size();
            let solved = |x: &[Array]| x.iter().map(|x| x.get(3).to_bits()).collect::<Vec<_>>();
            let b: Vec<_> = (0..size).map(|k| Array::splat(k as f64 - 2.5)).collect();
            let (mut diagonal, mut first, mut second) = (vec![Array::zero(); size], b.clone(), b);
            fill.factor(&full, &mut sparse, &mut diagonal);
            fill.solve(&full, &sparse, &diagonal, &mut first);
            packed::factor(&full, &mut dense, &mut diagonal);
            packed::solve(&full, &dense, &diagonal, &mut second);
            assert_eq!(solved(&first), solved(&second), "{touched:b}");
        }
    }
}
