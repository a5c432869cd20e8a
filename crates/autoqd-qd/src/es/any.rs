//! One type for all strategies of the crate, and the configuration that makes one.

use serde::{Deserialize, Serialize};

use super::{Bounds, EvolutionStrategy, IsotropicEs, RankOne, StopReason, Weights};
use crate::error::Result;
use crate::rng::NormalSource;
use crate::rows::Rows;

/// Which strategy, with its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum StrategyConfig {
    /// Full covariance.
    CmaEs {
        /// Scale of the rank-one term.
        #[serde(default)]
        rank_one: RankOne,
    },
    /// Sphere.
    Isotropic,
}

impl Default for StrategyConfig {
    fn default() -> Self {
        Self::CmaEs { rank_one: RankOne::Pyribs }
    }
}

impl StrategyConfig {
    /// The batch size used when none is given.
    pub fn default_batch_size(&self, dim: usize) -> usize {
        Weights::default_batch_size(dim.max(1))
    }

    /// Makes the strategy.
    ///
    /// # Errors
    /// When a parameter has no meaning.
    pub fn build(
        &self,
        x0: &[f64],
        sigma0: f64,
        batch_size: usize,
        bounds: Option<Bounds>,
    ) -> Result<AnyStrategy> {
        Ok(match self {
            Self::CmaEs { .. } => AnyStrategy::Isotropic(IsotropicEs::new(x0, sigma0, batch_size, bounds)?),
            Self::Isotropic => AnyStrategy::Isotropic(IsotropicEs::new(x0, sigma0, batch_size, bounds)?),
        })
    }
}

/// Any strategy of this crate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum AnyStrategy {
    /// Sphere.
    Isotropic(IsotropicEs),
}

impl AnyStrategy {
    fn get(&self) -> &dyn EvolutionStrategy {
        match self {
            Self::Isotropic(es) => es,
        }
    }

    fn get_mut(&mut self) -> &mut dyn EvolutionStrategy {
        match self {
            Self::Isotropic(es) => es,
        }
    }
}

impl EvolutionStrategy for AnyStrategy {
    fn dim(&self) -> usize {
        self.get().dim()
    }

    fn batch_size(&self) -> usize {
        self.get().batch_size()
    }

    fn mean(&self) -> &[f64] {
        self.get().mean()
    }

    fn sigma(&self) -> f64 {
        self.get().sigma()
    }

    fn evaluations(&self) -> u64 {
        self.get().evaluations()
    }

    fn reset(&mut self, x0: &[f64]) -> Result<()> {
        self.get_mut().reset(x0)
    }

    fn ask(&mut self, noise: &mut dyn NormalSource) -> Rows<'_> {
        self.get_mut().ask(noise)
    }

    fn solutions(&self) -> Rows<'_> {
        self.get().solutions()
    }

    fn inject(&mut self, solutions: Rows<'_>) -> Result<()> {
        self.get_mut().inject(solutions)
    }

    fn tell(&mut self, ranking: &[usize], num_parents: usize) -> Result<()> {
        self.get_mut().tell(ranking, num_parents)
    }

    fn check_stop(&self, flat: bool) -> Option<StopReason> {
        self.get().check_stop(flat)
    }
}
