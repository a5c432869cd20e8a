//! The settings of SMERL.

use autoqd::config::{Auto, Section, rules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When being different is rewarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Gate {
    /// In trajectories whose own return is near the optimum (the authors of SMERL).
    #[default]
    Trajectory,
    /// In all transitions of a skill whose mean return over the last hundred episodes is near the optimum, as in a public
    /// fork of Stable-Baselines3. It opens and closes for a whole skill at once.
    Fork,
}

/// More steps than this are a mistake.
const MANY: u64 = 1_000_000_000;

autoqd::settings! {
    /// Settings of `method = "smerl"`; those of its SAC are in `[sac]`.
    pub struct SmerlSection as "smerl" {
        /// Skills, each of which becomes a policy.
        skills: usize = 10 => |key, value: &usize| rules::whole(2, 1000)(key, &(*value as u64));
        /// When being different is rewarded.
        gate: Gate = Gate::default();
        /// How far below the optimum a return may be, as a share of it; `auto` is 0.1, and 0.05 with `gate = "fork"`.
        epsilon: Auto<f64> = Auto::default() => rules::unless_auto(rules::not_negative);
        /// Weight of the reward for being different; `auto` is 10, and 1 with `gate = "fork"`.
        weight: Auto<f64> = Auto::default() => rules::unless_auto(rules::not_negative);
        /// The return that counts as the optimum. `auto` trains plain SAC first and takes the mean return of its last
        /// hundred training episodes; its steps count like all others.
        optimum: Auto<f64> = Auto::default() => rules::unless_auto(rules::finite);
        /// Steps of that first training, rounded up to whole iterations.
        optimum_steps: u64 = 3_000_000 => rules::whole(1, MANY);
        /// Units of the hidden layers of the network that tells the skills apart.
        discriminator_hidden: Vec<usize> = vec![256, 256] => rules::each(rules::count(65_536));
        /// Its learning rate.
        discriminator_rate: f64 = 3e-4 => rules::positive;
    }
}

impl Section for SmerlSection {}

impl SmerlSection {
    /// What an open gate adds to rewards.
    pub(crate) fn weight(&self) -> f32 {
        self.weight.value().unwrap_or(if self.gate == Gate::Fork { 1.0 } else { 10.0 }) as f32
    }

    /// The lowest return near an optimum.
    pub(crate) fn threshold(&self, optimum: f64) -> f64 {
        let epsilon = self.epsilon.value().unwrap_or(if self.gate == Gate::Fork { 0.05 } else { 0.1 });
        optimum - epsilon * optimum.abs()
    }
}
