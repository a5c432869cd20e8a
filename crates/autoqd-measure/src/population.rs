//! A population: the policies of a run, of a list of chosen ones, or of a plain file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use autoqd_env::{EnvSpec, Perturbation, Physics, Task};
use serde::{Deserialize, Serialize};

use crate::error::MetricsError;
use autoqd::config::{PolicySection, RunConfig};
use autoqd::policy::PolicySpec;
use autoqd::registry::Registry;
use autoqd::run_folder::{ArchiveTable, CONFIG_FILE, read_config, status};

/// What the search spent on a population.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Policies evaluated.
    pub evaluations: u64,
    /// Episodes.
    pub episodes: u64,
    /// Environment steps.
    pub env_steps: u64,
}

/// Chosen policies of a run, as `autoqd select` writes them and every command accepts them in place of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Folder of the run; relative to the file of this list unless it is absolute.
    pub run: PathBuf,
    /// Ids of the chosen policies, in the order they were chosen.
    pub policies: Vec<u64>,
}

/// A population of deterministic policies of one task.
#[derive(Clone, Debug)]
pub struct Population {
    /// The run folder or file, as given.
    pub path: PathBuf,
    /// Where results about it are kept.
    pub folder: PathBuf,
    /// Task by name or path.
    pub task: String,
    /// How the task's physics is changed.
    pub perturbation: Perturbation,
    /// The simulator it is measured in, whatever it was found in: the reference unless told otherwise.
    pub physics: Physics,
    /// Method that found it.
    pub method: String,
    /// Method and whatever else tells it from the other populations it is measured with.
    pub variant: String,
    /// Seed of the run.
    pub seed: Option<u64>,
    /// The policy network, where the table does not say its shape.
    pub policy: PolicySection,
    /// Cells, ids, measures, embeddings and parameters as the run stored them.
    pub table: ArchiveTable,
    /// What the search spent.
    pub budget: Option<Budget>,
    /// The run's configuration.
    pub config: Option<RunConfig>,
    /// Where its task comes from.
    pub registry: Registry,
}

impl Population {
    /// Loads the population of a run folder, of a list of chosen policies (`.json`) or of a table (`.parquet`).
    pub fn load(path: &Path, registry: &Registry) -> Result<Self, MetricsError> {
        let ending = path.extension().and_then(|e| e.to_str());
        let population = match ending {
            _ if path.is_dir() => Self::of_run(path, registry)?,
            Some("json") => Self::of_selection(path, registry)?,
            Some("parquet") => Self::of_table(path, registry)?,
            _ => {
                return Err(wrong(
                    path,
                    "there is no run folder, .parquet file or .json list of policies; check the path",
                ));
            }
        };
        Ok(population)
    }

    fn of_run(path: &Path, registry: &Registry) -> Result<Self, MetricsError> {
        let config = read_config(path)?;
        let table = ArchiveTable::read(path).map_err(|e| match e.is_not_found() {
            true => wrong(path, "the run has no archive yet; wait for its first checkpoint"),
            false => e.into(),
        })?;
        let spent = status(path, registry)?;
        let budget = Budget {
            evaluations: spent.evaluations,
            episodes: spent.evaluations * config.episodes as u64,
            env_steps: spent.env_steps,
        };
        Ok(Self {
            path: path.to_owned(),
            folder: path.to_owned(),
            task: config.task.clone(),
            perturbation: config.perturbation,
            physics: Physics::Reference,
            method: config.method.to_string(),
            variant: config.method.to_string(),
            seed: Some(config.seed),
            policy: config.policy.clone(),
            table,
            budget: Some(budget),
            config: Some(config),
            registry: registry.clone(),
        })
    }

    fn of_selection(path: &Path, registry: &Registry) -> Result<Self, MetricsError> {
        let text = std::fs::read(path).map_err(|e| wrong(path, &format!("cannot be read: {e}")))?;
        let list: Selection = serde_json::from_slice(&text)
            .map_err(|e| wrong(path, &format!("is no list of policies ({e}); `autoqd select` writes one")))?;
        let run = path.parent().unwrap_or(Path::new("")).join(&list.run);
        let mut population = Self::of_run(&run, registry)?;
        population.table = chosen(&population.table, &list.policies).map_err(|id| {
            wrong(
                path,
                &format!("{} has no policy {id}; its archive has changed, choose again", run.display()),
            )
        })?;
        population.path = path.to_owned();
        population.folder = path.with_extension("results");
        Ok(population)
    }

    fn of_table(path: &Path, registry: &Registry) -> Result<Self, MetricsError> {
        if path.with_file_name(CONFIG_FILE).is_file() && path.file_name() == Some("archive.parquet".as_ref())
        {
            return Self::of_run(path.parent().unwrap_or(Path::new(".")), registry);
        }
        let table = ArchiveTable::read_parquet(path)?;
        let fact = |key: &str| table.metadata.get(key).cloned();
        let task =
            fact("task").ok_or_else(|| wrong(path, "does not say its task; give the run folder instead"))?;
        let method = fact("method").unwrap_or_else(|| "policies".to_owned());
        Ok(Self {
            path: path.to_owned(),
            folder: path.with_extension("results"),
            task,
            perturbation: Perturbation::default(),
            physics: Physics::Reference,
            variant: method.clone(),
            method,
            seed: None,
            policy: PolicySection::default(),
            budget: None,
            config: None,
            registry: registry.clone(),
            table,
        })
    }

    /// Number of policies.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is no policy.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Parameters of policy `i`.
    pub fn parameters(&self, i: usize) -> &[f64] {
        self.table.parameters.row(i)
    }

    /// Parameters of some policies, row-major.
    pub fn pick(&self, policies: &[usize]) -> Vec<f64> {
        policies.iter().flat_map(|&i| self.parameters(i).iter().copied()).collect()
    }

    /// The task, with its physics as in the run.
    pub fn task(&self) -> Result<Arc<dyn Task>, MetricsError> {
        self.task_with(&self.perturbation)
    }

    /// The task with other changes to its physics.
    pub fn task_with(&self, perturbation: &Perturbation) -> Result<Arc<dyn Task>, MetricsError> {
        Ok(self.registry.task(&self.task, perturbation)?)
    }

    /// The shape of the policies in the task, checked against the stored parameters.
    pub fn policy_spec(&self, spec: &EnvSpec) -> Result<PolicySpec, MetricsError> {
        let policy = PolicySpec::stored_or_for_task(self.table.policy()?, &self.policy, spec)?;
        let (expected, got) = (policy.parameter_count(), self.table.parameters.width);
        if !self.is_empty() && expected != got {
            return Err(MetricsError::PolicySize {
                path: self.path.clone(),
                task: spec.name.clone(),
                expected,
                got,
            });
        }
        Ok(policy)
    }

    /// Digest of everything that decides how the policies behave.
    pub fn digest(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let shape = self.table.policy_text().map_or(format!("{:?}", self.policy), str::to_owned);
        let facts = format!("{} {:?} {shape}", self.task, self.perturbation);
        hasher.update(facts.as_bytes());
        if self.physics != Physics::Reference {
            hasher.update(format!("{:?}", self.physics).as_bytes());
        }
        self.table.parameters.values.iter().for_each(|x| {
            hasher.update(&x.to_le_bytes());
        });
        hasher.finalize()
    }
}

fn wrong(path: &Path, reason: &str) -> MetricsError {
    MetricsError::Population { path: path.to_owned(), reason: reason.to_owned() }
}

/// The rows with these ids, in their order; an id that is not there is the error.
fn chosen(table: &ArchiveTable, ids: &[u64]) -> Result<ArchiveTable, u64> {
    let row_of = |id: &u64| table.id.iter().position(|other| other == id).ok_or(*id);
    let rows = ids.iter().map(row_of).collect::<Result<Vec<usize>, u64>>()?;
    Ok(rows_of(table, &rows))
}

/// Some rows of a table, in the given order.
pub fn rows_of(table: &ArchiveTable, rows: &[usize]) -> ArchiveTable {
    use autoqd::run_folder::Block;
    fn block<T: Copy>(block: &Block<T>, rows: &[usize]) -> Block<T> {
        Block {
            width: block.width,
            values: rows.iter().flat_map(|&i| block.row(i).iter().copied()).collect(),
        }
    }
    fn column<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
        rows.iter().map(|&i| values[i]).collect()
    }
    ArchiveTable {
        cell: column(&table.cell, rows),
        id: column(&table.id, rows),
        iteration: column(&table.iteration, rows),
        objective: column(&table.objective, rows),
        measures: block(&table.measures, rows),
        statistics: table
            .statistics
            .iter()
            .map(|(name, values)| (name.clone(), column(values, rows)))
            .collect(),
        seeds: block(&table.seeds, rows),
        features: block(&table.features, rows),
        parameters: block(&table.parameters, rows),
        metadata: table.metadata.clone(),
    }
}
