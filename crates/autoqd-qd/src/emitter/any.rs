//! One type for all emitters of the crate, so that a list of them can be stored.

use serde::{Deserialize, Serialize};

use super::{Emitter, EsEmitter, Feedback, GaussianEmitter, IsoLineEmitter, Restart, StartPoint};
use crate::archive::Archive;
use crate::error::Result;

/// Any emitter of this crate.
#[expect(
    clippy::large_enum_variant,
    reason = "a search has a handful of them, each owning far more on the heap"
)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum AnyEmitter {
    /// Follows an evolution strategy.
    EvolutionStrategy(EsEmitter),
    /// Elites plus noise.
    Gaussian(GaussianEmitter),
    /// Elites plus noise and a step along a line.
    IsoLine(IsoLineEmitter),
}

impl AnyEmitter {
    /// The emitter around an evolution strategy, if it is one.
    pub fn as_es(&self) -> Option<&EsEmitter> {
        if let Self::EvolutionStrategy(emitter) = self { Some(emitter) } else { None }
    }

    /// The emitter around an evolution strategy, if it is one.
    pub fn as_es_mut(&mut self) -> Option<&mut EsEmitter> {
        if let Self::EvolutionStrategy(emitter) = self { Some(emitter) } else { None }
    }

    fn get(&self) -> &dyn Emitter {
        match self {
            Self::EvolutionStrategy(e) => e,
            Self::Gaussian(e) => e,
            Self::IsoLine(e) => e,
        }
    }

    fn get_mut(&mut self) -> &mut dyn Emitter {
        match self {
            Self::EvolutionStrategy(e) => e,
            Self::Gaussian(e) => e,
            Self::IsoLine(e) => e,
        }
    }
}

impl Emitter for AnyEmitter {
    fn batch_size(&self) -> usize {
        self.get().batch_size()
    }

    fn solution_dim(&self) -> usize {
        self.get().solution_dim()
    }

    fn ask(&mut self, archive: &dyn Archive, out: &mut [f64]) -> Result<()> {
        self.get_mut().ask(archive, out)
    }

    fn tell(&mut self, archive: &dyn Archive, feedback: &Feedback<'_>) -> Result<Option<Restart>> {
        self.get_mut().tell(archive, feedback)
    }

    fn restart(&mut self, archive: &dyn Archive, at: StartPoint) -> Result<Option<Restart>> {
        self.get_mut().restart(archive, at)
    }
}

impl From<EsEmitter> for AnyEmitter {
    fn from(emitter: EsEmitter) -> Self {
        Self::EvolutionStrategy(emitter)
    }
}

impl From<GaussianEmitter> for AnyEmitter {
    fn from(emitter: GaussianEmitter) -> Self {
        Self::Gaussian(emitter)
    }
}

impl From<IsoLineEmitter> for AnyEmitter {
    fn from(emitter: IsoLineEmitter) -> Self {
        Self::IsoLine(emitter)
    }
}
