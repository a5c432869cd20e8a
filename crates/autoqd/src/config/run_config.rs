//! The configuration a search works with: checked, and with nothing left open.

use super::{
    AddMode, ArchiveKind, Auto, AutoencoderSection, Bounds, Config, ConfigError, CvtSection, DnsSection,
    DnsSpace, EmbeddingSection, EmitterKind, EpisodeSeeds, FirstMap, IsoLineSection, MarginRule, Method,
    Normalizer, OneOrEach, OpenaiSection, PerturbationSection, PolicySection, RankOne, Ranker, Restart,
    Selection,
};
use autoqd_env::{EnvSpec, Physics};
use std::num::NonZeroUsize;

/// What the configuration needs to know about a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFacts {
    /// Length of an observation.
    pub observation_size: usize,
    /// Length of an action.
    pub action_size: usize,
    /// Lowest objective that counts.
    pub objective_min: f64,
    /// `[low, high]` of each hand-made measure.
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

/// A checked configuration. Made by [`Config::resolve`] or read from a run folder.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunConfig {
    /// Task name or path of a task file.
    pub task: String,
    /// What tells two behaviours apart.
    pub method: Method,
    /// Seed of everything random.
    pub seed: u64,
    /// Iterations of the search, at least 1.
    pub iterations: u64,
    /// Episodes per evaluation, at least 1.
    pub episodes: usize,
    /// Where start states come from.
    pub episode_seeds: EpisodeSeeds,
    /// Simulator of the search.
    pub physics: Physics,
    /// Changes to the physics of the task.
    pub perturbation: Perturbation,
    /// The policy network.
    pub policy: PolicySection,
    /// The emitters.
    pub emitters: EmitterConfig,
    /// How candidates enter the archives.
    pub add_mode: AddMode,
    /// Both archives.
    pub archive: ArchiveConfig,
    /// Measures and their refits.
    pub descriptor: DescriptorConfig,
    /// The embedding.
    pub embedding: EmbeddingConfig,
    /// The autoencoders of learned descriptors.
    pub autoencoder: AutoencoderSection,
    /// Worker threads; one per core when `None`.
    pub threads: Option<NonZeroUsize>,
    /// Iterations between checkpoints, at least 1.
    pub checkpoint_every: u64,
}

/// Changes to the physics of the task.
#[derive(Clone, Debug, PartialEq)]
pub struct Perturbation {
    /// Factor on all sliding frictions, positive.
    pub friction_scale: f64,
    /// Factor on all masses and inertias, positive.
    pub mass_scale: f64,
    /// Absolute friction of the terrain.
    pub friction: Option<f64>,
    /// How contact margins combine.
    pub margin: MarginRule,
}

/// The emitters.
#[derive(Clone, Debug, PartialEq)]
pub struct EmitterConfig {
    /// How new candidates are made.
    pub kind: EmitterKind,
    /// Candidates per emitter and iteration, at least 2.
    pub batch_size: usize,
    /// First step size of each emitter, positive; its length is the number of emitters.
    pub sigma0: Vec<f64>,
    /// By what candidates are ranked.
    pub ranker: Ranker,
    /// Which candidates become parents.
    pub selection: Selection,
    /// When a strategy starts again.
    pub restart: Restart,
    /// Rank-one term of CMA-ES.
    pub rank_one: RankOne,
    /// Settings of the iso+line operator.
    pub iso_line: IsoLineSection,
    /// Settings of OpenAI-ES.
    pub openai: OpenaiSection,
}

impl EmitterConfig {
    /// Number of emitters.
    pub fn count(&self) -> usize {
        self.sigma0.len()
    }

    /// Candidates of one iteration.
    pub fn candidates(&self) -> usize {
        self.count() * self.batch_size
    }
}

/// Both archives.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchiveConfig {
    /// How the measure space is divided.
    pub layout: ArchiveLayout,
    /// Learning rate of the search archive, in (0, 1].
    pub learning_rate: f64,
    /// First threshold of the search archive; finite unless the learning rate is 1.
    pub threshold_min: f64,
    /// What an objective must exceed to enter the result archive; none stores everything.
    pub floor: Option<f64>,
    /// Offset of the QD score.
    pub qd_offset: f64,
}

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
}

/// Measures and their refits.
#[derive(Clone, Debug, PartialEq)]
pub struct DescriptorConfig {
    /// Number of measures.
    pub measures_dimension: usize,
    /// Iterations at whose start the measures are fitted again; ascending.
    pub update_schedule: Vec<u64>,
    /// Whether good policies count more.
    pub weighting: bool,
    /// The map before the first refit.
    pub first_map: FirstMap,
    /// How observations are scaled.
    pub normalizer: Normalizer,
    /// Elites kept aside at refits.
    pub reserve: usize,
}

/// The embedding.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingConfig {
    /// Number of features.
    pub features: usize,
    /// Discount, in (0, 1).
    pub gamma: f64,
    /// Kernel width, positive.
    pub bandwidth: f64,
    /// Orthogonal feature directions.
    pub orthogonal: bool,
    /// Factors on the bandwidth, at least one.
    pub scales: Vec<f64>,
    /// Divide by 1 - gamma^T.
    pub length_normalized: bool,
}

/// What a key means that a stored configuration does not name, because it was written before the key existed.
const BEFORE: &str = "floor = \"none\"\npolicy.bias = \"all\"\n";

impl RunConfig {
    /// The iteration of the next refit after `iteration`, if there is one within the run.
    pub fn next_refit(&self, iteration: u64) -> Option<u64> {
        let schedule = &self.descriptor.update_schedule;
        schedule.iter().copied().find(|t| self.refits() && *t > iteration && *t <= self.iterations)
    }

    /// Whether the measures are fitted to the elites: hand-made ones are not, and an archive on embeddings has none.
    pub fn refits(&self) -> bool {
        let on_psi = matches!(self.archive.layout, ArchiveLayout::Dns { space: DnsSpace::Psi, .. });
        self.method != Method::Regular && !on_psi
    }

    /// Reads a complete configuration, as [`RunConfig::to_toml`] writes it.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, ConfigError> {
        super::Layers::new().toml(BEFORE, "defaults of older runs")?.toml(text, origin)?.build()?.check()
    }

    /// The complete configuration as TOML.
    pub fn to_toml(&self) -> String {
        // A Config holds nothing that TOML cannot express, as the checks bound every integer.
        toml::to_string(&self.to_config()).unwrap_or_default()
    }

    /// The values as they would be written, with nothing left to `auto` but the number of threads.
    pub fn to_config(&self) -> Config {
        let mut config = Config {
            task: self.task.clone(),
            method: self.method,
            seed: self.seed,
            iterations: self.iterations,
            episodes: self.episodes,
            episode_seeds: self.episode_seeds,
            physics: self.physics,
            add_mode: self.add_mode,
            threads: self.threads.map_or_else(Auto::default, |n| Auto::Value(n.get())),
            checkpoint_every: self.checkpoint_every,
            policy: self.policy.clone(),
            autoencoder: self.autoencoder.clone(),
            perturbation: PerturbationSection {
                friction_scale: self.perturbation.friction_scale,
                mass_scale: self.perturbation.mass_scale,
                friction: self.perturbation.friction.map_or_else(Auto::default, Auto::Value),
                margin: self.perturbation.margin,
            },
            ..Config::default()
        };
        self.emitters.write(&mut config);
        self.archive.write(&mut config);
        self.descriptor.write(&mut config);
        self.embedding.write(&mut config);
        config
    }
}

impl EmitterConfig {
    fn write(&self, config: &mut Config) {
        config.emitter = self.kind;
        config.emitters = self.count();
        config.batch_size = self.batch_size;
        config.sigma0 = Auto::Value(OneOrEach::Each(self.sigma0.clone()));
        config.ranker = self.ranker;
        config.selection = self.selection;
        config.restart = self.restart;
        config.rank_one = self.rank_one;
        config.iso_line = self.iso_line.clone();
        config.openai = self.openai.clone();
    }
}

impl ArchiveConfig {
    fn write(&self, config: &mut Config) {
        config.learning_rate = self.learning_rate;
        config.threshold_min = Auto::Value(self.threshold_min);
        config.floor = self.floor.into();
        config.qd_offset = Auto::Value(self.qd_offset);
        config.bounds = Auto::Value(Bounds::Each(self.layout.bounds().to_vec()));
        match &self.layout {
            ArchiveLayout::Grid { cells, .. } => {
                config.archive = ArchiveKind::Grid;
                config.cells = OneOrEach::Each(cells.clone());
            }
            ArchiveLayout::Cvt { cells, samples, .. } => {
                config.archive = ArchiveKind::Cvt;
                config.cvt = CvtSection { cells: *cells, samples: *samples };
            }
            ArchiveLayout::Dns { size, k, space, .. } => {
                config.archive = ArchiveKind::Dns;
                config.dns = DnsSection { size: *size, k: *k, space: *space };
            }
        }
    }
}

impl DescriptorConfig {
    fn write(&self, config: &mut Config) {
        config.measures_dimension = self.measures_dimension;
        config.update_schedule = self.update_schedule.clone();
        config.weighting = self.weighting;
        config.first_map = self.first_map;
        config.normalizer = self.normalizer;
        config.reserve = self.reserve;
    }
}

impl EmbeddingConfig {
    fn write(&self, config: &mut Config) {
        config.embedding = EmbeddingSection {
            features: self.features,
            gamma: self.gamma,
            bandwidth: Auto::Value(self.bandwidth),
            orthogonal: self.orthogonal,
            scales: self.scales.clone(),
            length_normalized: self.length_normalized,
        };
    }
}
