//! The configuration as written: every field with its default and the reason for it.

use super::{
    AddMode, ArchiveKind, Auto, Bounds, DnsSpace, EmitterKind, EpisodeSeeds, FirstMap, Floor, InitialPolicy,
    MarginRule, Method, Normalizer, OneOrEach, PolicyKind, RankOne, Ranker, Restart, Selection,
};
use crate::policy::Biases;
use autoqd_env::Physics;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Configuration of a run, as written in a TOML file or with `--set key=value`.
///
/// The default is the paper's set-up. [`Config::resolve`] turns it into a [`RunConfig`](super::RunConfig).
///
/// ```
/// use autoqd::config::Config;
/// let config: Config = toml::from_str("task = 'hopper'\nepisodes = 3").unwrap();
/// assert_eq!((config.episodes, config.batch_size), (3, 64));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Task to search in: a built-in name (`autoqd env list`) or the path of a task file.
    pub task: String,
    /// What tells two behaviours apart.
    pub method: Method,
    /// Seed of everything random. The same configuration and seed give the same bytes on any number of threads.
    pub seed: u64,
    /// Iterations of the search. May be raised when a run is resumed.
    pub iterations: u64,
    /// Episodes per evaluation. Objective, measures and embedding are means over them.
    pub episodes: usize,
    /// Where the start states of an evaluation come from.
    pub episode_seeds: EpisodeSeeds,
    /// Simulator of the search. Reports always use the reference (libmujoco, Box2D).
    #[schemars(schema_with = "physics_schema")]
    pub physics: Physics,

    /// How new candidates are made.
    pub emitter: EmitterKind,
    /// Number of emitters that work side by side on the same archive.
    pub emitters: usize,
    /// Candidates per emitter and iteration.
    pub batch_size: usize,
    /// First step size of the emitters: one number, or a list with one per emitter. `auto` doubles from 0.02 to 0.32
    /// and starts again: bold and careful emitters side by side.
    pub sigma0: Auto<OneOrEach<f64>>,
    /// By what an evolution strategy ranks its candidates.
    pub ranker: Ranker,
    /// Which candidates become parents.
    pub selection: Selection,
    /// When an evolution strategy starts again from a random elite: every so many iterations, `basic` (only when it
    /// has converged) or `no_improvement` (also when nothing was accepted).
    pub restart: Restart,
    /// Rank-one term of the covariance update of CMA-ES. With hundreds of parameters the two hardly differ.
    pub rank_one: RankOne,
    /// How the candidates of an iteration enter the archives.
    pub add_mode: AddMode,

    /// How the archive divides the measure space.
    pub archive: ArchiveKind,
    /// Cells of a grid archive: one number for every dimension, or a list.
    pub cells: OneOrEach<usize>,
    /// Range of the measures covered by a grid or CVT archive: one number `h` for [-h, h], or a list of
    /// `[low, high]`. What lies outside falls into the border cell. `auto` is 1.2 for learned measures, whose 5 % and
    /// 95 % quantiles are calibrated to -1 and 1, and the task's own bounds for hand-made ones.
    pub bounds: Auto<Bounds>,
    /// How far the acceptance threshold of a cell of the search archive moves towards an accepted objective:
    /// 1 keeps only improvements (MAP-Elites), small values keep exploring (CMA-MAE).
    pub learning_rate: f64,
    /// First acceptance threshold of every cell of the search archive. `auto` is the lowest objective that counts
    /// in the task. `-inf` is allowed with a learning rate of 1.
    pub threshold_min: Auto<f64>,
    /// What a candidate's objective must exceed to enter the result archive, the one that is reported and that
    /// measures are fitted to: `objective_min` (the lowest objective that counts in the task, Algorithms 2 and 3 of
    /// the paper), `none`, or a number. Dominated novelty search has no floor.
    pub floor: Floor,
    /// Subtracted from every objective in the QD score, so that no elite counts negative. `auto` is the lowest
    /// objective that counts in the task.
    pub qd_offset: Auto<f64>,

    /// Number of learned measures. Hand-made ones (`method = "regular"`) have the task's own number instead.
    pub measures_dimension: usize,
    /// Iterations at whose start the measures are fitted again to the elites.
    pub update_schedule: Vec<u64>,
    /// Whether good policies count more when the measures are fitted.
    pub weighting: bool,
    /// The map from embedding to measures before the first refit.
    pub first_map: FirstMap,
    /// How observations are scaled before they are embedded.
    pub normalizer: Normalizer,
    /// Elites kept aside when a refit puts two into one cell, to return at a later refit; the lowest objective leaves
    /// first. 0 forgets them, as in the paper, which loses about half of the elites at a refit.
    pub reserve: usize,

    /// Worker threads. `auto` is one per core. Changes nothing but the time.
    pub threads: Auto<usize>,
    /// Iterations between checkpoints.
    pub checkpoint_every: u64,

    /// Changes to the physics of the task.
    pub perturbation: PerturbationSection,
    /// The policy network.
    pub policy: PolicySection,
    /// The embedding of a policy's occupancy measure.
    pub embedding: EmbeddingSection,
    /// The autoencoders of `method = "aurora"` and `"lstm-aurora"`.
    pub autoencoder: AutoencoderSection,
    /// Settings of `archive = "cvt"`.
    pub cvt: CvtSection,
    /// Settings of `archive = "dns"`.
    pub dns: DnsSection,
    /// Settings of `emitter = "iso-line"`.
    pub iso_line: IsoLineSection,
    /// Settings of `emitter = "openai"`.
    pub openai: OpenaiSection,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            task: String::new(),
            method: Method::default(),
            seed: 0,
            iterations: 500,
            episodes: 5,
            episode_seeds: EpisodeSeeds::default(),
            physics: Physics::default(),
            emitter: EmitterKind::default(),
            emitters: 5,
            batch_size: 64,
            sigma0: Auto::default(),
            ranker: Ranker::default(),
            selection: Selection::default(),
            restart: Restart::Every(100),
            rank_one: RankOne::default(),
            add_mode: AddMode::default(),
            archive: ArchiveKind::default(),
            cells: OneOrEach::One(10),
            bounds: Auto::default(),
            learning_rate: 0.01,
            threshold_min: Auto::default(),
            floor: Floor::default(),
            qd_offset: Auto::default(),
            measures_dimension: 4,
            update_schedule: vec![20, 50, 100, 200, 300],
            weighting: true,
            first_map: FirstMap::default(),
            normalizer: Normalizer::default(),
            reserve: 0,
            threads: Auto::default(),
            checkpoint_every: 10,
            perturbation: PerturbationSection::default(),
            policy: PolicySection::default(),
            embedding: EmbeddingSection::default(),
            autoencoder: AutoencoderSection::default(),
            cvt: CvtSection::default(),
            dns: DnsSection::default(),
            iso_line: IsoLineSection::default(),
            openai: OpenaiSection::default(),
        }
    }
}

/// Changes to the physics of the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct PerturbationSection {
    /// Factor on all sliding frictions.
    pub friction_scale: f64,
    /// Factor on all masses and inertias.
    pub mass_scale: f64,
    /// Absolute friction of the terrain, where the task has one (BipedalWalker). `auto` leaves the task's own.
    pub friction: Auto<f64>,
    /// How contact margins of two geoms combine. Matters for Ant and Hopper, which stand higher under the rule of
    /// current MuJoCo than in the paper's runs.
    pub margin: MarginRule,
}

impl Default for PerturbationSection {
    fn default() -> Self {
        Self {
            friction_scale: 1.0,
            mass_scale: 1.0,
            friction: Auto::default(),
            margin: MarginRule::default(),
        }
    }
}

/// The policy network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct PolicySection {
    /// Structure of the weight matrices.
    pub kind: PolicyKind,
    /// Units of each hidden layer.
    pub hidden: Vec<usize>,
    /// Which layers have biases. Not said by the paper.
    pub bias: Biases,
    /// The parameters that the emitters start from.
    pub initial: InitialPolicy,
}

impl Default for PolicySection {
    fn default() -> Self {
        let (kind, initial) = (PolicyKind::default(), InitialPolicy::default());
        Self { kind, hidden: vec![128, 128], bias: Biases::default(), initial }
    }
}

/// The embedding of a policy's occupancy measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct EmbeddingSection {
    /// Random Fourier features, the length of the embedding (D in the paper).
    pub features: usize,
    /// Discount of the occupancy measure.
    pub gamma: f64,
    /// Width of the kernel. `auto` is the square root of observation size plus action size.
    pub bandwidth: Auto<f64>,
    /// Draw the feature directions orthogonal to each other: the same cost, less variance.
    pub orthogonal: bool,
    /// Factors on the bandwidth; the features are shared out equally among them. Several give a mixture of kernels.
    pub scales: Vec<f64>,
    /// Divide the embedding of an episode of T steps by 1 - gamma^T. Without it (the paper) the embedding of a short
    /// episode is small, so that survival time is part of the behaviour.
    pub length_normalized: bool,
}

impl Default for EmbeddingSection {
    fn default() -> Self {
        Self {
            features: 100,
            gamma: 0.999,
            bandwidth: Auto::default(),
            orthogonal: false,
            scales: vec![1.0],
            length_normalized: false,
        }
    }
}

/// The autoencoders of learned descriptors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct AutoencoderSection {
    /// Units of the hidden layers of Aurora's encoder; the decoder has them in reverse.
    pub hidden: Vec<usize>,
    /// Units of LSTM-Aurora's recurrent layers.
    pub lstm_units: usize,
    /// LSTM-Aurora sees every so many steps of an episode, from the first state on.
    pub period: usize,
    /// Probability that LSTM-Aurora's decoder sees the true previous state, and not the mean of all states. Below 1
    /// it has to rely on the code; the paper has 1.
    pub teacher_forcing: f64,
    /// Learning rate of Adam.
    pub learning_rate: f64,
    /// States, or trajectories, per training step.
    pub batch_size: usize,
    /// Most passes over the training data at a refit.
    pub epochs: usize,
    /// Passes without a lower validation loss after which training stops. The best weights are kept.
    pub patience: usize,
    /// Share of the policies, drawn anew at each refit, that only the validation loss is computed on.
    pub validation_share: f64,
    /// States that Aurora keeps of each episode for training, at random times, besides the last one.
    pub states_per_episode: usize,
    /// States of all policies ever evaluated that Aurora also trains on, a uniform sample; the elites alone would
    /// make it blind to what has not been reached yet.
    pub reservoir: usize,
    /// Most states that Aurora trains on at a refit; a uniform sample of the elites' and the reservoir's.
    pub training_states: usize,
    /// Most trajectories per pass over the training data of LSTM-Aurora: one of each elite, another one at each pass.
    pub training_trajectories: usize,
    /// Megabytes of states that elites in reserve may keep; beyond that the lowest objective leaves the reserve.
    pub reserve_megabytes: usize,
}

impl Default for AutoencoderSection {
    fn default() -> Self {
        Self {
            hidden: vec![64, 32],
            lstm_units: 32,
            period: 10,
            teacher_forcing: 1.0,
            learning_rate: 1e-3,
            batch_size: 64,
            epochs: 50,
            patience: 10,
            validation_share: 0.2,
            states_per_episode: 4,
            reservoir: 50_000,
            training_states: 200_000,
            training_trajectories: 10_000,
            reserve_megabytes: 500,
        }
    }
}

/// Settings of a CVT archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct CvtSection {
    /// Number of cells.
    pub cells: usize,
    /// Uniform samples from which the cells' centroids are computed.
    pub samples: usize,
}

impl Default for CvtSection {
    fn default() -> Self {
        Self { cells: 10_000, samples: 100_000 }
    }
}

/// Settings of dominated novelty search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct DnsSection {
    /// Number of elites kept.
    pub size: usize,
    /// Fitter neighbours to whom the distance is measured.
    pub k: usize,
    /// Where distances are measured.
    pub space: DnsSpace,
}

impl Default for DnsSection {
    fn default() -> Self {
        Self { size: 4096, k: 15, space: DnsSpace::default() }
    }
}

/// Settings of the iso+line operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct IsoLineSection {
    /// Standard deviation of the isotropic part.
    pub iso_sigma: f64,
    /// Standard deviation along the line to a second elite.
    pub line_sigma: f64,
}

impl Default for IsoLineSection {
    fn default() -> Self {
        Self { iso_sigma: 0.005, line_sigma: 0.05 }
    }
}

/// Settings of OpenAI-ES.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct OpenaiSection {
    /// Learning rate of Adam.
    pub learning_rate: f64,
    /// Weight of the L2 penalty.
    pub l2: f64,
}

impl Default for OpenaiSection {
    fn default() -> Self {
        Self { learning_rate: 1e-3, l2: 0.0 }
    }
}

fn physics_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"oneOf": [
        {"const": "auto", "description": "The batched simulator where it supports the model, else the reference."},
        {"const": "lanes", "description": "The batched simulator; an error where it does not support the model."},
        {"const": "reference", "description": "libmujoco or Box2D."}
    ]})
}
