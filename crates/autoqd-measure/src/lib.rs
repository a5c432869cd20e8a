//! How good and how diverse a population is.
//!
//! Most functions here are plain arithmetic: scores of embeddings, returns and measures collected elsewhere.
//! [`evaluate`] and its relatives collect them: they roll out the policies of run folders again, with fresh seeds and
//! the same way for every method.
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
mod bench;
mod best_again;
mod comparison;
mod curve;
mod descriptor_stability;
mod error;
mod evaluation;
mod gt_grid;
mod learning_curves;
mod located;
mod measurement;
mod perturbed;
mod physics;
mod protocol;
mod reference;
mod result_tables;
mod results;
mod rollouts;
mod run;
mod selection;
mod stability;
mod store;
mod sweep;
mod sweep_away;
mod sweep_log;
mod sweep_work;
mod table;
mod trade_off;
mod variant;

pub use adaptation::{
    Adaptation, AdaptationCurve, AdaptationKnob, AdaptationOptions, AdaptationStudy, Cost, CurvePoint,
    ReturnBox,
};
pub use autoqd_statistics::{
    Clusters, DENSE_LIMIT, Estimate, KolmogorovSmirnov, MannWhitney, Points, Pooling, TOLERANCE, VendiScore,
    bandwidth, cluster, farthest_points, holm, kolmogorov_smirnov, mann_whitney, mean, median, sample,
    sample_variance, shared_bandwidth, sign_flip, squared_distance, top_fraction, vendi_cosine, vendi_dense,
    vendi_of_kernel, vendi_score, vendi_truncated,
};
pub use bench::Bench;
pub use best_again::{Again, best_again};
pub use comparison::{Tested, compare_methods, fine_table, main_table, trade_off_table};
pub use curve::{Area, area_under, success_count, success_threshold};
pub use descriptor_stability::{DescriptorStability, descriptor_stability};
pub use error::MeasureError;
pub use evaluation::{GtScore, RunMetrics, TaskEvaluation, evaluate, task_name};
pub use gt_grid::{GT_CELLS, GT_CELLS_COARSE, GtGrid};
pub use learning_curves::learning_curves_csv;
pub use located::{Located, locate_by_embedding, locate_by_measures};
pub use measurement::{Measurement, RunAdaptation, RunEvaluation, RunStability, Stored};
pub use perturbed::{Knob, Vary};
pub use physics::{PhysicsComparison, PhysicsOptions, QuantityComparison, compare_physics};
pub use protocol::{Protocol, Round, round_seeds};
pub use reference::Reference;
pub use result_tables::{adaptation_table, evaluation_table, stability_table};
pub use results::{Origin, Paper, PaperAblation, PaperTask, RunRecord, collect, read_records, results_page};
pub use rollouts::{PolicyResult, Progress, Rollouts};
pub use run::{Budget, LoadedRun, Run};
pub use selection::Selection;
pub use stability::{RolloutDescriptors, Stability, stability};
pub use store::save_json;
pub use sweep::{Job, Sweep};
pub use sweep_away::SweepAway;
pub use sweep_log::SweepLog;
pub use sweep_work::{Outcome, SweepWork};
pub use table::{Cell, Format, Group, Row, Table};
pub use trade_off::{TradeOff, trade_off};
pub use variant::{name_variants, variants};
