//! DvD-ES: a population trained together by an evolution strategy, for return and for acting differently (Parker-Holder
//! et al., "Effective Diversity in Population Based Reinforcement Learning", NeurIPS 2020).
//!
//! In every iteration each agent is perturbed in antithetic pairs. What a pair is worth is the difference of the returns
//! and, with a weight that a bandit chooses, the difference of the determinants of a kernel over all agents' actions on
//! the same states: the volume that the population spans. All agents take one joint step of Adam.

mod agent;
mod bandit;
mod diversity;
mod filter;
mod iteration;
mod section;
mod states;
mod train;
mod update;

#[cfg(test)]
mod tests;

pub use section::{DvdSection, Variant};
pub use states::NextStates;

use std::sync::Arc;

use autoqd::Error;
use autoqd::config::RunConfig;
use autoqd::evaluator::Evaluator;
use autoqd::policy::{FilterSpec, PolicySpec, Weights};
use autoqd::registry::{EvaluatorContext, TrainerContext};
use autoqd::search::thread_pool;
use autoqd::seeds::{Purpose, derive};
use autoqd::trainer::Totals;
use autoqd_env::EnvSpec;

use agent::Agent;
use bandit::Bandit;
use states::Reservoir;

use crate::adam::Adam;
use crate::evaluated::Evaluated;

/// What the presets set for this method instead of their own values: the paper's evaluations (400 iterations are as
/// many episodes as the searches have), and a first look.
pub(crate) const PRESETS: &[(&str, &str)] = &[
    ("paper", "iterations = 400\nepisodes = 1"),
    ("best", "iterations = 400\nepisodes = 1"),
    ("quick", "iterations = 40\nepisodes = 1\ndvd.agents = 5\ndvd.pairs = 16"),
];

/// DvD-ES as a trainer.
///
/// ```
/// use autoqd::config::Layers;
/// use autoqd::registry::Registry;
/// use autoqd::runner::build_trainer;
/// let mut registry = Registry::default();
/// autoqd_learn::register(&mut registry);
/// let task = autoqd_env::load_task("point-maze", &Default::default())?;
/// let config = Layers::new(&registry)
///     .preset("quick")?
///     .set("method=dvd-es")?
///     .set("dvd.pairs=2")?
///     .flag("task", "point-maze", "TASK")?
///     .build()?
///     .resolve(&task.spec().into(), &registry)?;
/// let mut trainer = build_trainer(config, &registry)?;
/// trainer.step()?;
/// assert_eq!(trainer.population().len(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DvdEs {
    config: RunConfig,
    settings: DvdSection,
    spec: EnvSpec,
    policy: PolicySpec,
    evaluator: Arc<dyn Evaluator>,
    pool: Arc<rayon::ThreadPool>,
    agents: Vec<Agent>,
    adam: Adam<f64>,
    bandit: Bandit,
    reservoir: Reservoir,
    /// What is stored of each agent: as evaluated last, or at its best. Empty before the first iteration.
    population: Vec<Evaluated>,
    iteration: u64,
    totals: Totals,
}

impl DvdEs {
    /// DvD-ES at its start.
    pub fn new(context: TrainerContext<'_>) -> Result<Self, Error> {
        let TrainerContext { config, task, registry } = context;
        let settings: DvdSection = config.section()?;
        let spec = task.spec().clone();
        let policy = policy(&settings, &spec)?;
        let pool = thread_pool(config.threads())?;
        let context = EvaluatorContext {
            config: Some(&config),
            task,
            policy: policy.clone(),
            physics: config.physics,
            pool: pool.clone(),
            probes: registry.probes().clone(),
        };
        let evaluator = registry.evaluator(&config.evaluator, context)?;
        let agent = |i: usize| Agent::random(&policy, agent_seed(&settings, config.seed, i as u64));
        let agents: Vec<Agent> = (0..settings.agents).map(agent).collect();
        let weights = agents.iter().map(|agent| agent.weights.len()).sum();
        let adam = Adam::new(weights, settings.learning_rate, None);
        let (bandit, reservoir, population) = (Bandit::new(), Reservoir::default(), Vec::new());
        let (iteration, totals) = (0, Totals::default());
        Ok(Self {
            config,
            settings,
            spec,
            policy,
            evaluator,
            pool,
            agents,
            adam,
            bandit,
            reservoir,
            population,
            iteration,
            totals,
        })
    }

    fn released(&self) -> bool {
        self.settings.variant == Variant::Released
    }

    /// Weights of one agent.
    fn weights(&self) -> usize {
        self.agents[0].weights.len()
    }
}

/// Dense tanh layers with a filter before the first and no bias on the last.
fn policy(settings: &DvdSection, spec: &EnvSpec) -> Result<PolicySpec, Error> {
    let (low, high) = (spec.action_low.clone(), spec.action_high.clone());
    let policy = PolicySpec::new(Weights::Dense, settings.hidden.clone(), spec.observation_size, low, high)?;
    Ok(policy.with_filter(FilterSpec::default()))
}

/// The released code adds up the agents' seeds, so that they lie 500 i (i + 1) behind the run's.
fn agent_seed(settings: &DvdSection, seed: u64, agent: u64) -> u64 {
    match settings.variant {
        Variant::Fixed => derive(seed, Purpose::InitialPolicy, [agent, 0, 0]),
        Variant::Released => seed.wrapping_add(500 * agent * (agent + 1)),
    }
}
