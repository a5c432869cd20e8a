//! One type for all strategies of the crate, and the configuration that makes one.

use serde::{Deserialize, Serialize};

use super::{
    Arithmetic, Bounds, CmaEs, EvolutionStrategy, IsotropicEs, LmMaEs, OpenAiEs, OpenAiOptions, RankOne,
    SepCmaEs, StopReason, Weights,
};
use crate::error::Result;
use crate::rng::NormalSource;
use crate::rows::Rows;

/// Which strategy, with its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")] // externally tagged: binary formats can read it back
pub enum StrategyConfig {
    /// Full covariance.
    CmaEs {
        /// Scale of the rank-one term.
        #[serde(default)]
        rank_one: RankOne,
    },
    /// Diagonal covariance.
    SepCmaEs {
        /// Scale of the rank-one term.
        #[serde(default)]
        rank_one: RankOne,
    },
    /// Covariance of low rank.
    LmMaEs {
        /// Number of directions; the batch size when left out.
        #[serde(default)]
        vectors: Option<usize>,
    },
    /// Gradient ascent with a fixed sphere.
    #[serde(rename = "openai_es")]
    OpenAiEs(OpenAiOptions),
    /// Sphere with step-size adaptation: CMA-ES with C = I.
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
        let usual = Weights::default_batch_size(dim.max(1));
        match self {
            Self::LmMaEs { .. } => usual.min(dim),
            Self::OpenAiEs(options) if options.mirror_sampling => usual.next_multiple_of(2),
            _ => usual,
        }
    }

    /// Makes the strategy.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn build(
        &self,
        x0: &[f64],
        sigma0: f64,
        batch_size: usize,
        bounds: Option<Bounds>,
    ) -> Result<AnyStrategy> {
        Ok(match self {
            Self::CmaEs { rank_one } => {
                AnyStrategy::CmaEs(CmaEs::new(x0, sigma0, batch_size, bounds, *rank_one)?)
            }
            Self::SepCmaEs { rank_one } => {
                AnyStrategy::SepCmaEs(SepCmaEs::new(x0, sigma0, batch_size, bounds, *rank_one)?)
            }
            Self::LmMaEs { vectors } => {
                AnyStrategy::LmMaEs(LmMaEs::new(x0, sigma0, batch_size, bounds, *vectors)?)
            }
            Self::OpenAiEs(options) => {
                AnyStrategy::OpenAiEs(OpenAiEs::new(x0, sigma0, batch_size, bounds, *options)?)
            }
            Self::Isotropic => AnyStrategy::Isotropic(IsotropicEs::new(x0, sigma0, batch_size, bounds)?),
        })
    }
}

/// Any strategy of this crate.
#[expect(
    clippy::large_enum_variant,
    reason = "a search has a handful of them, each owning far more on the heap"
)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum AnyStrategy {
    /// Full covariance.
    CmaEs(CmaEs),
    /// Diagonal covariance.
    SepCmaEs(SepCmaEs),
    /// Covariance of low rank.
    LmMaEs(LmMaEs),
    /// Gradient ascent with a fixed sphere.
    OpenAiEs(OpenAiEs),
    /// Sphere.
    Isotropic(IsotropicEs),
}

impl AnyStrategy {
    /// How matrices are computed with; the other strategies have none.
    pub fn arithmetic(&self) -> Arithmetic {
        match self {
            Self::CmaEs(es) => es.arithmetic(),
            _ => Arithmetic::Portable,
        }
    }

    /// Chooses how matrices are computed with, which is not part of what is stored.
    pub fn set_arithmetic(&mut self, arithmetic: Arithmetic) {
        if let Self::CmaEs(es) = self {
            es.set_arithmetic(arithmetic);
        }
    }

    fn get(&self) -> &dyn EvolutionStrategy {
        match self {
            Self::CmaEs(es) => es,
            Self::SepCmaEs(es) => es,
            Self::LmMaEs(es) => es,
            Self::OpenAiEs(es) => es,
            Self::Isotropic(es) => es,
        }
    }

    fn get_mut(&mut self) -> &mut dyn EvolutionStrategy {
        match self {
            Self::CmaEs(es) => es,
            Self::SepCmaEs(es) => es,
            Self::LmMaEs(es) => es,
            Self::OpenAiEs(es) => es,
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
