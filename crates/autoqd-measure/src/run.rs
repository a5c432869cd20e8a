//! A run as every command after the search sees it: a run folder, a list of chosen policies, or a plain table.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autoqd_env::{EnvSpec, Perturbation, Physics, Task};
use serde::{Deserialize, Serialize};

use crate::error::MeasureError;
use crate::selection::Selection;
use autoqd::config::{PolicySection, RunConfig};
use autoqd::policy::PolicySpec;
use autoqd::registry::Registry;
use autoqd::run_folder::{
    ARCHIVE_FILE, ArchiveTable, CONFIG_FILE, FigureRow, IterationRow, KeptTask, RunFolderError, Status,
    read_config, read_figures, read_metrics, status,
};

/// What the search spent on a population.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Policies evaluated.
    pub evaluations: u64,
    /// Episodes.
    pub episodes: u64,
    /// Environment steps.
    pub env_steps: u64,
    /// Steps of an optimiser along gradients of networks: updates, and steps of candidates; none for methods without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient_steps: Option<u64>,
    /// Wall time in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// Figures of methods that learn by gradients: updates so far, and steps of an iteration's candidates.
const UPDATES: &str = "updates";
const CANDIDATE_STEPS: &str = "candidate steps";

/// The gradient steps that a method's figures tell of.
fn gradient_steps(figures: &[FigureRow]) -> Option<u64> {
    let of = |name: &'static str| figures.iter().filter(move |row| row.name == name).map(|row| row.value);
    let updates = of(UPDATES).next_back()?;
    Some((updates + of(CANDIDATE_STEPS).sum::<f64>()) as u64)
}

/// Where the policies of a run are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    Folder(PathBuf),
    Table(PathBuf),
}

/// A run folder, some of its policies, or a table of policies from anywhere, opened for a command.
///
/// Opening reads what the run is; its policies are read by [`load`](Self::load) or [`archive`](Self::archive).
///
/// ```no_run
/// use autoqd_measure::Run;
/// let run = Run::open("runs/hopper/selected.json".as_ref())?.load()?;
/// println!("{} policies of {}", run.len(), run.task);
/// # Ok::<(), autoqd_measure::MeasureError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Run {
    /// The folder or file, as given.
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
    /// Method and whatever else tells it from the other runs it is measured with.
    pub variant: String,
    /// Seed of the run.
    pub seed: Option<u64>,
    /// The policy network, where the archive does not say its shape.
    pub policy: PolicySection,
    /// The run's configuration; a table has none.
    pub config: Option<RunConfig>,
    source: Source,
    /// The task as the run keeps it; older runs and tables do not.
    kept_task: Option<KeptTask>,
    /// Ids of the policies that count; all of them without a list.
    chosen: Option<Vec<u64>>,
}

impl Run {
    /// Opens a run folder, a list of chosen policies (`.json`) or a table (`.parquet`).
    pub fn open(path: &Path) -> Result<Self, MeasureError> {
        match path.extension().and_then(|e| e.to_str()) {
            _ if path.is_dir() => Self::of_folder(path, path),
            Some("json") => Self::of_selection(path),
            Some("parquet") => Self::of_table(path, path),
            _ => {
                let reason =
                    "there is no run folder, .parquet file or .json list of policies; check the path";
                Err(MeasureError::run(path, reason))
            }
        }
    }

    fn of_folder(path: &Path, folder: &Path) -> Result<Self, MeasureError> {
        let config = read_config(folder)?;
        Ok(Self {
            path: path.to_owned(),
            folder: folder.to_owned(),
            task: config.task.clone(),
            perturbation: config.perturbation,
            physics: Physics::Reference,
            method: config.method.to_string(),
            variant: config.method.to_string(),
            seed: Some(config.seed),
            policy: config.policy.clone(),
            config: Some(config),
            source: Source::Folder(folder.to_owned()),
            kept_task: KeptTask::read(folder)?,
            chosen: None,
        })
    }

    fn of_selection(path: &Path) -> Result<Self, MeasureError> {
        let list = Selection::read(path)?;
        let origin = path.parent().unwrap_or(Path::new("")).join(&list.run);
        let run = match origin.is_dir() {
            true => Self::of_folder(path, &origin)?,
            false => Self::of_table(path, &origin)?,
        };
        Ok(Self { folder: path.with_extension("results"), chosen: Some(list.policies), ..run })
    }

    fn of_table(path: &Path, table: &Path) -> Result<Self, MeasureError> {
        let beside_config = table.with_file_name(CONFIG_FILE).is_file();
        if beside_config && table.file_name() == Some(ARCHIVE_FILE.as_ref()) {
            return Self::of_folder(path, table.parent().unwrap_or(Path::new(".")));
        }
        let facts = ArchiveTable::read_parquet(table)?.metadata;
        let reason = "does not name its task; give the run folder instead";
        let task = facts.get("task").cloned().ok_or_else(|| MeasureError::run(path, reason))?;
        let method = facts.get("method").cloned().unwrap_or_else(|| "policies".to_owned());
        Ok(Self {
            path: path.to_owned(),
            folder: table.with_extension("results"),
            task,
            perturbation: Perturbation::default(),
            physics: Physics::Reference,
            variant: method.clone(),
            method,
            seed: None,
            policy: PolicySection::default(),
            config: None,
            source: Source::Table(table.to_owned()),
            kept_task: None,
            chosen: None,
        })
    }

    /// A task that nothing was searched in yet, so that it can be viewed. It has no policies.
    pub fn of_task(task: &str) -> Self {
        Self {
            path: PathBuf::from(task),
            folder: PathBuf::new(),
            task: task.to_owned(),
            perturbation: Perturbation::default(),
            physics: Physics::Reference,
            variant: "task".to_owned(),
            method: "task".to_owned(),
            seed: None,
            policy: PolicySection::default(),
            config: None,
            source: Source::Table(PathBuf::new()),
            kept_task: None,
            chosen: None,
        }
    }

    /// The run folder or table that the policies come from, which for a list is another path than its own.
    pub fn origin(&self) -> &Path {
        match &self.source {
            Source::Folder(path) | Source::Table(path) => path,
        }
    }

    /// Whether these policies were chosen, in this order.
    pub fn is_selection(&self) -> bool {
        self.chosen.is_some()
    }

    /// The run folder, where there is one.
    pub fn run_folder(&self) -> Option<&Path> {
        match &self.source {
            Source::Folder(path) => Some(path),
            Source::Table(_) => None,
        }
    }

    /// The run folder, for what a table cannot give: `what` names it.
    pub fn need_folder(&self, what: &str) -> Result<&Path, MeasureError> {
        let reason = || format!("has no {what}; give the run folder");
        self.run_folder().ok_or_else(|| MeasureError::run(&self.path, reason()))
    }

    /// The file that holds the policies.
    pub fn archive_path(&self) -> PathBuf {
        match &self.source {
            Source::Folder(path) => path.join(ARCHIVE_FILE),
            Source::Table(path) => path.clone(),
        }
    }

    /// The policies as they are stored now; none before a run first writes them.
    pub fn archive(&self) -> Result<Option<ArchiveTable>, MeasureError> {
        let Some(table) = if_there(ArchiveTable::read_parquet(&self.archive_path()))? else {
            return Ok(None);
        };
        let Some(ids) = &self.chosen else { return Ok(Some(table)) };
        let missing = |id: &u64| {
            let reason = format!(
                "{} has no policy {id}; its archive has changed, choose again",
                self.origin().display()
            );
            MeasureError::run(&self.path, reason)
        };
        let row = |id: &u64| table.row_of(*id).ok_or_else(|| missing(id));
        let rows = ids.iter().map(row).collect::<Result<Vec<usize>, _>>()?;
        Ok(Some(table.select(&rows)))
    }

    /// The policy with this id in the archive.
    pub fn row_of(&self, table: &ArchiveTable, id: u64) -> Result<usize, MeasureError> {
        let reason = || format!("has no policy with id {id}; `autoqd explore` shows all of them");
        table.row_of(id).ok_or_else(|| MeasureError::run(&self.path, reason()))
    }

    /// The run with its policies.
    pub fn load(self) -> Result<LoadedRun, MeasureError> {
        let reason = "the run has no archive yet; wait for its first checkpoint";
        let table = self.archive()?.ok_or_else(|| MeasureError::run(&self.path, reason))?;
        let budget = self.budget()?;
        Ok(LoadedRun { run: self, table, budget })
    }

    /// The progress of the run; a table has none.
    pub fn status(&self, registry: &Registry) -> Result<Option<Status>, MeasureError> {
        Ok(self.run_folder().map(|folder| status(folder, registry)).transpose()?)
    }

    /// What the run logged, one row per iteration; none for a table or before the first iteration.
    pub fn log(&self) -> Result<Vec<IterationRow>, MeasureError> {
        let Some(folder) = self.run_folder() else { return Ok(Vec::new()) };
        Ok(if_there(read_metrics(folder))?.unwrap_or_default())
    }

    /// The numbers of the method's own; none for a table or a method without.
    fn figures(&self) -> Result<Vec<FigureRow>, MeasureError> {
        let Some(folder) = self.run_folder() else { return Ok(Vec::new()) };
        Ok(if_there(read_figures(folder))?.unwrap_or_default())
    }

    fn budget(&self) -> Result<Option<Budget>, MeasureError> {
        // What was spent does not depend on the parts that a program knows.
        let spent = self.status(&Registry::default())?;
        let Some((spent, config)) = spent.zip(self.config.as_ref()) else { return Ok(None) };
        Ok(Some(Budget {
            evaluations: spent.evaluations,
            episodes: spent.evaluations * config.episodes as u64,
            env_steps: spent.env_steps,
            gradient_steps: gradient_steps(&self.figures()?),
            seconds: Some(spent.seconds),
        }))
    }

    /// The task, with its physics as in the run.
    pub fn task(&self, registry: &Registry) -> Result<Arc<dyn Task>, MeasureError> {
        let task = self.task_with(&self.perturbation, registry)?;
        if let Some(kept) = &self.kept_task {
            kept.check(&*task)?;
        }
        Ok(task)
    }

    /// The task with other physics than in the run.
    pub fn task_with(
        &self,
        perturbation: &Perturbation,
        registry: &Registry,
    ) -> Result<Arc<dyn Task>, MeasureError> {
        let location = self.kept_task.as_ref().map(KeptTask::location).transpose()?;
        Ok(registry.task(location.as_deref().unwrap_or(&self.task), perturbation)?)
    }

    /// Whether another run is of the same task: the same files, wherever they lie, or the same name.
    pub fn same_task(&self, other: &Self) -> bool {
        let files = |run: &Self| run.kept_task.as_ref().and_then(KeptTask::files_digest);
        match files(self).zip(files(other)) {
            Some((own, other)) => own == other,
            None => self.task == other.task,
        }
    }

    /// The shape of the policies in the task, as stored in the current archive.
    pub fn policy_spec(&self, spec: &EnvSpec) -> Result<PolicySpec, MeasureError> {
        let stored = ArchiveTable::read_policy(&self.archive_path())?;
        Ok(self.policy.stored_shape(stored, spec)?)
    }
}

/// A file that does not exist yet is not an error.
fn if_there<T>(read: Result<T, RunFolderError>) -> Result<Option<T>, MeasureError> {
    match read {
        Err(error) if error.is_not_found() => Ok(None),
        other => Ok(Some(other?)),
    }
}

/// A run with its policies in memory: deterministic policies of one task.
#[derive(Clone, Debug)]
pub struct LoadedRun {
    run: Run,
    /// Cells, ids, measures, features and parameters as the run stored them.
    pub table: ArchiveTable,
    /// What the search spent.
    pub budget: Option<Budget>,
}

impl Deref for LoadedRun {
    type Target = Run;

    fn deref(&self) -> &Run {
        &self.run
    }
}

impl DerefMut for LoadedRun {
    fn deref_mut(&mut self) -> &mut Run {
        &mut self.run
    }
}

impl LoadedRun {
    /// Opens a run and reads its policies.
    pub fn open(path: &Path) -> Result<Self, MeasureError> {
        Run::open(path)?.load()
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

    /// The list of some of its policies, to be written to `file`.
    pub fn selection(&self, policies: &[usize], file: &Path) -> Result<Selection, MeasureError> {
        let missing = |e| MeasureError::run(self.origin(), format!("cannot be found: {e}"));
        let origin = self.origin().canonicalize().map_err(missing)?;
        let beside =
            file.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let inside =
            beside.and_then(|folder| folder.canonicalize().ok()).is_some_and(|folder| folder == origin);
        // A list inside its run stays valid when the folder is moved.
        let origin = if inside { PathBuf::from(".") } else { origin };
        Ok(Selection { run: origin, policies: policies.iter().map(|&i| self.table.id[i]).collect() })
    }

    /// The policy with this id.
    pub fn row(&self, id: u64) -> Result<usize, MeasureError> {
        self.run.row_of(&self.table, id)
    }

    /// The shape of the policies in the task, checked against the stored parameters.
    pub fn policy_spec(&self, spec: &EnvSpec) -> Result<PolicySpec, MeasureError> {
        let policy = self.policy.stored_shape(self.table.policy()?, spec)?;
        let (expected, got) = (policy.parameter_count(), self.table.parameters.width);
        if !self.is_empty() && expected != got {
            return Err(MeasureError::PolicySize {
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
        if let Some(files) = self.kept_task.as_ref().and_then(KeptTask::files_digest) {
            hasher.update(files.as_bytes());
        }
        self.table.parameters.values.iter().for_each(|x| {
            hasher.update(&x.to_le_bytes());
        });
        hasher.finalize()
    }
}
