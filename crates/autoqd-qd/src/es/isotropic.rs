//! The strategy with a sphere for a distribution: CMA-ES with C = I.

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::step_size::{SMALLEST_EXTENT, StepSize, check_stop};
use super::weights::Weights;
use super::{EvolutionStrategy, StopReason, sampling};
use crate::error::Result;
use crate::rng::NormalSource;
use crate::rows::Rows;

/// (mu/mu_w, lambda)-ES with cumulative step-size adaptation.
///
/// With many parameters and short runs the covariance of CMA-ES stays within a percent of the identity (at 800
/// parameters and 100 generations: eigenvalues in [0.996, 1.010]); this strategy leaves it out and costs O(n).
///
/// ```
/// use autoqd_qd::{EvolutionStrategy, IsotropicEs, Rng};
/// let mut es = IsotropicEs::new(&[3.0; 5], 1.0, 20, None)?;
/// let mut rng = Rng::new(1, 0);
/// for _ in 0..200 {
///     let cost = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>();
///     let costs: Vec<f64> = es.ask(&mut rng).iter().map(cost).collect();
///     let mut ranking: Vec<usize> = (0..20).collect();
///     ranking.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
///     es.tell(&ranking, 10)?;
/// }
/// assert!(es.mean().iter().all(|x| x.abs() < 1e-6));
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IsotropicEs {
    mean: Vec<f64>,
    sigma0: f64,
    step_size: StepSize,
    bounds: Option<Bounds>,
    solutions: Vec<f64>,
    #[serde(skip)]
    noise: Vec<f64>,
    weights: Weights,
    batch_size: usize,
    evaluations: u64,
    diverged: bool,
}

impl IsotropicEs {
    /// A sphere of step size `sigma0` around `x0`.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn new(x0: &[f64], sigma0: f64, batch_size: usize, bounds: Option<Bounds>) -> Result<Self> {
        sampling::check_start(x0, sigma0, batch_size, bounds.as_ref())?;
        Ok(Self {
            mean: x0.to_vec(),
            sigma0,
            step_size: StepSize::new(x0.len(), sigma0),
            bounds,
            solutions: vec![0.0; batch_size * x0.len()],
            noise: Vec::new(),
            weights: Weights::new(x0.len(), (batch_size / 2).max(1)),
            batch_size,
            evaluations: 0,
            diverged: false,
        })
    }
}

impl EvolutionStrategy for IsotropicEs {
    cma_accessors!();

    fn reset(&mut self, x0: &[f64]) -> Result<()> {
        sampling::check_reset(self.dim(), x0)?;
        self.mean.copy_from_slice(x0);
        self.step_size.reset(self.sigma0);
        (self.evaluations, self.diverged) = (0, false);
        Ok(())
    }

    fn ask(&mut self, noise: &mut dyn NormalSource) -> Rows<'_> {
        let (dim, mean, sigma) = (self.mean.len(), &self.mean, self.step_size.sigma);
        self.noise.resize(self.solutions.len(), 0.0);
        let place = |z: &mut [f64], x: &mut [f64]| {
            for (z, x) in z.chunks_exact(dim).zip(x.chunks_exact_mut(dim)) {
                x.iter_mut().zip(z.iter().zip(mean)).for_each(|(x, (z, m))| *x = m + sigma * z);
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
        let mut step = Vec::new();
        sampling::step_of_mean(&self.weights.weights, ranking, &self.solutions, &self.mean, &mut step);
        let generations = (self.evaluations / self.batch_size as u64) as f64;
        match self.step_size.update(&self.weights, &step, generations) {
            None => self.diverged = true,
            Some(_) => self.mean.iter_mut().zip(&step).for_each(|(m, y)| *m += y),
        }
        Ok(())
    }

    fn check_stop(&self, flat: bool) -> Option<StopReason> {
        let diverged = self.diverged.then_some(StopReason::Diverged);
        diverged.or_else(|| check_stop(1.0, self.step_size.sigma < SMALLEST_EXTENT, flat))
    }
}
