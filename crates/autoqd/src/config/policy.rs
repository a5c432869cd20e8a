//! From the `[policy]` section to the shape of a policy.

use autoqd_env::EnvSpec;

use super::PolicySection;
use crate::Error;
use crate::policy::PolicySpec;

impl PolicySpec {
    /// The policy that a configuration describes for a task.
    pub fn for_task(policy: &PolicySection, task: &EnvSpec) -> Result<Self, Error> {
        let (low, high) = (task.action_low.clone(), task.action_high.clone());
        let spec = Self::new(policy.kind, policy.hidden.clone(), task.observation_size, low, high)?;
        Ok(spec.with_biases(policy.bias).with_activation(policy.activation))
    }

    /// The shape that is stored with policies, checked against their task; where none is stored, as before shapes were,
    /// the one that the configuration describes.
    pub fn stored_or_for_task(
        stored: Option<Self>,
        policy: &PolicySection,
        task: &EnvSpec,
    ) -> Result<Self, Error> {
        let Some(stored) = stored else { return Self::for_task(policy, task) };
        stored.check_task(task)?;
        Ok(stored)
    }
}
