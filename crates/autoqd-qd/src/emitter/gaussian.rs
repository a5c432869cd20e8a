//! Gaussian emitter: elites plus isotropic noise.

use serde::{Deserialize, Serialize};

use super::{Emitter, Feedback, Restart};
use crate::archive::Archive;
use crate::error::{Result, check_finite, check_len, check_parameter};
use crate::es::Bounds;
use crate::rng::{NormalSource, Rng};

/// Configuration of [`GaussianEmitter`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GaussianConfig {
    /// The parent of all candidates while the archive is empty.
    pub x0: Vec<f64>,
    /// Standard deviation of the noise in every coordinate.
    pub sigma: f64,
    /// Candidates per iteration.
    pub batch_size: usize,
    /// Candidates are clipped to these bounds.
    pub bounds: Option<Bounds>,
    /// Seed of the emitter's random stream.
    pub seed: u64,
}

impl GaussianConfig {
    /// 64 candidates per iteration, no bounds.
    pub fn new(x0: Vec<f64>, sigma: f64, seed: u64) -> Self {
        Self { x0, sigma, batch_size: 64, bounds: None, seed }
    }

    /// Makes the emitter.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn build(self) -> Result<GaussianEmitter> {
        check_variation(&self.x0, self.batch_size, &self.bounds)?;
        let valid = self.sigma.is_finite() && self.sigma > 0.0;
        check_parameter(valid, "sigma", self.sigma, "use a positive finite number")?;
        Ok(GaussianEmitter { rng: Rng::new(self.seed, 0), config: self })
    }
}

/// The checks that both MAP-Elites emitters make.
pub(super) fn check_variation(x0: &[f64], batch_size: usize, bounds: &Option<Bounds>) -> Result<()> {
    check_parameter(!x0.is_empty(), "x0", x0, "use at least one parameter")?;
    check_finite("x0", x0, "start from a finite point")?;
    check_parameter(batch_size > 0, "batch_size", batch_size, "use at least one candidate")?;
    let dim = bounds.as_ref().map_or(x0.len(), Bounds::dim);
    check_len("bounds", x0.len(), dim, "give bounds for every parameter")
}

/// MAP-Elites with Gaussian mutation.
///
/// ```
/// use autoqd_qd::{Emitter, GaussianConfig, GridConfig};
/// let archive = GridConfig::new(3, &[20], &[(-1.0, 1.0)]).build()?;
/// let mut emitter = GaussianConfig::new(vec![5.0; 3], 0.1, 1).build()?;
/// let mut solutions = vec![0.0; 64 * 3];
/// emitter.ask(&archive, &mut solutions)?;
/// assert!(solutions.iter().all(|x| (x - 5.0).abs() < 1.0));
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GaussianEmitter {
    config: GaussianConfig,
    rng: Rng,
}

impl GaussianEmitter {
    /// The emitter's configuration.
    pub fn config(&self) -> &GaussianConfig {
        &self.config
    }
}

impl Emitter for GaussianEmitter {
    fn batch_size(&self) -> usize {
        self.config.batch_size
    }

    fn solution_dim(&self) -> usize {
        self.config.x0.len()
    }

    fn ask(&mut self, archive: &dyn Archive, out: &mut [f64]) -> Result<()> {
        let (config, n) = (&self.config, self.config.x0.len());
        check_len("room for the candidates", config.batch_size * n, out.len(), "give batch_size rows")?;
        check_len("parameters of the archive", n, archive.schema().solution_dim(), "use one size")?;
        let parents = parents(archive, config.batch_size, &mut self.rng)?;
        self.rng.fill_normal(out);
        for (i, row) in out.chunks_exact_mut(n).enumerate() {
            let parent = parents.get(i).map_or(&config.x0[..], |&p| archive.elites().solutions().row(p));
            row.iter_mut().zip(parent).for_each(|(x, p)| *x = p + config.sigma * *x);
            config.bounds.iter().for_each(|b| b.clip(row));
        }
        Ok(())
    }

    fn tell(&mut self, _archive: &dyn Archive, _feedback: &Feedback<'_>) -> Result<Option<Restart>> {
        Ok(None)
    }
}

/// Positions of `n` random elites; none while the archive is empty.
pub(super) fn parents(archive: &dyn Archive, n: usize, rng: &mut Rng) -> Result<Vec<usize>> {
    if archive.is_empty() { Ok(Vec::new()) } else { archive.sample(n, rng) }
}
