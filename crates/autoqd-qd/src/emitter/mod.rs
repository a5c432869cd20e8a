//! Emitters: where candidates come from.

mod any;
mod evolution_strategy;
mod gaussian;
mod iso_line;
mod ranker;

use serde::{Deserialize, Serialize};

pub use any::AnyEmitter;
pub use evolution_strategy::{EsEmitter, EsEmitterConfig, RestartRule, SelectionRule};
pub use gaussian::{GaussianConfig, GaussianEmitter};
pub use iso_line::{IsoLineConfig, IsoLineEmitter};
pub use ranker::{Ranker, Ranking, is_flat};

use crate::archive::{AddStatus, Archive};
use crate::error::Result;
use crate::es::StopReason;
use crate::rows::Rows;

/// What the archive said about an emitter's own candidates, one entry per candidate of the last `ask`.
#[derive(Debug, Clone, Copy)]
pub struct Feedback<'a> {
    /// Objectives.
    pub objective: &'a [f64],
    /// Measures.
    pub measures: Rows<'a>,
    /// The outcome for each candidate.
    pub status: &'a [AddStatus],
    /// Improvement values.
    pub value: &'a [f64],
    /// Extra fields, when the archives declare some.
    pub fields: Option<Rows<'a>>,
}

impl<'a> Feedback<'a> {
    /// The rows `range`.
    pub(crate) fn slice(&self, range: std::ops::Range<usize>) -> Feedback<'a> {
        Feedback {
            objective: &self.objective[range.clone()],
            measures: self.measures.slice(range.clone()),
            status: &self.status[range.clone()],
            value: &self.value[range.clone()],
            fields: self.fields.map(|fields| fields.slice(range)),
        }
    }
}

/// Why an emitter started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RestartReason {
    /// The strategy asked for it.
    Stopped(StopReason),
    /// The emitter's own rule.
    Rule,
    /// Somebody called [`Emitter::restart`].
    Asked,
}

/// Where an emitter that is asked to start again does so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPoint {
    /// A random elite of the archive; the initial point while the archive is empty.
    Elite,
    /// The point the emitter started from when it was made.
    Initial,
}

/// An emitter started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {
    /// Why.
    pub reason: RestartReason,
    /// Identity of the elite it started from; `None` when the archive was empty and the initial point was used.
    pub elite: Option<u64>,
}

/// A source of candidates.
///
/// Emitters own their random stream and never change the archive, so several of them can work at the same time.
pub trait Emitter: Send {
    /// Candidates per `ask`.
    fn batch_size(&self) -> usize;

    /// Parameters per candidate.
    fn solution_dim(&self) -> usize;

    /// Writes a generation into `out`, row after row.
    ///
    /// # Errors
    /// When `out` or the archive has the wrong size.
    fn ask(&mut self, archive: &dyn Archive, out: &mut [f64]) -> Result<()>;

    /// Learns the outcome of the last generation. The archive already contains it.
    ///
    /// # Errors
    /// When the feedback has the wrong size.
    fn tell(&mut self, archive: &dyn Archive, feedback: &Feedback<'_>) -> Result<Option<Restart>>;

    /// Forgets what was learned from earlier generations and starts again, for instance because the measures have
    /// changed. `None` from emitters that learn nothing.
    ///
    /// # Errors
    /// When the archive has another size of solutions.
    fn restart(&mut self, _archive: &dyn Archive, _at: StartPoint) -> Result<Option<Restart>> {
        Ok(None)
    }
}
