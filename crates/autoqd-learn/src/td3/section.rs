//! The settings of TD3.

use autoqd::config::{ConfigError, Section, Settings, rules};

/// More steps or transitions than this are a mistake.
const MANY: usize = 1_000_000_000;

autoqd::settings! {
    /// Settings of `method = "td3"`. Defaults are those of Stable-Baselines3, except for the noise on actions, without
    /// which it hardly explores.
    pub struct Td3Section as "td3" {
        /// Units of each hidden layer of actor and critics, with ReLU. The keys of `[policy]` do not apply.
        hidden: Vec<usize> = vec![400, 300] => rules::some(rules::count(65_536), "Stable-Baselines3 has [400, 300]");
        /// Whether the hidden layers of the critics are normalised (layer norm). It keeps their values from running away,
        /// and makes an update slower. Stable-Baselines3 does not.
        critic_layer_norm: bool = false;
        /// Learning rate of Adam, for actor and critics.
        learning_rate: f64 = 1e-3 => rules::positive;
        /// Transitions that the replay buffer holds.
        buffer: usize = 1_000_000 => rules::count(MANY);
        /// First steps of a run, with uniform random actions and without updates.
        learning_starts: u64 = 100 => rules::whole(0, MANY as u64);
        /// Transitions per update.
        batch_size: usize = 256 => rules::count(1_000_000);
        /// How far the slow copies move whenever the actor learns.
        tau: f64 = 0.005 => rules::above_up_to(0.0, 1.0, "0.005 is usual");
        /// Discount of rewards. Swimmer needs about 0.9999.
        gamma: f64 = 0.99 => rules::probability("0.99 is usual");
        /// Updates of the critics per training step.
        updates_per_step: f64 = 1.0 => rules::positive;
        /// Updates of the critics per update of the actor.
        policy_delay: u64 = 2 => rules::whole(1, MANY as u64);
        /// Standard deviation of the noise on the slow actor's actions, in units of half the action range.
        target_noise: f64 = 0.2 => rules::not_negative;
        /// Largest such noise.
        target_noise_clip: f64 = 0.5 => rules::not_negative;
        /// Standard deviation of the noise on the actions of training, in units of half the action range.
        exploration_noise: f64 = 0.1 => rules::not_negative;
        /// Training steps per iteration; after them the policy is evaluated.
        iteration_steps: u64 = 5000 => rules::whole(1, MANY as u64);
    }
}

impl Section for Td3Section {
    fn check(&self) -> Result<(), ConfigError> {
        self.check_fields()?;
        let allowed = "a batch cannot be larger than the buffer it is drawn from";
        let remedy = "lower it, or raise td3.buffer";
        rules::require(self.batch_size <= self.buffer, "td3.batch_size", self.batch_size, allowed, remedy)
    }
}
