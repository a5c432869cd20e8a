//! The configuration a search works with: checked, and with nothing left open.

use super::{ArchiveLayout, Auto, Bounds, Catalog, Config, ConfigError, DnsSpace, Layers, OneOrEach};
use autoqd_env::EnvSpec;
use std::ops::Deref;

/// What the configuration needs to know about a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFacts {
    /// Length of an observation.
    pub observation_size: usize,
    /// Length of an action.
    pub action_size: usize,
    /// Lowest objective that counts.
    pub objective_min: f64,
    /// `[low, high]` of each hand-designed measure.
    pub measures: Vec<[f64; 2]>,
}

impl From<&EnvSpec> for TaskFacts {
    fn from(spec: &EnvSpec) -> Self {
        Self {
            observation_size: spec.observation_size,
            action_size: spec.action_size,
            objective_min: spec.objective_min,
            measures: spec.measures.iter().map(|m| [m.low, m.high]).collect(),
        }
    }
}

/// A checked configuration: the [`Config`] it wraps, which can be read but not changed, and the resolved form of
/// what can be written in more than one way. Made by [`Config::resolve`] or read from a run folder.
#[derive(Clone, Debug, PartialEq)]
pub struct RunConfig {
    config: Config,
    sigma0: Vec<f64>,
    layout: ArchiveLayout,
    threshold_min: f64,
    floor: Option<f64>,
    qd_offset: f64,
    bandwidth: f64,
}

impl Deref for RunConfig {
    type Target = Config;

    fn deref(&self) -> &Config {
        &self.config
    }
}

/// What a key means that a stored configuration does not name, because it was written before the key existed.
const BEFORE: &str = "floor = \"none\"\npolicy.bias = \"all\"\narithmetic = \"native\"\n";

impl RunConfig {
    /// Checks a configuration in which nothing that depends on the task is left open.
    pub(super) fn new(mut config: Config) -> Result<Self, ConfigError> {
        let known = config.check()?;
        let (sigma0, layout) = (known.sigma0, known.layout);
        config.sigma0 = Auto::Value(OneOrEach::Each(sigma0.clone()));
        layout.write(&mut config);
        let (threshold_min, floor) = (known.threshold_min, known.floor);
        let (qd_offset, bandwidth) = (known.qd_offset, known.bandwidth);
        Ok(Self { config, sigma0, layout, threshold_min, floor, qd_offset, bandwidth })
    }

    /// First step size of each emitter, positive; its length is the number of emitters.
    pub fn sigma0(&self) -> &[f64] {
        &self.sigma0
    }

    /// How the measure space is divided.
    pub fn layout(&self) -> &ArchiveLayout {
        &self.layout
    }

    /// First threshold of the search archive; finite unless the learning rate is 1.
    pub fn threshold_min(&self) -> f64 {
        self.threshold_min
    }

    /// What an objective must exceed to enter the result archive; none stores everything.
    pub fn floor(&self) -> Option<f64> {
        self.floor
    }

    /// Offset of the QD score.
    pub fn qd_offset(&self) -> f64 {
        self.qd_offset
    }

    /// Kernel width of the embedding.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// Worker threads; one per core when `None`.
    pub fn threads(&self) -> Option<usize> {
        self.config.threads.value()
    }

    /// Candidates of one iteration.
    pub fn candidates(&self) -> usize {
        self.emitters * self.batch_size
    }

    /// Whether the scales of the measures follow the best elites between refits.
    pub fn follows(&self) -> bool {
        matches!(self.bounds, Auto::Value(Bounds::Follow(_)))
    }

    /// Whether the archive lies on embeddings, so that no map to measures is fitted.
    pub fn on_psi(&self) -> bool {
        matches!(self.layout, ArchiveLayout::Dns { space: DnsSpace::Psi, .. })
    }

    /// The iteration of the next refit after `iteration`, if the method refits and there is one within the run.
    pub fn next_refit(&self, iteration: u64, refits: bool) -> Option<u64> {
        let schedule = self.update_schedule.iter().copied();
        schedule.filter(|_| refits).find(|t| *t > iteration && *t <= self.iterations)
    }

    /// Whether the measures are fitted to the elites. A method that `catalog` does not know is taken to be.
    pub fn refits(&self, catalog: &impl AsRef<Catalog>) -> bool {
        catalog.as_ref().method(&self.method).map_or(true, |method| method.refits) && !self.on_psi()
    }

    /// Reads a complete configuration, as [`RunConfig::to_toml`] writes it. The sections of registered parts are taken
    /// as they are; the parts check them when they are built.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, ConfigError> {
        Self::new(Layers::stored().toml(BEFORE, "defaults of older runs")?.toml(text, origin)?.build()?)
    }

    /// The complete configuration as TOML.
    pub fn to_toml(&self) -> String {
        self.config.to_toml()
    }
}
