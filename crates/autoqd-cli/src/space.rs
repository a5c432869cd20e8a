//! The space in which policies are compared with each other.

use std::path::{Path, PathBuf};

use autoqd::registry::Registry;
use autoqd_measure::{LoadedRun, Located, Protocol, locate_by_embedding, locate_by_measures};

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
    /// for embeddings, its normaliser and features
    #[arg(long)]
    reference: Option<PathBuf>,
    #[command(flatten)]
    simulation: SimulationArgs,
}

impl LocateArgs {
    /// The policies of a run with their places in a space.
    pub fn locate(
        &self,
        path: &Path,
        space: Space,
        registry: &Registry,
    ) -> anyhow::Result<(LoadedRun, Located)> {
        let run = self.simulation.load(path)?;
        let located = match space {
            Space::Measures => locate_by_measures(&run)?,
            Space::Embedding => self.embed(&run, registry)?,
        };
        Ok((run, located))
    }

    fn embed(&self, run: &LoadedRun, registry: &Registry) -> anyhow::Result<Located> {
        let reference = read_reference(self.reference.as_deref(), run, registry)?;
        let (bench, mut progress) = (self.simulation.bench(registry)?, RolloutProgress::default());
        let protocol = Protocol::default();
        Ok(locate_by_embedding(run, &protocol, reference.as_ref(), &bench, &mut progress)?)
    }
}
