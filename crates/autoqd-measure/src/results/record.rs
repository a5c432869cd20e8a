//! One run in a folder of results.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use autoqd::Error;
use autoqd::config::{Layers, RunConfig};
use autoqd::registry::Registry;
use autoqd::run_folder::{CONFIG_FILE, IterationRow, RunState, write_atomic};
use autoqd_env::Perturbation;
use serde::{Deserialize, Serialize};

use crate::error::MeasureError;
use crate::evaluation::task_name;
use crate::measurement::{Measurement, RunAdaptation, RunEvaluation, RunStability, Stored};
use crate::reference::Reference;
use crate::run::{Budget, LoadedRun};
use crate::store::save_json;
use crate::variant::settings;

/// Format version of `run.json`.
const VERSION: u32 = 1;
const FACTS_FILE: &str = "run.json";
const CURVE_FILE: &str = "curve.csv";
const RUNS: &str = "runs";

/// Points of a stored learning curve.
const POINTS: u64 = 50;

/// Settings that say how much is searched rather than how.
const BUDGET_KEYS: [&str; 2] = ["iterations", "update_schedule"];

/// Where a run comes from, which its folder does not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The commit of the program that made it.
    pub commit: String,
    /// The command that makes it again.
    pub command: String,
}

/// What is known about a run apart from its measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    version: u32,
    task: String,
    method: String,
    seed: u64,
    /// Settings that are not those of the preset `paper`.
    differs: BTreeMap<String, String>,
    iterations: u64,
    budget: Budget,
    seconds: f64,
    /// Digest of the archive, as `autoqd verify` prints it.
    archive: String,
    #[serde(flatten)]
    origin: Origin,
}

/// A finished run with what was measured about it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Its folder, from the folder of results.
    pub folder: PathBuf,
    /// Task.
    pub task: String,
    /// Method.
    pub method: String,
    /// Seed.
    pub seed: u64,
    /// Settings other than the amount of search that are not those of the preset `paper`.
    pub differs: BTreeMap<String, String>,
    /// Whether it is shorter or longer than the paper's runs.
    pub own_budget: bool,
    /// Iterations of the search.
    pub iterations: u64,
    /// What the search spent.
    pub budget: Budget,
    /// Seconds of computing.
    pub seconds: f64,
    /// Digest of the archive.
    pub archive: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Quality and diversity.
    pub evaluation: RunEvaluation,
    /// Changed dynamics.
    pub adaptation: Option<RunAdaptation>,
    /// Stability of its descriptor.
    pub stability: Option<RunStability>,
}

impl RunRecord {
    /// Whether it is a run with all of the paper's settings.
    pub fn is_paper(&self) -> bool {
        self.differs.is_empty() && !self.own_budget
    }

    /// The method and what is not the paper's about it.
    pub fn variant(&self) -> String {
        let parts = self.differs.iter().map(|(key, value)| format!("{key}={value}"));
        std::iter::once(self.method.clone()).chain(parts).collect::<Vec<_>>().join(" ")
    }
}

/// Copies what is small and lasting of a finished and evaluated run into a folder of results.
///
/// Refuses a run that is not finished, has not been evaluated under the task's reference of that folder, or has changed
/// since it was measured.
pub fn collect(
    path: &Path,
    results: &Path,
    origin: &Origin,
    registry: &Registry,
) -> Result<PathBuf, MeasureError> {
    let run = LoadedRun::open(path)?;
    let folder = run.need_folder("log")?;
    let wrong = |reason: String| MeasureError::run(path, reason);
    let status = run.status(registry)?.ok_or_else(|| wrong("is no run folder".to_owned()))?;
    if status.state != RunState::Finished {
        let (done, all) = (status.iteration, status.iterations);
        return Err(wrong(format!("is at iteration {done} of {all}; finish it with `autoqd resume`")));
    }
    let config = run.config.as_ref().ok_or_else(|| wrong("has no configuration".to_owned()))?;
    let facts = Facts {
        version: VERSION,
        task: task_name(&run),
        method: run.method.clone(),
        seed: config.seed,
        differs: not_of_the_paper(config, registry)?,
        iterations: config.iterations,
        budget: run.budget.ok_or_else(|| wrong("does not say what it spent".to_owned()))?,
        seconds: status.seconds,
        archive: run.table.digest(),
        origin: origin.clone(),
    };
    let reference = results.join("references").join(format!("{}.json", facts.task));
    let mut evaluation = fresh::<RunEvaluation>(&run, &facts.archive)?
        .ok_or_else(|| wrong(format!("is not evaluated; {}", remedy(&reference))))?;
    same_reference(&evaluation.result.reference, &reference).map_err(wrong)?;
    let inside = place(&facts);
    let to = results.join(&inside);
    evaluation.result.metrics.path = inside.clone();
    evaluation.write(&to)?;
    if let Some(mut adaptation) = fresh::<RunAdaptation>(&run, &facts.archive)? {
        let curves = adaptation.result.adaptation.knobs.iter_mut().flat_map(|knob| &mut knob.curves);
        curves.for_each(|curve| curve.path = inside.clone());
        adaptation.write(&to)?;
    }
    if let Some(mut stability) = fresh::<RunStability>(&run, &facts.archive)? {
        stability.result.stability.path = inside.clone();
        stability.write(&to)?;
    }
    write_text(&to.join(CURVE_FILE), &curve(&run.log()?))?;
    let config = std::fs::read_to_string(folder.join(CONFIG_FILE))
        .map_err(|e| wrong(format!("{CONFIG_FILE} cannot be read: {e}")))?;
    write_text(&to.join(CONFIG_FILE), &config)?;
    save_json(&to.join(FACTS_FILE), &facts)?;
    Ok(to)
}

/// All runs of a folder of results, by task, variant and seed.
pub fn read_records(results: &Path) -> Result<Vec<RunRecord>, MeasureError> {
    let mut folders = Vec::new();
    find(&results.join(RUNS), &mut folders)?;
    let mut records =
        folders.iter().map(|folder| read(folder, results)).collect::<Result<Vec<_>, MeasureError>>()?;
    records.sort_by_cached_key(|r| (r.task.clone(), r.variant(), r.iterations, r.seed));
    for record in &records {
        let reference = results.join("references").join(format!("{}.json", record.task));
        let wrong = |reason: String| MeasureError::run(&results.join(&record.folder), reason);
        same_reference(&record.evaluation.reference, &reference).map_err(wrong)?;
    }
    Ok(records)
}

fn read(folder: &Path, results: &Path) -> Result<RunRecord, MeasureError> {
    let path = folder.join(FACTS_FILE);
    let wrong = |reason: String| MeasureError::run(&path, reason);
    let text = std::fs::read_to_string(&path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    let facts: Facts = serde_json::from_str(&text).map_err(|e| wrong(format!("is damaged: {e}")))?;
    if facts.version != VERSION {
        return Err(wrong(format!("has format version {}, not {VERSION}; add the run again", facts.version)));
    }
    let missing = || wrong("has no evaluation beside it; add the run again".to_owned());
    let evaluation = of_archive::<RunEvaluation>(folder, &facts.archive)?.ok_or_else(missing)?.result;
    let (budget_keys, differs): (BTreeMap<_, _>, BTreeMap<_, _>) =
        facts.differs.into_iter().partition(|(key, _)| BUDGET_KEYS.contains(&key.as_str()));
    Ok(RunRecord {
        folder: folder.strip_prefix(results).unwrap_or(folder).to_owned(),
        task: facts.task,
        method: facts.method,
        seed: facts.seed,
        differs,
        own_budget: !budget_keys.is_empty(),
        iterations: facts.iterations,
        budget: facts.budget,
        seconds: facts.seconds,
        origin: facts.origin,
        evaluation,
        adaptation: of_archive::<RunAdaptation>(folder, &facts.archive)?.map(|stored| stored.result),
        stability: of_archive::<RunStability>(folder, &facts.archive)?.map(|stored| stored.result),
        archive: facts.archive,
    })
}

/// Folders below that hold a run.
fn find(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), MeasureError> {
    if folder.join(FACTS_FILE).is_file() {
        found.push(folder.to_owned());
        return Ok(());
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(|e| MeasureError::run(folder, format!("cannot be listed: {e}")))?.path();
        if path.is_dir() {
            find(&path, found)?;
        }
    }
    Ok(())
}

/// The settings of a run that the preset `paper` would not give it.
fn not_of_the_paper(
    config: &RunConfig,
    registry: &Registry,
) -> Result<BTreeMap<String, String>, MeasureError> {
    let layers = Layers::new(registry)
        .preset("paper")
        .and_then(|layers| layers.flag("task", config.task.as_str(), "run"))
        .and_then(|layers| layers.flag("method", config.method.to_string(), "run"));
    let paper = layers.and_then(|layers| layers.build()).map_err(Error::from)?;
    let facts = registry.task(&config.task, &Perturbation::default())?;
    let paper = settings(&paper.resolve(&facts.spec().into(), registry).map_err(Error::from)?);
    let own = settings(config);
    // A section of a part that this program does not have cannot be compared, and does not act on the run's method.
    let section = |key: &str| key.split('.').next().map(str::to_owned);
    let known: BTreeSet<_> = paper.keys().map(|key| section(key)).collect();
    let differs =
        |(key, value): &(String, String)| known.contains(&section(key)) && paper.get(key) != Some(value);
    Ok(own.into_iter().filter(differs).collect())
}

/// A measurement of the archive as it is now; an error if the archive has changed since.
fn fresh<T: Measurement>(run: &LoadedRun, digest: &str) -> Result<Option<Stored<T>>, MeasureError> {
    of_archive(&run.folder, digest)
}

fn of_archive<T: Measurement>(folder: &Path, digest: &str) -> Result<Option<Stored<T>>, MeasureError> {
    let Some(stored) = Stored::<T>::read(folder)? else { return Ok(None) };
    if stored.archive.as_deref() == Some(digest) {
        return Ok(Some(stored));
    }
    Err(MeasureError::Measurement {
        path: folder.join(T::FILE),
        reason: "was made of another archive than the run's".to_owned(),
        command: T::COMMAND,
    })
}

/// Whether an evaluation can stand beside the others: everything but the best mean, which the page takes from all runs.
fn same_reference(own: &Reference, file: &Path) -> Result<(), String> {
    let shared = Reference::read(file).map_err(|e| format!("is compared with others by a reference: {e}"))?;
    let comparable = Reference { best_mean: own.best_mean, ..shared };
    if comparable == *own {
        Ok(())
    } else {
        Err(format!("has another scale than its task; {}", remedy(file)))
    }
}

fn remedy(reference: &Path) -> String {
    format!("evaluate it with `autoqd eval RUN --reference {}`", reference.display())
}

/// `runs/TASK/VARIANT/seed-N`.
fn place(facts: &Facts) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._=-,".contains(c) { c } else { '_' };
    let parts = facts.differs.iter().map(|(key, value)| format!("{key}={value}"));
    let variant = std::iter::once(facts.method.clone()).chain(parts).collect::<Vec<_>>().join(",");
    let name = |text: &str| text.chars().map(plain).collect::<String>();
    Path::new(RUNS).join(name(&facts.task)).join(name(&variant)).join(format!("seed-{}", facts.seed))
}

fn curve(rows: &[IterationRow]) -> String {
    let mut out = "iteration,env_steps,elites,coverage,qd_score,best_objective,mean_objective\n".to_owned();
    let last = rows.last().map_or(0, |row| row.iteration);
    let every = last.div_ceil(POINTS).max(1);
    for row in rows.iter().filter(|r| r.iteration == 1 || r.iteration % every == 0 || r.iteration == last) {
        let _ = writeln!(
            out,
            "{},{},{},{},{:.1},{:.2},{:.2}",
            row.iteration,
            row.env_steps,
            row.elites,
            row.coverage,
            row.qd_score,
            row.best_objective,
            row.mean_objective
        );
    }
    out
}

fn write_text(path: &Path, text: &str) -> Result<(), MeasureError> {
    Ok(write_atomic(path, |file| Ok(file.write_all(text.as_bytes())?))?)
}
