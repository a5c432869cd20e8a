//! `autoqd run` and `autoqd resume`.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use autoqd::observer::EndReason;
use autoqd::registry::Registry;
use autoqd::run_folder::{RunFolder, status};
use autoqd::runner::{Changes, Limits, Runner};

use crate::engine_args::EngineArgs;
use crate::fresh_returns::{fresh_returns, outside_note};
use crate::layer_args::LayerArgs;
use crate::progress::Progress;
use crate::run_args::quoted;
use crate::signals::StopSignal;

/// Arguments of `autoqd run`.
#[derive(clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    layers: LayerArgs,
    /// a folder for the run; by default runs/TASK-METHOD-SEED
    #[arg(long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    engine: EngineArgs,
}

/// Limits of `run` and `resume`.
#[derive(clap::Args)]
pub struct LimitArgs {
    /// Stop cleanly after this time, for instance 90, 30m or 2h
    #[arg(long, value_name = "TIME", value_parser = parse_seconds)]
    max_time: Option<f64>,
    /// Stop cleanly after this many environment steps of the whole run
    #[arg(long, value_name = "STEPS")]
    max_env_steps: Option<u64>,
}

/// Arguments of `autoqd resume`.
#[derive(clap::Args)]
pub struct ResumeArgs {
    /// Folder of the run
    run: PathBuf,
    /// more than before
    #[arg(long)]
    iterations: Option<u64>,
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Iterations between checkpoints
    #[arg(long, value_name = "N")]
    checkpoint_every: Option<u64>,
    /// Go on in the run's own copy of its task although the files it came from have changed
    #[arg(long)]
    own_task: bool,
    /// Go on although a log was changed or damaged, with the lines of it that can be read
    #[arg(long)]
    accept_logs: bool,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    engine: EngineArgs,
}

/// Starts a run.
pub fn run(args: &RunArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let registry = &args.engine.apply(registry)?;
    let (_, config) = args.layers.resolve(registry)?;
    let path = args.out.clone().unwrap_or_else(|| RunFolder::default_path(&config));
    let runner = Runner::create(&path, config, registry)?;
    work(runner, &args.limits, registry, out)
}

/// Continues a run.
pub fn resume(args: &ResumeArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let registry = &args.engine.apply(registry)?;
    let changes = Changes {
        iterations: args.iterations,
        threads: args.threads,
        checkpoint_every: args.checkpoint_every,
        own_task: args.own_task,
        accept_logs: args.accept_logs,
    };
    let runner = Runner::resume(&args.run, changes, registry)?;
    work(runner, &args.limits, registry, out)
}

fn work(
    mut runner: Runner,
    limits: &LimitArgs,
    registry: &Registry,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let signal = StopSignal::install()?;
    let limits = Limits { max_seconds: limits.max_time, max_env_steps: limits.max_env_steps };
    let mut progress = Progress::new();
    let reason = runner.run(limits, &|| signal.requested(), &mut progress)?;
    summary(&runner, reason, registry, out)?;
    Ok(ExitCode::SUCCESS)
}

/// What was found and where to look.
fn summary(
    runner: &Runner,
    reason: EndReason,
    registry: &Registry,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (trainer, path) = (runner.trainer(), runner.path().display());
    let quoted = quoted(runner.path());
    let found = status(runner.path(), registry)?;
    write!(out, "{} policies", found.elites)?;
    if let Some(coverage) = found.coverage {
        write!(out, " in {:.1} % of the archive's cells", 100.0 * coverage)?;
    }
    let [best, mean] = [found.best_objective, found.mean_objective].map(|value| value.unwrap_or(f64::NAN));
    write!(out, ", best return found {best:.1}, mean {mean:.1}")?;
    if let Some(score) = found.qd_score {
        write!(out, ", QD score {score:.0}")?;
    }
    writeln!(out, "; {} environment steps", found.env_steps)?;
    if let Some(fresh) = fresh_returns(runner.path(), registry) {
        writeln!(out, "{fresh}")?;
    }
    if let Some(outside) = outside_note(&found, trainer.config().follows()) {
        writeln!(out, "note:     {outside}")?;
    }
    writeln!(out, "archive:  {path}/archive.parquet")?;
    writeln!(out, "curves:   {path}/metrics.csv")?;
    writeln!(out, "next:     autoqd report {quoted}     everything about it in one HTML file")?;
    writeln!(out, "          autoqd explore {quoted}    in the browser, every policy at work")?;
    writeln!(out, "          autoqd eval {quoted}       quality and diversity with fresh seeds")?;
    if reason != EndReason::Finished {
        writeln!(
            out,
            "stopped after iteration {} of {}; to continue: autoqd resume {quoted}",
            trainer.iteration(),
            trainer.config().iterations
        )?;
    }
    Ok(())
}

/// Seconds, or a number followed by s, m or h.
fn parse_seconds(text: &str) -> Result<f64, String> {
    let (number, factor) = match text.chars().last() {
        Some('s') => (&text[..text.len() - 1], 1.0),
        Some('m') => (&text[..text.len() - 1], 60.0),
        Some('h') => (&text[..text.len() - 1], 3600.0),
        _ => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value * factor),
        _ => Err("expected a positive number of seconds, or a number followed by s, m or h".to_owned()),
    }
}
