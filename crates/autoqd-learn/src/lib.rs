//! Descriptors that are learned by autoencoders: Aurora and LSTM-Aurora, two baselines of the AutoQD paper.
//!
//! Both run on the same search, archives and refits as AutoQD and differ only in what describes a policy:
//!
//! * [`Aurora`]: the code of the *last state* of each rollout, averaged over the rollouts. This is the paper's
//!   baseline of that name; it is closer to TAXONS than to the original AURORA, which encodes whole sensory traces
//!   and has an archive without cells.
//! * [`LstmAurora`]: the code of every 10th state of each rollout, by a recurrent autoencoder.
//!
//! Networks are trained at every refit, by explicit forward and backward passes over flat buffers, on one core or more
//! with the same bits. Codes are computed by plain loops in a fixed order, so that a policy has the same code alone and
//! among others.
//!
//! ```
//! use autoqd::config::Layers;
//! use autoqd::registry::Registry;
//! use autoqd::search::Search;
//! let mut registry = Registry::default();
//! autoqd_learn::register(&mut registry);
//! let task = autoqd_env::load_task("point-maze", &Default::default())?;
//! let config = Layers::new(&registry)
//!     .preset("quick")?
//!     .set("method=aurora")?
//!     .set("batch_size=4")?
//!     .set("iterations=3")?
//!     .set("update_schedule=[2]")?
//!     .flag("task", "point-maze", "TASK")?
//!     .build()?
//!     .resolve(&task.spec().into(), &registry)?;
//! let mut search = Search::with_registry(config, task, &registry)?;
//! search.step()?;
//! let trained = search.step()?.refit.expect("a refit at iteration 2");
//! assert!(!trained.descriptor.losses.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod actor;
mod adam;
mod aurora;
pub mod bench;
mod calibration;
mod critics;
mod dense;
mod dvd_es;
mod error;
mod evaluated;
mod layer_norm;
mod lstm;
mod lstm_aurora;
mod mean;
mod mlp;
mod off_policy;
mod policy_gradient;
mod probes;
mod product;
mod random;
mod real;
mod replay;
mod sac;
mod section;
mod sequence_autoencoder;
mod sequence_training;
mod smerl;
mod squared_error;
mod squashed;
mod state_autoencoder;
mod states;
mod td3;
mod trainer;
mod weights;
mod wide;

pub use aurora::Aurora;
pub use dvd_es::{DvdEs, DvdSection, Variant};
pub use error::LearnError;
pub use lstm_aurora::LstmAurora;
pub use policy_gradient::{NAME as POLICY_GRADIENT, PgSection};
pub use sac::SacSection;
pub use section::AutoencoderSection;
pub use smerl::{Gate, SmerlSection};
pub use td3::Td3Section;

use autoqd::config::{MethodFacts, PartFacts};
use autoqd::descriptor::Regular;
use autoqd::registry::{MethodKind, Registry};

/// Adds the learned descriptors, and the methods that train a population, to those a program knows.
pub fn register(registry: &mut Registry) {
    registry.register_section::<AutoencoderSection>();
    registry.register_probe::<probes::LastState>();
    registry.register_probe::<probes::EveryNth>();
    let facts = MethodFacts::learned("Codes of an autoencoder of final states.");
    registry.register_method("aurora", facts, MethodKind::descriptor(Aurora::new));
    let facts = MethodFacts::learned("Codes of a recurrent autoencoder of trajectories.");
    registry.register_method("lstm-aurora", facts, MethodKind::descriptor(LstmAurora::new));
    registry.register_section::<DvdSection>();
    registry.register_probe::<dvd_es::NextStates>();
    let doc = "A fixed population trained by an evolution strategy for return and diversity (DvD-ES), without an archive.";
    let facts = MethodFacts { presets: dvd_es::PRESETS, ..MethodFacts::of_task(doc) };
    registry.register_method("dvd-es", facts, MethodKind::trainer(DvdEs::new));
    registry.register_section::<SacSection>();
    let doc = "One policy trained by SAC for return and entropy, without an archive.";
    let facts = MethodFacts { presets: sac::PRESETS, ..MethodFacts::of_task(doc) };
    registry.register_method("sac", facts, MethodKind::trainer(sac::trainer));
    registry.register_section::<Td3Section>();
    let doc = "One policy trained by TD3 for return, without an archive.";
    let facts = MethodFacts { presets: td3::PRESETS, ..MethodFacts::of_task(doc) };
    registry.register_method("td3", facts, MethodKind::trainer(td3::trainer));
    registry.register_section::<SmerlSection>();
    let doc = "Skills trained by one SAC for return and for being told apart (SMERL), without an archive.";
    let facts = MethodFacts { presets: smerl::PRESETS, ..MethodFacts::of_task(doc) };
    registry.register_method("smerl", facts, MethodKind::trainer(smerl::trainer));
    registry.register_section::<PgSection>();
    let doc = "Elites improved by the gradient of critics, beside another emitter (PGA-MAP-Elites).";
    let facts = PartFacts { check: policy_gradient::check, ..PartFacts::new(doc) };
    registry.register_emitter(policy_gradient::NAME, facts, policy_gradient::build);
    let doc = "The task's hand-designed measures, with presets of PGA-MAP-Elites (emitter \"pg\", an elitist archive).";
    let facts = MethodFacts { presets: policy_gradient::PRESETS, ..MethodFacts::of_task(doc) };
    let regular = MethodKind::descriptor(|context| Ok(Regular::new(context.spec)));
    registry.register_method("pga-me", facts, regular);
}

#[cfg(test)]
mod differences;
#[cfg(test)]
mod golden;
