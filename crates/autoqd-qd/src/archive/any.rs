//! One type for all archives of the crate, so that a configuration can choose one.

use serde::{Deserialize, Serialize};

use super::{AddInfo, Archive, CvtArchive, DominatedNoveltyArchive, GridArchive};
use crate::batch::Batch;
use crate::error::Result;
use crate::population::{Elite, Population};

/// Any archive of this crate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum AnyArchive {
    /// Equal cells.
    Grid(GridArchive),
    /// Voronoi cells.
    Cvt(CvtArchive),
    /// No cells.
    DominatedNovelty(DominatedNoveltyArchive),
}

impl AnyArchive {
    /// The archive as a trait object.
    pub fn get(&self) -> &dyn Archive {
        match self {
            Self::Grid(a) => a,
            Self::Cvt(a) => a,
            Self::DominatedNovelty(a) => a,
        }
    }

    /// The archive as a trait object.
    pub fn get_mut(&mut self) -> &mut dyn Archive {
        match self {
            Self::Grid(a) => a,
            Self::Cvt(a) => a,
            Self::DominatedNovelty(a) => a,
        }
    }

    /// The cell of each elite; `None` for an archive without cells.
    pub fn cells(&self) -> Option<Vec<usize>> {
        match self {
            Self::Grid(a) => Some(a.cells().collect()),
            Self::Cvt(a) => Some(a.cells().collect()),
            Self::DominatedNovelty(_) => None,
        }
    }

    /// The threshold of each elite's cell; `None` for an archive without cells.
    pub fn thresholds(&self) -> Option<&[f64]> {
        match self {
            Self::Grid(a) => Some(a.thresholds()),
            Self::Cvt(a) => Some(a.thresholds()),
            Self::DominatedNovelty(_) => None,
        }
    }
}

impl Archive for AnyArchive {
    fn elites(&self) -> &Population {
        self.get().elites()
    }

    fn best_elite(&self) -> Option<Elite<'_>> {
        self.get().best_elite()
    }

    fn capacity(&self) -> usize {
        self.get().capacity()
    }

    fn qd_score_offset(&self) -> f64 {
        self.get().qd_score_offset()
    }

    fn add(&mut self, batch: &Batch<'_>) -> Result<AddInfo> {
        self.get_mut().add(batch)
    }

    fn clear(&mut self) {
        self.get_mut().clear();
    }

    fn measure_scale(&self) -> Vec<f64> {
        self.get().measure_scale()
    }

    fn non_finite_rows(&self) -> u64 {
        self.get().non_finite_rows()
    }

    fn strict(&self) -> bool {
        self.get().strict()
    }
}

impl From<GridArchive> for AnyArchive {
    fn from(archive: GridArchive) -> Self {
        Self::Grid(archive)
    }
}

impl From<CvtArchive> for AnyArchive {
    fn from(archive: CvtArchive) -> Self {
        Self::Cvt(archive)
    }
}

impl From<DominatedNoveltyArchive> for AnyArchive {
    fn from(archive: DominatedNoveltyArchive) -> Self {
        Self::DominatedNovelty(archive)
    }
}
