//! The space in which policies are compared with each other.

use std::path::{Path, PathBuf};

use autoqd_measure::{Located, Population, Protocol, locate_by_embedding, locate_by_measures};

use crate::eval_command::read_reference;
use crate::measuring::{RolloutProgress, SimulationArgs};

/// A space that every policy has a place in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Space {
    /// The measures of the run's archive
    Measures,
    /// Embeddings simulated as in `autoqd eval`, the same for every method
    Embedding,
}

/// How policies find their places.
#[derive(clap::Args)]
pub struct LocateArgs {
    /// For embeddings: use the normaliser and features of this file, from `autoqd eval --write-reference`
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    #[command(flatten)]
    simulation: SimulationArgs,
}

impl LocateArgs {
    /// The policies of a run with their places in a space.
    pub fn locate(&self, run: &Path, space: Space) -> anyhow::Result<(Population, Located)> {
        let population = self.simulation.load(run)?;
        let located = match space {
            Space::Measures => locate_by_measures(&population)?,
            Space::Embedding => self.embed(&population)?,
        };
        Ok((population, located))
    }

    fn embed(&self, population: &Population) -> anyhow::Result<Located> {
        let reference = read_reference(self.reference.as_deref(), population)?;
        let (pool, mut progress) = (self.simulation.pool()?, RolloutProgress::default());
        let protocol = Protocol::default();
        Ok(locate_by_embedding(population, &protocol, reference.as_ref(), &pool, &mut progress)?)
    }
}
