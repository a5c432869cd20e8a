//! Cholesky factors.

use super::product::{pack, row, tile};
use super::wide;

const BLOCK: usize = 4;
const ROWS: usize = 8;

/// C = L Lᵀ in place, for the lower triangle of C, column after column; the rest is not looked at. Returns false when C
/// is not positive definite; the triangle then holds nothing of use.
///
/// # Panics
/// When the length is not n².
pub fn cholesky(lower: &mut [f64], n: usize) -> bool {
    assert!(lower.len() == n * n, "size of a square matrix");
    let mut packed = Vec::new();
    wide(
        #[inline(always)]
        || (0..n).step_by(BLOCK).all(|j| columns(lower, n, j, &mut packed)),
    )
}

/// The next columns from those on their left.
#[inline(always)]
fn columns(lower: &mut [f64], n: usize, j: usize, packed: &mut Vec<f64>) -> bool {
    let width = BLOCK.min(n - j);
    pack(packed, j, width, |k, c| -lower[k * n + j + c]);
    let mut corner = [[0.0; BLOCK]; BLOCK];
    for i in 0..width {
        let mut sums: [f64; BLOCK] =
            std::array::from_fn(|c| if c <= i { lower[(j + c) * n + j + i] } else { 0.0 });
        row(&lower[j + i..], n, packed, &mut sums);
        for c in 0..=i {
            let above = if c < i { corner[c] } else { sums };
            let left = (0..c).fold(sums[c], |sum, k| sum - sums[k] * above[k]);
            sums[c] = if c < i { left / corner[c][c] } else { libm::sqrt(left) };
            lower[(j + c) * n + j + i] = sums[c];
        }
        corner[i] = sums;
        if !(corner[i][i] > 0.0 && corner[i][i].is_finite()) {
            return false;
        }
    }
    let mut i = j + width;
    while n - i >= ROWS {
        let mut sums = [[0.0; ROWS]; BLOCK];
        (0..width).for_each(|c| sums[c].copy_from_slice(&lower[(j + c) * n + i..(j + c) * n + i + ROWS]));
        tile(&lower[i..], n, packed, &mut sums);
        for c in 0..width {
            for k in 0..c {
                let (left, right) = sums.split_at_mut(c);
                right[0].iter_mut().zip(&left[k]).for_each(|(x, l)| *x -= l * corner[c][k]);
            }
            sums[c].iter_mut().for_each(|x| *x /= corner[c][c]);
            lower[(j + c) * n + i..(j + c) * n + i + ROWS].copy_from_slice(&sums[c]);
        }
        i += ROWS;
    }
    for i in i..n {
        let mut sums = [0.0; BLOCK];
        (0..width).for_each(|c| sums[c] = lower[(j + c) * n + i]);
        row(&lower[i..], n, packed, &mut sums);
        for c in 0..width {
            let left = (0..c).fold(sums[c], |sum, k| sum - sums[k] * corner[c][k]);
            sums[c] = left / corner[c][c];
            lower[(j + c) * n + i] = sums[c];
        }
    }
    true
}
