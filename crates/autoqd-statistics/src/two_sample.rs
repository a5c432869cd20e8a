//! Whether two samples come from the same distribution.

use autoqd_rollout::seeds::{Purpose, derive};

/// Random sign patterns of [`sign_flip`].
const FLIPS: u64 = 9_999;
/// Stream of the sign patterns, apart from the seeds of rollouts.
const STREAM: u64 = u64::MAX - 1;
/// Largest sample size for which the distribution of the Kolmogorov-Smirnov distance is computed exactly.
const EXACT_LIMIT: usize = 50;

/// A two-sided Kolmogorov-Smirnov test.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct KolmogorovSmirnov {
    /// Largest distance of the two distribution functions.
    pub distance: f64,
    /// Two-sided p-value; with ties it errs on the large side.
    pub p: f64,
}

/// Compares two samples; `None` if one is empty or holds a NaN.
///
/// For samples of one size up to 50 the p-value is exact, else it is the limit law with the correction of
/// Stephens.
///
/// ```
/// let test = autoqd_statistics::kolmogorov_smirnov(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
/// assert_eq!(test.distance, 1.0);
/// assert!((test.p - 0.1).abs() < 1e-12); // two of the twenty orders are as extreme
/// ```
pub fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> Option<KolmogorovSmirnov> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|v| v.is_nan()) {
        return None;
    }
    let distance = distance(&sorted(a), &sorted(b));
    let p = match (a.len(), b.len()) {
        (n, m) if n == m && n <= EXACT_LIMIT => exact_p(n, (distance * n as f64).round() as usize),
        (n, m) => limit_p(n as f64, m as f64, distance),
    };
    Some(KolmogorovSmirnov { distance, p })
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// Largest distance of the distribution functions, taken after all values that are equal.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut largest) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        i += a[i..].iter().take_while(|v| **v <= value).count();
        j += b[j..].iter().take_while(|v| **v <= value).count();
        largest = largest.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    largest
}

/// The share of orders of twice `n` values in which the counts of the samples are ever at least `apart` apart.
fn exact_p(n: usize, apart: usize) -> f64 {
    if apart == 0 {
        return 1.0;
    }
    // ways[j]: orders of the first i values of one and j of the other sample that stay closer; below 2^97, and
    // rounded in relative terms of 1e-14 at most.
    let count = |closer_than: usize| {
        let mut ways = vec![0.0_f64; n + 1];
        for i in 0..=n {
            for j in 0..=n {
                let before = if i == 0 && j == 0 { 1.0 } else { 0.0 };
                let other = if j > 0 { ways[j - 1] } else { before };
                let own = if i > 0 { ways[j] } else { 0.0 };
                ways[j] = if i.abs_diff(j) < closer_than { own + other } else { 0.0 };
            }
        }
        ways[n]
    };
    (1.0 - count(apart) / count(n + 1)).max(0.0)
}

fn limit_p(n: f64, m: f64, distance: f64) -> f64 {
    let root = (n * m / (n + m)).sqrt();
    let x = (root + 0.12 + 0.11 / root) * distance;
    // The series does not converge near 0, where the p-value is 1 in all digits.
    if x < 0.2 {
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * libm::exp(-2.0 * f64::from(k * k) * x * x)
    };
    (1..=100).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// Two-sided p-value of the hypothesis that paired differences are symmetric about 0: the share of random sign
/// patterns whose sum is as far from 0 as the one observed.
///
/// ```
/// assert!(autoqd_statistics::sign_flip(&[1.0, -1.1, 0.9, -1.0, 1.05, -0.95], 0) > 0.5);
/// assert!(autoqd_statistics::sign_flip(&[1.0; 20], 0) < 0.001);
/// assert_eq!(autoqd_statistics::sign_flip(&[0.0; 20], 0), 1.0);
/// ```
pub fn sign_flip(differences: &[f64], seed: u64) -> f64 {
    // Sums that differ by rounding alone count as equal.
    let observed = differences.iter().sum::<f64>().abs() * (1.0 - 1e-12);
    let extreme = (0..FLIPS).filter(|flip| flipped_sum(differences, seed, *flip).abs() >= observed).count();
    (1 + extreme) as f64 / (1 + FLIPS) as f64
}

fn flipped_sum(differences: &[f64], seed: u64, flip: u64) -> f64 {
    let mut sum = 0.0;
    for (word, part) in differences.chunks(64).enumerate() {
        let signs = derive(seed, Purpose::Evaluation, [STREAM, flip, word as u64]);
        for (bit, difference) in part.iter().enumerate() {
            sum += if signs >> bit & 1 == 1 { *difference } else { -*difference };
        }
    }
    sum
}

/// p-values adjusted for their number (Holm): below 0.05 only if that many tests together give cause for it.
///
/// ```
/// assert_eq!(autoqd_statistics::holm(&[0.5, 0.01, 0.03]), [0.5, 0.03, 0.06]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let (mut adjusted, mut largest) = (vec![0.0; p.len()], 0.0_f64);
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max((p[i] * (p.len() - rank) as f64).min(1.0));
        adjusted[i] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(stream: u64, n: u64) -> Vec<f64> {
        let number = |i| derive(stream, Purpose::Evaluation, [1, 2, i]) as f64 / u64::MAX as f64;
        (0..n).map(number).collect()
    }

    #[test]
    fn p_values_of_equal_distributions_are_uniform() {
        for n in [20, 400] {
            let p = |s: u64| kolmogorov_smirnov(&uniform(2 * s, n), &uniform(2 * s + 1, n)).unwrap().p;
            let low = (0..400).filter(|s| p(*s) < 0.1).count();
            assert!((18..=60).contains(&low), "{low} of 400 below 0.1 with {n} values");
        }
    }

    #[test]
    fn the_counted_and_the_limit_law_agree() {
        // From tables: 20 values each, 9 apart, p = 0.0335; 8 apart, p = 0.0811.
        assert!((exact_p(20, 9) - 0.0335).abs() < 5e-5, "{}", exact_p(20, 9));
        // Counts are whole numbers, so the exact law lies between two neighbouring values of the continuous limit.
        for (n, apart) in (6..12).map(|apart| (20, apart)).chain([(400, 30), (400, 40), (400, 50)]) {
            let limit = |apart: usize| limit_p(n as f64, n as f64, apart as f64 / n as f64);
            let exact = exact_p(n, apart);
            assert!(limit(apart) < exact && exact < limit(apart - 1), "{n} values, {apart} apart: {exact}");
        }
        assert_eq!((exact_p(20, 0), limit_p(20.0, 20.0, 0.0)), (1.0, 1.0));
    }

    #[test]
    fn a_shifted_sample_is_told_apart() {
        let a = uniform(1, 500);
        let b: Vec<f64> = uniform(2, 500).iter().map(|x| x + 0.15).collect();
        assert!(kolmogorov_smirnov(&a, &b).unwrap().p < 1e-3);
        let differences: Vec<f64> = b.iter().zip(&a).map(|(b, a)| b - a).collect();
        assert!(sign_flip(&differences, 3) < 1e-3);
        assert!(kolmogorov_smirnov(&a, &[]).is_none() && kolmogorov_smirnov(&a, &[f64::NAN]).is_none());
    }
}
