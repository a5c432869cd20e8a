//! The emitter that follows an evolution strategy: CMA-ME, CMA-MAE and their relatives.

use serde::{Deserialize, Serialize};

use super::ranker::Ranker;
use super::{Emitter, Feedback, Restart, RestartReason, StartPoint};
use crate::archive::{AddStatus, Archive};
use crate::error::{Result, check_len};
use crate::es::{AnyStrategy, Bounds, EvolutionStrategy, StrategyConfig};
use crate::rng::Rng;

/// Which candidates become parents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub enum SelectionRule {
    /// The better half.
    #[default]
    Mu,
    /// Those the archive accepted.
    Filter,
}

/// When to start again, besides the strategy's own stop test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestartRule {
    /// Only when the strategy stops.
    #[default]
    Basic,
    /// When the archive accepted none of the candidates.
    NoImprovement,
    /// Every given number of iterations, counted from the first and never reset.
    Every(u64),
}

/// Configuration of [`EsEmitter`]. The default is CMA-MAE: full CMA-ES, ranker `imp`, selection `mu`, restart `basic`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EsEmitterConfig {
    /// Where the first run starts.
    pub x0: Vec<f64>,
    /// Initial step size.
    pub sigma0: f64,
    /// Candidates per iteration; `None` takes the strategy's default.
    pub batch_size: Option<usize>,
    /// The strategy.
    pub strategy: StrategyConfig,
    /// What candidates are ranked by.
    pub ranker: Ranker,
    /// Which candidates become parents.
    pub selection_rule: SelectionRule,
    /// When to start again.
    pub restart_rule: RestartRule,
    /// Box bounds.
    pub bounds: Option<Bounds>,
    /// Seed of the emitter's random stream.
    pub seed: u64,
}

impl EsEmitterConfig {
    /// CMA-MAE from `x0` with step size `sigma0`.
    pub fn new(x0: Vec<f64>, sigma0: f64, seed: u64) -> Self {
        Self {
            x0,
            sigma0,
            batch_size: None,
            strategy: StrategyConfig::default(),
            ranker: Ranker::default(),
            selection_rule: SelectionRule::default(),
            restart_rule: RestartRule::default(),
            bounds: None,
            seed,
        }
    }

    /// Sets the candidates per iteration.
    pub fn batch_size(mut self, batch_size: usize) -> Self {
        self.batch_size = Some(batch_size);
        self
    }

    /// Sets the strategy.
    pub fn strategy(mut self, strategy: StrategyConfig) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets the ranker.
    pub fn ranker(mut self, ranker: Ranker) -> Self {
        self.ranker = ranker;
        self
    }

    /// Sets the selection rule.
    pub fn selection_rule(mut self, rule: SelectionRule) -> Self {
        self.selection_rule = rule;
        self
    }

    /// Sets the restart rule.
    pub fn restart_rule(mut self, rule: RestartRule) -> Self {
        self.restart_rule = rule;
        self
    }

    /// Sets box bounds.
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = Some(bounds);
        self
    }

    /// Makes the emitter.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn build(self) -> Result<EsEmitter> {
        let batch_size = self.batch_size.unwrap_or(self.strategy.default_batch_size(self.x0.len()));
        let strategy = self.strategy.build(&self.x0, self.sigma0, batch_size, self.bounds.clone())?;
        EsEmitter::with_strategy(strategy, self)
    }
}

/// An emitter around an evolution strategy.
///
/// ```
/// use autoqd_qd::{Emitter, EsEmitterConfig, GridConfig};
/// let archive = GridConfig::new(10, &[20, 20], &[(-1.0, 1.0); 2]).build()?;
/// let mut emitter = EsEmitterConfig::new(vec![0.0; 10], 0.5, 1).batch_size(36).build()?;
/// let mut solutions = vec![0.0; 360];
/// emitter.ask(&archive, &mut solutions)?;
/// assert!(solutions.iter().all(|x| x.abs() < 5.0));
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EsEmitter<S = AnyStrategy> {
    config: EsEmitterConfig,
    strategy: S,
    rng: Rng,
    /// Random direction of the ranker; drawn when first needed, since it depends on the archive.
    direction: Option<Vec<f64>>,
    iterations: u64,
    restarts: u64,
}

impl<S: EvolutionStrategy> EsEmitter<S> {
    /// An emitter around a strategy of your own; `config.strategy` is not used.
    ///
    /// # Errors
    /// When the sizes do not fit.
    pub fn with_strategy(strategy: S, config: EsEmitterConfig) -> Result<Self> {
        check_len("x0 of the emitter", strategy.dim(), config.x0.len(), "use the size of the strategy")?;
        let rng = Rng::new(config.seed, 0);
        Ok(Self { config, strategy, rng, direction: None, iterations: 0, restarts: 0 })
    }

    /// The emitter's configuration.
    pub fn config(&self) -> &EsEmitterConfig {
        &self.config
    }

    /// The strategy.
    pub fn strategy(&self) -> &S {
        &self.strategy
    }

    /// The strategy, e.g. to replay recorded candidates.
    pub fn strategy_mut(&mut self) -> &mut S {
        &mut self.strategy
    }

    /// Iterations told, over all restarts.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// How often the emitter started again.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    fn restart_reason(&self, flat: bool, accepted: usize) -> Option<RestartReason> {
        let rule = match self.config.restart_rule {
            RestartRule::Basic => false,
            RestartRule::NoImprovement => accepted == 0,
            RestartRule::Every(n) => self.iterations.is_multiple_of(n),
        };
        let stopped = self.strategy.check_stop(flat).map(RestartReason::Stopped);
        stopped.or(rule.then_some(RestartReason::Rule))
    }

    fn start_again(
        &mut self,
        archive: &dyn Archive,
        at: StartPoint,
        reason: RestartReason,
    ) -> Result<Restart> {
        let elite = match at {
            StartPoint::Elite if !archive.is_empty() => {
                archive.elites().get(archive.sample(1, &mut self.rng)?[0])
            }
            _ => None,
        };
        self.strategy.reset(elite.map_or(&self.config.x0, |e| e.solution))?;
        self.direction = None;
        self.restarts += 1;
        Ok(Restart { reason, elite: elite.map(|e| e.id) })
    }
}

impl<S: EvolutionStrategy> Emitter for EsEmitter<S> {
    fn batch_size(&self) -> usize {
        self.strategy.batch_size()
    }

    fn solution_dim(&self) -> usize {
        self.strategy.dim()
    }

    fn ask(&mut self, _archive: &dyn Archive, out: &mut [f64]) -> Result<()> {
        let size = self.batch_size() * self.solution_dim();
        check_len("room for the candidates", size, out.len(), "give batch_size rows of solution_dim")?;
        out.copy_from_slice(self.strategy.ask(&mut self.rng).as_slice());
        Ok(())
    }

    fn tell(&mut self, archive: &dyn Archive, feedback: &Feedback<'_>) -> Result<Option<Restart>> {
        let remedy = "give the archive's answer for each candidate of the last ask";
        check_len("rows of the feedback", self.batch_size(), feedback.status.len(), remedy)?;
        let ranker = self.config.ranker;
        let rng = &mut self.rng;
        let direction = self.direction.get_or_insert_with(|| ranker.draw_direction(archive, rng));
        let ranking = ranker.rank(feedback, direction);
        let accepted = feedback.status.iter().filter(|s| **s != AddStatus::Rejected).count();
        let parents = match self.config.selection_rule {
            SelectionRule::Mu => self.batch_size() / 2,
            SelectionRule::Filter => accepted,
        };
        self.iterations += 1;
        self.strategy.tell(&ranking.order, parents.min(ranking.usable))?;
        let reason = self.restart_reason(ranking.flat, accepted);
        reason.map(|reason| self.start_again(archive, StartPoint::Elite, reason)).transpose()
    }

    fn restart(&mut self, archive: &dyn Archive, at: StartPoint) -> Result<Option<Restart>> {
        self.start_again(archive, at, RestartReason::Asked).map(Some)
    }
}
