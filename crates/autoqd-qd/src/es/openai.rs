//! OpenAI-ES: gradient ascent with a gradient estimated from a fixed sphere.

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::sampling::{self, norm2};
use super::{EvolutionStrategy, StopReason};
use crate::error::{Result, check_parameter};
use crate::rng::NormalSource;
use crate::rows::Rows;

/// Options of [`OpenAiEs`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenAiOptions {
    /// Whether the second half of a generation mirrors the first.
    pub mirror_sampling: bool,
    /// Learning rate of Adam.
    pub lr: f64,
    /// Decay of Adam's first moment.
    pub beta1: f64,
    /// Decay of Adam's second moment.
    pub beta2: f64,
    /// What Adam adds to the root of the second moment.
    pub epsilon: f64,
    /// Strength of the pull towards 0.
    pub l2_coeff: f64,
}

impl Default for OpenAiOptions {
    fn default() -> Self {
        Self { mirror_sampling: true, lr: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, l2_coeff: 0.0 }
    }
}

impl OpenAiOptions {
    fn check(&self) -> Result<()> {
        let unit = |name, b: f64| check_parameter((0.0..1.0).contains(&b), name, b, "use a number in [0, 1)");
        let positive =
            |name, v: f64| check_parameter(v.is_finite() && v > 0.0, name, v, "use a positive finite number");
        unit("beta1", self.beta1)?;
        unit("beta2", self.beta2)?;
        positive("lr", self.lr)?;
        positive("epsilon", self.epsilon)?;
        let l2 = self.l2_coeff;
        check_parameter(l2.is_finite() && l2 >= 0.0, "l2_coeff", l2, "use a finite number >= 0")
    }
}

/// OpenAI-ES (Salimans et al. 2017) with Adam: fixed step size, all candidates count by their rank; the number of
/// parents is not used.
///
/// ```
/// use autoqd_qd::{EvolutionStrategy, OpenAiEs, Rng};
/// let mut es = OpenAiEs::new(&[1.0; 100], 0.1, 12, None, Default::default())?;
/// assert_eq!(es.ask(&mut Rng::new(1, 0)).len(), 12);
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OpenAiEs {
    mean: Vec<f64>,
    sigma: f64,
    options: OpenAiOptions,
    bounds: Option<Bounds>,
    first_moment: Vec<f64>,
    second_moment: Vec<f64>,
    steps: i32,
    update_ratio: Option<f64>,
    solutions: Vec<f64>,
    noise: Vec<f64>,
    batch_size: usize,
    evaluations: u64,
    diverged: bool,
}

impl OpenAiEs {
    /// Starts at `x0`.
    ///
    /// # Errors
    /// When a parameter is invalid; mirrored sampling needs an even batch and no bounds.
    pub fn new(
        x0: &[f64],
        sigma0: f64,
        batch_size: usize,
        bounds: Option<Bounds>,
        options: OpenAiOptions,
    ) -> Result<Self> {
        sampling::check_start(x0, sigma0, batch_size, bounds.as_ref())?;
        options.check()?;
        if options.mirror_sampling {
            let remedy = "mirrored sampling needs an even batch; change it or set mirror_sampling = false";
            check_parameter(batch_size.is_multiple_of(2), "batch_size", batch_size, remedy)?;
            let remedy =
                "mirrored sampling cannot draw again; drop the bounds or set mirror_sampling = false";
            check_parameter(bounds.is_none(), "bounds", &bounds, remedy)?;
        }
        let n = x0.len();
        let drawn = if options.mirror_sampling { batch_size / 2 } else { batch_size };
        Ok(Self {
            mean: x0.to_vec(),
            sigma: sigma0,
            options,
            bounds,
            first_moment: vec![0.0; n],
            second_moment: vec![0.0; n],
            steps: 0,
            update_ratio: None,
            solutions: vec![0.0; batch_size * n],
            noise: vec![0.0; drawn * n],
            batch_size,
            evaluations: 0,
            diverged: false,
        })
    }

    /// Length of the last step relative to that of the mean after it; `None` before the first.
    pub fn update_ratio(&self) -> Option<f64> {
        self.update_ratio
    }

    /// Weighted sum of the noise: utilities run from 1/2 for the best to -1/2 for the worst.
    fn gradient(&self, ranking: &[usize]) -> Vec<f64> {
        let last = (self.batch_size - 1).max(1) as f64;
        let mut utility = vec![0.0; self.batch_size];
        for (place, &i) in ranking.iter().enumerate() {
            utility[i] = (self.batch_size - 1 - place) as f64 / last - 0.5;
        }
        let n = self.mean.len();
        let drawn = self.noise.len() / n;
        let mut gradient = vec![0.0; n];
        for (i, z) in self.noise.chunks_exact(n).enumerate() {
            let mirrored = utility.get(i + drawn).copied().unwrap_or(0.0);
            gradient.iter_mut().zip(z).for_each(|(g, z)| *g += z * (utility[i] - mirrored));
        }
        gradient.iter_mut().for_each(|g| *g /= drawn as f64 * self.sigma);
        gradient
    }

    /// One step of Adam uphill; returns the step.
    fn adam(&mut self, gradient: &[f64]) -> Vec<f64> {
        let o = self.options;
        self.steps = self.steps.saturating_add(1);
        let steps = f64::from(self.steps);
        let rate = o.lr * libm::sqrt(1.0 - libm::pow(o.beta2, steps)) / (1.0 - libm::pow(o.beta1, steps));
        let moments = self.first_moment.iter_mut().zip(&mut self.second_moment);
        let adjust = |((g, x), (m, v)): ((&f64, &f64), (&mut f64, &mut f64))| {
            let slope = g - o.l2_coeff * x;
            *m = o.beta1 * *m + (1.0 - o.beta1) * slope;
            *v = o.beta2 * *v + (1.0 - o.beta2) * (slope * slope);
            rate * *m / (libm::sqrt(*v) + o.epsilon)
        };
        gradient.iter().zip(&self.mean).zip(moments).map(adjust).collect()
    }
}

impl EvolutionStrategy for OpenAiEs {
    shared_accessors!();

    fn sigma(&self) -> f64 {
        self.sigma
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }

    fn reset(&mut self, x0: &[f64]) -> Result<()> {
        sampling::check_reset(self.dim(), x0)?;
        self.mean.copy_from_slice(x0);
        self.first_moment.fill(0.0);
        self.second_moment.fill(0.0);
        (self.steps, self.update_ratio, self.evaluations, self.diverged) = (0, None, 0, false);
        Ok(())
    }

    fn ask(&mut self, noise: &mut dyn NormalSource) -> Rows<'_> {
        let (dim, mean, sigma) = (self.mean.len(), &self.mean, self.sigma);
        let place = |sign: f64, z: &[f64], x: &mut [f64]| {
            for (z, x) in z.chunks_exact(dim).zip(x.chunks_exact_mut(dim)) {
                x.iter_mut().zip(z.iter().zip(mean)).for_each(|(x, (z, m))| *x = m + sign * (sigma * z));
            }
        };
        let drawn = self.noise.len();
        let (first, second) = self.solutions.split_at_mut(drawn);
        let bounds = self.bounds.as_ref();
        sampling::draw(noise, bounds, dim, &mut self.noise, first, |z, x| place(1.0, z, x));
        place(-1.0, &self.noise, second);
        self.solutions()
    }

    fn inject(&mut self, _solutions: Rows<'_>) -> Result<()> {
        Err(sampling::cannot_inject("OpenAiEs"))
    }

    fn tell(&mut self, ranking: &[usize], num_parents: usize) -> Result<()> {
        sampling::check_ranking(ranking, self.batch_size, num_parents)?;
        self.evaluations += self.batch_size as u64;
        let gradient = self.gradient(ranking);
        if !norm2(&gradient).is_finite() {
            self.diverged = true;
            return Ok(());
        }
        let step = self.adam(&gradient);
        self.mean.iter_mut().zip(&step).for_each(|(m, s)| *m += s);
        let length = libm::sqrt(norm2(&self.mean));
        self.update_ratio = (length > 0.0).then(|| libm::sqrt(norm2(&step)) / length);
        Ok(())
    }

    fn check_stop(&self, flat: bool) -> Option<StopReason> {
        if self.diverged {
            Some(StopReason::Diverged)
        } else if self.update_ratio.is_some_and(|r| r < 1e-9) {
            Some(StopReason::StepSizeVanished)
        } else {
            flat.then_some(StopReason::FlatValues)
        }
    }
}
