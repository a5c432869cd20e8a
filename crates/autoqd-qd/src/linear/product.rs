//! Products of matrices, tile after tile; each entry is summed in the order of the inner index.

use super::wide;

const ROWS: usize = 8;
const COLUMNS: usize = 4;

/// Four columns side by side, with which a tile is multiplied: entry `c` of place `k` is `entry(k, c)`.
#[inline(always)]
pub(super) fn pack(packed: &mut Vec<f64>, inner: usize, width: usize, entry: impl Fn(usize, usize) -> f64) {
    packed.clear();
    for k in 0..inner {
        packed.extend((0..COLUMNS).map(|c| if c < width { entry(k, c) } else { 0.0 }));
    }
}

/// sums[c] += sum over k of a[k] packed[k][c], for eight rows at once; `a` begins at the first of them.
#[inline(always)]
pub(super) fn tile(a: &[f64], stride: usize, packed: &[f64], sums: &mut [[f64; ROWS]; COLUMNS]) {
    let mut now = *sums;
    for (k, factors) in packed.chunks_exact(COLUMNS).enumerate() {
        let column: &[f64; ROWS] = a[k * stride..k * stride + ROWS].try_into().expect("eight rows");
        for c in 0..COLUMNS {
            for r in 0..ROWS {
                now[c][r] += column[r] * factors[c];
            }
        }
    }
    *sums = now;
}

/// The same for one row.
#[inline(always)]
pub(super) fn row(a: &[f64], stride: usize, packed: &[f64], sums: &mut [f64; COLUMNS]) {
    for (k, factors) in packed.chunks_exact(COLUMNS).enumerate() {
        for c in 0..COLUMNS {
            sums[c] += a[k * stride] * factors[c];
        }
    }
}

/// Adds to rows `from..n` of `width` columns of `out` the product of `a` with the packed columns. `inner` is how many
/// of them count for the rows from `i` on, so that triangles can be left out.
#[inline(always)]
fn add_rows(
    a: &[f64],
    n: usize,
    packed: &[f64],
    out: &mut [f64],
    (from, width): (usize, usize),
    triangle: bool,
) {
    let mut i = from;
    while i < n {
        let rows = if n - i >= ROWS { ROWS } else { 1 };
        let inner = if triangle { i } else { packed.len() / COLUMNS };
        let (head, tail) = packed.split_at(inner * COLUMNS);
        if rows == ROWS {
            let mut sums = [[0.0; ROWS]; COLUMNS];
            (0..width).for_each(|c| sums[c].copy_from_slice(&out[c * n + i..c * n + i + ROWS]));
            tile(&a[i..], n, head, &mut sums);
            (0..width).for_each(|c| out[c * n + i..c * n + i + ROWS].copy_from_slice(&sums[c]));
        }
        for r in i..i + rows {
            // What the tile has not seen: all of it, or the corner on the diagonal.
            let seen = if rows == ROWS { inner } else { 0 };
            let part = if rows == ROWS { tail } else { packed };
            let part = if triangle { &part[..(r + 1 - seen) * COLUMNS] } else { part };
            if part.is_empty() {
                continue;
            }
            let mut sums: [f64; COLUMNS] =
                std::array::from_fn(|c| if c < width { out[c * n + r] } else { 0.0 });
            row(&a[seen * n + r..], n, part, &mut sums);
            (0..width).for_each(|c| out[c * n + r] = sums[c]);
        }
        i += rows;
    }
}

/// out = A X for a square A and the columns of X, all column after column.
///
/// # Panics
/// When the lengths do not fit together.
pub fn multiply(a: &[f64], n: usize, x: &[f64], out: &mut [f64]) {
    product(a, n, x, out, false);
}

/// out = L X for the lower triangle of a square matrix; the rest of it is not looked at.
///
/// # Panics
/// When the lengths do not fit together.
pub fn multiply_lower(lower: &[f64], n: usize, x: &[f64], out: &mut [f64]) {
    product(lower, n, x, out, true);
}

fn product(a: &[f64], n: usize, x: &[f64], out: &mut [f64], triangle: bool) {
    assert!(a.len() == n * n && x.len() == out.len(), "sizes of a product");
    let mut packed = Vec::new();
    wide(
        #[inline(always)]
        || {
            out.fill(0.0);
            for (x, out) in x.chunks(COLUMNS * n).zip(out.chunks_mut(COLUMNS * n)) {
                pack(&mut packed, n, x.len() / n, |k, c| x[c * n + k]);
                add_rows(a, n, &packed, out, (0, x.len() / n), triangle);
            }
        },
    );
}

/// C += Y Yᵀ for the columns of Y, in the lower triangle of C; the rest of it stays as it is.
///
/// # Panics
/// When the lengths do not fit together.
pub fn rank_update(lower: &mut [f64], n: usize, columns: &[f64]) {
    assert!(lower.len() == n * n && columns.len().is_multiple_of(n), "sizes of an update");
    let inner = columns.len() / n;
    let mut packed = Vec::new();
    wide(
        #[inline(always)]
        || {
            for j in (0..n).step_by(COLUMNS) {
                let width = COLUMNS.min(n - j);
                pack(&mut packed, inner, width, |k, c| columns[k * n + j + c]);
                for i in j..j + width {
                    let mut sums = [0.0; COLUMNS];
                    (0..=i - j).for_each(|c| sums[c] = lower[(j + c) * n + i]);
                    row(&columns[i.min(columns.len())..], n, &packed, &mut sums);
                    (0..=i - j).for_each(|c| lower[(j + c) * n + i] = sums[c]);
                }
                add_rows(columns, n, &packed, &mut lower[j * n..], (j + width, width), false);
            }
        },
    );
}
