//! Which descriptor a method of the configuration stands for.

use std::collections::BTreeMap;

use autoqd_env::EnvSpec;

use super::{AutoQd, AutoQdOptions, Descriptor, Regular};
use crate::Error;
use crate::config::{Method, RunConfig};
use crate::cwpca::CwPcaOptions;
use crate::embedding::{FeatureOptions, PsiOptions, Sampling};
use crate::seeds::{Purpose, derive};

/// What a descriptor is built from.
#[derive(Clone, Copy)]
pub struct DescriptorContext<'a> {
    /// The run's configuration.
    pub config: &'a RunConfig,
    /// The task.
    pub spec: &'a EnvSpec,
}

type Build = fn(DescriptorContext<'_>) -> Result<Box<dyn Descriptor>, Error>;

/// The descriptors that a program knows.
///
/// A program that links a crate with more descriptors registers them here; without it, a run that uses one of them
/// is refused with a message that says so.
pub struct Registry {
    builders: BTreeMap<&'static str, Build>,
}

impl Default for Registry {
    /// AutoQD and the hand-made measures.
    fn default() -> Self {
        let mut registry = Self { builders: BTreeMap::new() };
        registry.register(Method::Autoqd, |context| Ok(Box::new(autoqd(context)?)));
        registry.register(Method::Regular, |context| Ok(Box::new(Regular::new(context.spec))));
        registry
    }
}

impl Registry {
    /// Adds, or replaces, the descriptor of a method.
    pub fn register(&mut self, method: Method, build: Build) {
        self.builders.insert(method.as_str(), build);
    }

    /// Builds the descriptor of a run.
    pub fn build(&self, context: DescriptorContext<'_>) -> Result<Box<dyn Descriptor>, Error> {
        let method = context.config.method.as_str();
        let build = self.builders.get(method).ok_or_else(|| Error::UnknownMethod {
            method: method.to_owned(),
            known: self.builders.keys().copied().collect::<Vec<_>>().join(", "),
        })?;
        build(context)
    }
}

fn autoqd(context: DescriptorContext<'_>) -> Result<AutoQd, Error> {
    let DescriptorContext { config, spec } = context;
    let (descriptor, embedding) = (&config.descriptor, &config.embedding);
    let options = AutoQdOptions {
        measures: config.refits().then_some(descriptor.measures_dimension),
        features: FeatureOptions {
            dimension: embedding.features,
            bandwidth: Some(embedding.bandwidth),
            sampling: if embedding.orthogonal { Sampling::Orthogonal } else { Sampling::Independent },
            scales: embedding.scales.clone(),
        },
        feature_seed: derive(config.seed, Purpose::Features, [0; 3]),
        psi: PsiOptions { gamma: embedding.gamma, length_normalized: embedding.length_normalized },
        normalization: descriptor.normalizer,
        first_map: descriptor.first_map,
        first_map_seed: derive(config.seed, Purpose::FirstMap, [0; 3]),
        fit: CwPcaOptions { weighted: descriptor.weighting, ..CwPcaOptions::default() },
    };
    AutoQd::new(options, spec.observation_size, spec.action_size)
}
