//! Iso-line emitter (Vassiliades and Mouret 2018): noise around an elite, stretched towards another.

use serde::{Deserialize, Serialize};

use super::gaussian::{check_variation, parents};
use super::{Emitter, Feedback, Restart};
use crate::archive::Archive;
use crate::error::{Result, check_len, check_parameter};
use crate::es::Bounds;
use crate::rng::{NormalSource, Rng};

/// Configuration of [`IsoLineEmitter`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoLineConfig {
    /// The parent of all candidates while the archive is empty.
    pub x0: Vec<f64>,
    /// Standard deviation of the isotropic noise.
    pub iso_sigma: f64,
    /// Standard deviation of the step along the line between two elites, in units of their distance.
    pub line_sigma: f64,
    /// Candidates per iteration.
    pub batch_size: usize,
    /// Candidates are clipped to these bounds.
    pub bounds: Option<Bounds>,
    /// Seed of the emitter's random stream.
    pub seed: u64,
}

impl IsoLineConfig {
    /// The usual 0.01 and 0.2, 64 candidates per iteration, no bounds.
    pub fn new(x0: Vec<f64>, seed: u64) -> Self {
        Self { x0, iso_sigma: 0.01, line_sigma: 0.2, batch_size: 64, bounds: None, seed }
    }

    /// Makes the emitter.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn build(self) -> Result<IsoLineEmitter> {
        check_variation(&self.x0, self.batch_size, &self.bounds)?;
        for (name, sigma) in [("iso_sigma", self.iso_sigma), ("line_sigma", self.line_sigma)] {
            check_parameter(sigma.is_finite() && sigma >= 0.0, name, sigma, "use a finite number >= 0")?;
        }
        Ok(IsoLineEmitter { rng: Rng::new(self.seed, 0), config: self })
    }

    /// x = a + iso N(0, I) + line N(0, 1) (b - a), within the bounds; `row` holds the noise on entry and x then.
    pub fn vary(&self, row: &mut [f64], [a, b]: [&[f64]; 2], step: f64) {
        let along = self.line_sigma * step;
        let ends = a.iter().zip(b);
        row.iter_mut().zip(ends).for_each(|(x, (a, b))| *x = a + self.iso_sigma * *x + along * (b - a));
        self.bounds.iter().for_each(|bounds| bounds.clip(row));
    }
}

/// MAP-Elites with the iso+line operator.
///
/// ```
/// use autoqd_qd::{Emitter, GridConfig, IsoLineConfig};
/// let archive = GridConfig::new(3, &[20], &[(-1.0, 1.0)]).build()?;
/// let mut emitter = IsoLineConfig::new(vec![5.0; 3], 1).build()?;
/// let mut solutions = vec![0.0; 64 * 3];
/// emitter.ask(&archive, &mut solutions)?;
/// assert!(solutions.iter().all(|x| (x - 5.0).abs() < 1.0));
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IsoLineEmitter {
    config: IsoLineConfig,
    rng: Rng,
}

impl IsoLineEmitter {
    /// The emitter's configuration.
    pub fn config(&self) -> &IsoLineConfig {
        &self.config
    }
}

impl Emitter for IsoLineEmitter {
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
        let parents = parents(archive, 2 * config.batch_size, &mut self.rng)?;
        self.rng.fill_normal(out);
        for (i, row) in out.chunks_exact_mut(n).enumerate() {
            let step = self.rng.normal();
            let parent =
                |k: usize| parents.get(k).map_or(&config.x0[..], |&p| archive.elites().solutions().row(p));
            config.vary(row, [parent(2 * i), parent(2 * i + 1)], step);
        }
        Ok(())
    }

    fn tell(&mut self, _archive: &dyn Archive, _feedback: &Feedback<'_>) -> Result<Option<Restart>> {
        Ok(None)
    }
}
