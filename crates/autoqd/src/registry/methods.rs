//! The methods of this crate.

use std::sync::Arc;

use autoqd_env::{EnvSpec, Task};

use super::Registry;
use crate::Error;
use crate::config::rules::{self, Check};
use crate::config::{Config, MethodFacts, RunConfig};
use crate::cwpca::CwPcaOptions;
use crate::descriptor::{AutoQd, AutoQdOptions, Descriptor, Regular};
use crate::embedding::{FeatureOptions, PsiOptions, Sampling};
use crate::seeds::{Purpose, derive};
use crate::trainer::Trainer;

/// What a descriptor is built from.
#[derive(Clone, Copy)]
pub struct DescriptorContext<'a> {
    /// The run's configuration.
    pub config: &'a RunConfig,
    /// The task.
    pub spec: &'a EnvSpec,
}

type BuildDescriptor = Arc<dyn Fn(DescriptorContext<'_>) -> Result<Box<dyn Descriptor>, Error> + Send + Sync>;

/// What a trainer is built from.
pub struct TrainerContext<'a> {
    /// The run's configuration.
    pub config: RunConfig,
    /// The task.
    pub task: Arc<dyn Task>,
    /// The parts there are, for instance evaluators.
    pub registry: &'a Registry,
}

type BuildTrainer = Arc<dyn Fn(TrainerContext<'_>) -> Result<Box<dyn Trainer>, Error> + Send + Sync>;

/// What a method is.
#[derive(Clone)]
#[non_exhaustive]
pub enum MethodKind {
    /// A descriptor for the quality-diversity search.
    Descriptor(BuildDescriptor),
    /// A loop of its own.
    Trainer(BuildTrainer),
}

impl MethodKind {
    /// A descriptor for the quality-diversity search.
    pub fn descriptor<D: Descriptor + 'static>(
        build: impl Fn(DescriptorContext<'_>) -> Result<D, Error> + Send + Sync + 'static,
    ) -> Self {
        Self::Descriptor(Arc::new(move |context| Ok(Box::new(build(context)?))))
    }

    /// A loop of its own.
    pub fn trainer<T: Trainer + 'static>(
        build: impl Fn(TrainerContext<'_>) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Self {
        Self::Trainer(Arc::new(move |context| Ok(Box::new(build(context)?))))
    }
}

pub(super) fn register(registry: &mut Registry) {
    let doc = "Measures learned from occupancy embeddings (the method of the paper).";
    let facts = MethodFacts { embeddings: true, check: enough_features, ..MethodFacts::learned(doc) };
    registry.register_method("autoqd", facts, MethodKind::descriptor(autoqd));
    let facts = MethodFacts::of_task("The task's hand-designed measures.");
    registry.register_method(
        "regular",
        facts,
        MethodKind::descriptor(|context| Ok(Regular::new(context.spec))),
    );
}

fn enough_features(config: &Config) -> Check {
    let dimension = config.measures_dimension;
    let allowed = "a learned measure is a direction among the features, so there can be no more than those";
    let ok = dimension <= config.embedding.features;
    rules::require(ok, "measures_dimension", dimension, allowed, "lower it, or raise embedding.features")
}

fn autoqd(context: DescriptorContext<'_>) -> Result<AutoQd, Error> {
    let DescriptorContext { config, spec } = context;
    let embedding = &config.embedding;
    let options = AutoQdOptions {
        measures: (!config.on_psi()).then_some(config.measures_dimension),
        features: FeatureOptions {
            dimension: embedding.features,
            bandwidth: Some(config.bandwidth()),
            sampling: if embedding.orthogonal { Sampling::Orthogonal } else { Sampling::Independent },
            scales: embedding.scales.clone(),
        },
        feature_seed: derive(config.seed, Purpose::Features, [0; 3]),
        psi: PsiOptions { gamma: embedding.gamma, length_normalized: embedding.length_normalized },
        normalization: config.normalizer,
        first_map: config.first_map,
        first_map_seed: derive(config.seed, Purpose::FirstMap, [0; 3]),
        fit: CwPcaOptions {
            weighted: config.weighting,
            arithmetic: config.arithmetic,
            ..CwPcaOptions::default()
        },
    };
    AutoQd::new(options, spec.observation_size, spec.action_size)
}
