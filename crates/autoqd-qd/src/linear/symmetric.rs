//! A symmetric matrix times a vector.

/// out = M x for a symmetric M given by its lower triangle, whose columns are `stride` numbers apart. Four
/// columns at a time share one pass over x and out; lanes have a fixed order, so the bits do not depend on the vector unit.
///
/// # Panics
/// When the lengths do not fit together.
#[inline(always)]
pub fn multiply_symmetric(lower: &[f64], stride: usize, x: &[f64], out: &mut [f64]) {
    let n = x.len();
    out.fill(0.0);
    let blocks = n / 4 * 4;
    for j in (0..blocks).step_by(4) {
        // The 4 x 4 corner on the diagonal.
        for a in j..j + 4 {
            out[a] += lower[a * stride + a] * x[a];
            for b in a + 1..j + 4 {
                out[b] += lower[a * stride + b] * x[a];
                out[a] += lower[a * stride + b] * x[b];
            }
        }
        let below = |a: usize| &lower[(j + a) * stride + j + 4..(j + a) * stride + n];
        let factors = [x[j], x[j + 1], x[j + 2], x[j + 3]];
        let (head, tail) = out.split_at_mut(j + 4);
        let columns = [below(0), below(1), below(2), below(3)];
        let dots = multiply_columns(columns, factors, &x[j + 4..], tail);
        head[j..].iter_mut().zip(dots).for_each(|(o, d)| *o += d);
    }
    for a in blocks..n {
        out[a] += lower[a * stride + a] * x[a];
        for b in a + 1..n {
            out[b] += lower[a * stride + b] * x[a];
            out[a] += lower[a * stride + b] * x[b];
        }
    }
}

/// out += sum of factor times column; returns the scalar product of each column with x.
#[inline(always)]
fn multiply_columns(columns: [&[f64]; 4], factors: [f64; 4], x: &[f64], out: &mut [f64]) -> [f64; 4] {
    const LANES: usize = 4;
    let m = x.len();
    let columns = columns.map(|c| &c[..m]);
    let out = &mut out[..m];
    let mut sums = [[0.0; LANES]; 4];
    let whole = m / LANES * LANES;
    for i in (0..whole).step_by(LANES) {
        let mut moved: [f64; LANES] = std::array::from_fn(|l| out[i + l]);
        for (c, column) in columns.iter().enumerate() {
            for l in 0..LANES {
                moved[l] += column[i + l] * factors[c];
                sums[c][l] += column[i + l] * x[i + l];
            }
        }
        out[i..i + LANES].copy_from_slice(&moved);
    }
    let mut dots = sums.map(|s| s.iter().sum::<f64>());
    for i in whole..m {
        for (c, column) in columns.iter().enumerate() {
            out[i] += column[i] * factors[c];
            dots[c] += column[i] * x[i];
        }
    }
    dots
}
