//! From the `[policy]` section to the shape of a policy.

use autoqd_env::EnvSpec;

use super::PolicySection;
use crate::Error;
use crate::policy::PolicySpec;

impl PolicySection {
    /// The policy that these settings describe for a task.
    pub fn shape(&self, task: &EnvSpec) -> Result<PolicySpec, Error> {
        let (low, high) = (task.action_low.clone(), task.action_high.clone());
        let spec = PolicySpec::new(self.kind, self.hidden.clone(), task.observation_size, low, high)?;
        Ok(spec.with_biases(self.bias).with_activation(self.activation))
    }

    /// The shape that is stored with policies, checked against their task; where none is stored, as before shapes were,
    /// the one that these settings describe.
    pub fn stored_shape(&self, stored: Option<PolicySpec>, task: &EnvSpec) -> Result<PolicySpec, Error> {
        let Some(stored) = stored else { return self.shape(task) };
        stored.check_task(task)?;
        Ok(stored)
    }
}
