//! Recombination weights and learning rates of CMA-ES.

use serde::{Deserialize, Serialize};

use super::RankOne;

/// Weights of the parents and the rates that follow from them (positive weights only, as pyribs).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Weight of each parent, best first; they sum to 1.
    pub weights: Vec<f64>,
    /// Variance-effective number of parents.
    pub mueff: f64,
    /// Cumulation of the covariance path.
    pub cc: f64,
    /// Cumulation of the step-size path.
    pub cs: f64,
    /// Rate of the rank-one term.
    pub c1: f64,
    /// Rate of the rank-mu term.
    pub cmu: f64,
    /// Damping of the step size.
    pub damps: f64,
}

impl Weights {
    /// For `dim` parameters and `num_parents` > 0 parents.
    pub fn new(dim: usize, num_parents: usize) -> Self {
        let (weights, mueff) = recombination(num_parents);
        let n = dim as f64;
        let cs = (mueff + 2.0) / (n + mueff + 5.0);
        let c1 = 2.0 / ((n + 1.3) * (n + 1.3) + mueff);
        let rank_mu = 2.0 * (mueff - 2.0 + 1.0 / mueff) / ((n + 2.0) * (n + 2.0) + mueff);
        Self {
            weights,
            mueff,
            cc: (4.0 + mueff / n) / (n + 4.0 + 2.0 * mueff / n),
            cs,
            c1,
            cmu: f64::min(1.0 - c1, rank_mu),
            damps: 1.0 + cs + 2.0 * f64::max(0.0, libm::sqrt((mueff - 1.0) / (n + 1.0)) - 1.0),
        }
    }

    /// The rates of sep-CMA-ES, whose covariance has only a diagonal and can learn faster.
    pub fn separable(dim: usize, num_parents: usize) -> Self {
        let full = Self::new(dim, num_parents);
        let (n, mueff) = (dim as f64, full.mueff);
        let root = libm::sqrt(n);
        let c1 = full.c1 / (n + 2.0 * root + mueff / n);
        let rank_mu = (mueff + 1.0 / mueff - 2.0) / (n + 4.0 * root + mueff / 2.0);
        let cc = (1.0 + 1.0 / n + mueff / n) / (root + 1.0 / n + 2.0 * mueff / n);
        Self { cc, c1, cmu: f64::min(1.0 - c1, rank_mu), ..full }
    }

    /// The terms of a covariance update. `follow` says whether the path follows the step, `sigma` is the
    /// step size that the generation was drawn with.
    pub(super) fn covariance_rates(&self, rank_one: RankOne, follow: bool, sigma: f64) -> CovarianceRates {
        let (c1, path_scale) = match rank_one {
            RankOne::Pyribs => (self.c1 * self.c1, 1.0),
            RankOne::Textbook => (self.c1, 1.0 / sigma),
        };
        let variance = self.cc * (2.0 - self.cc);
        let lost = if follow { 0.0 } else { variance };
        CovarianceRates {
            c1,
            step: f64::from(u8::from(follow)) * libm::sqrt(variance * self.mueff) * path_scale,
            keep: 1.0 - self.c1 * (1.0 - lost) - self.cmu,
        }
    }

    /// The usual batch size for `dim` parameters: 4 + floor(3 ln n).
    pub fn default_batch_size(dim: usize) -> usize {
        4 + (3.0 * libm::log(dim as f64)) as usize
    }

    /// Evaluations between two refreshes of the eigensystem.
    pub fn lazy_gap(dim: usize, batch_size: usize) -> f64 {
        let half = Self::new(dim, (batch_size / 2).max(1));
        batch_size as f64 / (2.0 * dim as f64 * (half.c1 + half.cmu))
    }
}

/// Factors of one update of the covariance.
pub(super) struct CovarianceRates {
    /// On the square of the path.
    pub c1: f64,
    /// On the step of the mean, in the path.
    pub step: f64,
    /// On the covariance so far.
    pub keep: f64,
}

/// w_i proportional to ln(mu + 1/2) - ln i, and 1 / sum w_i^2.
fn recombination(num_parents: usize) -> (Vec<f64>, f64) {
    let top = libm::log(num_parents as f64 + 0.5);
    let mut weights: Vec<f64> = (1..=num_parents).map(|i| top - libm::log(i as f64)).collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    (weights, 1.0 / squares)
}
