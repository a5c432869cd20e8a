//! `autoqd sweep`: a grid of runs, one after the other or several at a time.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use anyhow::{bail, ensure};
use autoqd::observer::{EndReason, IterationReport, Observer, ObserverError};
use autoqd::run_folder::{CONFIG_FILE, RunState, read_config, status};
use autoqd::runner::{Changes, Limits, Runner};

use crate::measuring::print_json;
use crate::progress::Progress;
use crate::registry::registry;
use crate::signals::StopSignal;
use crate::sweep::{Job, Sweep};

/// Arguments of `autoqd sweep`.
#[derive(clap::Args)]
pub struct SweepArgs {
    /// The sweep file; `sweeps/` has those of the paper's tables and figures
    sweep: PathBuf,
    /// Folder for the runs; default runs/NAME, with the scale behind it unless that is 1
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Factor on the iterations and the schedule of refits, to shrink the budget
    #[arg(long)]
    scale: Option<f64>,
    /// Runs at a time; they share the threads
    #[arg(long, default_value = "1")]
    jobs: NonZeroUsize,
    /// Worker threads in all; default one per core
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Only list the runs
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What became of a run.
#[derive(Clone, Debug, serde::Serialize)]
struct Outcome {
    path: PathBuf,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Runs the command: exit code 1 if a run failed.
pub fn run(args: &SweepArgs, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let sweep = Sweep::read(&args.sweep)?;
    let jobs = sweep.jobs(&folder(args), args.scale)?;
    jobs.iter().try_for_each(check)?;
    let outcomes = match args.dry_run {
        true => jobs.iter().map(|job| outcome(job, Ok(state(job)))).collect(),
        false => work(&jobs, args)?,
    };
    let failed = outcomes.iter().filter(|o| o.error.is_some()).count();
    if args.json {
        print_json(&outcomes, out)?;
    } else {
        print(&sweep, &outcomes, out)?;
    }
    Ok(if failed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn folder(args: &SweepArgs) -> PathBuf {
    let name = args.sweep.file_stem().unwrap_or_default().to_string_lossy();
    let name = match args.scale {
        Some(scale) if scale != 1.0 => format!("{name}-{scale}"),
        _ => name.into_owned(),
    };
    args.out.clone().unwrap_or_else(|| Path::new("runs").join(name))
}

/// Refuses a folder that holds another run.
fn check(job: &Job) -> anyhow::Result<()> {
    if !job.path.join(CONFIG_FILE).is_file() {
        return Ok(());
    }
    ensure!(
        read_config(&job.path)?.same_search(&job.config),
        "{} holds a run with other settings; choose another folder with --out, or remove it",
        job.path.display()
    );
    Ok(())
}

fn state(job: &Job) -> &'static str {
    match status(&job.path, &registry()).map(|status| status.state) {
        Ok(RunState::Finished) => "finished",
        Ok(RunState::Running) => "running",
        Ok(RunState::Stopped) => "stopped",
        Err(_) => "new",
    }
}

fn outcome(job: &Job, result: anyhow::Result<&'static str>) -> Outcome {
    let path = job.path.clone();
    match result {
        Ok(state) => Outcome { path, state, error: None },
        Err(error) => Outcome { path, state: "failed", error: Some(format!("{error:#}")) },
    }
}

/// Works through the jobs on as many threads as there are runs at a time.
fn work(jobs: &[Job], args: &SweepArgs) -> anyhow::Result<Vec<Outcome>> {
    let signal = StopSignal::install()?;
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = args.threads.map_or(cores, NonZeroUsize::get) / args.jobs.get();
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let next = Mutex::new(jobs.iter().enumerate());
    let done: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; jobs.len()]);
    let take = || next.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.get() {
            scope.spawn(|| {
                while let Some((number, job)) = take() {
                    if !args.json || args.jobs.get() > 1 {
                        eprintln!("run {} of {}: {}", number + 1, jobs.len(), job.path.display());
                    }
                    let result = run_job(job, threads, args.jobs.get() == 1, &signal);
                    done.lock().unwrap_or_else(|poisoned| poisoned.into_inner())[number] =
                        Some(outcome(job, result));
                }
            });
        }
    });
    Ok(done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).into_iter().flatten().collect())
}

/// Starts or continues a run, or skips one that is done.
fn run_job(
    job: &Job,
    threads: NonZeroUsize,
    show: bool,
    signal: &StopSignal,
) -> anyhow::Result<&'static str> {
    let found = state(job);
    if signal.requested() || matches!(found, "finished") {
        return Ok(found);
    }
    if found == "running" {
        bail!("another process works on it");
    }
    let registry = registry();
    let mut runner = match found {
        "new" => {
            let config = job.config.changed(Changes { threads: Some(threads), ..Changes::default() })?;
            Runner::create(&job.path, config, &registry)?
        }
        _ => Runner::resume(&job.path, Changes { threads: Some(threads), ..Changes::default() }, &registry)?,
    };
    let stop = || signal.requested();
    let reason = match show {
        true => runner.run(Limits::default(), &stop, &mut Progress::new())?,
        false => runner.run(Limits::default(), &stop, &mut Silent)?,
    };
    Ok(if reason == EndReason::Finished { "finished" } else { "stopped" })
}

/// Several runs at a time would overwrite each other's progress bars.
struct Silent;

impl Observer for Silent {
    fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
        Ok(())
    }
}

fn print(sweep: &Sweep, outcomes: &[Outcome], out: &mut dyn Write) -> std::io::Result<()> {
    if !sweep.about.is_empty() {
        writeln!(out, "{}", sweep.about)?;
    }
    for Outcome { path, state, error } in outcomes {
        let error = error.as_ref().map_or(String::new(), |error| format!(": {error}"));
        writeln!(out, "{state:9} {}{error}", path.display())?;
    }
    let finished = outcomes.iter().filter(|o| o.state == "finished").count();
    writeln!(
        out,
        "{finished} of {} runs are finished; the same command goes on with the rest",
        outcomes.len()
    )
}
