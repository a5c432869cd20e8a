//! Policy embeddings: where a policy goes and what it does there, as one vector (section 3.1 of the paper).
//!
//! State-action pairs pass through random Fourier features (Eq. 3 of the paper), discounted and averaged over an
//! episode to psi (Eq. 6). Distances between the psi of policies approximate the maximum mean discrepancy of their
//! occupancy measures.
//!
//! ```
//! use std::sync::Arc;
//! use autoqd_rollout::embedding::{Embedding, FeatureMap, FeatureOptions, PsiAccumulator, PsiOptions, RunningStatistics};
//! let (observation, action) = ([0.1, -0.2, 0.3], [0.5_f32]);
//! let mut statistics = RunningStatistics::new(3);
//! statistics.push(&observation);
//! let features = Arc::new(FeatureMap::sample(&FeatureOptions::default(), 3 + 1, 7)?);
//! let embedding = Arc::new(Embedding::new(features, statistics.normalizer(), PsiOptions::default())?);
//! let mut episode = PsiAccumulator::new(embedding);
//! episode.push(&observation, &action);
//! let psi = episode.finish();
//! assert_eq!(psi.len(), 100);
//! # Ok::<(), autoqd_rollout::Error>(())
//! ```

mod features;
mod normalizer;
mod probes;
mod psi;
pub mod reference;

pub use features::{FeatureMap, FeatureOptions, MULTI_SCALE, Sampling};
pub use normalizer::{FLAT_STD, Normalizer, RunningStatistics};
pub use probes::{PsiProbe, StatisticsProbe};
pub use psi::{Embedding, PsiAccumulator, PsiOptions};
