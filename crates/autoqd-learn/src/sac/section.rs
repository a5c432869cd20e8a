//! The settings of SAC.

use autoqd::config::{Auto, ConfigError, Section, Settings, rules};

/// More steps or transitions than this are a mistake.
const MANY: usize = 1_000_000_000;

autoqd::settings! {
    /// Settings of `method = "sac"`, and of the SAC inside `method = "smerl"`. Defaults are those of Stable-Baselines3.
    pub struct SacSection as "sac" {
        /// Units of each hidden layer of actor and critics, with ReLU. The keys of `[policy]` do not apply.
        hidden: Vec<usize> = vec![256, 256] => rules::some(rules::count(65_536), "Stable-Baselines3 has [256, 256]");
        /// Whether the hidden layers of the critics are normalised (layer norm). It keeps their values from running away,
        /// and makes an update slower. Stable-Baselines3 does not.
        critic_layer_norm: bool = false;
        /// Learning rate of Adam, for actor, critics and the weight of the entropy.
        learning_rate: f64 = 3e-4 => rules::positive;
        /// Transitions that the replay buffer holds.
        buffer: usize = 1_000_000 => rules::count(MANY);
        /// First steps of a run, with uniform random actions and without updates.
        learning_starts: u64 = 100 => rules::whole(0, MANY as u64);
        /// Transitions per update.
        batch_size: usize = 256 => rules::count(1_000_000);
        /// How far the slow copies of the critics move towards them after every update.
        tau: f64 = 0.005 => rules::above_up_to(0.0, 1.0, "0.005 is usual");
        /// Discount of rewards. Swimmer needs about 0.9999.
        gamma: f64 = 0.99 => rules::probability("0.99 is usual");
        /// Updates per training step. Fewer make a run faster and, step for step, worse.
        updates_per_step: f64 = 1.0 => rules::positive;
        /// Weight of the entropy of the actor's actions; `auto` learns it, so that the entropy is one per action.
        entropy_coefficient: Auto<f64> = Auto::default() => rules::unless_auto(rules::positive);
        /// Training steps per iteration; after them the policies are evaluated.
        iteration_steps: u64 = 5000 => rules::whole(1, MANY as u64);
    }
}

impl Section for SacSection {
    fn check(&self) -> Result<(), ConfigError> {
        self.check_fields()?;
        let allowed = "a batch cannot be larger than the buffer it is drawn from";
        let remedy = "lower it, or raise sac.buffer";
        rules::require(self.batch_size <= self.buffer, "sac.batch_size", self.batch_size, allowed, remedy)
    }
}
