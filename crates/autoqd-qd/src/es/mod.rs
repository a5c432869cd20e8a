//! Evolution strategies: search distributions that learn from a ranking. One file per strategy, with some repetition
//! among them, so that each can be read from top to bottom.

/// The part of [`EvolutionStrategy`] that reads fields which every strategy of this crate has.
macro_rules! shared_accessors {
    () => {
        fn dim(&self) -> usize {
            self.mean.len()
        }

        fn batch_size(&self) -> usize {
            self.batch_size
        }

        fn mean(&self) -> &[f64] {
            &self.mean
        }

        fn solutions(&self) -> Rows<'_> {
            Rows::trusted(&self.solutions, self.mean.len())
        }
    };
}

/// The same for the CMA-ES family, whose members also adapt the step size in the same way and learn from candidates
/// alone.
macro_rules! cma_accessors {
    () => {
        shared_accessors!();

        fn sigma(&self) -> f64 {
            self.step_size.sigma
        }

        fn evaluations(&self) -> u64 {
            self.evaluations
        }

        fn inject(&mut self, solutions: Rows<'_>) -> Result<()> {
            sampling::check_injected(self.solutions.len(), solutions.as_slice())?;
            self.solutions.copy_from_slice(solutions.as_slice());
            Ok(())
        }
    };
}

mod any;
mod bounds;
mod cma;
mod covariance;
mod isotropic;
mod lm_ma;
mod openai;
mod sampling;
mod sep_cma;
mod step_size;
mod weights;

use serde::{Deserialize, Serialize};

pub use any::{AnyStrategy, StrategyConfig};
pub use bounds::Bounds;
pub use cma::CmaEs;
pub use isotropic::IsotropicEs;
pub use lm_ma::LmMaEs;
pub use openai::{OpenAiEs, OpenAiOptions};
pub use sep_cma::SepCmaEs;
pub use weights::Weights;

use crate::error::Result;
use crate::rng::NormalSource;
use crate::rows::Rows;

/// Why a strategy should be restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StopReason {
    /// The condition number of the covariance exceeds 1e14.
    IllConditioned,
    /// The step size has vanished.
    StepSizeVanished,
    /// All candidates rank the same.
    FlatValues,
    /// The last update would have left the range of finite numbers and was not applied.
    Diverged,
}

/// The scale of the rank-one term of CMA-ES.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub enum RankOne {
    /// As pyribs computes it: c1^2 and an evolution path in units of sigma, so that the term is smaller by the factor
    /// c1 sigma^2.
    #[default]
    Pyribs,
    /// As the CMA-ES tutorial defines it: c1 and a path of normalised steps.
    Textbook,
}

/// How the matrices of full CMA-ES are computed with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub enum Arithmetic {
    /// In an order that depends on the sizes alone: the same bits on every CPU.
    #[default]
    Portable,
    /// With kernels chosen by the instructions and caches of the CPU, as in runs made before there was a choice: the last
    /// bits differ between kinds of CPU.
    Native,
}

/// A search distribution. One generation is `ask`, evaluation by the caller, `tell`.
///
/// A strategy remembers the candidates of its own last `ask`; `tell` gets only their ranking.
pub trait EvolutionStrategy: Send {
    /// Parameters per solution.
    fn dim(&self) -> usize;

    /// Candidates per generation.
    fn batch_size(&self) -> usize;

    /// The centre of the distribution.
    fn mean(&self) -> &[f64];

    /// The step size.
    fn sigma(&self) -> f64;

    /// Candidates told since the last reset.
    fn evaluations(&self) -> u64;

    /// Starts again around `x0` with the initial step size.
    ///
    /// # Errors
    /// When `x0` has the wrong size or is not finite.
    fn reset(&mut self, x0: &[f64]) -> Result<()>;

    /// Draws a generation.
    fn ask(&mut self, noise: &mut dyn NormalSource) -> Rows<'_>;

    /// The candidates of the last `ask`.
    fn solutions(&self) -> Rows<'_>;

    /// Replaces the candidates of the last `ask`, e.g. to replay a recorded run.
    ///
    /// # Errors
    /// When the shape is wrong, a number is not finite, or the strategy needs the noise behind its candidates.
    fn inject(&mut self, solutions: Rows<'_>) -> Result<()>;

    /// Learns from the last generation: `ranking` lists candidates from best to worst, the first `num_parents` of
    /// them are parents. No parents leaves the distribution unchanged (but counts the evaluations).
    ///
    /// # Errors
    /// When the ranking is not a list of `batch_size` candidates.
    fn tell(&mut self, ranking: &[usize], num_parents: usize) -> Result<()>;

    /// Whether to restart, after a `tell` in which `flat` says whether best and worst candidate ranked the same.
    fn check_stop(&self, flat: bool) -> Option<StopReason>;
}

/// Step sizes outside this range would let squares overflow or vanish.
pub(crate) const SIGMA_RANGE: std::ops::RangeInclusive<f64> = 1e-140..=1e140;
