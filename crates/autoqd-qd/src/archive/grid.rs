//! Grid archive: equal cells along every measure.

use serde::{Deserialize, Serialize};

use super::cell::{CellArchive, CellConfig, Tessellation};
use crate::error::{Result, check_finite, check_len, check_parameter};
use crate::schema::Schema;

/// Equal cells over a box. The last measure varies fastest in the cell number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    dims: Vec<usize>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    epsilon: f64,
}

impl Grid {
    /// A grid of `dims` cells over `[lower, upper]`. `epsilon` moves every boundary down by epsilon / cells, so
    /// that rounding does not decide about points on a boundary; pyribs uses 1e-6.
    ///
    /// # Errors
    /// When sizes differ, a dimension has no cell, a range is empty or not finite, or there are more than
    /// 2^32 - 1 cells.
    pub fn new(dims: &[usize], lower: &[f64], upper: &[f64], epsilon: f64) -> Result<Self> {
        check_parameter(!dims.is_empty(), "dims", dims, "use at least one measure")?;
        check_len("lower bounds of the grid", dims.len(), lower.len(), "give one per dimension")?;
        check_len("upper bounds of the grid", dims.len(), upper.len(), "give one per dimension")?;
        check_finite("lower bounds of the grid", lower, "use a finite range")?;
        check_finite("upper bounds of the grid", upper, "use a finite range")?;
        let valid = |(lo, up): (&f64, &f64)| lo < up && (up - lo).is_finite();
        let ranges = lower.iter().zip(upper);
        check_parameter(
            ranges.clone().all(valid),
            "ranges",
            ranges.collect::<Vec<_>>(),
            "use lower < upper with a finite width",
        )?;
        check_parameter(
            epsilon.is_finite() && epsilon >= 0.0,
            "epsilon",
            epsilon,
            "use a small positive number",
        )?;
        let cells = dims.iter().try_fold(1u32, |n, &d| n.checked_mul(u32::try_from(d).ok()?));
        let fits = cells.is_some_and(|c| c > 0 && c < u32::MAX);
        check_parameter(
            fits,
            "dims",
            dims,
            "use at least one cell per dimension and fewer than 2^32 - 1 in all",
        )?;
        Ok(Self { dims: dims.to_vec(), lower: lower.to_vec(), upper: upper.to_vec(), epsilon })
    }

    /// Cells per dimension.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Position along one dimension. The order of operations is pyribs'; a range that overflows lands in the border
    /// cell on its own side.
    fn index(&self, j: usize, measure: f64) -> usize {
        let cells = self.dims[j] as f64;
        let scaled = (cells * (measure - self.lower[j]) + self.epsilon) / (self.upper[j] - self.lower[j]);
        (scaled as i64).clamp(0, self.dims[j] as i64 - 1) as usize
    }

    /// Position along every dimension.
    pub fn grid_index(&self, measures: &[f64]) -> Vec<usize> {
        measures.iter().enumerate().map(|(j, &m)| self.index(j, m)).collect()
    }

    /// The cell number of a position.
    pub fn flatten(&self, grid_index: &[usize]) -> usize {
        grid_index.iter().zip(&self.dims).fold(0, |cell, (g, d)| cell * d + g)
    }

    /// The position of a cell number.
    pub fn unflatten(&self, mut cell: usize) -> Vec<usize> {
        let mut index = vec![0; self.dims.len()];
        for (g, d) in index.iter_mut().zip(&self.dims).rev() {
            *g = cell % d;
            cell /= d;
        }
        index
    }

    /// The d + 1 boundaries of each dimension.
    pub fn boundaries(&self) -> Vec<Vec<f64>> {
        let of = |j: usize| {
            let (lo, up, d) = (self.lower[j], self.upper[j], self.dims[j]);
            let step = (up - lo) / d as f64;
            (0..=d).map(|i| if i == d { up } else { lo + step * i as f64 }).collect()
        };
        (0..self.dims.len()).map(of).collect()
    }
}

impl Tessellation for Grid {
    fn cells(&self) -> usize {
        self.dims.iter().product()
    }

    fn measure_dim(&self) -> usize {
        self.dims.len()
    }

    fn cell(&self, measures: &[f64]) -> usize {
        let index = measures.iter().enumerate();
        index.fold(0, |cell, (j, &m)| cell * self.dims[j] + self.index(j, m))
    }

    fn lower(&self) -> &[f64] {
        &self.lower
    }

    fn upper(&self) -> &[f64] {
        &self.upper
    }
}

/// Archive of equal cells; see [`GridConfig`].
pub type GridArchive = CellArchive<Grid>;

/// Configuration of [`GridArchive`].
///
/// ```
/// use autoqd_qd::{Archive, Batch, GridConfig, Rows};
/// let mut archive = GridConfig::new(3, &[10, 10], &[(-1.0, 1.0), (0.0, 5.0)]).build()?;
/// let info = archive.add(&Batch::new(Rows::new(&[1.0, 2.0, 3.0], 3)?, &[7.0], Rows::new(&[0.0, 0.1], 2)?))?;
/// assert_eq!(info.value, [7.0]);
/// assert_eq!(archive.stats().num_elites, 1);
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridConfig {
    /// Parameters per solution.
    pub solution_dim: usize,
    /// Cells per measure.
    pub dims: Vec<usize>,
    /// Lowest value of each measure.
    pub lower: Vec<f64>,
    /// Largest value of each measure.
    pub upper: Vec<f64>,
    /// See [`Grid::new`].
    pub epsilon: f64,
    /// Settings shared by all archives with cells.
    pub cell: CellConfig,
}

impl GridConfig {
    /// An elitist grid; the ranges are (lowest, largest) of each measure.
    pub fn new(solution_dim: usize, dims: &[usize], ranges: &[(f64, f64)]) -> Self {
        let (lower, upper) = ranges.iter().copied().unzip();
        Self { solution_dim, dims: dims.to_vec(), lower, upper, epsilon: 1e-6, cell: CellConfig::default() }
    }

    /// Replaces the settings shared by all archives with cells.
    pub fn cell(mut self, cell: CellConfig) -> Self {
        self.cell = cell;
        self
    }

    /// Makes the archive.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn build(self) -> Result<GridArchive> {
        let grid = Grid::new(&self.dims, &self.lower, &self.upper, self.epsilon)?;
        CellArchive::new(grid, Schema::new(self.solution_dim, self.dims.len())?, self.cell)
    }
}
