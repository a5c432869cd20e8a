//! Configuration of a run, in two stages.
//!
//! [`Config`] holds the values as written; [`Layers`] merges them in the order preset, TOML file, `--set`, flags.
//! [`Config::resolve`] checks them, fills in what depends on the task and gives a [`RunConfig`], which is what the
//! search works with and what a run folder stores.
//!
//! ```
//! use autoqd::config::{Layers, TaskFacts};
//! let config = Layers::new()
//!     .preset("quick")?
//!     .set("iterations=10")?
//!     .flag("task", "hopper", "TASK")?
//!     .build()?;
//! let facts = TaskFacts { observation_size: 11, action_size: 3, objective_min: -100.0, measures: vec![[0.0, 1.0]] };
//! let run = config.resolve(&facts)?;
//! assert_eq!(run.iterations, 10);
//! assert_eq!(run.archive.threshold_min, -100.0);
//! # Ok::<(), autoqd::config::ConfigError>(())
//! ```

mod choices;
mod error;
mod layers;
mod presets;
mod raw;
mod reference;
mod resolve;
mod resume;
mod run_config;
mod schema;
mod validate;
mod values;

pub use choices::{
    AddMode, ArchiveKind, DnsSpace, EmitterKind, EpisodeSeeds, FirstMap, InitialPolicy, MarginRule, Method,
    Normalizer, PolicyKind, RankOne, Ranker, Selection,
};
pub use error::ConfigError;
pub use layers::Layers;
pub use presets::{preset, preset_names};
pub use raw::{
    AutoencoderSection, Config, CvtSection, DnsSection, EmbeddingSection, IsoLineSection, OpenaiSection,
    PerturbationSection, PolicySection,
};
pub use reference::{reference_page, settings_help};
pub use resume::check_resume;
pub use run_config::{
    ArchiveConfig, ArchiveLayout, DescriptorConfig, EmbeddingConfig, EmitterConfig, Perturbation, RunConfig,
    TaskFacts,
};
pub use schema::{Field, fields, json_schema};
pub use values::{Auto, AutoWord, Bounds, Floor, FloorWord, OneOrEach, Restart, RestartRule};
