//! RegularQD: the hand-designed measures of the task.

use autoqd_env::EnvSpec;

use super::{Descriptor, Elites, RefitReport};
use crate::Error;
use crate::evaluator::{Evaluation, Probe};
use crate::run_folder::Tensor;

/// Describes a policy by the hand-designed measures of its task; never refitted.
pub struct Regular {
    dimension: usize,
}

impl Regular {
    /// The measures of a task.
    pub fn new(spec: &EnvSpec) -> Self {
        Self { dimension: spec.measures.len() }
    }
}

impl Descriptor for Regular {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn feature_size(&self) -> usize {
        self.dimension
    }

    fn probes(&self) -> Result<Vec<Probe>, Error> {
        Ok(Vec::new())
    }

    fn features(&self, evaluation: &Evaluation) -> Vec<f64> {
        evaluation.measures()
    }

    fn first_fit(&mut self, _elites: Elites<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn refit(&mut self, _iteration: u64, _elites: Elites<'_>) -> Result<RefitReport, Error> {
        Ok(RefitReport::default())
    }

    fn refits(&self) -> bool {
        false
    }

    fn measures(&self, _id: u64, features: &[f64]) -> Vec<f64> {
        features.to_vec()
    }

    fn describe(&self, evaluation: &Evaluation) -> Vec<f64> {
        evaluation.measures()
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        Ok(Vec::new())
    }

    fn load(&mut self, _state: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn tensors(&self) -> Vec<Tensor> {
        Vec::new()
    }
}
