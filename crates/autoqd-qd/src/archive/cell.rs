//! Archives with cells: one elite and one acceptance threshold per cell.

use serde::{Deserialize, Serialize};

use super::{AddInfo, AddStatus, Archive};
use crate::batch::{Batch, OBJECTIVE_LIMIT};
use crate::error::{Result, check_len, check_parameter};
use crate::population::{Elite, Population};
use crate::rows::all_finite;
use crate::schema::{Field, Schema};

/// A division of measure space into cells.
pub trait Tessellation: Send + Sync {
    /// Number of cells.
    fn cells(&self) -> usize;
    /// Number of measures.
    fn measure_dim(&self) -> usize;
    /// The cell of finite measures; every point has one.
    fn cell(&self, measures: &[f64]) -> usize;
    /// Lowest value of each measure.
    fn lower(&self) -> &[f64];
    /// Largest value of each measure.
    fn upper(&self) -> &[f64];
}

/// Settings shared by all archives with cells. The default is an elitist archive (MAP-Elites).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CellConfig {
    /// How fast a cell's threshold follows the accepted objectives; `None` for an elitist archive, whose cells hold the
    /// best that they were offered.
    pub learning_rate: Option<f64>,
    /// Threshold of an empty cell; `None` is minus infinity, which only an elitist archive may have.
    pub threshold_min: Option<f64>,
    /// What is subtracted from each objective in the QD score.
    pub qd_score_offset: f64,
    /// Extra fields of each elite.
    pub fields: Vec<Field>,
    /// Whether one non-finite number rejects the whole batch, as pyribs does.
    pub strict: bool,
}

impl CellConfig {
    /// Keeps the best candidate of every cell.
    pub fn elitist() -> Self {
        Self::default()
    }

    /// Keeps the best candidate of every cell, if it exceeds a floor.
    pub fn elitist_above(floor: f64) -> Self {
        Self { threshold_min: Some(floor), ..Self::default() }
    }

    /// The archive of CMA-MAE: thresholds rise slowly from `threshold_min`.
    pub fn annealing(learning_rate: f64, threshold_min: f64) -> Self {
        Self { learning_rate: Some(learning_rate), threshold_min: Some(threshold_min), ..Self::default() }
    }

    /// Sets the offset of the QD score.
    pub fn qd_score_offset(mut self, offset: f64) -> Self {
        self.qd_score_offset = offset;
        self
    }

    /// Declares one more extra field.
    pub fn field(mut self, name: &str, width: usize) -> Self {
        self.fields.push(Field { name: name.to_owned(), width });
        self
    }

    /// Sets strict mode.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    fn check(&self) -> Result<f64> {
        let offset = self.qd_score_offset;
        check_parameter(offset.is_finite(), "qd_score_offset", offset, "use a finite number")?;
        let Some(threshold_min) = self.threshold_min else {
            let rate = self.learning_rate.unwrap_or(1.0);
            let remedy = "an archive without threshold_min is elitist: leave it out, or give threshold_min";
            check_parameter(rate == 1.0, "learning_rate", rate, remedy)?;
            return Ok(rate);
        };
        let remedy = "use a finite number, or None for the elitist archive";
        check_parameter(threshold_min.is_finite(), "threshold_min", threshold_min, remedy)?;
        let rate = self.learning_rate.unwrap_or(1.0);
        let remedy = "use a finite number, usually in [0, 1], or None for an elitist archive";
        check_parameter(rate.is_finite(), "learning_rate", self.learning_rate, remedy)?;
        Ok(rate)
    }
}

/// No elite in this cell.
const VACANT: u32 = u32::MAX;

/// An archive with cells; [`crate::GridArchive`] and [`crate::CvtArchive`] are the two in this crate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CellArchive<T> {
    tessellation: T,
    config: CellConfig,
    learning_rate: f64,
    elites: Population,
    /// Cell of each elite.
    cells: Vec<u32>,
    /// Threshold of each elite's cell.
    thresholds: Vec<f64>,
    /// Elite of each cell.
    elite_of: Vec<u32>,
    /// Holds at most one elite: the best ever stored.
    best: Population,
    next_id: u64,
    non_finite_rows: u64,
    /// Accepted candidates of the current batch as (cell, row); kept to save the allocation.
    #[serde(skip)]
    accepted: Vec<(u32, u32)>,
}

impl<T: Tessellation> CellArchive<T> {
    /// An empty archive over a tessellation.
    ///
    /// # Errors
    /// When a parameter is invalid or the sizes do not fit.
    pub fn new(tessellation: T, mut schema: Schema, config: CellConfig) -> Result<Self> {
        let learning_rate = config.check()?;
        let remedy = "use the measure_dim of the tessellation";
        check_len("measures of the schema", tessellation.measure_dim(), schema.measure_dim(), remedy)?;
        for field in &config.fields {
            schema = schema.with_field(&field.name, field.width)?;
        }
        Ok(Self {
            elite_of: vec![VACANT; tessellation.cells()],
            tessellation,
            config,
            learning_rate,
            best: Population::new(schema.clone()),
            elites: Population::new(schema),
            cells: Vec::new(),
            thresholds: Vec::new(),
            next_id: 0,
            non_finite_rows: 0,
            accepted: Vec::new(),
        })
    }

    /// The division of measure space.
    pub fn tessellation(&self) -> &T {
        &self.tessellation
    }

    /// The archive's configuration.
    pub fn config(&self) -> &CellConfig {
        &self.config
    }

    /// The cell of some measures.
    ///
    /// # Errors
    /// When the size is wrong or a number is not finite.
    pub fn cell_of(&self, measures: &[f64]) -> Result<usize> {
        let remedy = "use the sizes of the archive's schema";
        check_len("measures", self.tessellation.measure_dim(), measures.len(), remedy)?;
        crate::error::check_finite("measures", measures, "only finite measures have a cell")?;
        Ok(self.tessellation.cell(measures))
    }

    /// The cell of each elite, in the elites' order.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = usize> {
        self.cells.iter().map(|&c| c as usize)
    }

    /// The threshold of each elite's cell, in the elites' order.
    pub fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// Position of a cell's elite in the elites' order; `None` for an empty (or non-existent) cell.
    pub fn elite_index(&self, cell: usize) -> Option<usize> {
        self.elite_of.get(cell).filter(|&&e| e != VACANT).map(|&e| e as usize)
    }

    /// The elite of a cell.
    pub fn elite_in(&self, cell: usize) -> Option<Elite<'_>> {
        self.elite_index(cell).and_then(|index| self.elites.get(index))
    }

    /// The threshold that a candidate of this cell has to exceed; minus infinity where anything is accepted.
    pub fn threshold_in(&self, cell: usize) -> f64 {
        let empty = self.config.threshold_min.unwrap_or(f64::NEG_INFINITY);
        self.elite_index(cell).map_or(empty, |index| self.thresholds[index])
    }

    /// Fills status and value of each row and collects the accepted ones.
    fn judge(&mut self, batch: &Batch<'_>, info: &mut AddInfo) {
        self.accepted.clear();
        for row in 0..batch.len() {
            if batch.defect(row).is_some() {
                info.non_finite += 1;
                continue;
            }
            let cell = self.tessellation.cell(batch.measures.row(row));
            let (objective, threshold) = (batch.objective[row], self.threshold_in(cell));
            if objective > threshold {
                // Only what may be stored is worth reading in full.
                if !all_finite(batch.solutions.row(row)) {
                    info.non_finite += 1;
                    continue;
                }
                let vacant = self.elite_of[cell] == VACANT;
                info.status[row] = if vacant { AddStatus::New } else { AddStatus::Improved };
                self.accepted.push((cell as u32, row as u32));
            }
            info.value[row] = if threshold == f64::NEG_INFINITY { objective } else { objective - threshold };
        }
        self.accepted.sort_unstable();
    }

    /// Stores the best of one cell's accepted candidates and moves the threshold; returns the winner's row.
    fn settle(&mut self, group: &[(u32, u32)], batch: &Batch<'_>, first_id: u64) -> usize {
        let cell = group[0].0;
        // The earliest row wins ties: rows ascend within the group and only a larger objective replaces.
        let better = |best: u32, &(_, row): &(u32, u32)| {
            if batch.objective[row as usize] > batch.objective[best as usize] { row } else { best }
        };
        let winner = group.iter().fold(group[0].1, better) as usize;
        let threshold = self.new_threshold(group, batch, batch.objective[winner]);
        let id = batch.ids.map_or(first_id + winner as u64, |ids| ids[winner]);
        if self.elite_of[cell as usize] == VACANT {
            self.elite_of[cell as usize] = self.elites.len() as u32;
            self.cells.push(cell);
            self.thresholds.push(threshold);
            self.elites.push_row(batch, winner, id);
        } else {
            let index = self.elite_of[cell as usize] as usize;
            self.thresholds[index] = threshold;
            self.elites.replace_row(index, batch, winner, id);
        }
        if self.best.objectives().first().is_none_or(|&best| batch.objective[winner] > best) {
            self.best.clear();
            self.best.push_row(batch, winner, id);
        }
        winner
    }

    /// t <- (1-a)^K t + (1 - (1-a)^K) mean of the K accepted objectives; the elitist archive takes the largest.
    fn new_threshold(&self, group: &[(u32, u32)], batch: &Batch<'_>, winner: f64) -> f64 {
        if self.config.threshold_min.is_none() || self.config.learning_rate.is_none() {
            return winner;
        }
        let threshold = self.threshold_in(group[0].0 as usize);
        let count = group.len() as f64;
        let mean = group.iter().map(|&(_, row)| batch.objective[row as usize]).sum::<f64>() / count;
        let keep = match group.len() {
            1 => 1.0 - self.learning_rate,
            _ => libm::pow(1.0 - self.learning_rate, count),
        };
        let moved = keep * threshold + (1.0 - keep) * mean;
        // A learning rate outside [0, 2] lets thresholds grow without end.
        if moved.is_nan() { threshold } else { moved.clamp(-OBJECTIVE_LIMIT, OBJECTIVE_LIMIT) }
    }
}

impl<T: Tessellation> Archive for CellArchive<T> {
    fn elites(&self) -> &Population {
        &self.elites
    }

    fn best_elite(&self) -> Option<Elite<'_>> {
        self.best.get(0)
    }

    fn capacity(&self) -> usize {
        self.tessellation.cells()
    }

    fn qd_score_offset(&self) -> f64 {
        self.config.qd_score_offset
    }

    fn add(&mut self, batch: &Batch<'_>) -> Result<AddInfo> {
        batch.check(self.schema())?;
        if self.config.strict {
            batch.check_all_finite()?;
        }
        let first_id = self.next_id;
        self.next_id += batch.len() as u64;
        let mut info = AddInfo::rejected(batch.len());
        self.judge(batch, &mut info);
        let accepted = std::mem::take(&mut self.accepted);
        for group in accepted.chunk_by(|a, b| a.0 == b.0) {
            info.stored[self.settle(group, batch, first_id)] = true;
        }
        self.accepted = accepted;
        self.non_finite_rows += info.non_finite as u64;
        Ok(info)
    }

    fn clear(&mut self) {
        self.elites.clear();
        self.best.clear();
        self.cells.clear();
        self.thresholds.clear();
        self.elite_of.fill(VACANT);
    }

    fn measure_scale(&self) -> Vec<f64> {
        let ranges = self.tessellation.lower().iter().zip(self.tessellation.upper());
        ranges.map(|(lo, up)| up - lo).collect()
    }

    fn non_finite_rows(&self) -> u64 {
        self.non_finite_rows
    }

    fn strict(&self) -> bool {
        self.config.strict
    }
}
