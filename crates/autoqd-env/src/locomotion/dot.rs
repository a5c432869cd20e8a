//! The dot product as numpy computes it on x86-64 with AVX-512 (OpenBLAS): four accumulators of eight lanes, fused
//! multiply-adds, halves folded. Recorded measures were computed with it, and other orders give other last digits.

/// How the short dot product of a distance rounds. numpy leaves it to OpenBLAS, whose kernel depends on the CPU, so the
/// last digit of some of Gymnasium's rewards does as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blas {
    /// Products rounded before they are added: most CPUs, and our own tasks on every machine.
    #[default]
    Plain,
    /// Fused multiply-adds: Intel's CPUs with AVX-512.
    Fused,
}

impl Blas {
    /// The length of a vector.
    pub(super) fn length(self, v: [f64; 3]) -> f64 {
        match self {
            Self::Plain => (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt(),
            Self::Fused => dot(3, |i| v[i], |i| v[i]).sqrt(),
        }
    }
}

/// Sum of `x[i] * y[i]` for `n` numbers given by index.
pub(super) fn dot(n: usize, x: impl Fn(usize) -> f64, y: impl Fn(usize) -> f64) -> f64 {
    let (wide, blocks) = (n & !31, n & !15);
    let mut wide_sums = [[0.0; 8]; 4];
    for i in 0..wide {
        let sum: &mut f64 = &mut wide_sums[i / 8 % 4][i % 8];
        *sum = x(i).mul_add(y(i), *sum);
    }
    let mut sums: [[f64; 4]; 4] =
        std::array::from_fn(|k| std::array::from_fn(|lane| wide_sums[k][lane] + wide_sums[k][lane + 4]));
    for i in wide..blocks {
        let sum = &mut sums[(i - wide) / 4][i % 4];
        *sum = x(i).mul_add(y(i), *sum);
    }
    let lane: [f64; 4] = std::array::from_fn(|l| sums[0][l] + sums[1][l] + sums[2][l] + sums[3][l]);
    let total = (lane[0] + lane[2]) + (lane[1] + lane[3]);
    (blocks..n).fold(total, |total, i| y(i).mul_add(x(i), total))
}

#[cfg(test)]
mod tests {
    use super::dot;

    #[test]
    fn small_integers_are_multiplied_and_summed_exactly_at_every_length() {
        for n in 0..200_usize {
            let expected: usize = (0..n).map(|i| i * (i + 1)).sum();
            assert_eq!(dot(n, |i| i as f64, |i| (i + 1) as f64), expected as f64);
        }
    }
}
