//! A descriptor: a policy is what its path looks like, by means and spreads of the first two observations, scaled to
//! what the elites do.

use std::sync::Arc;

use autoqd::Error;
use autoqd::config::rules::{self, Check};
use autoqd::config::{Config, MethodFacts, Section};
use autoqd::descriptor::{Descriptor, Elites, RefitReport};
use autoqd::evaluator::{Evaluation, Probe, ProbeKind, Record, Step, Watcher};
use autoqd::registry::{DescriptorContext, MethodKind, Registry};
use autoqd::run_folder::Tensor;
use serde::{Deserialize, Serialize};

autoqd::settings! {
    /// Settings of `method = "path"`.
    pub struct PathSection as "path" {
        /// Factor on the ranges of the elites; above 1 it leaves room to grow into.
        room: f64 = 1.1 => rules::positive;
    }
}

impl Section for PathSection {}

/// Registers the method, its settings and its probe.
pub fn register(registry: &mut Registry) {
    registry.register_probe::<PathProbe>();
    registry.register_section::<PathSection>();
    let facts =
        MethodFacts { check: four_measures, ..MethodFacts::learned("Means and spreads along the path.") };
    registry.register_method("path", facts, MethodKind::descriptor(PathDescriptor::new));
}

fn four_measures(config: &Config) -> Check {
    let dimension = config.measures_dimension;
    rules::require(dimension <= 4, "measures_dimension", dimension, "a path has 4 measures", "lower it")
}

/// Collects mean and standard deviation of the first two observations.
#[derive(Serialize, Deserialize)]
struct PathProbe;

impl ProbeKind for PathProbe {
    const NAME: &'static str = "path";

    fn watcher(self: &Arc<Self>) -> Box<dyn Watcher> {
        Box::new(PathWatcher::default())
    }
}

#[derive(Default)]
struct PathWatcher {
    steps: f64,
    sums: [f64; 2],
    squares: [f64; 2],
}

impl Watcher for PathWatcher {
    fn begin(&mut self, _seed: u64) {
        *self = Self::default();
    }

    fn step(&mut self, step: &Step<'_>) {
        self.steps += 1.0;
        for axis in 0..2 {
            let x = step.next_observation[axis];
            self.sums[axis] += x;
            self.squares[axis] += x * x;
        }
    }

    fn finish(&mut self, _last: &[f64]) -> Record {
        let mean = self.sums.map(|sum| sum / self.steps);
        let spread =
            |axis: usize| (self.squares[axis] / self.steps - mean[axis] * mean[axis]).max(0.0).sqrt();
        Record::Summary(vec![mean[0], mean[1], spread(0), spread(1)])
    }
}

struct PathDescriptor {
    dimension: usize,
    room: f64,
    /// Centre and half width of each measure among the elites.
    scales: Vec<[f64; 2]>,
}

impl PathDescriptor {
    fn new(context: DescriptorContext<'_>) -> Result<Self, Error> {
        let PathSection { room } = context.config.section()?;
        let dimension = context.config.measures_dimension;
        Ok(Self { dimension, room, scales: vec![[0.0, 1.0]; dimension] })
    }

    fn fit(&mut self, elites: Elites<'_>) {
        for (i, scale) in self.scales.iter_mut().enumerate() {
            let values = elites.features.chunks_exact(4).map(|row| row[i]);
            let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
            *scale = [(low + high) / 2.0, (self.room * (high - low) / 2.0).max(1e-6)];
        }
    }
}

impl Descriptor for PathDescriptor {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn feature_size(&self) -> usize {
        4
    }

    fn probes(&self) -> Result<Vec<Probe>, Error> {
        Ok(vec![Probe::new(&PathProbe)?])
    }

    fn features(&self, evaluation: &Evaluation) -> Vec<f64> {
        evaluation.mean_summary(0)
    }

    fn first_fit(&mut self, elites: Elites<'_>) -> Result<(), Error> {
        self.fit(elites);
        Ok(())
    }

    fn refit(&mut self, _iteration: u64, elites: Elites<'_>) -> Result<RefitReport, Error> {
        self.fit(elites);
        Ok(RefitReport::default())
    }

    fn measures(&self, _id: u64, features: &[f64]) -> Vec<f64> {
        self.scales.iter().zip(features).map(|([centre, half], x)| (x - centre) / half).collect()
    }

    fn describe(&self, evaluation: &Evaluation) -> Vec<f64> {
        self.measures(0, &self.features(evaluation))
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        postcard::to_allocvec(&self.scales).map_err(|e| Error::State { what: "path", reason: e.to_string() })
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        self.scales =
            postcard::from_bytes(state).map_err(|e| Error::State { what: "path", reason: e.to_string() })?;
        Ok(())
    }

    fn tensors(&self) -> Vec<Tensor> {
        vec![Tensor::f64("path_scales", &[self.dimension, 2], &self.scales.concat())]
    }
}
