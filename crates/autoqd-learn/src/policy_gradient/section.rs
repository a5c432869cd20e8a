//! The settings of the policy-gradient emitter.

use autoqd::config::rules::{self, Check};
use autoqd::config::{Config, ConfigError, Section, Settings};

/// The name under which the emitter is registered.
pub const NAME: &str = "pg";

/// More transitions or steps than this are a mistake.
const MANY: usize = 1_000_000_000;

autoqd::settings! {
    /// Settings of `emitter = "pg"`.
    pub struct PgSection as "pg" {
        /// The emitter that all others of the run's `emitters` are, beside the first, which follows policy gradients.
        beside: String = "iso-line".to_owned();
        /// Share of an iteration's candidates that come from policy gradients, if there are other emitters.
        share: f64 = 0.5 => rules::above_up_to(0.0, 1.0, "0.5 is the method's own");
        /// First iterations in which all emitters only make random networks (Xavier, without biases).
        random_start: u64 = 5 => rules::whole(1, MANY as u64);
        /// Steps that each candidate is improved by.
        gradient_steps: usize = 10 => rules::at_most(1_000_000);
        /// Learning rate of these steps.
        learning_rate: f64 = 1e-3 => rules::positive;
        /// Units of each hidden layer of the critics.
        critic_hidden: Vec<usize> = vec![256, 256] => rules::some(rules::count(65_536), "PGA-ME has [256, 256]");
        /// Whether these layers are normalised (layer norm).
        critic_layer_norm: bool = false;
        /// Updates of the critics per iteration.
        critic_steps: usize = 300 => rules::at_most(MANY);
        /// Learning rate of critics and greedy actor.
        critic_learning_rate: f64 = 3e-4 => rules::positive;
        /// Transitions per update.
        batch_size: usize = 256 => rules::count(1_000_000);
        /// Transitions that the replay buffer holds.
        buffer: usize = 1_000_000 => rules::count(MANY);
        /// Episodes of each candidate that go into the buffer. With all of them it would hold the policies of two
        /// iterations only.
        stored_episodes: usize = 1 => rules::count(1_000_000);
        /// Discount of rewards.
        gamma: f64 = 0.99 => rules::probability("0.99 is usual");
        /// How far slow copies move whenever the greedy actor learns.
        tau: f64 = 0.005 => rules::above_up_to(0.0, 1.0, "0.005 is usual");
        /// Updates of the critics per update of the greedy actor.
        policy_delay: u64 = 2 => rules::whole(1, MANY as u64);
        /// Standard deviation of the noise on the slow actor's actions.
        target_noise: f64 = 0.2 => rules::not_negative;
        /// Largest such noise.
        target_noise_clip: f64 = 0.5 => rules::not_negative;
    }
}

impl Section for PgSection {
    fn check(&self) -> Result<(), ConfigError> {
        self.check_fields()?;
        let (allowed, remedy) =
            ("it is what stands beside that one", "use for instance \"iso-line\" or \"cma\"");
        rules::require(self.beside != NAME, "pg.beside", &self.beside, allowed, remedy)?;
        let allowed = "a batch cannot be larger than the buffer it is drawn from";
        let remedy = "lower it, or raise pg.buffer";
        rules::require(self.batch_size <= self.buffer, "pg.batch_size", self.batch_size, allowed, remedy)
    }
}

impl PgSection {
    /// Candidates of each of the run's emitters.
    pub(super) fn batches(&self, emitters: usize, batch_size: usize) -> Vec<usize> {
        let total = emitters * batch_size;
        if emitters == 1 {
            return vec![total];
        }
        let own = ((self.share * total as f64).round() as usize).clamp(1, total);
        let (rest, others) = (total - own, emitters - 1);
        let other = |i: usize| rest / others + usize::from(i < rest % others);
        std::iter::once(own).chain((0..others).map(other)).collect()
    }
}

/// Every emitter needs candidates.
pub fn check(config: &Config) -> Check {
    let settings: PgSection = config.section()?;
    let batches = settings.batches(config.emitters, config.batch_size);
    let allowed = "the emitters beside it need at least two candidates each";
    let remedy = "lower it, raise batch_size, or use emitters = 1 for policy gradients alone";
    rules::require(batches[1..].iter().all(|n| *n >= 2), "pg.share", settings.share, allowed, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_candidates_are_shared_out() {
        let settings = PgSection::default();
        assert_eq!(settings.batches(2, 50), [50, 50]);
        assert_eq!(settings.batches(1, 50), [50]);
        assert_eq!(PgSection { share: 0.2, ..settings }.batches(4, 10), [8, 11, 11, 10]);
    }
}
