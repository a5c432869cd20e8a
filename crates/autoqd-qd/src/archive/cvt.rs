//! CVT archive: Voronoi cells, whose number does not grow with the number of measures.

use serde::{Deserialize, Serialize};

use super::cell::{CellArchive, CellConfig, Tessellation};
use super::kmeans::{lloyd, uniform_points};
use super::nearest::Nearest;
use crate::error::{Result, check_finite, check_len, check_parameter};
use crate::rng::Rng;
use crate::schema::Schema;

/// Measures farther away than this many widths of the cells' extent are moved closer before distances are taken:
/// beyond that, rounding could not tell the centroids apart, and squares could overflow.
const REACH: f64 = 1e6;
/// Largest coordinate of ranges and centroids, so that squares within [`REACH`] stay finite.
const COORDINATE_LIMIT: f64 = 1e140;

/// Where the centroids come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Centroids {
    /// k-means of uniform samples: cells of nearly equal size.
    KMeans {
        /// Number of cells.
        cells: usize,
        /// Uniform samples; ten per cell are enough.
        samples: usize,
        /// Largest number of Lloyd's steps.
        iterations: usize,
        /// Seed of samples and first centroids.
        seed: u64,
    },
    /// Uniform random points, which cost nothing.
    Random {
        /// Number of cells.
        cells: usize,
        /// Seed of the points.
        seed: u64,
    },
    /// Points given by the caller, row after row.
    Given(Vec<f64>),
}

impl Centroids {
    /// k-means with ten samples per cell and 50 steps.
    pub fn k_means(cells: usize, seed: u64) -> Self {
        Self::KMeans { cells, samples: cells.saturating_mul(10), iterations: 50, seed }
    }

    fn make(self, lower: &[f64], upper: &[f64]) -> Result<Vec<f64>> {
        let remedy = "use at least one cell and fewer than 2^32 - 1";
        let fits = |n: usize| check_parameter(n > 0 && n < u32::MAX as usize, "cells", n, remedy);
        match self {
            Self::Given(points) => Ok(points),
            Self::Random { cells, seed } => {
                fits(cells)?;
                Ok(uniform_points(cells, lower, upper, &mut Rng::new(seed, 0)))
            }
            Self::KMeans { cells, samples, iterations, seed } => {
                fits(cells)?;
                let remedy = "use at least one sample per cell";
                check_parameter(samples >= cells, "samples", samples, remedy)?;
                let samples = uniform_points(samples, lower, upper, &mut Rng::new(seed, 0));
                let mut centroids = samples[..cells * lower.len()].to_vec();
                lloyd(&samples, &mut centroids, lower.len(), iterations);
                Ok(centroids)
            }
        }
    }
}

/// Voronoi cells around centroids. A point belongs to the nearest one, the first on ties.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "CvtData", into = "CvtData")]
pub struct Cvt {
    data: CvtData,
    nearest: Nearest,
    /// Lowest and largest coordinate of a query, per measure.
    reach: Vec<(f64, f64)>,
}

/// The stored form of a [`Cvt`]; the rest is derived from it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CvtData {
    lower: Vec<f64>,
    upper: Vec<f64>,
    centroids: Vec<f64>,
}

impl From<CvtData> for Cvt {
    fn from(data: CvtData) -> Self {
        let dim = data.lower.len();
        let reach = |axis: usize| {
            let coordinates = data.centroids.iter().skip(axis).step_by(dim);
            let ends = (data.lower[axis], data.upper[axis]);
            let (lo, up) = coordinates.fold(ends, |(lo, up), &c| (lo.min(c), up.max(c)));
            (lo - REACH * (up - lo), up + REACH * (up - lo))
        };
        let reach = (0..dim).map(reach).collect();
        Self { nearest: Nearest::new(&data.centroids, dim), data, reach }
    }
}

impl From<Cvt> for CvtData {
    fn from(cvt: Cvt) -> Self {
        cvt.data
    }
}

impl Cvt {
    /// Makes the cells over a box.
    ///
    /// # Errors
    /// When a range is empty or not finite, or there is no centroid.
    pub fn new(lower: &[f64], upper: &[f64], centroids: Centroids) -> Result<Self> {
        check_parameter(!lower.is_empty(), "lower", lower, "use at least one measure")?;
        check_len("upper bounds of the measures", lower.len(), upper.len(), "give one per measure")?;
        check_finite("lower bounds of the measures", lower, "use a finite range")?;
        check_finite("upper bounds of the measures", upper, "use a finite range")?;
        let ordered = lower.iter().zip(upper).all(|(lo, up)| lo < up && (up - lo).is_finite());
        check_parameter(ordered, "ranges", (lower, upper), "use lower < upper with a finite width")?;
        let centroids = centroids.make(lower, upper)?;
        let whole = !centroids.is_empty() && centroids.len().is_multiple_of(lower.len());
        check_parameter(whole, "centroids", centroids.len(), "give whole rows, at least one")?;
        let moderate = |x: &f64| x.abs() <= COORDINATE_LIMIT;
        let all_moderate = centroids.iter().chain(lower).chain(upper).all(moderate);
        check_parameter(all_moderate, "centroids", "beyond 1e140", "rescale the measures")?;
        Ok(CvtData { lower: lower.to_vec(), upper: upper.to_vec(), centroids }.into())
    }

    /// The centroids, row after row.
    pub fn centroids(&self) -> &[f64] {
        &self.data.centroids
    }
}

impl Tessellation for Cvt {
    fn cells(&self) -> usize {
        self.data.centroids.len() / self.data.lower.len()
    }

    fn measure_dim(&self) -> usize {
        self.data.lower.len()
    }

    fn cell(&self, measures: &[f64]) -> usize {
        let within = |(m, (lo, up)): (&f64, &(f64, f64))| lo <= m && m <= up;
        if measures.iter().zip(&self.reach).all(within) {
            return self.nearest.find(measures);
        }
        let near: Vec<f64> =
            measures.iter().zip(&self.reach).map(|(m, (lo, up))| m.clamp(*lo, *up)).collect();
        self.nearest.find(&near)
    }

    fn lower(&self) -> &[f64] {
        &self.data.lower
    }

    fn upper(&self) -> &[f64] {
        &self.data.upper
    }
}

/// Archive of Voronoi cells; see [`CvtConfig`].
pub type CvtArchive = CellArchive<Cvt>;

/// Configuration of [`CvtArchive`].
///
/// ```
/// use autoqd_qd::{Archive, Batch, Centroids, CvtConfig, Rows};
/// let mut archive = CvtConfig::new(3, &[(-1.0, 1.0); 6], Centroids::k_means(100, 0)).build()?;
/// let measures = Rows::new(&[0.1; 6], 6)?;
/// archive.add(&Batch::new(Rows::new(&[1.0, 2.0, 3.0], 3)?, &[7.0], measures))?;
/// assert_eq!(archive.capacity(), 100);
/// assert_eq!(archive.len(), 1);
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CvtConfig {
    /// Parameters per solution.
    pub solution_dim: usize,
    /// Lowest value of each measure.
    pub lower: Vec<f64>,
    /// Largest value of each measure.
    pub upper: Vec<f64>,
    /// Where the centroids come from.
    pub centroids: Centroids,
    /// Settings shared by all archives with cells.
    pub cell: CellConfig,
}

impl CvtConfig {
    /// An elitist archive; the ranges are (lowest, largest) of each measure.
    pub fn new(solution_dim: usize, ranges: &[(f64, f64)], centroids: Centroids) -> Self {
        let (lower, upper) = ranges.iter().copied().unzip();
        Self { solution_dim, lower, upper, centroids, cell: CellConfig::default() }
    }

    /// Replaces the settings shared by all archives with cells.
    pub fn cell(mut self, cell: CellConfig) -> Self {
        self.cell = cell;
        self
    }

    /// Makes the archive; k-means may take seconds for many cells.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn build(self) -> Result<CvtArchive> {
        let cvt = Cvt::new(&self.lower, &self.upper, self.centroids)?;
        CellArchive::new(cvt, Schema::new(self.solution_dim, self.lower.len())?, self.cell)
    }
}
