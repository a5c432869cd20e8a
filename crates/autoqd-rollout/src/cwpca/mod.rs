//! Calibrated weighted PCA (Appendix C of the paper): from embeddings to behaviour measures.
//!
//! Policies' embeddings are weighted by their objectives, projected on their k main directions, and each
//! direction is scaled so that its 5 % and 95 % quantiles become -1 and 1.
//!
//! # Where the paper is silent
//! * All objectives equal: all weights equal.
//! * Fewer independent directions than k (fewer elites than k, or some direction without variance): the axes
//!   that are missing are flat, that is, their row of A, their component, scale and b are 0, and every policy has
//!   measure 0 there, the middle of the archive. They come last.
//! * More than nine tenths of the elites at the same place of an axis, so that the quantiles coincide: minimum
//!   and maximum take their place.
//! * An axis whose quantiles, and whose extremes, are closer than `flat_range` is flat.
//! * One elite: all axes are flat. None, numbers that are not finite, rows of different lengths: an error.
//!
//! ```
//! use autoqd_rollout::cwpca::{CwPcaOptions, fit};
//! let embeddings: Vec<Vec<f64>> = (0..50).map(|i| vec![f64::from(i), f64::from(i % 7), 1.0]).collect();
//! let objectives = vec![1.0; 50];
//! let map = fit(&embeddings, &objectives, 2, &CwPcaOptions::default())?;
//! let measures = map.map(&embeddings[25]);
//! assert_eq!(measures.len(), 2);
//! assert!(measures.iter().all(|m| m.abs() < 1.2));
//! # Ok::<(), autoqd_rollout::Error>(())
//! ```

mod affine;
mod align;
mod calibrate;
mod decompose;
mod portable;

pub use affine::AffineMap;
pub use align::Turn;
pub use calibrate::quantile;

use autoqd_qd::Arithmetic;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::random::NormalStream;

/// How the map is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CwPcaOptions {
    /// Weight policies by their objective, so that the axes follow the differences between good ones.
    pub weighted: bool,
    /// The quantile that becomes -1.
    pub low_quantile: f64,
    /// The quantile that becomes 1.
    pub high_quantile: f64,
    /// An axis along which all embeddings lie closer than this is flat. The default is above the rounding noise
    /// of single-precision features and far below any difference in behaviour.
    pub flat_range: f64,
    /// How the main directions are computed.
    pub arithmetic: Arithmetic,
}

impl Default for CwPcaOptions {
    fn default() -> Self {
        Self {
            weighted: true,
            low_quantile: 0.05,
            high_quantile: 0.95,
            flat_range: 1e-7,
            arithmetic: Arithmetic::Portable,
        }
    }
}

impl CwPcaOptions {
    fn validate(&self, k: usize) -> Result<(), Error> {
        let (low, high) = (self.low_quantile, self.high_quantile);
        if !(0.0 <= low && low < high && high <= 1.0) {
            return Err(Error::invalid(
                "calibration quantiles",
                format!("{low}, {high}"),
                "0 <= low < high <= 1",
            ));
        }
        if !(self.flat_range >= 0.0 && self.flat_range.is_finite()) {
            return Err(Error::invalid("flat_range", self.flat_range, "a number of at least 0"));
        }
        if k == 0 { Err(Error::invalid("measures", k, "at least 1")) } else { Ok(()) }
    }
}

/// The weight of each policy (step 1 of Appendix C); they sum to 1.
pub fn weights(objectives: &[f64]) -> Vec<f64> {
    let low = objectives.iter().copied().fold(f64::INFINITY, f64::min);
    let high = objectives.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let floor = 1.0 / objectives.len() as f64;
    let range = high - low;
    let share = |f: &f64| if range > 0.0 { ((f - low) / range).max(floor) } else { 1.0 };
    let shares: Vec<f64> = objectives.iter().map(share).collect();
    let total = shares.iter().fold(0.0, |sum, share| sum + share);
    shares.into_iter().map(|share| share / total).collect()
}

/// Fits the map to the embeddings and objectives of elites, with `k` measures.
///
/// The sign of an axis is such that the largest entry of its component is positive; use
/// [`AffineMap::align`] to follow an earlier map instead.
pub fn fit<R: AsRef<[f64]>>(
    embeddings: &[R],
    objectives: &[f64],
    k: usize,
    options: &CwPcaOptions,
) -> Result<AffineMap, Error> {
    options.validate(k)?;
    let dimension = check(embeddings, objectives)?;
    let uniform = vec![1.0 / objectives.len() as f64; objectives.len()];
    let weights = if options.weighted { weights(objectives) } else { uniform };
    let mean = decompose::weighted_mean(embeddings, &weights, dimension);
    let axes = match options.arithmetic {
        Arithmetic::Portable => portable::principal_axes(embeddings, &weights, &mean, k)?,
        Arithmetic::Native => decompose::principal_axes(embeddings, &weights, &mean, k)?,
    };
    Ok(calibrate::calibrate(embeddings, mean, axes, options))
}

/// A random orthonormal projection, centred and calibrated on the given embeddings.
pub fn random<R: AsRef<[f64]>>(
    embeddings: &[R],
    k: usize,
    options: &CwPcaOptions,
    seed: u64,
) -> Result<AffineMap, Error> {
    options.validate(k)?;
    let dimension = check(embeddings, &vec![0.0; embeddings.len()])?;
    let weights = vec![1.0 / embeddings.len() as f64; embeddings.len()];
    let mean = decompose::weighted_mean(embeddings, &weights, dimension);
    let mut stream = NormalStream::new(seed, b"firstmap");
    let axes = decompose::random_axes(embeddings, &weights, &mean, k, || stream.normal());
    Ok(calibrate::calibrate(embeddings, mean, axes, options))
}

/// A ~ N(0, 1) and b = 0, which sees no embeddings at all. Its rows are its components, with a scale of 1.
pub fn uncalibrated(dimension: usize, k: usize, seed: u64) -> AffineMap {
    let mut stream = NormalStream::new(seed, b"firstmap");
    let a: Vec<f64> = std::iter::repeat_with(|| stream.normal()).take(k * dimension).collect();
    AffineMap {
        measures: k,
        dimension,
        components: a.clone(),
        a,
        b: vec![0.0; k],
        mean: vec![0.0; dimension],
        scale: vec![1.0; k],
        offset: vec![0.0; k],
        variance: vec![0.0; k],
        total_variance: 0.0,
    }
}

/// Checks the data and returns the length of an embedding.
fn check<R: AsRef<[f64]>>(embeddings: &[R], objectives: &[f64]) -> Result<usize, Error> {
    let Some(first) = embeddings.first() else {
        return Err(Error::invalid("elites to fit measures to", 0, "at least 1"));
    };
    if embeddings.len() != objectives.len() {
        let got = format!("{} embeddings, {} objectives", embeddings.len(), objectives.len());
        return Err(Error::invalid("elites to fit measures to", got, "one objective per embedding"));
    }
    let dimension = first.as_ref().len();
    for (i, (row, objective)) in embeddings.iter().zip(objectives).enumerate() {
        if row.as_ref().len() != dimension {
            let got = format!("{} numbers for elite {i}", row.as_ref().len());
            return Err(Error::invalid("embedding", got, "the same length for all elites"));
        }
        if !objective.is_finite() || !row.as_ref().iter().all(|x| x.is_finite()) {
            let got = format!("elite {i} with a number that is not finite");
            return Err(Error::invalid("elites to fit measures to", got, "finite embeddings and objectives"));
        }
    }
    Ok(dimension)
}
