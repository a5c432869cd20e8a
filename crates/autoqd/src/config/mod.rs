//! Configuration of a run, in two stages.
//!
//! [`Config`] holds the values as written; [`Layers`] merges them in the order preset, TOML file, `--set`, flags.
//! [`Config::resolve`] checks them, fills in what depends on the task and gives a [`RunConfig`], which wraps the
//! completed values; it is what the search works with and what a run folder stores.
//!
//! A field is declared once, with [`settings!`](crate::settings): documentation, type, default and rule. What belongs
//! to one part alone is a [`Section`] that comes with the part, wherever that is.
//!
//! ```
//! use autoqd::config::{Layers, TaskFacts};
//! use autoqd::registry::Registry;
//! let registry = Registry::default();
//! let config = Layers::new(&registry)
//!     .preset("quick")?
//!     .set("iterations=10")?
//!     .flag("task", "hopper", "TASK")?
//!     .build()?;
//! let facts = TaskFacts { observation_size: 11, action_size: 3, objective_min: -100.0, measures: vec![[0.0, 1.0]] };
//! let run = config.resolve(&facts, &registry)?;
//! assert_eq!(run.iterations, 10);
//! assert_eq!(run.threshold_min(), -100.0);
//! # Ok::<(), autoqd::config::ConfigError>(())
//! ```

mod catalog;
mod choices;
mod commented;
mod error;
mod layers;
mod layout;
mod policy;
mod presets;
mod raw;
mod reference;
mod resolve;
mod resume;
pub mod rules;
mod run_config;
mod schema;
mod sections;
mod settings;
mod validate;
mod values;

pub use catalog::{Catalog, MeasuresOf, MethodFacts, PartFacts};
pub use choices::{ArchiveKind, DnsSpace, EpisodeSeeds, FirstMap, InitialPolicy, Normalizer, RefitEmitters};
pub use commented::commented_toml;
pub use error::ConfigError;
pub use layers::Layers;
pub use layout::ArchiveLayout;
pub use presets::{preset, preset_names};
pub use raw::{Config, CvtSection, DnsSection, EmbeddingSection, PolicySection, RacingSection};
pub use reference::{reference_page, settings_help};
pub use resume::{Changes, check_resume};
pub use run_config::{RunConfig, TaskFacts};
pub use schema::{Field, fields, json_schema};
pub use sections::Sections;
pub use settings::{Section, Settings};
use values::restart;
pub use values::{Auto, AutoWord, Bounds, Floor, FloorWord, FollowWord, OneOrEach};
