//! The layers of a configuration: preset, file, `--set` and options, each on top of the one before.

use std::path::PathBuf;

use anyhow::Context;
use autoqd::config::{Config, Layers, RunConfig};
use autoqd::registry::Registry;
use autoqd::runner::{absolute_task, settings_of};
use autoqd_env::Perturbation;

/// Where settings come from.
#[derive(clap::Args)]
pub struct LayerArgs {
    /// Task to search in: a name of `autoqd env list`, the path of a task file, or gym:ID for an environment of Gymnasium
    task: Option<String>,
    /// An argument of an environment of Gymnasium, for instance continuous=true; repeatable
    #[arg(long = "env-arg", value_name = "NAME=VALUE", requires = "task")]
    env_arg: Vec<String>,
    /// Settings to start from: `paper` (default), `quick` or another preset
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Start from the task and the settings of this run instead of a preset
    #[arg(long, value_name = "RUN", conflicts_with = "preset")]
    from: Option<PathBuf>,
    /// A TOML file with settings, on top of the preset
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting, on top of the file; repeatable. `autoqd run --help` lists them all
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What tells two behaviours apart, for instance autoqd, regular, aurora or lstm-aurora
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    #[arg(long)]
    seed: Option<u64>,
    #[arg(long)]
    iterations: Option<u64>,
    #[arg(long)]
    threads: Option<u64>,
    /// reference (libmujoco or Box2D), lanes (the batched one), or auto (lanes where it supports the model)
    #[arg(long)]
    physics: Option<String>,
}

impl LayerArgs {
    /// The configuration as written, and as a run uses it.
    pub fn resolve(&self, registry: &Registry) -> anyhow::Result<(Config, RunConfig)> {
        let config = self.layered(registry)?;
        anyhow::ensure!(!config.task.is_empty(), "no task given; `autoqd env list` shows the tasks");
        // Sizes and defaults of a task do not depend on how its physics is perturbed.
        let facts = registry.task(&config.task, &Perturbation::default())?;
        let resolved = config.resolve(&facts.spec().into(), registry)?;
        Ok((config, resolved))
    }

    fn layered(&self, registry: &Registry) -> anyhow::Result<Config> {
        let mut layers = Layers::new(registry);
        layers = match &self.from {
            Some(run) => layers.toml(&settings_of(run, registry)?.to_string(), &run.display().to_string())?,
            None => layers.preset(self.preset.as_deref().unwrap_or("paper"))?,
        };
        if let Some(file) = &self.config {
            layers = layers.file(file)?;
        }
        for assignment in &self.set {
            layers = layers.set(assignment)?;
        }
        if let Some(task) = &self.task {
            layers = layers.flag("task", self.with_env_args(absolute_task(task))?, "TASK")?;
        }
        for (key, flag, value) in
            [("method", "--method", &self.method), ("physics", "--physics", &self.physics)]
        {
            if let Some(value) = value {
                layers = layers.flag(key, value.as_str(), flag)?;
            }
        }
        for (key, flag, value) in [
            ("seed", "--seed", self.seed),
            ("iterations", "--iterations", self.iterations),
            ("threads", "--threads", self.threads),
        ] {
            if let Some(value) = value {
                let value = i64::try_from(value).with_context(|| format!("{flag} {value} is too large"))?;
                layers = layers.flag(key, value, flag)?;
            }
        }
        Ok(layers.build()?)
    }

    /// The arguments of an environment are part of the task's name, so that the name is all that it is built from.
    fn with_env_args(&self, task: String) -> anyhow::Result<String> {
        if self.env_arg.is_empty() {
            return Ok(task);
        }
        anyhow::ensure!(
            task.starts_with("gym:"),
            "--env-arg: '{task}' is not an environment of Gymnasium (gym:ID)"
        );
        if let Some(wrong) = self.env_arg.iter().find(|arg| !arg.contains('=')) {
            anyhow::bail!("--env-arg {wrong}: expected name=value, for instance --env-arg continuous=true");
        }
        let start = if task.contains('?') { '&' } else { '?' };
        Ok(format!("{task}{start}{}", self.env_arg.join("&")))
    }
}
