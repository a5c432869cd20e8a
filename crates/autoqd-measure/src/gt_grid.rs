//! The ground-truth archive: a grid over the hand-designed measures of a task.

use std::collections::BTreeMap;

use autoqd_env::MeasureSpec;
use autoqd_qd::{Grid, Tessellation};

use autoqd::Error;

/// Cells per dimension of the grid that reproduces the paper's coverages.
pub const GT_CELLS: usize = 20;

/// Cells per dimension that the paper's text names.
pub const GT_CELLS_COARSE: usize = 10;

/// Keeps a measure that rounding puts just below an edge in the cell it belongs to; pyribs' value.
const EPSILON: f64 = 1e-6;

/// A grid over the hand-designed measures that keeps the best objective per cell.
///
/// ```
/// use autoqd_measure::GtGrid;
/// let mut grid = GtGrid::new(&[(0.0, 1.0)], 20)?;
/// grid.add(&[0.01], 5.0);
/// grid.add(&[0.02], 7.0); // the same cell, better
/// grid.add(&[0.99], -3.0);
/// assert_eq!(grid.coverage(), 2);
/// assert_eq!(grid.qd_score(-100.0), 7.0 - 3.0 + 200.0);
/// # Ok::<(), autoqd::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GtGrid {
    grid: Grid,
    best: BTreeMap<usize, f64>,
    ignored: usize,
}

impl GtGrid {
    /// An empty grid with `cells` cells along every dimension.
    pub fn new(bounds: &[(f64, f64)], cells: usize) -> Result<Self, Error> {
        let (lower, upper): (Vec<f64>, Vec<f64>) = bounds.iter().copied().unzip();
        let grid = Grid::new(&vec![cells; bounds.len()], &lower, &upper, EPSILON)?;
        Ok(Self { grid, best: BTreeMap::new(), ignored: 0 })
    }

    /// An empty grid over the hand-designed measures of a task.
    pub fn over(measures: &[MeasureSpec], cells: usize) -> Result<Self, Error> {
        let bounds: Vec<(f64, f64)> = measures.iter().map(|m| (m.low, m.high)).collect();
        Self::new(&bounds, cells)
    }

    /// Puts a policy into its cell. Measures outside the bounds count for the nearest cell; a policy with a number
    /// that is not finite is left out and counted.
    pub fn add(&mut self, measures: &[f64], objective: f64) {
        if !objective.is_finite() || measures.iter().any(|m| !m.is_finite()) {
            self.ignored += 1;
            return;
        }
        let best = self.best.entry(self.grid.cell(measures)).or_insert(objective);
        *best = best.max(objective);
    }

    /// Number of occupied cells.
    pub fn coverage(&self) -> usize {
        self.best.len()
    }

    /// Number of cells.
    pub fn size(&self) -> usize {
        self.grid.cells()
    }

    /// Sum of objective minus offset over the occupied cells. Objectives below the offset count negatively.
    pub fn qd_score(&self, offset: f64) -> f64 {
        self.best.values().map(|best| best - offset).sum()
    }

    /// Elites whose objective is below the offset.
    pub fn below(&self, offset: f64) -> usize {
        self.best.values().filter(|&&best| best < offset).count()
    }

    /// Policies that were left out.
    pub fn ignored(&self) -> usize {
        self.ignored
    }
}
