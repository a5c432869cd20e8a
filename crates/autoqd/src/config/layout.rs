//! How the measure space is divided.

use super::{ArchiveKind, Auto, Bounds, Config, CvtSection, DnsSection, DnsSpace, OneOrEach};

/// How the measure space is divided.
#[derive(Clone, Debug, PartialEq)]
pub enum ArchiveLayout {
    /// A regular grid.
    Grid {
        /// Cells of each dimension.
        cells: Vec<usize>,
        /// `[low, high]` of each dimension.
        bounds: Vec<[f64; 2]>,
    },
    /// Voronoi cells.
    Cvt {
        /// Number of cells.
        cells: usize,
        /// Samples the centroids are computed from.
        samples: usize,
        /// `[low, high]` of each dimension.
        bounds: Vec<[f64; 2]>,
    },
    /// Dominated novelty search.
    Dns {
        /// Number of elites kept.
        size: usize,
        /// Fitter neighbours.
        k: usize,
        /// Where distances are measured.
        space: DnsSpace,
        /// `[low, high]` of each dimension, for pictures and for sampling.
        bounds: Vec<[f64; 2]>,
    },
}

impl ArchiveLayout {
    /// `[low, high]` of each measure.
    pub fn bounds(&self) -> &[[f64; 2]] {
        match self {
            Self::Grid { bounds, .. } | Self::Cvt { bounds, .. } | Self::Dns { bounds, .. } => bounds,
        }
    }

    /// Number of cells, the denominator of coverage.
    pub fn capacity(&self) -> usize {
        match self {
            Self::Grid { cells, .. } => cells.iter().product(),
            Self::Cvt { cells, .. } => *cells,
            Self::Dns { size, .. } => *size,
        }
    }

    /// Writes the layout in full; the settings of other kinds of archive go back to their defaults.
    pub(super) fn write(&self, config: &mut Config) {
        let unused = Config::default();
        (config.cells, config.cvt, config.dns) = (unused.cells, unused.cvt, unused.dns);
        if !matches!(config.bounds, Auto::Value(Bounds::Follow(_))) {
            config.bounds = Auto::Value(Bounds::Each(self.bounds().to_vec()));
        }
        match self {
            Self::Grid { cells, .. } => {
                config.archive = ArchiveKind::Grid;
                config.cells = OneOrEach::Each(cells.clone());
            }
            Self::Cvt { cells, samples, .. } => {
                config.archive = ArchiveKind::Cvt;
                config.cvt = CvtSection { cells: *cells, samples: *samples };
            }
            Self::Dns { size, k, space, .. } => {
                config.archive = ArchiveKind::Dns;
                config.dns = DnsSection { size: *size, k: *k, space: *space };
            }
        }
    }
}
