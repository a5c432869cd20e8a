//! From the rollouts of a policy to its measures.
//!
//! The search knows a [`Descriptor`] only by this trait, so the same loop runs AutoQD, hand-designed measures and
//! learned encoders. A descriptor sees rollouts through its probes, keeps per elite what it needs to describe
//! it again (its *features*), and is refitted on a schedule to the elites found so far.

mod autoqd;
mod regular;

pub use autoqd::{AutoQd, AutoQdOptions};
pub use regular::Regular;

use std::collections::BTreeSet;
use std::io::Write;

use crate::Error;
use crate::evaluator::{Evaluation, Probe};
pub use crate::run_folder::EpochLosses;
use crate::run_folder::Tensor;

/// Elites as a descriptor sees them when it is fitted.
#[derive(Clone, Copy)]
pub struct Elites<'a> {
    /// Identity of each elite.
    pub ids: &'a [u64],
    /// Features, row-major, one row of [`Descriptor::feature_size`] per elite.
    pub features: &'a [f64],
    /// Objective of each elite.
    pub objectives: &'a [f64],
}

/// What a refit did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RefitReport {
    /// How far the axes of the new map turned against the old ones, in degrees; the largest principal angle.
    pub turned_degrees: f64,
    /// Share of the weighted variance that the new axes explain.
    pub explained: f64,
    /// Losses after each epoch of training, for descriptors that train.
    pub losses: Vec<EpochLosses>,
    /// Validation loss with the codes of a batch exchanged among its members, over the loss with their own; none
    /// without a decoder. Near 1 the decoder ignores the code.
    pub exchanged_codes: Option<f64>,
}

/// Maps a policy's rollouts to its measures.
pub trait Descriptor: Send + Sync {
    /// Number of measures.
    fn dimension(&self) -> usize;

    /// Numbers kept with each elite so that it can be described again.
    fn feature_size(&self) -> usize;

    /// What this descriptor needs to observe in the next iteration's rollouts.
    fn probes(&self) -> Result<Vec<Probe>, Error>;

    /// What it observed in an iteration (from 1), so that a candidate of that time is described as it was then; by
    /// default, for descriptors that do not change with what they see, the same as now.
    fn probes_of(&self, _iteration: u64) -> Result<Vec<Probe>, Error> {
        self.probes()
    }

    /// Whether the first iteration must be rolled out once beforehand for [`Descriptor::absorb`].
    fn needs_preview(&self) -> bool {
        false
    }

    /// An iteration starts: the probes made from now on are the ones it is described with.
    fn begin_iteration(&mut self) {}

    /// Takes in what the probes collected in one iteration. Called once per iteration, after it was described.
    fn absorb(&mut self, _evaluations: &[Evaluation]) {}

    /// The features of one candidate.
    fn features(&self, evaluation: &Evaluation) -> Vec<f64>;

    /// Keeps what cannot go into the features of the candidates that entered an archive.
    fn remember(&mut self, _id: u64, _evaluation: &Evaluation) {}

    /// Forgets every candidate that is in no archive and not in the reserve any more.
    fn retain(&mut self, _alive: &BTreeSet<u64>) {}

    /// The first map, from the first iteration's candidates before they are inserted.
    fn first_fit(&mut self, elites: Elites<'_>) -> Result<(), Error>;

    /// Asked at each refit before it happens: true when every elite must be rolled out again and given new
    /// features first (a normaliser that was just frozen, for instance).
    fn freeze(&mut self) -> bool {
        false
    }

    /// Fits the map to the elites found so far.
    fn refit(&mut self, iteration: u64, elites: Elites<'_>) -> Result<RefitReport, Error>;

    /// Scales the measures so that most elites, and most of the best of them, lie within -1 and 1 again, without turning
    /// any axis. `best` are the positions of the best among the elites.
    fn rescale(&mut self, _elites: Elites<'_>, _best: &[usize]) -> Result<(), Error> {
        Ok(())
    }

    /// Whether [`Descriptor::rescale`] does anything.
    fn rescales(&self) -> bool {
        false
    }

    /// Whether [`Descriptor::refit`] does anything.
    fn refits(&self) -> bool {
        true
    }

    /// The measures of a candidate.
    fn measures(&self, id: u64, features: &[f64]) -> Vec<f64>;

    /// The measures of several candidates, row after row.
    fn measures_of(&self, ids: &[u64], features: &[f64]) -> Vec<f64> {
        let size = self.feature_size();
        let row = |i: usize| &features[i * size..][..size];
        ids.iter().enumerate().flat_map(|(i, id)| self.measures(*id, row(i))).collect()
    }

    /// Bytes that [`Descriptor::remember`] keeps for a candidate; elites in reserve are limited by them.
    fn remembered_bytes(&self, _id: u64) -> usize {
        0
    }

    /// Most bytes that [`Descriptor::remember`] may keep for all elites in reserve; beyond that the lowest objective
    /// leaves the reserve.
    fn reserve_bytes(&self) -> usize {
        usize::MAX
    }

    /// The measures of a policy that no archive holds, from its rollouts under [`Descriptor::probes`].
    fn describe(&self, evaluation: &Evaluation) -> Vec<f64>;

    /// The state, for a checkpoint: all that is needed to describe policies that are rolled out again.
    fn save(&self) -> Result<Vec<u8>, Error>;

    /// Restores what [`Descriptor::save`] returned.
    fn load(&mut self, state: &[u8]) -> Result<(), Error>;

    /// Bytes that [`Descriptor::write_memory`] writes; none for a descriptor that keeps nothing.
    fn memory_len(&self) -> Option<usize> {
        None
    }

    /// Writes everything that [`Descriptor::remember`] keeps, for a checkpoint.
    fn write_memory(&self, _out: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }

    /// Restores what [`Descriptor::write_memory`] wrote.
    fn load_memory(&mut self, _memory: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    /// What a reader outside this program needs to compute measures itself.
    fn tensors(&self) -> Vec<Tensor>;
}
