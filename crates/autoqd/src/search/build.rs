//! From a configuration to archives and emitters.

use autoqd_qd::{
    AnyArchive, AnyEmitter, CellConfig, Centroids, CvtConfig, DominatedNoveltyConfig, EsEmitterConfig,
    GaussianConfig, GridConfig, IsoLineConfig, OpenAiOptions, RestartRule, Scheduler, SelectionRule,
    StrategyConfig,
};

use crate::Error;
use crate::config::{
    AddMode, ArchiveConfig, ArchiveLayout, EmitterConfig, EmitterKind, InitialPolicy, RankOne, Restart,
    RestartRule as RestartWord, RunConfig, Selection,
};
use crate::policy::{self, PolicySpec};
use crate::seeds::{Purpose, derive};

/// Sizes of what is stored with every elite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub parameters: usize,
    pub measures: usize,
    pub features: usize,
    pub hand_made: usize,
}

/// Name of the field with a descriptor's features.
pub(crate) const FEATURES: &str = "features";
/// Name of the field with return spread and mean length.
pub(crate) const STATISTICS: &str = "statistics";
/// Name of the field with the task's hand-made measures.
pub(crate) const HAND_MADE: &str = "hand_made";
/// Numbers in the field of statistics: return spread and mean episode length.
pub(super) const STATISTICS_SIZE: usize = 2;

/// Steps of k-means for the cells of a CVT archive; more hardly move the centroids.
const LLOYD_STEPS: usize = 50;

/// The search archive, whose thresholds drive the emitters.
pub(super) fn search_archive(config: &RunConfig, sizes: Sizes) -> Result<AnyArchive, Error> {
    let archive = &config.archive;
    let cell = if archive.threshold_min.is_finite() {
        CellConfig::annealing(archive.learning_rate, archive.threshold_min)
    } else {
        CellConfig::elitist()
    };
    build_archive(config, archive, cell, sizes)
}

/// The result archive, which keeps the best of every cell above the floor.
pub(super) fn result_archive(config: &RunConfig, sizes: Sizes) -> Result<AnyArchive, Error> {
    let cell = match config.archive.floor {
        // A learning rate of 1 sets a cell's threshold to what it holds.
        Some(floor) => CellConfig::annealing(1.0, floor),
        None => CellConfig::elitist(),
    };
    build_archive(config, &config.archive, cell, sizes)
}

fn build_archive(
    config: &RunConfig,
    archive: &ArchiveConfig,
    cell: CellConfig,
    sizes: Sizes,
) -> Result<AnyArchive, Error> {
    let fields = fields(sizes);
    let mut cell = cell.qd_score_offset(archive.qd_offset);
    for (name, width) in &fields {
        cell = cell.field(name, *width);
    }
    let ranges = |bounds: &[[f64; 2]]| bounds.iter().map(|b| (b[0], b[1])).collect::<Vec<_>>();
    Ok(match &archive.layout {
        ArchiveLayout::Grid { cells, bounds } => {
            GridConfig::new(sizes.parameters, cells, &ranges(bounds)).cell(cell).build()?.into()
        }
        ArchiveLayout::Cvt { cells, samples, bounds } => {
            let seed = derive(config.seed, Purpose::Centroids, [0; 3]);
            let centroids =
                Centroids::KMeans { cells: *cells, samples: *samples, iterations: LLOYD_STEPS, seed };
            CvtConfig::new(sizes.parameters, &ranges(bounds), centroids).cell(cell).build()?.into()
        }
        ArchiveLayout::Dns { size, k, .. } => {
            let mut dns = DominatedNoveltyConfig::new(sizes.parameters, sizes.measures, *size);
            dns.neighbours = *k;
            dns.qd_score_offset = archive.qd_offset;
            dns.fields = cell.fields;
            dns.build()?.into()
        }
    })
}

/// The extra fields of an elite that are not empty.
fn fields(sizes: Sizes) -> Vec<(&'static str, usize)> {
    let all = [(FEATURES, sizes.features), (STATISTICS, STATISTICS_SIZE), (HAND_MADE, sizes.hand_made)];
    all.into_iter().filter(|(_, width)| *width > 0).collect()
}

/// The emitters; each has a random stream of its own.
pub(super) fn scheduler(config: &RunConfig, policy: &PolicySpec) -> Result<Scheduler, Error> {
    let emitters = config
        .emitters
        .sigma0
        .iter()
        .enumerate()
        .map(|(i, sigma0)| {
            let seed = |purpose| derive(config.seed, purpose, [i as u64, 0, 0]);
            let x0 = match config.policy.initial {
                InitialPolicy::Zeros => vec![0.0; policy.parameter_count()],
                InitialPolicy::Uniform => policy::uniform(policy, seed(Purpose::InitialPolicy)),
            };
            emitter(&config.emitters, x0, *sigma0, seed(Purpose::Emitters))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let mode = match config.add_mode {
        AddMode::Batch => autoqd_qd::AddMode::Batch,
        AddMode::Single => autoqd_qd::AddMode::Single,
    };
    Ok(Scheduler::new(emitters)?.with_add_mode(mode))
}

fn emitter(config: &EmitterConfig, x0: Vec<f64>, sigma0: f64, seed: u64) -> Result<AnyEmitter, Error> {
    let batch_size = config.batch_size;
    let strategy = match config.kind {
        EmitterKind::IsoLine => {
            let (iso_sigma, line_sigma) = (config.iso_line.iso_sigma, config.iso_line.line_sigma);
            return Ok(IsoLineConfig { x0, iso_sigma, line_sigma, batch_size, bounds: None, seed }
                .build()?
                .into());
        }
        EmitterKind::Gaussian => {
            let mut gaussian = GaussianConfig::new(x0, sigma0, seed);
            gaussian.batch_size = batch_size;
            return Ok(gaussian.build()?.into());
        }
        EmitterKind::Cma => StrategyConfig::CmaEs { rank_one: rank_one(config) },
        EmitterKind::Csa => StrategyConfig::Isotropic,
        EmitterKind::Sep => StrategyConfig::SepCmaEs { rank_one: rank_one(config) },
        EmitterKind::LmMa => StrategyConfig::LmMaEs { vectors: None },
        EmitterKind::Openai => StrategyConfig::OpenAiEs(OpenAiOptions {
            lr: config.openai.learning_rate,
            l2_coeff: config.openai.l2,
            ..OpenAiOptions::default()
        }),
    };
    let emitter = EsEmitterConfig::new(x0, sigma0, seed)
        .batch_size(batch_size)
        .strategy(strategy)
        .ranker(config.ranker.as_str().parse()?)
        .selection_rule(match config.selection {
            Selection::Mu => SelectionRule::Mu,
            Selection::Filter => SelectionRule::Filter,
        })
        .restart_rule(match config.restart {
            Restart::Every(n) => RestartRule::Every(n),
            Restart::Rule(RestartWord::Basic) => RestartRule::Basic,
            Restart::Rule(RestartWord::NoImprovement) => RestartRule::NoImprovement,
        });
    Ok(emitter.build()?.into())
}

fn rank_one(config: &EmitterConfig) -> autoqd_qd::RankOne {
    match config.rank_one {
        RankOne::Pyribs => autoqd_qd::RankOne::Pyribs,
        RankOne::Textbook => autoqd_qd::RankOne::Textbook,
    }
}
