//! `autoqd sweep`: a grid of runs, one after the other or several at a time.

use autoqd::registry::Registry;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use autoqd_measure::{Job, Outcome, Sweep, SweepWork};

use crate::engine_args::EngineArgs;
use crate::measuring::print_json;
use crate::notes::note;
use crate::progress::Progress;
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
    /// Runs at a time; they share the threads
    #[arg(long, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,
    /// shared by all runs
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Only list the runs
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
    let jobs = sweep.jobs(&folder(args), args.scale, registry)?;
    jobs.iter().try_for_each(Job::check)?;
    let outcomes = match args.dry_run {
        true => jobs.iter().map(|job| job.outcome(registry)).collect(),
        false => work(&jobs, args, &args.engine.apply(registry)?)?,
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

/// Works through the jobs, showing the progress of runs that follow each other.
fn work(jobs: &[Job], args: &SweepArgs, registry: &Registry) -> anyhow::Result<Vec<Outcome>> {
    let signal = StopSignal::install()?;
    let begin = |number: usize, job: &Job| {
        if !args.json || args.jobs.get() > 1 {
            note!("run {} of {}: {}", number + 1, jobs.len(), job.path.display());
        }
    };
    let work = SweepWork {
        registry,
        at_a_time: args.jobs,
        threads: args.threads,
        stop: &|| signal.requested(),
        begin: &begin,
        watch: &|| Box::new(Progress::new()),
    };
    Ok(work.run(jobs))
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
        "{finished} of {} runs are finished; run the same command again to continue with the rest",
        outcomes.len()
    )
}
