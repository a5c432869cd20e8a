//! The observation filter of an agent, from the statistics of what it saw.

use autoqd::embedding::RunningStatistics;

/// An observation whose standard deviation is below this is shown as 0.
const FLAT: f64 = 1e-7;
/// Added to every standard deviation.
const SOFTENING: f64 = 1e-8;

/// Mean and scale of each observation, as a policy with a filter begins its parameters; before anything was seen, the
/// filter that changes nothing.
pub fn parameters(seen: &RunningStatistics) -> impl Iterator<Item = f64> + '_ {
    let n = seen.count() as f64;
    let scale = move |variance: f64| {
        if n == 0.0 {
            return 1.0;
        }
        // With a single observation 0 / 0, which is not flat, and not a number either.
        let std = (variance * n / (n - 1.0)).sqrt();
        if std >= FLAT { 1.0 / (std + SOFTENING) } else { 0.0 }
    };
    seen.mean().iter().copied().chain(seen.variance().into_iter().map(scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_one_over_the_sample_deviation_and_0_where_nothing_changes() {
        let mut seen = RunningStatistics::new(2);
        assert_eq!(parameters(&seen).collect::<Vec<_>>(), [0.0, 0.0, 1.0, 1.0]);
        seen.push(&[1.0, 4.0]);
        assert_eq!(parameters(&seen).collect::<Vec<_>>(), [1.0, 4.0, 0.0, 0.0]);
        seen.push(&[3.0, 4.0]);
        let row: Vec<f64> = parameters(&seen).collect();
        assert_eq!(row[..2], [2.0, 4.0]);
        assert!((row[2] - 1.0 / (2.0_f64.sqrt() + 1e-8)).abs() < 1e-15);
        assert_eq!(row[3], 0.0);
    }
}
