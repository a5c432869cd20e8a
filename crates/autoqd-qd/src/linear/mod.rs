//! Dense linear algebra whose bits are the same on every CPU.
//!
//! Every number is the result of plain multiplications and additions in an order that depends on the sizes alone: no
//! fused multiply-add, no blocking by the sizes of caches, no sums across the lanes of a vector register. Loops that
//! treat each number by itself are compiled for the vectors of this CPU, which does not change what they compute.
//!
//! ```
//! use autoqd_qd::linear::symmetric_eigen;
//! // The lower triangle of [[2, 1], [1, 2]], column after column.
//! let (values, vectors) = symmetric_eigen(&[2.0, 1.0, 0.0, 2.0], 2).unwrap();
//! assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-15);
//! assert!((vectors[2] - vectors[3]).abs() < 1e-15);
//! ```

mod eigen;
mod factor;
mod product;
mod symmetric;

pub use eigen::symmetric_eigen;
pub use factor::cholesky;
pub use product::{multiply, multiply_lower, rank_update};
pub use symmetric::multiply_symmetric;

/// Runs a loop compiled for the instruction set of this CPU.
#[inline(always)]
fn wide<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// The sum of x[i] y[i], in eight interleaved sums.
#[inline(always)]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (x, y) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest = x.remainder().iter().zip(y.remainder()).fold(0.0, |sum, (x, y)| sum + x * y);
    for (x, y) in x.zip(y) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().fold(rest, |sum, lane| sum + lane)
}
