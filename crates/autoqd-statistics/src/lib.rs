//! Numbers of populations and samples: Vendi score, kernel widths, clusters, tests.
//!
//! Use it through the crate `autoqd-measure`, which has all of it under the same names. It is a crate of its own so that
//! it can be optimised more than what only reads and writes files.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod bandwidth;
mod cluster;
mod farthest;
mod low_rank;
mod points;
mod sample;
mod statistics;
mod two_sample;
mod vendi;

pub use bandwidth::{Pooling, bandwidth, median, shared_bandwidth};
pub use cluster::{Clusters, cluster};
pub use farthest::{farthest_points, top_fraction};
pub use points::{Points, squared_distance};
pub use sample::sample;
pub use statistics::{Estimate, MannWhitney, mann_whitney, mean, sample_variance};
pub use two_sample::{KolmogorovSmirnov, holm, kolmogorov_smirnov, sign_flip};
pub use vendi::{
    DENSE_LIMIT, TOLERANCE, VendiScore, vendi_cosine, vendi_dense, vendi_of_kernel, vendi_score,
    vendi_truncated,
};
