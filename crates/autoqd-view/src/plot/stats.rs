//! The small statistics behind bands, boxes and violins.

use autoqd::cwpca::quantile;

/// Mean and standard error (n - 1 in the variance; 0 for one number) of the finite numbers.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let n = finite.len() as f64;
    if finite.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let mean = finite.iter().sum::<f64>() / n;
    if finite.len() < 2 {
        return (mean, 0.0);
    }
    let variance = finite.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// A curve with a band: mean and standard error over seeds at each place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// Places.
    pub x: Vec<f64>,
    /// Mean.
    pub mean: Vec<f64>,
    /// Mean minus standard error.
    pub low: Vec<f64>,
    /// Mean plus standard error.
    pub high: Vec<f64>,
}

/// Band over seeds of curves (x, y) that share their places; a place that a seed has not reached is left to the
/// others.
pub fn band_over_seeds(seeds: &[Vec<(f64, f64)>]) -> Band {
    let mut places: Vec<f64> = seeds.iter().flatten().map(|p| p.0).filter(|x| x.is_finite()).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut band = Band::default();
    let mut next = vec![0; seeds.len()];
    for x in places {
        let mut here = Vec::with_capacity(seeds.len());
        for (seed, next) in seeds.iter().zip(&mut next) {
            if let Some(p) = seed.get(*next).filter(|p| p.0 == x) {
                here.push(p.1);
                *next += 1;
            }
        }
        let (mean, error) = mean_and_error(&here);
        if mean.is_finite() {
            band.x.push(x);
            band.mean.push(mean);
            band.low.push(mean - error);
            band.high.push(mean + error);
        }
    }
    band
}

/// Density estimate at `places` with a normal kernel of Silverman's width.
pub(crate) fn density(sorted: &[f64], places: &[f64]) -> Vec<f64> {
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    let spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.34;
    let least = if spread > 0.0 { sd.min(spread) } else { sd };
    let width = (0.9 * least * libm::pow(n, -0.2)).max(1e-9);
    let kernel = |d: f64| libm::exp(-0.5 * d * d) / (2.0 * std::f64::consts::PI).sqrt();
    places.iter().map(|x| sorted.iter().map(|v| kernel((x - v) / width)).sum::<f64>() / (n * width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_is_the_standard_error_of_three_seeds() {
        let (mean, error) = mean_and_error(&[1.0, 2.0, 3.0, f64::NAN]);
        assert!((mean - 2.0).abs() < 1e-12 && (error - 1.0 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert!(mean_and_error(&[]).0.is_nan());
    }

    #[test]
    fn a_seed_that_stopped_early_leaves_the_rest_to_the_others() {
        let band = band_over_seeds(&[vec![(0.0, 1.0), (1.0, 3.0)], vec![(0.0, 3.0)]]);
        assert_eq!(band.x, [0.0, 1.0]);
        assert_eq!(band.mean, [2.0, 3.0]);
        assert_eq!((band.low[0], band.high[1]), (1.0, 3.0));
    }

    #[test]
    fn a_density_integrates_to_one() {
        let sorted: Vec<f64> = (0..50).map(|i| f64::from(i * i) / 500.0).collect();
        let places: Vec<f64> = (0..400).map(|i| -5.0 + f64::from(i) * 0.05).collect();
        let total = density(&sorted, &places).iter().sum::<f64>() * 0.05;
        assert!((total - 1.0).abs() < 1e-3, "{total}");
    }
}
