//! Cumulative step-size adaptation, shared by the CMA-ES family.

use serde::{Deserialize, Serialize};

use super::weights::Weights;
use super::{SIGMA_RANGE, StopReason};

/// Step size and its evolution path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepSize {
    pub sigma: f64,
    pub path: Vec<f64>,
}

impl StepSize {
    pub fn new(dim: usize, sigma: f64) -> Self {
        Self { sigma, path: vec![0.0; dim] }
    }

    pub fn reset(&mut self, sigma: f64) {
        self.sigma = sigma;
        self.path.fill(0.0);
    }

    /// Moves path and step size by the whitened step C^(-1/2) y of a generation. Returns whether the covariance path
    /// should follow (h in the literature), or `None`, with nothing changed, when a number would leave the
    /// finite range.
    pub fn update(&mut self, w: &Weights, whitened: &[f64], generations: f64) -> Option<bool> {
        let n = self.path.len() as f64;
        let (keep, follow) = (1.0 - w.cs, libm::sqrt(w.cs * (2.0 - w.cs) * w.mueff) / self.sigma);
        let moved = |(p, y): (&f64, &f64)| keep * p + follow * y;
        let norm2: f64 = self.path.iter().zip(whitened).map(moved).map(|p| p * p).sum();
        let step = f64::min(1.0, (w.cs / w.damps) * (norm2 / n - 1.0) / 2.0);
        let sigma = self.sigma * libm::exp(step);
        if !norm2.is_finite() || !SIGMA_RANGE.contains(&sigma) {
            return None;
        }
        self.path.iter_mut().zip(whitened).for_each(|(p, y)| *p = moved((p, y)));
        self.sigma = sigma;
        let bias = 1.0 - libm::pow(1.0 - w.cs, 2.0 * generations);
        Some(norm2 / n / bias < 2.0 + 4.0 / (n + 1.0))
    }
}

/// The longest axis of a distribution that is too small to continue.
pub(crate) const SMALLEST_EXTENT: f64 = 1e-11;

/// The stop test of the CMA-ES family: condition, extent of the longest axis, flat values.
pub(crate) fn check_stop(condition: f64, vanished: bool, flat: bool) -> Option<StopReason> {
    if condition > 1e14 {
        Some(StopReason::IllConditioned)
    } else if vanished {
        Some(StopReason::StepSizeVanished)
    } else {
        flat.then_some(StopReason::FlatValues)
    }
}
