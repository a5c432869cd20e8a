//! What the embedding sees of rollouts.

use std::sync::Arc;

use super::{Embedding, PsiAccumulator, RunningStatistics};
use crate::evaluator::{Probe, Record, Watcher};
use crate::kernels::Instructions;

/// Collects psi of each episode.
pub struct PsiProbe(pub Arc<Embedding>);

impl Probe for PsiProbe {
    fn watcher(&self, instructions: Instructions) -> Box<dyn Watcher> {
        Box::new(PsiAccumulator::new(self.0.clone()).with_instructions(instructions))
    }
}

impl Watcher for PsiAccumulator {
    fn begin(&mut self, _seed: u64) {
        PsiAccumulator::begin(self);
    }

    fn observe(&mut self, observation: &[f64], action: &[f32]) {
        self.push(observation, action);
    }

    fn finish(&mut self, _last: &[f64]) -> Record {
        Record::Summary(PsiAccumulator::finish(self))
    }
}

/// Collects the statistics of each episode's observations s_0 .. s_{T-1}.
pub struct StatisticsProbe(pub usize);

impl Probe for StatisticsProbe {
    fn watcher(&self, _instructions: Instructions) -> Box<dyn Watcher> {
        Box::new(RunningStatistics::new(self.0))
    }
}

impl Watcher for RunningStatistics {
    fn begin(&mut self, _seed: u64) {
        self.clear();
    }

    fn observe(&mut self, observation: &[f64], _action: &[f32]) {
        self.push(observation);
    }

    fn finish(&mut self, _last: &[f64]) -> Record {
        Record::Summary(self.to_row())
    }
}
