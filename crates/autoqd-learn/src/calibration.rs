//! From codes to measures: each dimension scaled so that most elites lie within -1 and 1, as AutoQD's axes are.

use autoqd::cwpca::{CwPcaOptions, quantile};
use serde::{Deserialize, Serialize};

/// measure = scale * code + offset, per dimension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Factor of each dimension.
    pub scale: Vec<f64>,
    /// What is added to each dimension.
    pub offset: Vec<f64>,
}

impl Calibration {
    /// The calibration that changes nothing.
    pub fn identity(dimension: usize) -> Self {
        Self { scale: vec![1.0; dimension], offset: vec![0.0; dimension] }
    }

    /// Maps the 5 % and 95 % quantiles of each dimension of the codes (row after row) to -1 and 1; the extremes where
    /// the quantiles coincide. A dimension without any spread is only shifted to 0.
    pub fn fit(codes: &[f64], dimension: usize) -> Self {
        let mut calibration = Self::identity(dimension);
        let options = CwPcaOptions::default();
        for d in 0..dimension {
            let mut column: Vec<f64> = codes.iter().skip(d).step_by(dimension).copied().collect();
            column.sort_by(f64::total_cmp);
            let range = |low, high| [quantile(&column, low), quantile(&column, high)];
            let ranges = [range(options.low_quantile, options.high_quantile), range(0.0, 1.0)];
            match ranges.into_iter().find(|[low, high]| high - low > options.flat_range) {
                Some([low, high]) => {
                    calibration.scale[d] = 2.0 / (high - low);
                    calibration.offset[d] = -1.0 - calibration.scale[d] * low;
                }
                None => calibration.offset[d] = -column.first().copied().unwrap_or(0.0),
            }
        }
        calibration
    }

    /// The measures of a code.
    pub fn apply(&self, code: &[f64]) -> Vec<f64> {
        code.iter().zip(&self.scale).zip(&self.offset).map(|((z, s), o)| s * z + o).collect()
    }
}
