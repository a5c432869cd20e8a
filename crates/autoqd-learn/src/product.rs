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
    let sum = MatMut::from_row_major_slice_mut(sum, a.nrows(), b.ncols());
    matmul(sum, Accum::Add, a, b, T::ONE, Par::Seq);
    clean_registers();
}
