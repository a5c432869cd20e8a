//! Filling in what depends on the task.

use super::{ArchiveKind, Auto, Bounds, Config, ConfigError, Floor, Method, OneOrEach, RunConfig, TaskFacts};

impl Config {
    /// Fills in what depends on the task and checks everything.
    pub fn resolve(&self, task: &TaskFacts) -> Result<RunConfig, ConfigError> {
        let mut full = self.clone();
        if self.method == Method::Regular {
            full.measures_dimension = task.measures.len();
        }
        full.check_sizes()?;
        let learned = || Bounds::Symmetric(1.2);
        full.bounds = Auto::Value(self.bounds.or_else(|| match self.method {
            Method::Regular => Bounds::Each(task.measures.clone()),
            _ => learned(),
        }));
        let kernel_width = || libm::sqrt((task.observation_size + task.action_size) as f64);
        full.embedding.bandwidth = Auto::Value(self.embedding.bandwidth.or_else(kernel_width));
        full.sigma0 = Auto::Value(self.sigma0.or_else(|| OneOrEach::Each(doubling(self.emitters))));
        full.threshold_min = Auto::Value(self.threshold_min.or_else(|| task.objective_min));
        if full.floor == Floor::default() {
            full.floor = match self.archive {
                ArchiveKind::Dns => None,
                _ => Some(task.objective_min).filter(|floor| floor.is_finite()),
            }
            .into();
        }
        full.qd_offset = Auto::Value(self.qd_offset.or_else(|| task.objective_min));
        full.check()
    }
}

/// The paper's step sizes, 0.01 * 2^i for i = 1, 2, ...; beyond five emitters the ladder starts again.
fn doubling(emitters: usize) -> Vec<f64> {
    (0..emitters).map(|i| 0.02 * f64::from(1u32 << (i % 5))).collect()
}
