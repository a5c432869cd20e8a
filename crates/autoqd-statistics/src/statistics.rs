//! Means, standard errors and the Mann-Whitney U test.

/// A mean over seeds and its standard error.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Estimate {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard error of the mean, sd(ddof = 1) / sqrt(n); `None` for a single value.
    pub standard_error: Option<f64>,
    /// Number of values.
    pub count: usize,
}

impl Estimate {
    /// Mean and standard error of the finite values; `None` without one.
    ///
    /// ```
    /// use autoqd_statistics::Estimate;
    /// let coverage = Estimate::of(&[18.0, 19.0, 20.0]).unwrap();
    /// assert_eq!(coverage.mean, 19.0);
    /// assert!((coverage.standard_error.unwrap() - 0.57735).abs() < 1e-5);
    /// ```
    pub fn of(values: &[f64]) -> Option<Self> {
        let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        let mean = mean(&finite)?;
        let standard_error = sample_variance(&finite).map(|v| (v / finite.len() as f64).sqrt());
        Some(Self { mean, standard_error, count: finite.len() })
    }
}

/// Arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Variance with n - 1 in the denominator; `None` for fewer than two values.
pub fn sample_variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (values.len() > 1).then(|| squares / (values.len() - 1) as f64)
}

/// Largest total number of values for which the distribution of U is computed exactly.
const EXACT_LIMIT: usize = 40;

/// A two-sided Mann-Whitney U test.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MannWhitney {
    /// U of the first sample: pairs in which it is larger, ties counted half.
    pub u: f64,
    /// Two-sided p-value.
    pub p: f64,
    /// Whether the p-value is exact rather than approximated.
    pub exact: bool,
    /// Probability that a value of the first sample is larger than one of the second.
    pub superiority: f64,
}

/// Compares two samples; `None` if one is empty or holds a NaN.
///
/// Up to 40 values the distribution of the rank sum is computed exactly given the ties there are (mid-ranks), above
/// that the normal approximation with correction for ties and continuity is used.
///
/// ```
/// let test = autoqd_statistics::mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
/// assert_eq!(test.u, 0.0);
/// assert!((test.p - 0.1).abs() < 1e-12); // two of the twenty orders are as extreme
/// ```
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    let mut pooled: Vec<(f64, bool)> =
        a.iter().map(|&v| (v, true)).chain(b.iter().map(|&v| (v, false))).collect();
    if a.is_empty() || b.is_empty() || pooled.iter().any(|(v, _)| v.is_nan()) {
        return None;
    }
    pooled.sort_by(|x, y| x.0.total_cmp(&y.0));
    let ranks = doubled_ranks(&pooled);
    let sum: usize = pooled.iter().zip(&ranks).filter(|((_, first), _)| *first).map(|(_, rank)| rank).sum();
    let (n, m) = (a.len() as f64, b.len() as f64);
    let u = sum as f64 / 2.0 - n * (n + 1.0) / 2.0;
    let exact = pooled.len() <= EXACT_LIMIT;
    let p = if exact { exact_p(&ranks, a.len(), sum) } else { normal_p(&ranks, n, m, u) };
    Some(MannWhitney { u, p, exact, superiority: u / (n * m) })
}

/// Twice the mid-rank of each value of a sorted list, which is a whole number.
fn doubled_ranks(sorted: &[(f64, bool)]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for group in sorted.chunk_by(|x, y| x.0 == y.0) {
        let first = ranks.len() + 1;
        ranks.extend(std::iter::repeat_n(2 * first + group.len() - 1, group.len()));
    }
    ranks
}

/// Counts how many choices of `count` ranks have a sum as extreme as `observed`.
fn exact_p(ranks: &[usize], count: usize, observed: usize) -> f64 {
    let total: usize = ranks.iter().sum();
    // ways[k][s]: choices of k ranks with sum s; below 2^53 for 40 values, so exact.
    let mut ways = vec![vec![0.0; total + 1]; count + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for k in (1..=count).rev() {
            for s in (rank..=total).rev() {
                ways[k][s] += ways[k - 1][s - rank];
            }
        }
    }
    let all: f64 = ways[count].iter().sum();
    let low: f64 = ways[count][..=observed].iter().sum();
    let high: f64 = ways[count][observed..].iter().sum();
    (2.0 * low.min(high) / all).min(1.0)
}

fn normal_p(ranks: &[usize], n: f64, m: f64, u: f64) -> f64 {
    let total = n + m;
    let ties: f64 = ranks.chunk_by(|a, b| a == b).map(|g| g.len() as f64).map(|t| t * t * t - t).sum();
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    libm::erfc(z / std::f64::consts::SQRT_2).min(1.0)
}
