//! A sweep file: a grid of configurations times seeds.

use std::path::{Path, PathBuf};

use autoqd::Error;
use autoqd::config::{Config, Layers, RunConfig};
use autoqd::registry::Registry;
use autoqd::runner::absolute_task;
use autoqd_env::Perturbation;
use serde::Deserialize;
use toml::{Table, Value};

use crate::error::MeasureError;

/// A sweep as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// What the sweep is for.
    #[serde(default)]
    pub about: String,
    /// Settings to start from.
    #[serde(default = "paper")]
    preset: String,
    /// Tasks.
    tasks: Vec<String>,
    /// Seeds of the runs.
    seeds: Vec<u64>,
    /// Factor on the iterations and the schedule of refits.
    #[serde(default = "whole")]
    scale: f64,
    /// Settings of all runs.
    #[serde(default)]
    set: Table,
    /// Settings that vary independently: a list of values per key.
    #[serde(default)]
    grid: Table,
    /// Settings that vary together: one table per variant.
    #[serde(default)]
    variants: Vec<Table>,
}

fn paper() -> String {
    "paper".to_owned()
}

fn whole() -> f64 {
    1.0
}

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Folder of the run.
    pub path: PathBuf,
    /// Its configuration.
    pub config: RunConfig,
}

type Settings = Vec<(String, Value)>;

impl Sweep {
    /// Reads a sweep file.
    pub fn read(path: &Path) -> Result<Self, MeasureError> {
        let wrong = |reason: String| MeasureError::Sweep { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
        toml::from_str(&text).map_err(|e| wrong(format!("is not a sweep file: {e}")))
    }

    /// All runs, seed by seed so that a sweep that is cut short has every variant about as often.
    pub fn jobs(
        &self,
        out: &Path,
        scale: Option<f64>,
        registry: &Registry,
    ) -> Result<Vec<Job>, MeasureError> {
        let scale = scale.unwrap_or(self.scale);
        if !(scale > 0.0 && scale <= 1.0) {
            return Err(MeasureError::setting("scale", scale, "expected a number above 0 and at most 1"));
        }
        if self.tasks.is_empty() || self.seeds.is_empty() {
            return Err(MeasureError::setting("sweep", "", "it needs at least one task and one seed"));
        }
        let combinations = self.combinations()?;
        let mut jobs = Vec::new();
        for seed in &self.seeds {
            for task in &self.tasks {
                for settings in &combinations {
                    jobs.push(self.job(out, task, settings, *seed, scale, registry)?);
                }
            }
        }
        Ok(jobs)
    }

    fn combinations(&self) -> Result<Vec<Settings>, MeasureError> {
        let mut all: Vec<Settings> = match self.variants.as_slice() {
            [] => vec![Vec::new()],
            variants => variants.iter().map(|v| flatten(v, "")).collect(),
        };
        for (key, values) in flatten(&self.grid, "") {
            let values = match values {
                Value::Array(values) if !values.is_empty() => values,
                other => {
                    return Err(MeasureError::setting(
                        "grid",
                        format!("{key} = {other}"),
                        "expected a list of values",
                    ));
                }
            };
            let extended = all.iter().flat_map(|settings| {
                values
                    .iter()
                    .map(|value| settings.iter().cloned().chain([(key.clone(), value.clone())]).collect())
            });
            all = extended.collect();
        }
        Ok(all)
    }

    fn job(
        &self,
        out: &Path,
        task: &str,
        settings: &Settings,
        seed: u64,
        scale: f64,
        registry: &Registry,
    ) -> Result<Job, MeasureError> {
        let mut config = self.config(task, settings, seed, registry)?;
        config.iterations = scaled(config.iterations, scale);
        // A refit needs elites, so there is none at the first iteration.
        config.update_schedule.iter_mut().for_each(|t| *t = scaled(*t, scale).max(2));
        config.update_schedule.dedup();
        let facts = registry.task(&config.task, &Perturbation::default())?;
        let stem = Path::new(task).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let path = out.join(stem).join(folder_name(settings)).join(format!("seed-{seed}"));
        let config = config.resolve(&facts.spec().into(), registry).map_err(Error::from)?;
        Ok(Job { path, config })
    }

    fn config(
        &self,
        task: &str,
        settings: &Settings,
        seed: u64,
        registry: &Registry,
    ) -> Result<Config, Error> {
        let mut layers = Layers::new(registry).preset(&self.preset)?;
        for (key, value) in flatten(&self.set, "").into_iter().chain(settings.iter().cloned()) {
            layers = layers.flag(&key, value, "sweep file")?;
        }
        layers = layers.flag("task", absolute_task(task), "sweep file")?;
        // TOML has no larger whole numbers, so the file cannot hold one.
        layers = layers.flag("seed", seed as i64, "sweep file")?;
        Ok(layers.build()?)
    }
}

fn scaled(iterations: u64, scale: f64) -> u64 {
    ((iterations as f64 * scale).round() as u64).max(1)
}

/// Dotted keys and their values.
fn flatten(table: &Table, prefix: &str) -> Settings {
    let mut settings = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => settings.extend(flatten(inner, &format!("{prefix}{key}."))),
            value => settings.push((format!("{prefix}{key}"), value.clone())),
        }
    }
    settings
}

/// The varying settings as the name of a folder.
fn folder_name(settings: &Settings) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._=-".contains(c) { c } else { '_' };
    let part = |(key, value): &(String, Value)| {
        format!("{key}={value}").replace('"', "").chars().map(plain).collect()
    };
    let parts: Vec<String> = settings.iter().map(part).collect();
    if parts.is_empty() { "default".to_owned() } else { parts.join(",") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(text: &str) -> Sweep {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_grid_times_seeds_is_scaled() {
        let sweep = sweep(
            "preset = 'quick'\ntasks = ['point-maze']\nseeds = [1, 2]\n[set]\nbatch_size = 4\n\
             [grid]\nembedding.features = [10, 20]\nfirst_map = ['cwpca', 'random']",
        );
        let jobs = sweep.jobs(Path::new("out"), Some(0.1), &Registry::default()).unwrap();
        assert_eq!(jobs.len(), 8);
        assert_eq!(jobs[0].path, Path::new("out/point-maze/embedding.features=10,first_map=cwpca/seed-1"));
        assert_eq!((jobs[0].config.iterations, jobs[0].config.batch_size), (4, 4));
        assert_eq!(jobs[0].config.update_schedule, [2, 3]);
        assert_eq!(jobs[7].config.embedding.features, 20);
        assert!(jobs[..4].iter().all(|job| job.config.seed == 1), "seed by seed");
    }

    #[test]
    fn variants_vary_together() {
        let sweep = sweep(
            "preset = 'quick'\ntasks = ['point-maze']\nseeds = [1]\n[[variants]]\nepisodes = 2\nreserve = 0\n[[variants]]\nepisodes = 3",
        );
        let jobs = sweep.jobs(Path::new("out"), None, &Registry::default()).unwrap();
        assert_eq!(jobs.len(), 2);
        assert_eq!((jobs[0].config.episodes, jobs[0].config.reserve), (2, 0));
        assert_eq!(jobs[1].config.episodes, 3);
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |text: &str| {
            format!("{:#}", sweep(text).jobs(Path::new("out"), None, &Registry::default()).unwrap_err())
        };
        assert!(
            wrong("tasks = ['point-maze']\nseeds = [1]\n[grid]\nepisodes = 3").contains("list of values")
        );
        assert!(wrong("tasks = []\nseeds = [1]").contains("at least one task"));
        assert!(wrong("tasks = ['point-maze']\nseeds = [1]\nscale = 2.0").contains("scale '2'"));
        assert!(wrong("tasks = ['point-maze']\nseeds = [1]\n[set]\nepisode = 3").contains("did you mean"));
    }
}
