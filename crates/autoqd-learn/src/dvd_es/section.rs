//! The settings of DvD-ES.

use autoqd::config::{ConfigError, Section, Settings, rules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which DvD-ES is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Variant {
    /// The algorithm of its paper: Adam remembers its moments, agents stay themselves, and episodes start anywhere.
    #[default]
    Fixed,
    /// With the defects of the released code: Adam forgets its moments after every step, the last agent overwrites the
    /// best one, and every episode starts from seed 0.
    Released,
}

/// More agents or pairs than this are a mistake.
const MANY: u64 = 100_000;

autoqd::settings! {
    /// Settings of `method = "dvd-es"`.
    pub struct DvdSection as "dvd" {
        /// Which DvD-ES is run. Documented in `docs/methods.md`, with what it changes.
        variant: Variant = Variant::default();
        /// Agents of the population.
        agents: usize = 10 => |key, value: &usize| rules::whole(2, 1000)(key, &(*value as u64));
        /// Antithetic pairs of perturbed policies per agent and iteration.
        pairs: usize = 100 => rules::count(MANY as usize);
        /// Standard deviation of the perturbations.
        sigma: f64 = 0.1 => rules::positive;
        /// Step size of Adam.
        learning_rate: f64 = 0.05 => rules::positive;
        /// States on which the agents' actions are compared, drawn anew in every iteration.
        probe_states: usize = 20 => rules::count(MANY as usize);
        /// States kept from which the next iteration's are drawn.
        reservoir: usize = 100 => rules::count(MANY as usize);
        /// Weights of diversity among which the bandit chooses; the first iteration has the first of them.
        arms: Vec<f64> = vec![0.0, 0.5] => rules::some(rules::probability("the paper has [0.0, 0.5]"), "the paper has [0.0, 0.5]");
        /// Units of each hidden layer of the agents' networks, which are dense, with tanh and without an output bias.
        /// The keys of `[policy]` do not apply.
        hidden: Vec<usize> = vec![32, 32] => rules::each(rules::count(65_536));
    }
}

impl Section for DvdSection {
    fn check(&self) -> Result<(), ConfigError> {
        self.check_fields()?;
        let allowed = "the states to compare actions on are drawn from those kept";
        let remedy = "lower it, or raise dvd.reservoir";
        rules::require(
            self.probe_states <= self.reservoir,
            "dvd.probe_states",
            self.probe_states,
            allowed,
            remedy,
        )
    }
}
