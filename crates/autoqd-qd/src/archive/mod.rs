//! Archives: where elites live.

mod any;
mod cell;
mod cvt;
mod dominated_novelty;
mod grid;
mod kmeans;
mod nearest;
mod reserve;

use serde::{Deserialize, Serialize};

pub use any::AnyArchive;
pub use cell::{CellArchive, CellConfig, Tessellation};
pub use cvt::{Centroids, Cvt, CvtArchive, CvtConfig};
pub use dominated_novelty::{DominatedNoveltyArchive, DominatedNoveltyConfig};
pub use grid::{Grid, GridArchive, GridConfig};
pub use reserve::{RedescribeReport, Reserve, redescribe_together};

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::population::{Elite, Population};
use crate::rng::Rng;
use crate::schema::Schema;

/// The outcome for a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum AddStatus {
    /// Not accepted.
    Rejected = 0,
    /// Accepted for an occupied cell.
    Improved = 1,
    /// Accepted for a cell that was empty before the batch (or, without cells, accepted at all).
    New = 2,
}

/// The answer to an insertion, one entry per row of the batch.
///
/// "Accepted" is not "stored": of several accepted candidates of one cell only the best is stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AddInfo {
    /// The outcome for each candidate.
    pub status: Vec<AddStatus>,
    /// Improvement value: objective minus the threshold before the batch; negative infinity for a row with a
    /// non-finite number.
    pub value: Vec<f64>,
    /// Whether the candidate is in the archive after the batch.
    pub stored: Vec<bool>,
    /// Rows dropped because of a non-finite number.
    pub non_finite: usize,
}

impl AddInfo {
    /// `n` rejected rows.
    pub(crate) fn rejected(n: usize) -> Self {
        Self {
            status: vec![AddStatus::Rejected; n],
            value: vec![f64::NEG_INFINITY; n],
            stored: vec![false; n],
            non_finite: 0,
        }
    }

    /// How many candidates are in the archive after the batch.
    pub fn num_stored(&self) -> usize {
        self.stored.iter().filter(|s| **s).count()
    }

    /// How many candidates were accepted.
    pub fn num_accepted(&self) -> usize {
        self.status.iter().filter(|s| **s != AddStatus::Rejected).count()
    }

    fn append(&mut self, other: AddInfo) {
        self.status.extend(other.status);
        self.value.extend(other.value);
        self.stored.extend(other.stored);
        self.non_finite += other.non_finite;
    }
}

/// Figures about the contents of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ArchiveStats {
    /// Elites stored.
    pub num_elites: usize,
    /// Elites divided by [`Archive::capacity`].
    pub coverage: f64,
    /// Sum over elites of objective minus offset.
    pub qd_score: f64,
    /// QD score divided by [`Archive::capacity`].
    pub norm_qd_score: f64,
    /// Largest objective ever stored since the last clear; `None` before the first.
    pub obj_max: Option<f64>,
    /// Mean objective of the elites; `None` when there are none.
    pub obj_mean: Option<f64>,
}

/// What all archives share. Cells and thresholds belong to [`CellArchive`].
///
/// Elites have a fixed order: first occupation for archives with cells, insertion otherwise.
pub trait Archive: Send + Sync {
    /// The elites in their fixed order.
    fn elites(&self) -> &Population;

    /// The elite with the largest objective ever stored since the last clear. An archive that is not elitist may
    /// no longer contain it.
    fn best_elite(&self) -> Option<Elite<'_>>;

    /// The largest number of elites: cells, or the capacity of an archive without cells.
    fn capacity(&self) -> usize;

    /// What is subtracted from each objective in the QD score.
    fn qd_score_offset(&self) -> f64;

    /// Inserts a batch. All candidates are judged against the archive as it was before the batch.
    ///
    /// A row with a non-finite objective, measure, field or parameter is not stored, gets status
    /// [`AddStatus::Rejected`] and is counted; in strict mode it makes the whole batch an error.
    ///
    /// # Errors
    /// When the batch does not fit the schema, or in strict mode. The archive is then unchanged.
    fn add(&mut self, batch: &Batch<'_>) -> Result<AddInfo>;

    /// Removes all elites and everything that depends on them, except [`Archive::non_finite_rows`].
    fn clear(&mut self);

    /// Width of the measure space per dimension, for rankers that draw random directions.
    fn measure_scale(&self) -> Vec<f64>;

    /// Rows dropped so far because of a non-finite number.
    fn non_finite_rows(&self) -> u64;

    /// Whether one non-finite number rejects the whole batch.
    fn strict(&self) -> bool;

    /// Sizes and fields of the elites.
    fn schema(&self) -> &Schema {
        self.elites().schema()
    }

    /// Number of elites.
    fn len(&self) -> usize {
        self.elites().len()
    }

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Inserts row after row, each judged against the archive as the previous one left it.
    ///
    /// # Errors
    /// As [`Archive::add`]; the archive is then unchanged.
    fn add_single(&mut self, batch: &Batch<'_>) -> Result<AddInfo> {
        batch.check(self.schema())?;
        if self.strict() {
            batch.check_all_finite()?;
        }
        let mut info = AddInfo::default();
        for row in 0..batch.len() {
            info.append(self.add(&batch.single(row))?);
        }
        Ok(info)
    }

    /// Draws `n` elites uniformly with replacement; returns their positions in [`Archive::elites`].
    ///
    /// # Errors
    /// When the archive is empty.
    fn sample(&self, n: usize, rng: &mut Rng) -> Result<Vec<usize>> {
        if self.is_empty() {
            return Err(Error::EmptyArchive);
        }
        Ok((0..n).map(|_| rng.index(self.len())).collect())
    }

    /// Clears the archive and inserts a population as one batch.
    ///
    /// # Errors
    /// When the population does not fit the schema; the archive is then unchanged.
    fn rebuild(&mut self, population: &Population) -> Result<AddInfo> {
        let batch = population.as_batch();
        batch.check(self.schema())?;
        if self.strict() {
            batch.check_all_finite()?;
        }
        self.clear();
        self.add(&batch)
    }

    /// The figures of the present contents, summed in the elites' order.
    fn stats(&self) -> ArchiveStats {
        let (objectives, cells) = (self.elites().objectives(), self.capacity() as f64);
        let num_elites = objectives.len();
        let sum: f64 = objectives.iter().sum();
        let qd_score = sum - num_elites as f64 * self.qd_score_offset();
        ArchiveStats {
            num_elites,
            coverage: num_elites as f64 / cells,
            qd_score,
            norm_qd_score: qd_score / cells,
            obj_max: self.best_elite().map(|e| e.objective),
            obj_mean: (num_elites > 0).then(|| sum / num_elites as f64),
        }
    }
}
