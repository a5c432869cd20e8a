//! How good and how diverse a population is.
//!
//! The functions here are the arithmetic: scores of embeddings, returns and measures that somebody else collected.

mod bandwidth;
mod cluster;
mod curve;
mod gt_grid;
mod low_rank;
mod points;
mod sample;
mod selection;
mod stability;
mod statistics;
mod table;
mod vendi;

pub use bandwidth::{Pooling, bandwidth, median, shared_bandwidth};
pub use cluster::{Clusters, cluster};
pub use curve::{Area, area_under, success_count, success_threshold};
pub use gt_grid::{GT_CELLS, GT_CELLS_COARSE, GtGrid};
pub use points::{Points, squared_distance};
pub use sample::sample;
pub use selection::{farthest_points, top_fraction};
pub use stability::{RolloutDescriptors, Stability, stability};
pub use statistics::{Estimate, MannWhitney, mann_whitney, mean, quantile, sample_variance};
pub use table::{Cell, Format, Group, Row, Table};
pub use vendi::{
    DENSE_LIMIT, TOLERANCE, VendiScore, vendi_cosine, vendi_dense, vendi_of_kernel, vendi_score,
    vendi_truncated,
};
