//! Filling in what depends on the task.

use super::rules::{Check, require};
use super::validate::LEARNED_BOUND;
use super::{
    ArchiveKind, Auto, Bounds, Catalog, Config, ConfigError, DnsSpace, Floor, MeasuresOf, MethodFacts,
    OneOrEach, RunConfig, Settings, TaskFacts,
};

impl Config {
    /// Fills in what depends on the task and checks everything.
    pub fn resolve(&self, task: &TaskFacts, catalog: &impl AsRef<Catalog>) -> Result<RunConfig, ConfigError> {
        let catalog = catalog.as_ref();
        let method = catalog.method(&self.method)?;
        let mut full = self.clone();
        if method.measures == MeasuresOf::Task {
            full.measures_dimension = task.measures.len();
        }
        // Before any list is made of that size.
        full.check_fields()?;
        full.check_dimension(method.measures)?;
        full.fill(task, method);
        full.check_parts(method, catalog)?;
        for kind in catalog.sections() {
            let written = full.sections.0.remove(kind.name).unwrap_or_default();
            full.sections.0.insert(kind.name.to_owned(), (kind.resolve)(&written, task)?);
        }
        RunConfig::new(full)
    }

    fn fill(&mut self, task: &TaskFacts, method: &MethodFacts) {
        let bounds = || match method.measures {
            MeasuresOf::Task => Bounds::Each(task.measures.clone()),
            MeasuresOf::Method => Bounds::Symmetric(LEARNED_BOUND),
        };
        let kernel_width = || libm::sqrt((task.observation_size + task.action_size) as f64);
        let sigma0 = || OneOrEach::Each(doubling(self.emitters));
        self.bounds = Auto::Value(self.bounds.or_else(bounds));
        self.embedding.bandwidth = Auto::Value(self.embedding.bandwidth.or_else(kernel_width));
        self.sigma0 = Auto::Value(self.sigma0.or_else(sigma0));
        self.threshold_min = Auto::Value(self.threshold_min.or_else(|| task.objective_min));
        if self.floor == Floor::default() {
            let lowest = Some(task.objective_min).filter(|floor| floor.is_finite());
            self.floor = lowest.filter(|_| self.archive != ArchiveKind::Dns).into();
        }
        self.qd_offset = Auto::Value(self.qd_offset.or_else(|| task.objective_min));
    }

    /// What the chosen parts ask for.
    fn check_parts(&self, method: &MethodFacts, catalog: &Catalog) -> Check {
        let ok =
            self.archive != ArchiveKind::Dns || self.dns.space == DnsSpace::Measures || method.embeddings;
        let allowed = "only method = \"autoqd\" has embeddings";
        require(ok, "dns.space", self.dns.space.as_str(), allowed, "use \"measures\"")?;
        (method.check)(self)?;
        (catalog.emitter(&self.emitter)?.check)(self)?;
        (catalog.evaluator(&self.evaluator)?.check)(self)
    }
}

/// The paper's step sizes, 0.01 * 2^i for i = 1, 2, ...; beyond five emitters the sequence starts again.
fn doubling(emitters: usize) -> Vec<f64> {
    (0..emitters).map(|i| 0.02 * f64::from(1u32 << (i % 5))).collect()
}
