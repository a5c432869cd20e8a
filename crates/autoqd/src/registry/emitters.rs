//! The emitters of `autoqd-qd`.

use std::sync::Arc;

use autoqd_qd::{AnyEmitter, EsEmitterConfig, GaussianConfig, IsoLineConfig, OpenAiOptions, StrategyConfig};

use super::Registry;
use crate::Error;
use crate::config::rules::{self, Check};
use crate::config::{Config, PartFacts, RunConfig, Section};
use crate::emitter::SearchEmitter;
use crate::policy::PolicySpec;

/// What an emitter is built from.
#[derive(Clone)]
pub struct EmitterContext<'a> {
    /// The run's configuration.
    pub config: &'a RunConfig,
    /// The parts there are, for an emitter that has others beside it.
    pub registry: &'a Registry,
    /// Shape of the policies.
    pub policy: &'a PolicySpec,
    /// Which of the run's emitters it is, from 0.
    pub index: usize,
    /// Where it starts.
    pub x0: Vec<f64>,
    /// Its first step size.
    pub sigma0: f64,
    /// Candidates per iteration.
    pub batch_size: usize,
    /// Seed of its random stream.
    pub seed: u64,
}

pub(super) type BuildEmitter =
    Arc<dyn Fn(EmitterContext<'_>) -> Result<Box<dyn SearchEmitter>, Error> + Send + Sync>;

crate::settings! {
    /// Settings of `emitter = "iso-line"`.
    pub struct IsoLineSection as "iso_line" {
        /// Standard deviation of the isotropic part.
        iso_sigma: f64 = 0.005 => rules::not_negative;
        /// Standard deviation along the line to a second elite.
        line_sigma: f64 = 0.05 => rules::not_negative;
    }
}

crate::settings! {
    /// Settings of `emitter = "openai"`.
    pub struct OpenaiSection as "openai" {
        /// Learning rate of Adam.
        learning_rate: f64 = 1e-3 => rules::positive;
        /// Weight of the L2 penalty.
        l2: f64 = 0.0 => rules::not_negative;
    }
}

impl Section for IsoLineSection {}
impl Section for OpenaiSection {}

pub(super) fn register(registry: &mut Registry) {
    registry.register_section::<IsoLineSection>();
    registry.register_section::<OpenaiSection>();
    strategy(registry, "cma", "CMA-ES with a full covariance matrix (the paper).", |config| {
        Ok(StrategyConfig::CmaEs { rank_one: config.rank_one })
    });
    let doc = "CMA-ES that keeps the covariance at the identity: the same search within a short life, much cheaper.";
    strategy(registry, "csa", doc, |_| Ok(StrategyConfig::Isotropic));
    strategy(registry, "sep", "CMA-ES with a diagonal covariance matrix.", |config| {
        Ok(StrategyConfig::SepCmaEs { rank_one: config.rank_one })
    });
    let doc = "LM-MA-ES, a limited-memory evolution strategy for many parameters.";
    strategy(registry, "lm-ma", doc, |_| Ok(StrategyConfig::LmMaEs { vectors: None }));
    let facts = PartFacts { check: even, ..PartFacts::new("OpenAI-ES: mirrored sampling and Adam.") };
    registry.register_emitter("openai", facts, |context| evolution_strategy(context, openai));
    registry.register_emitter("iso-line", PartFacts::new("MAP-Elites with the iso+line operator."), iso_line);
    registry.register_emitter("gaussian", PartFacts::new("MAP-Elites with Gaussian mutation."), gaussian);
}

type Strategy = fn(&RunConfig) -> Result<StrategyConfig, Error>;

fn strategy(registry: &mut Registry, name: &str, doc: &str, strategy: Strategy) {
    let facts = PartFacts { check: at_least_two, ..PartFacts::new(doc) };
    registry.register_emitter(name, facts, move |context| evolution_strategy(context, strategy));
}

fn evolution_strategy(
    context: EmitterContext<'_>,
    strategy: Strategy,
) -> Result<Box<dyn SearchEmitter>, Error> {
    let config = context.config;
    let emitter = EsEmitterConfig::new(context.x0, context.sigma0, context.seed)
        .batch_size(context.batch_size)
        .strategy(strategy(config)?)
        .ranker(config.ranker)
        .selection_rule(config.selection)
        .restart_rule(config.restart);
    let mut emitter = emitter.build()?;
    emitter.strategy_mut().set_arithmetic(config.arithmetic);
    Ok(boxed(emitter))
}

fn openai(config: &RunConfig) -> Result<StrategyConfig, Error> {
    let OpenaiSection { learning_rate: lr, l2: l2_coeff } = config.section()?;
    Ok(StrategyConfig::OpenAiEs(OpenAiOptions { lr, l2_coeff, ..OpenAiOptions::default() }))
}

/// The form of `autoqd-qd`'s emitters in which a search keeps and saves them.
fn boxed(emitter: impl Into<AnyEmitter>) -> Box<dyn SearchEmitter> {
    Box::new(emitter.into())
}

fn iso_line(context: EmitterContext<'_>) -> Result<Box<dyn SearchEmitter>, Error> {
    let IsoLineSection { iso_sigma, line_sigma } = context.config.section()?;
    let EmitterContext { x0, batch_size, seed, .. } = context;
    Ok(boxed(IsoLineConfig { x0, iso_sigma, line_sigma, batch_size, bounds: None, seed }.build()?))
}

fn gaussian(context: EmitterContext<'_>) -> Result<Box<dyn SearchEmitter>, Error> {
    let mut gaussian = GaussianConfig::new(context.x0, context.sigma0, context.seed);
    gaussian.batch_size = context.batch_size;
    Ok(boxed(gaussian.build()?))
}

fn at_least_two(config: &Config) -> Check {
    let allowed = "an evolution strategy needs at least 2 candidates to choose from";
    let remedy = "raise it, or use emitter = \"gaussian\"";
    rules::require(config.batch_size >= 2, "batch_size", config.batch_size, allowed, remedy)
}

fn even(config: &Config) -> Check {
    let allowed = "openai samples mirrored pairs, so it must be even";
    let ok = config.batch_size.is_multiple_of(2);
    rules::require(ok, "batch_size", config.batch_size, allowed, "take the next even number")
}
