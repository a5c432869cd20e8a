//! How good and how diverse a population is.
//!
//! Most functions here are plain arithmetic: scores of embeddings, returns and measures that somebody else collected.
//! [`evaluate`] and its kin collect them: they roll out the policies of run folders again, with fresh seeds and the
//! same way for every method.
//!
//! ```
//! use autoqd_measure::top_fraction;
//!
//! // The better part of five policies by their returns, best first.
//! assert_eq!(top_fraction(&[10.0, 80.0, 95.0, 100.0, 60.0], 0.6), [3, 2, 1]);
//! ```

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod adaptation;
mod bandwidth;
mod cluster;
mod curve;
mod descriptor_stability;
mod error;
mod evaluation;
mod gt_grid;
mod located;
mod low_rank;
mod perturbed;
mod physics;
mod points;
mod population;
mod protocol;
mod rollouts;
mod sample;
mod selection;
mod stability;
mod statistics;
mod store;
mod table;
mod two_sample;
mod variant;
mod vendi;

pub use adaptation::{
    Adaptation, AdaptationCurve, AdaptationKnob, AdaptationOptions, AdaptationStudy, Cost, CurvePoint,
    ReturnBox,
};
pub use bandwidth::{Pooling, bandwidth, median, shared_bandwidth};
pub use cluster::{Clusters, cluster};
pub use curve::{Area, area_under, success_count, success_threshold};
pub use descriptor_stability::{DescriptorStability, descriptor_stability};
pub use error::MetricsError;
pub use evaluation::{GtScore, RunMetrics, TaskEvaluation, evaluate, task_name};
pub use gt_grid::{GT_CELLS, GT_CELLS_COARSE, GtGrid};
pub use located::{Located, locate_by_embedding, locate_by_measures};
pub use perturbed::{Knob, Vary};
pub use physics::{PhysicsComparison, PhysicsOptions, QuantityComparison, compare_physics};
pub use points::{Points, squared_distance};
pub use population::{Budget, Population, Selection, rows_of};
pub use protocol::{Protocol, Reference, Round, round_seeds};
pub use rollouts::{PolicyResult, Progress, Rollouts};
pub use sample::sample;
pub use selection::{farthest_points, top_fraction};
pub use stability::{RolloutDescriptors, Stability, stability};
pub use statistics::{Estimate, MannWhitney, mann_whitney, mean, quantile, sample_variance};
pub use store::save_json;
pub use table::{Cell, Format, Group, Row, Table};
pub use two_sample::{KolmogorovSmirnov, holm, kolmogorov_smirnov, sign_flip};
pub use variant::name_variants;
pub use vendi::{
    DENSE_LIMIT, TOLERANCE, VendiScore, vendi_cosine, vendi_dense, vendi_of_kernel, vendi_score,
    vendi_truncated,
};
