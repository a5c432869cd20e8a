//! LM-MA-ES: a covariance of low rank for many parameters.

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::sampling::{self, norm2};
use super::weights::Weights;
use super::{EvolutionStrategy, SIGMA_RANGE, StopReason};
use crate::error::{Result, check_parameter};
use crate::rng::NormalSource;
use crate::rows::Rows;

/// Limited-memory matrix adaptation (Loshchilov, Glasmachers and Beyer 2019): a few direction vectors instead of a
/// matrix.
///
/// ```
/// use autoqd_qd::{EvolutionStrategy, LmMaEs, Rng};
/// let mut es = LmMaEs::new(&[1.0; 100], 0.5, 12, None, None)?;
/// assert_eq!(es.ask(&mut Rng::new(1, 0)).len(), 12);
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LmMaEs {
    mean: Vec<f64>,
    sigma0: f64,
    sigma: f64,
    path: Vec<f64>,
    /// Direction vectors, row after row.
    directions: Vec<f64>,
    bounds: Option<Bounds>,
    solutions: Vec<f64>,
    noise: Vec<f64>,
    weights: Weights,
    batch_size: usize,
    generation: u64,
    diverged: bool,
}

impl LmMaEs {
    /// `vectors` directions (the batch size when `None`) around `x0`.
    ///
    /// # Errors
    /// When a parameter is invalid, or the batch is larger than the number of parameters.
    pub fn new(
        x0: &[f64],
        sigma0: f64,
        batch_size: usize,
        bounds: Option<Bounds>,
        vectors: Option<usize>,
    ) -> Result<Self> {
        sampling::check_start(x0, sigma0, batch_size, bounds.as_ref())?;
        let n = x0.len();
        let remedy = "LM-MA-ES needs batch_size <= number of parameters; use CMA-ES for so few";
        check_parameter(batch_size <= n, "batch_size", batch_size, remedy)?;
        let vectors = vectors.unwrap_or(batch_size);
        check_parameter(vectors > 0, "vectors", vectors, "use at least one direction")?;
        Ok(Self {
            mean: x0.to_vec(),
            sigma0,
            sigma: sigma0,
            path: vec![0.0; n],
            directions: vec![0.0; vectors * n],
            bounds,
            solutions: vec![0.0; batch_size * n],
            noise: vec![0.0; batch_size * n],
            weights: Weights::new(n, (batch_size / 2).max(1)),
            batch_size,
            generation: 0,
            diverged: false,
        })
    }

    /// The direction vectors.
    pub fn directions(&self) -> Rows<'_> {
        Rows::trusted(&self.directions, self.mean.len())
    }

    /// The evolution path of the step size.
    pub fn step_size_path(&self) -> &[f64] {
        &self.path
    }
}

/// d <- (1 - c_j) d + c_j m_j <m_j, d> for each known direction, c_j = 1.5^-j / n.
fn stretch(d: &mut [f64], directions: &[f64], known: usize) {
    let n = d.len();
    for (j, m) in directions.chunks_exact(n).take(known).enumerate() {
        let c = libm::pow(1.5, -(j as f64)) / n as f64;
        let along: f64 = m.iter().zip(d.iter()).map(|(m, d)| m * d).sum();
        d.iter_mut().zip(m).for_each(|(d, m)| *d = (1.0 - c) * *d + c * m * along);
    }
}

/// path <- (1 - c) path + sqrt(mueff c (2 - c)) step
fn follow(path: &mut [f64], c: f64, mueff: f64, step: &[f64]) {
    let scale = libm::sqrt(mueff * c * (2.0 - c));
    path.iter_mut().zip(step).for_each(|(p, z)| *p = (1.0 - c) * *p + scale * z);
}

impl EvolutionStrategy for LmMaEs {
    shared_accessors!();

    fn sigma(&self) -> f64 {
        self.sigma
    }

    fn evaluations(&self) -> u64 {
        self.generation * self.batch_size as u64
    }

    fn reset(&mut self, x0: &[f64]) -> Result<()> {
        sampling::check_reset(self.dim(), x0)?;
        self.mean.copy_from_slice(x0);
        self.sigma = self.sigma0;
        self.path.fill(0.0);
        self.directions.fill(0.0);
        (self.generation, self.diverged) = (0, false);
        Ok(())
    }

    fn ask(&mut self, noise: &mut dyn NormalSource) -> Rows<'_> {
        let (dim, mean, sigma) = (self.mean.len(), &self.mean, self.sigma);
        let directions = &self.directions;
        let known = (directions.len() / dim).min(self.generation as usize);
        let place = |z: &mut [f64], x: &mut [f64]| {
            for (z, x) in z.chunks_exact(dim).zip(x.chunks_exact_mut(dim)) {
                x.copy_from_slice(z);
                stretch(x, directions, known);
                x.iter_mut().zip(mean).for_each(|(x, m)| *x = m + sigma * *x);
            }
        };
        sampling::draw(noise, self.bounds.as_ref(), dim, &mut self.noise, &mut self.solutions, place);
        self.solutions()
    }

    fn inject(&mut self, _solutions: Rows<'_>) -> Result<()> {
        Err(sampling::cannot_inject("LmMaEs"))
    }

    fn tell(&mut self, ranking: &[usize], num_parents: usize) -> Result<()> {
        sampling::check_ranking(ranking, self.batch_size, num_parents)?;
        self.generation += 1;
        if num_parents == 0 {
            return Ok(());
        }
        if self.weights.weights.len() != num_parents {
            self.weights = Weights::new(self.dim(), num_parents);
        }
        let (n, mueff) = (self.dim() as f64, self.weights.mueff);
        let (mut mean, mut step) = (vec![0.0; self.dim()], vec![0.0; self.dim()]);
        sampling::recombine(&self.weights.weights, ranking, &self.solutions, &mut mean);
        sampling::recombine(&self.weights.weights, ranking, &self.noise, &mut step);
        let rate = 2.0 * self.batch_size as f64 / n;
        let mut path = self.path.clone();
        follow(&mut path, rate, mueff, &step);
        let sigma = self.sigma * libm::exp(rate / 2.0 * (norm2(&path) / n - 1.0));
        if !SIGMA_RANGE.contains(&sigma) || !norm2(&mean).is_finite() {
            self.diverged = true;
            return Ok(());
        }
        (self.mean, self.path, self.sigma) = (mean, path, sigma);
        for (j, m) in self.directions.chunks_exact_mut(step.len()).enumerate() {
            let rate = self.batch_size as f64 / libm::pow(4.0, j as f64) / n;
            follow(m, rate, mueff, &step);
        }
        Ok(())
    }

    fn check_stop(&self, flat: bool) -> Option<StopReason> {
        if self.diverged {
            Some(StopReason::Diverged)
        } else if self.sigma < 1e-12 {
            Some(StopReason::StepSizeVanished)
        } else {
            flat.then_some(StopReason::FlatValues)
        }
    }
}
