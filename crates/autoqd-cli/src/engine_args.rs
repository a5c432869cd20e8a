//! Where policies are evaluated.

use autoqd::registry::{EngineOptions, Registry};

/// Where policies are evaluated; nothing but the time depends on it.
#[derive(clap::Args, Debug, Default)]
pub struct EngineArgs {
    #[arg(long)]
    engine: Option<String>,
    #[arg(long, requires = "engine")]
    address: Option<String>,
    #[arg(long, requires = "engine")]
    allow_mixed: bool,
    #[arg(long, requires = "engine", value_parser = clap::value_parser!(u32).range(1..))]
    pub chunk: Option<u32>,
    #[arg(long, requires = "engine")]
    worker_timeout: Option<f64>,
}

impl EngineArgs {
    /// The parts of a registry with evaluations on the engine that was asked for.
    pub fn apply(&self, registry: &Registry) -> anyhow::Result<Registry> {
        let Some(name) = &self.engine else { return Ok(registry.clone()) };
        let options = EngineOptions {
            address: self.address.clone(),
            allow_mixed: self.allow_mixed,
            chunk: self.chunk.map(|chunk| chunk as usize),
            worker_timeout: self.worker_timeout,
        };
        Ok(registry.on_engine(name, &options)?)
    }
}
