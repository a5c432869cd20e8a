//! Matrix products, on the calling thread.

use autoqd::kernels::clean_registers;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::real::Real;

/// A matrix with these rows, one after the other.
pub fn matrix<T: Real>(values: &[T], rows: usize, columns: usize) -> MatRef<'_, T> {
    MatRef::from_row_major_slice(values, rows, columns)
}

/// Adds the product of two matrices to a third one, given as its rows.
pub fn add_product<T: Real>(sum: &mut [T], a: MatRef<'_, T>, b: MatRef<'_, T>) {
    product(sum, Accum::Add, a, b);
}

/// Makes a third matrix, given as its rows, the product of two.
pub fn set_product<T: Real>(to: &mut [T], a: MatRef<'_, T>, b: MatRef<'_, T>) {
    product(to, Accum::Replace, a, b);
}

fn product<T: Real>(to: &mut [T], how: Accum, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    let to = MatMut::from_row_major_slice_mut(to, a.nrows(), b.ncols());
    matmul(to, how, a, b, T::ONE, Par::Seq);
    clean_registers();
}
