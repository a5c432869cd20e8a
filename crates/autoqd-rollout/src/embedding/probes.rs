//! The probes of the embedding.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Embedding, PsiAccumulator, RunningStatistics};
use crate::evaluator::{ProbeKind, ProbeKinds, Record, Step, Watcher};
use crate::kernels::Instructions;

impl Default for ProbeKinds {
    /// Those of this crate: psi, statistics of observations, transitions.
    fn default() -> Self {
        let mut kinds = Self::plain();
        kinds.register::<PsiProbe>();
        kinds.register::<StatisticsProbe>();
        kinds
    }
}

/// Collects psi of each episode.
#[derive(Serialize, Deserialize)]
#[serde(from = "Embedding", into = "Embedding")]
#[derive(Clone)]
pub struct PsiProbe(pub Arc<Embedding>);

impl From<Embedding> for PsiProbe {
    fn from(embedding: Embedding) -> Self {
        Self(Arc::new(embedding))
    }
}

impl From<PsiProbe> for Embedding {
    fn from(probe: PsiProbe) -> Self {
        Arc::unwrap_or_clone(probe.0)
    }
}

impl ProbeKind for PsiProbe {
    const NAME: &'static str = "psi";

    fn watcher(self: &Arc<Self>) -> Box<dyn Watcher> {
        Box::new(PsiAccumulator::new(self.0.clone()))
    }
}

impl Watcher for PsiAccumulator {
    fn begin(&mut self, _seed: u64) {
        PsiAccumulator::begin(self);
    }

    fn step(&mut self, step: &Step<'_>) {
        self.push(step.observation, step.action);
    }

    fn finish(&mut self, _last: &[f64]) -> Record {
        Record::Summary(PsiAccumulator::finish(self))
    }

    fn beside_scalar(&mut self) {
        self.set_instructions(Instructions::detect_beside_scalar());
    }
}

/// Collects the statistics of each episode's observations s_0 .. s_{T-1}, which have the given length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatisticsProbe(pub usize);

impl ProbeKind for StatisticsProbe {
    const NAME: &'static str = "statistics";

    fn watcher(self: &Arc<Self>) -> Box<dyn Watcher> {
        Box::new(RunningStatistics::new(self.0))
    }
}

impl Watcher for RunningStatistics {
    fn begin(&mut self, _seed: u64) {
        self.clear();
    }

    fn step(&mut self, step: &Step<'_>) {
        self.push(step.observation);
    }

    fn finish(&mut self, _last: &[f64]) -> Record {
        Record::Summary(self.to_row())
    }
}
