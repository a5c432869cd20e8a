//! CMA-ES with a diagonal covariance.

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::sampling::{self, norm2};
use super::step_size::{SMALLEST_EXTENT, StepSize, check_stop};
use super::weights::Weights;
use super::{EvolutionStrategy, RankOne, StopReason};
use crate::error::Result;
use crate::rng::NormalSource;
use crate::rows::Rows;

/// Variances beyond this would let squares of samples overflow.
const LARGEST_VARIANCE: f64 = 1e140;

/// sep-CMA-ES (Ros and Hansen 2008): one variance per parameter, O(n) per candidate.
///
/// ```
/// use autoqd_qd::{EvolutionStrategy, RankOne, Rng, SepCmaEs};
/// let mut es = SepCmaEs::new(&[1.0; 10], 0.5, 12, None, RankOne::Pyribs)?;
/// assert_eq!(es.ask(&mut Rng::new(1, 0)).len(), 12);
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SepCmaEs {
    mean: Vec<f64>,
    sigma0: f64,
    rank_one: RankOne,
    step_size: StepSize,
    path: Vec<f64>,
    variances: Vec<f64>,
    bounds: Option<Bounds>,
    solutions: Vec<f64>,
    #[serde(skip)]
    noise: Vec<f64>,
    weights: Weights,
    batch_size: usize,
    evaluations: u64,
    diverged: bool,
}

impl SepCmaEs {
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
            variances: vec![1.0; n],
            bounds,
            solutions: vec![0.0; batch_size * n],
            noise: Vec::new(),
            weights: Weights::separable(n, (batch_size / 2).max(1)),
            batch_size,
            evaluations: 0,
            diverged: false,
        })
    }

    /// The diagonal of the covariance.
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// The evolution path of the covariance.
    pub fn covariance_path(&self) -> &[f64] {
        &self.path
    }

    /// The evolution path of the step size.
    pub fn step_size_path(&self) -> &[f64] {
        &self.step_size.path
    }

    /// New path and variances; `None` when a number would leave the finite range.
    fn adapt(&self, ranking: &[usize], step: &[f64], follow: bool, sigma: f64) -> Option<[Vec<f64>; 2]> {
        let w = &self.weights;
        let rates = w.covariance_rates(self.rank_one, follow, sigma);
        let path: Vec<f64> =
            self.path.iter().zip(step).map(|(p, y)| (1.0 - w.cc) * p + rates.step * y).collect();
        let mut variances: Vec<f64> =
            self.variances.iter().zip(&path).map(|(v, p)| rates.keep * v + rates.c1 * (p * p)).collect();
        let n = path.len();
        for (weight, &i) in w.weights.iter().zip(ranking) {
            let scale = w.cmu * weight / sigma / sigma;
            let x = self.solutions[i * n..(i + 1) * n].iter().zip(&self.mean);
            variances.iter_mut().zip(x).for_each(|(v, (x, m))| *v += scale * ((x - m) * (x - m)));
        }
        let allowed = |v: &f64| (f64::MIN_POSITIVE..=LARGEST_VARIANCE).contains(v);
        (norm2(&path).is_finite() && variances.iter().all(allowed)).then_some([path, variances])
    }
}

impl EvolutionStrategy for SepCmaEs {
    cma_accessors!();

    fn reset(&mut self, x0: &[f64]) -> Result<()> {
        sampling::check_reset(self.dim(), x0)?;
        self.mean.copy_from_slice(x0);
        self.step_size.reset(self.sigma0);
        self.path.fill(0.0);
        self.variances.fill(1.0);
        (self.evaluations, self.diverged) = (0, false);
        Ok(())
    }

    fn ask(&mut self, noise: &mut dyn NormalSource) -> Rows<'_> {
        let (dim, mean, sigma) = (self.mean.len(), &self.mean, self.step_size.sigma);
        let scales: Vec<f64> = self.variances.iter().map(|v| libm::sqrt(*v)).collect();
        self.noise.resize(self.solutions.len(), 0.0);
        let place = |z: &mut [f64], x: &mut [f64]| {
            for (z, x) in z.chunks_exact(dim).zip(x.chunks_exact_mut(dim)) {
                let axes = z.iter().zip(mean.iter().zip(&scales));
                x.iter_mut().zip(axes).for_each(|(x, (z, (m, s)))| *x = m + s * (sigma * z));
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
            self.weights = Weights::separable(self.dim(), num_parents);
        }
        let mut step = Vec::new();
        sampling::step_of_mean(&self.weights.weights, ranking, &self.solutions, &self.mean, &mut step);
        let whitened: Vec<f64> = step.iter().zip(&self.variances).map(|(y, v)| y / libm::sqrt(*v)).collect();
        let before = self.step_size.clone();
        let generations = (self.evaluations / self.batch_size as u64) as f64;
        let follow = self.step_size.update(&self.weights, &whitened, generations);
        match follow.and_then(|follow| self.adapt(ranking, &step, follow, before.sigma)) {
            None => (self.step_size, self.diverged) = (before, true),
            Some(state) => {
                [self.path, self.variances] = state;
                self.mean.iter_mut().zip(&step).for_each(|(m, y)| *m += y);
            }
        }
        Ok(())
    }

    fn check_stop(&self, flat: bool) -> Option<StopReason> {
        let diverged = self.diverged.then_some(StopReason::Diverged);
        let (smallest, largest) = self
            .variances
            .iter()
            .fold((f64::INFINITY, 0.0), |(lo, up), &v| (f64::min(lo, v), f64::max(up, v)));
        let vanished = self.step_size.sigma * libm::sqrt(largest) < SMALLEST_EXTENT;
        diverged.or_else(|| check_stop(largest / smallest, vanished, flat))
    }
}
