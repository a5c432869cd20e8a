//! From a configuration to archives and emitters.

use autoqd_qd::{
    AnyArchive, CellConfig, Centroids, CvtConfig, DominatedNoveltyConfig, GridConfig, Scheduler,
};

use crate::Error;
use crate::config::{ArchiveLayout, InitialPolicy, RunConfig};
use crate::emitter::SearchEmitter;
use crate::policy::{self, PolicySpec};
use crate::registry::{EmitterContext, Registry};
use crate::seeds::{Purpose, derive};

/// Sizes of what is stored with every elite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub parameters: usize,
    pub measures: usize,
    pub features: usize,
    pub hand_designed: usize,
}

/// Name of the field with a descriptor's features.
pub(crate) const FEATURES: &str = "features";
/// Name of the field with return spread and mean length.
pub(crate) const STATISTICS: &str = "statistics";
/// Name of the field with the task's hand-designed measures, as checkpoints store it.
pub(crate) const HAND_DESIGNED: &str = "hand_made";
/// Numbers in the field of statistics: return spread and mean episode length.
pub(super) const STATISTICS_SIZE: usize = 2;

/// Steps of k-means for the cells of a CVT archive; more hardly move the centroids.
const LLOYD_STEPS: usize = 50;

/// The search archive, whose thresholds drive the emitters.
pub(super) fn search_archive(config: &RunConfig, sizes: Sizes) -> Result<AnyArchive, Error> {
    let cell = if config.threshold_min().is_finite() {
        CellConfig::annealing(config.learning_rate, config.threshold_min())
    } else {
        CellConfig::elitist()
    };
    build_archive(config, cell, sizes)
}

/// The result archive, which keeps the best of every cell above the floor.
pub(super) fn result_archive(config: &RunConfig, sizes: Sizes) -> Result<AnyArchive, Error> {
    let cell = match config.floor() {
        Some(floor) => CellConfig::elitist_above(floor),
        None => CellConfig::elitist(),
    };
    build_archive(config, cell, sizes)
}

fn build_archive(config: &RunConfig, cell: CellConfig, sizes: Sizes) -> Result<AnyArchive, Error> {
    let fields = fields(sizes);
    let mut cell = cell.qd_score_offset(config.qd_offset());
    for (name, width) in &fields {
        cell = cell.field(name, *width);
    }
    let ranges = |bounds: &[[f64; 2]]| bounds.iter().map(|b| (b[0], b[1])).collect::<Vec<_>>();
    Ok(match config.layout() {
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
            dns.qd_score_offset = config.qd_offset();
            dns.fields = cell.fields;
            dns.build()?.into()
        }
    })
}

/// The extra fields of an elite that are not empty.
fn fields(sizes: Sizes) -> Vec<(&'static str, usize)> {
    let all =
        [(FEATURES, sizes.features), (STATISTICS, STATISTICS_SIZE), (HAND_DESIGNED, sizes.hand_designed)];
    all.into_iter().filter(|(_, width)| *width > 0).collect()
}

/// The emitters; each has a random stream of its own.
pub(super) fn scheduler(
    config: &RunConfig,
    policy: &PolicySpec,
    registry: &Registry,
) -> Result<Scheduler<Box<dyn SearchEmitter>>, Error> {
    let emitter = |(index, sigma0): (usize, &f64)| {
        let seed = |purpose| derive(config.seed, purpose, [index as u64, 0, 0]);
        let x0 = match config.policy.initial {
            InitialPolicy::Zeros => vec![0.0; policy.parameter_count()],
            InitialPolicy::Uniform => policy::uniform(policy, seed(Purpose::InitialPolicy)),
            InitialPolicy::Positive => policy::positive(policy, seed(Purpose::InitialPolicy)),
        };
        let (sigma0, batch_size, seed) = (*sigma0, config.batch_size, seed(Purpose::Emitters));
        registry.emitter(EmitterContext { config, registry, policy, index, x0, sigma0, batch_size, seed })
    };
    let emitters = config.sigma0().iter().enumerate().map(emitter).collect::<Result<Vec<_>, Error>>()?;
    Ok(Scheduler::new(emitters)?.with_add_mode(config.add_mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;
    use autoqd_qd::{Archive, Batch, Rows};

    /// Several candidates of one batch for the same cell once made their mean the threshold.
    #[test]
    fn the_best_of_a_cell_is_never_replaced_by_a_worse_one() {
        let registry = Registry::default();
        let task = registry.task("point-maze", &Default::default()).unwrap();
        let layers =
            Layers::new(&registry).preset("quick").unwrap().flag("task", "point-maze", "test").unwrap();
        let config =
            layers.set("floor=-5").unwrap().build().unwrap().resolve(&task.spec().into(), &registry).unwrap();
        let dimension = config.measures_dimension;
        let sizes = Sizes { parameters: 1, measures: dimension, features: 0, hand_designed: 0 };
        let mut archive = result_archive(&config, sizes).unwrap();
        for objectives in [&[-9.0, -7.0][..], &[1.0, 9.0, 2.0], &[8.0, 5.0]] {
            let zeros = |width: usize| vec![0.0; objectives.len() * width];
            let (solutions, measures, statistics) = (zeros(1), zeros(dimension), zeros(STATISTICS_SIZE));
            let rows = |data, width| Rows::new(data, width).unwrap();
            let batch = Batch::new(rows(&solutions, 1), objectives, rows(&measures, dimension))
                .with_fields(rows(&statistics, STATISTICS_SIZE));
            archive.add(&batch).unwrap();
        }
        assert_eq!(archive.elites().objectives(), [9.0]);
    }
}
