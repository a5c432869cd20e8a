//! `autoqd sweep`: a grid of runs, one after the other, several at a time, or whole runs on a cluster.

use anyhow::ensure;
use autoqd::registry::{Engine, Registry, RunsOptions};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use autoqd_measure::{Job, Outcome, Sweep, SweepAway, SweepLog, SweepWork};

use crate::engine_args::EngineArgs;
use crate::measuring::print_json;
use crate::notes::note;
use crate::progress::Progress;
use crate::run_args::quoted;
use crate::signals::StopSignal;

/// Arguments of `autoqd sweep`.
#[derive(clap::Args)]
pub struct SweepArgs {
    /// The sweep file; `sweeps/` has those of the paper's tables and figures
    sweep: PathBuf,
    /// a folder for the runs; by default runs/NAME, with the scale appended unless it is 1
    #[arg(long)]
    out: Option<PathBuf>,
    /// Factor on the iterations and the schedule of refits, to shrink the budget
    #[arg(long, value_name = "FACTOR")]
    scale: Option<f64>,
    /// Runs at a time, by default 1, on a cluster as many as it has room for
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// shared by all runs; on a cluster those of each run
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Only list the runs and how far they are, also while they are worked on
    #[arg(long)]
    dry_run: bool,
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engine: EngineArgs,
}

/// Runs the command: exit code 1 if a run failed.
pub fn run(args: &SweepArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let sweep = Sweep::read(&args.sweep)?;
    let folder = folder(args);
    let jobs = sweep.jobs(&folder, args.scale, registry)?;
    jobs.iter().try_for_each(Job::check)?;
    let log = SweepLog::open(&folder)?;
    ensure!(args.engine.chunk.is_none(), "--chunk: a sweep hands out whole runs, not candidates");
    let outcomes = match (args.dry_run, args.engine.apply(registry)?.engine()) {
        (true, _) => jobs.iter().map(|job| job.outcome(registry, &log)).collect(),
        (false, None) => work(&jobs, args, registry, &log)?,
        (false, Some(engine)) => work_elsewhere(jobs, args, registry, log, &**engine)?,
    };
    let failed = outcomes.iter().filter(|o| o.error.is_some()).count();
    if args.json {
        print_json(&outcomes, out)?;
    } else {
        print(&sweep, &outcomes, out)?;
        if !outcomes.is_empty() && outcomes.iter().all(|outcome| outcome.state == "finished") {
            next(&folder, out)?;
        }
    }
    Ok(if failed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What can be done with finished runs.
fn next(folder: &Path, out: &mut dyn Write) -> std::io::Result<()> {
    let folder = quoted(folder);
    writeln!(out, "next:  autoqd eval {folder}       quality and diversity of all runs with fresh seeds")?;
    writeln!(out, "       autoqd compare {folder}    the same by method, as tables")?;
    writeln!(out, "       autoqd report {folder}     all runs in one HTML file")?;
    writeln!(out, "       autoqd explore {folder}    in the browser, side by side")
}

fn folder(args: &SweepArgs) -> PathBuf {
    let name = args.sweep.file_stem().unwrap_or_default().to_string_lossy();
    let name = match args.scale {
        Some(scale) if scale != 1.0 => format!("{name}-{scale}"),
        _ => name.into_owned(),
    };
    args.out.clone().unwrap_or_else(|| Path::new("runs").join(name))
}

/// Works through the jobs, showing the progress of runs that follow each other.
fn work(jobs: &[Job], args: &SweepArgs, registry: &Registry, log: &SweepLog) -> anyhow::Result<Vec<Outcome>> {
    let signal = StopSignal::install()?;
    let at_a_time = args.jobs.unwrap_or(NonZeroUsize::MIN);
    let begin = |number: usize, job: &Job| {
        if !args.json || at_a_time.get() > 1 {
            note!("run {} of {}: {}", number + 1, jobs.len(), job.path.display());
        }
    };
    let work = SweepWork {
        registry,
        log,
        at_a_time,
        threads: args.threads,
        stop: &|| signal.requested(),
        begin: &begin,
        watch: &|| Box::new(Progress::new()),
    };
    Ok(work.run(jobs)?)
}

/// Hands whole runs to an engine.
fn work_elsewhere(
    jobs: Vec<Job>,
    args: &SweepArgs,
    registry: &Registry,
    log: SweepLog,
    engine: &dyn Engine,
) -> anyhow::Result<Vec<Outcome>> {
    let signal = StopSignal::install()?;
    let away =
        SweepAway::new(jobs, registry.clone(), log, move || signal.requested(), |text| note!("{text}"));
    let how = RunsOptions {
        threads: args.threads.map(NonZeroUsize::get),
        at_a_time: args.jobs.map(NonZeroUsize::get),
    };
    engine.work_on(away.clone(), how)?;
    Ok(away.outcomes())
}

/// A line for every run, and how many there are of each kind.
fn print(sweep: &Sweep, outcomes: &[Outcome], out: &mut dyn Write) -> std::io::Result<()> {
    if !sweep.about.is_empty() {
        writeln!(out, "{}", sweep.about)?;
    }
    let place = |outcome: &Outcome| outcome.place.clone().unwrap_or_else(|| "-".to_owned());
    let width = outcomes.iter().map(|outcome| place(outcome).chars().count()).max().unwrap_or(0).max(5);
    writeln!(out, "state     iteration  {:width$}  lost  run", "where")?;
    for outcome in outcomes {
        let Outcome { path, state, iteration, iterations, lost, error, .. } = outcome;
        let (path, place, done) = (path.display(), place(outcome), format!("{iteration}/{iterations}"));
        let error = error.as_ref().map_or(String::new(), |error| format!(": {error}"));
        writeln!(out, "{state:9} {done:>9}  {place:width$}  {lost:>4}  {path}{error}")?;
    }
    let count = |states: &[&str]| outcomes.iter().filter(|o| states.contains(&o.state)).count();
    let finished = count(&["finished"]);
    write!(out, "{finished} of {} runs are finished, {} at work, ", outcomes.len(), count(&["running"]))?;
    write!(out, "{} failed, {} to do", count(&["failed"]), count(&["new", "stopped"]))?;
    match finished == outcomes.len() {
        true => writeln!(out),
        false => writeln!(out, "; run the same command again to continue with the rest"),
    }
}
