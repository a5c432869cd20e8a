//! CMA-ES with a full covariance matrix.

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::covariance::Covariance;
use super::sampling::{self, norm2};
use super::step_size::{SMALLEST_EXTENT, StepSize, check_stop};
use super::weights::{CovarianceRates, Weights};
use super::{Arithmetic, EvolutionStrategy, RankOne, StopReason};
use crate::error::{Result, check_finite, check_len};
use crate::rng::NormalSource;
use crate::rows::Rows;

/// A trace beyond this would let squares of samples overflow.
const LARGEST_TRACE: f64 = 1e140;

/// Covariance matrix adaptation, as pyribs computes it: positive weights only, lazy refreshes of the eigensystem,
/// and by default pyribs' rank-one term (see [`RankOne`]).
///
/// ```
/// use autoqd_qd::{CmaEs, EvolutionStrategy, RankOne, Rng};
/// let mut es = CmaEs::new(&[1.0, -2.0, 0.5], 0.5, 12, None, RankOne::Textbook)?;
/// let mut rng = Rng::new(1, 0);
/// for _ in 0..200 {
///     let cost = |x: &[f64]| x[0] * x[0] + 100.0 * x[1] * x[1] + 1e4 * x[2] * x[2];
///     let costs: Vec<f64> = es.ask(&mut rng).iter().map(cost).collect();
///     let mut ranking: Vec<usize> = (0..12).collect();
///     ranking.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
///     es.tell(&ranking, 6)?;
/// }
/// assert!(es.mean().iter().all(|x| x.abs() < 1e-6));
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CmaEs {
    mean: Vec<f64>,
    sigma0: f64,
    rank_one: RankOne,
    step_size: StepSize,
    path: Vec<f64>,
    covariance: Covariance,
    bounds: Option<Bounds>,
    solutions: Vec<f64>,
    #[serde(skip)]
    noise: Vec<f64>,
    weights: Weights,
    batch_size: usize,
    lazy_gap: f64,
    evaluations: u64,
    last_refresh: u64,
    diverged: bool,
    /// Columns of the covariance update and the step of the mean; kept to save the allocation.
    #[serde(skip)]
    columns: Vec<f64>,
    #[serde(skip)]
    step: Vec<f64>,
}

impl CmaEs {
    /// Starts with a sphere of step size `sigma0` around `x0`.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn new(
        x0: &[f64],
        sigma0: f64,
        batch_size: usize,
        bounds: Option<Bounds>,
        rank_one: RankOne,
    ) -> Result<Self> {
        sampling::check_start(x0, sigma0, batch_size, bounds.as_ref())?;
        let n = x0.len();
        Ok(Self {
            mean: x0.to_vec(),
            sigma0,
            rank_one,
            step_size: StepSize::new(n, sigma0),
            path: vec![0.0; n],
            covariance: Covariance::identity(n),
            bounds,
            solutions: vec![0.0; batch_size * n],
            noise: Vec::new(),
            weights: Weights::new(n, (batch_size / 2).max(1)),
            batch_size,
            lazy_gap: Weights::lazy_gap(n, batch_size),
            evaluations: 0,
            last_refresh: 0,
            diverged: false,
            columns: Vec::new(),
            step: Vec::new(),
        })
    }

    /// Starts from a known covariance, row after row. Where it is not symmetric the larger of the two entries counts;
    /// negative eigenvalues are mirrored.
    ///
    /// # Errors
    /// When the shape is wrong or a number is not finite.
    pub fn set_covariance(&mut self, matrix: &[f64]) -> Result<()> {
        let n = self.mean.len();
        check_len("numbers in the covariance", n * n, matrix.len(), "give a square matrix")?;
        check_finite("the covariance", matrix, "give finite numbers")?;
        let arithmetic = self.covariance.arithmetic();
        self.covariance = Covariance::from_matrix(matrix, n);
        self.covariance.set_arithmetic(arithmetic);
        Ok(())
    }

    /// How the covariance is computed with.
    pub fn arithmetic(&self) -> Arithmetic {
        self.covariance.arithmetic()
    }

    /// Chooses how the covariance is computed with. A strategy that is read back is portable.
    pub fn set_arithmetic(&mut self, arithmetic: Arithmetic) {
        self.covariance.set_arithmetic(arithmetic);
    }

    /// One entry of the covariance.
    ///
    /// # Panics
    /// When an index is out of range, as slices do.
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        self.covariance.get(i, j)
    }

    /// Condition number of the covariance at the last refresh of the eigensystem; may cost an eigendecomposition.
    pub fn condition(&self) -> f64 {
        self.covariance.condition()
    }

    /// Absolute eigenvalues of the covariance at the last refresh, in ascending order of the signed ones. `None` when
    /// the decomposition does not converge. May cost an eigendecomposition.
    pub fn eigenvalues(&self) -> Option<Vec<f64>> {
        self.covariance.eigenvalues()
    }

    /// C^(-1/2) y with the covariance of the last refresh.
    ///
    /// # Errors
    /// When the size is wrong.
    pub fn whiten(&mut self, y: &mut [f64]) -> Result<()> {
        check_len("numbers to whiten", self.mean.len(), y.len(), "use the strategy's size")?;
        self.covariance.whiten(y);
        Ok(())
    }

    /// The evolution path of the covariance.
    pub fn covariance_path(&self) -> &[f64] {
        &self.path
    }

    /// The evolution path of the step size.
    pub fn step_size_path(&self) -> &[f64] {
        &self.step_size.path
    }

    /// Evaluations at the last refresh of the eigensystem.
    pub fn last_refresh(&self) -> u64 {
        self.last_refresh
    }

    /// Evaluations between two refreshes of the eigensystem.
    pub fn lazy_gap(&self) -> f64 {
        self.lazy_gap
    }

    fn refresh_if_due(&mut self) {
        if self.evaluations as f64 > self.last_refresh as f64 + self.lazy_gap {
            self.diverged |= !self.covariance.refresh();
            self.last_refresh = self.evaluations;
        }
    }

    /// Moves the covariance by the step of the mean and the parents' deviations. `sigma` is the step size they were
    /// drawn with. Returns false, with nothing changed, when a number would leave the finite range.
    fn adapt_covariance(&mut self, ranking: &[usize], follow: bool, sigma: f64) -> bool {
        let (n, w) = (self.mean.len(), &self.weights);
        let CovarianceRates { c1, step, keep } = w.covariance_rates(self.rank_one, follow, sigma);
        self.columns.resize((w.weights.len() + 1) * n, 0.0);
        let (first, rest) = self.columns.split_at_mut(n);
        for ((c, p), y) in first.iter_mut().zip(&self.path).zip(&self.step) {
            *c = (1.0 - w.cc) * p + step * y;
        }
        for ((column, weight), &i) in rest.chunks_exact_mut(n).zip(&w.weights).zip(ranking) {
            let scale = libm::sqrt(w.cmu * weight) / sigma;
            let x = self.solutions[i * n..(i + 1) * n].iter().zip(&self.mean);
            column.iter_mut().zip(x).for_each(|(c, (x, m))| *c = scale * (x - m));
        }
        // The trace grows by the squares of all columns; a bounded trace bounds every entry.
        let growth = c1 * norm2(first) + norm2(rest);
        if !(growth < LARGEST_TRACE && keep * self.covariance.trace() + growth < LARGEST_TRACE) {
            return false;
        }
        self.path.copy_from_slice(first);
        first.iter_mut().for_each(|c| *c *= libm::sqrt(c1));
        self.covariance.update(keep, &self.columns);
        true
    }
}

impl EvolutionStrategy for CmaEs {
    cma_accessors!();

    fn reset(&mut self, x0: &[f64]) -> Result<()> {
        sampling::check_reset(self.dim(), x0)?;
        self.mean.copy_from_slice(x0);
        self.step_size.reset(self.sigma0);
        self.path.fill(0.0);
        self.covariance.reset();
        (self.evaluations, self.last_refresh, self.diverged) = (0, 0, false);
        Ok(())
    }

    fn ask(&mut self, noise: &mut dyn NormalSource) -> Rows<'_> {
        self.refresh_if_due();
        let (dim, mean, sigma) = (self.mean.len(), &self.mean, self.step_size.sigma);
        let covariance = &self.covariance;
        self.noise.resize(self.solutions.len(), 0.0);
        let place = |z: &mut [f64], x: &mut [f64]| {
            covariance.transform(z, x);
            for x in x.chunks_exact_mut(dim) {
                x.iter_mut().zip(mean).for_each(|(x, m)| *x = m + sigma * *x);
            }
        };
        sampling::draw(noise, self.bounds.as_ref(), dim, &mut self.noise, &mut self.solutions, place);
        self.solutions()
    }

    fn tell(&mut self, ranking: &[usize], num_parents: usize) -> Result<()> {
        sampling::check_ranking(ranking, self.batch_size, num_parents)?;
        self.evaluations += self.batch_size as u64;
        if num_parents == 0 {
            return Ok(());
        }
        if self.weights.weights.len() != num_parents {
            self.weights = Weights::new(self.dim(), num_parents);
        }
        sampling::step_of_mean(&self.weights.weights, ranking, &self.solutions, &self.mean, &mut self.step);
        let mut whitened = self.step.clone();
        self.covariance.whiten(&mut whitened);
        let before = self.step_size.clone();
        let generations = (self.evaluations / self.batch_size as u64) as f64;
        let follow = self.step_size.update(&self.weights, &whitened, generations);
        if follow.is_some_and(|follow| self.adapt_covariance(ranking, follow, before.sigma)) {
            self.mean.iter_mut().zip(&self.step).for_each(|(m, y)| *m += y);
        } else {
            (self.step_size, self.diverged) = (before, true);
        }
        Ok(())
    }

    fn check_stop(&self, flat: bool) -> Option<StopReason> {
        let diverged = self.diverged.then_some(StopReason::Diverged);
        let vanished = self.covariance.extent_below(self.step_size.sigma, SMALLEST_EXTENT);
        diverged.or_else(|| check_stop(self.covariance.condition_bound(), vanished, flat))
    }
}
