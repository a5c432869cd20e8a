//! The width of the Gaussian kernel under the Vendi score, shared by all runs of a task.

use crate::points::Points;
use crate::sample::sample;

/// Points from which the median distance is taken (the paper's 1000).
const SAMPLE: usize = 1000;

/// How the policies of several methods are pooled before the median is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The same number of policies from every method, so that a method with thousands does not set the scale alone.
    #[default]
    Equal,
    /// All policies of all runs with the same weight.
    Raw,
}

/// gamma = ln 2 / median squared distance over the pooled policies of all methods.
///
/// `methods` holds, per method, the embeddings of its runs. The median must be pooled: with a gamma of its own
/// every population would have about the same score, however narrow it is. Fewer than two policies, or only
/// identical ones, have no median: then the result is `None` and every population of them has a score of one.
pub fn shared_bandwidth(methods: &[Vec<Points<'_>>], pooling: Pooling, seed: u64) -> Option<f64> {
    let pooled = match pooling {
        Pooling::Equal => equal_pool(methods, seed),
        Pooling::Raw => raw_pool(methods, seed),
    };
    let dim = methods.iter().flatten().find(|points| !points.is_empty())?.dim();
    bandwidth(Points::new(&pooled, dim))
}

/// gamma = ln 2 / median squared distance of these points; of the non-zero distances if the median is zero.
pub fn bandwidth(points: Points<'_>) -> Option<f64> {
    let mut distances = points.pair_distances();
    let mut middle = median(&mut distances)?;
    if middle == 0.0 {
        distances.retain(|&d| d > 0.0);
        middle = median(&mut distances)?;
    }
    Some(std::f64::consts::LN_2 / middle)
}

/// The middle value, or the mean of the middle two; `None` without values.
pub fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let half = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if odd {
        return Some(upper);
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some((lower + upper) / 2.0)
}

fn equal_pool(methods: &[Vec<Points<'_>>], seed: u64) -> Vec<f64> {
    let draws: Vec<Vec<&[f64]>> =
        methods.iter().map(|runs| draw(runs, seed)).filter(|d| !d.is_empty()).collect();
    let largest = draws.iter().map(Vec::len).max().unwrap_or(0);
    let quota = (SAMPLE / draws.len().max(1)).min(largest);
    // A method with fewer policies than its share gives each of them several times.
    draws
        .iter()
        .flat_map(|rows| rows.iter().cycle().take(quota))
        .flat_map(|row| row.iter().copied())
        .collect()
}

/// Up to [`SAMPLE`] rows of every run of a method, shuffled.
fn draw<'a>(runs: &[Points<'a>], seed: u64) -> Vec<&'a [f64]> {
    let rows: Vec<&[f64]> =
        runs.iter().flat_map(|run| sample(run.len(), SAMPLE, seed).into_iter().map(|i| run.row(i))).collect();
    sample(rows.len(), rows.len(), seed).into_iter().map(|i| rows[i]).collect()
}

fn raw_pool(methods: &[Vec<Points<'_>>], seed: u64) -> Vec<f64> {
    let rows: Vec<&[f64]> =
        methods.iter().flatten().flat_map(|run| (0..run.len()).map(|i| run.row(i))).collect();
    sample(rows.len(), SAMPLE, seed).into_iter().flat_map(|i| rows[i].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::LN_2;

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 10.0]), Some(3.0));
        assert_eq!(median(&mut []), None);
    }

    #[test]
    fn the_median_pair_has_similarity_one_half() {
        let data = [0.0, 1.0, 3.0]; // squared distances 1, 9, 4
        assert_eq!(bandwidth(Points::new(&data, 1)), Some(LN_2 / 4.0));
    }

    #[test]
    fn mostly_identical_policies_use_the_distances_that_are_not_zero() {
        let mut data = vec![0.0; 20];
        data[19] = 3.0;
        assert_eq!(bandwidth(Points::new(&data, 1)), Some(LN_2 / 9.0));
        assert_eq!(bandwidth(Points::new(&data[..19], 1)), None);
        assert_eq!(shared_bandwidth(&[vec![]], Pooling::Equal, 0), None);
    }

    #[test]
    fn a_small_method_counts_as_much_as_a_large_one() {
        // 990 policies within 1e-3 of each other, and 10 spread over 0..90.
        let many: Vec<f64> = (0..990).map(|i| f64::from(i) * 1e-6).collect();
        let few: Vec<f64> = (0..10).map(|i| 10.0 * f64::from(i)).collect();
        let methods = [vec![Points::new(&many, 1)], vec![Points::new(&few, 1)]];
        let equal = shared_bandwidth(&methods, Pooling::Equal, 1).unwrap();
        let raw = shared_bandwidth(&methods, Pooling::Raw, 1).unwrap();
        assert!(raw > 1e5 * equal, "raw {raw}, equal {equal}");
        assert_eq!(equal, shared_bandwidth(&methods, Pooling::Equal, 1).unwrap());
    }
}
