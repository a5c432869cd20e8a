//! `autoqd run` and `autoqd resume`.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use autoqd::config::{Config, Layers};
use autoqd::observer::EndReason;
use autoqd::registry::Registry;
use autoqd::run_folder::{RunFolder, status};
use autoqd::runner::{Changes, Limits, Runner, absolute_task};
use autoqd_env::Perturbation;

use crate::progress::Progress;
use crate::signals::StopSignal;

/// Arguments of `autoqd run`.
#[derive(clap::Args)]
pub struct RunArgs {
    /// Task to search in: a name of `autoqd env list`, or the path of a task file
    task: Option<String>,
    /// Settings to start from: `paper` (default) or `quick`
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A TOML file with settings, on top of the preset
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting, on top of the file; repeatable. `autoqd run --help` lists them all
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What tells two behaviours apart: autoqd, regular, aurora or lstm-aurora
    #[arg(long)]
    method: Option<String>,
    /// Seed of everything random
    #[arg(long)]
    seed: Option<u64>,
    /// Iterations of the search
    #[arg(long)]
    iterations: Option<u64>,
    /// Worker threads; changes nothing but the time
    #[arg(long)]
    threads: Option<u64>,
    /// Folder of the run; default runs/TASK-METHOD-SEED
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
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
    /// More iterations than before
    #[arg(long)]
    iterations: Option<u64>,
    /// Worker threads; changes nothing but the time
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Iterations between checkpoints
    #[arg(long)]
    checkpoint_every: Option<u64>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Starts a run.
pub fn run(args: &RunArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let config = layered(args, registry)?;
    anyhow::ensure!(!config.task.is_empty(), "no task given; `autoqd env list` shows what there is");
    // Sizes and defaults of a task do not depend on how its physics is perturbed.
    let facts = registry.task(&config.task, &Perturbation::default())?;
    let config = config.resolve(&facts.spec().into(), registry)?;
    let path = args.out.clone().unwrap_or_else(|| RunFolder::default_path(&config));
    let runner = Runner::create(&path, config, registry)?;
    work(runner, &args.limits, registry, out)
}

/// Continues a run.
pub fn resume(args: &ResumeArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let changes = Changes {
        iterations: args.iterations,
        threads: args.threads,
        checkpoint_every: args.checkpoint_every,
    };
    let runner = Runner::resume(&args.run, changes, registry)?;
    work(runner, &args.limits, registry, out)
}

/// Preset, file, `--set` and flags, each on top of the one before.
fn layered(args: &RunArgs, registry: &Registry) -> anyhow::Result<Config> {
    let mut layers = Layers::new(registry).preset(args.preset.as_deref().unwrap_or("paper"))?;
    if let Some(file) = &args.config {
        layers = layers.file(file)?;
    }
    for assignment in &args.set {
        layers = layers.set(assignment)?;
    }
    if let Some(task) = &args.task {
        layers = layers.flag("task", absolute_task(task), "TASK")?;
    }
    if let Some(method) = &args.method {
        layers = layers.flag("method", method.as_str(), "--method")?;
    }
    for (key, flag, value) in [
        ("seed", "--seed", args.seed),
        ("iterations", "--iterations", args.iterations),
        ("threads", "--threads", args.threads),
    ] {
        if let Some(value) = value {
            let value = i64::try_from(value).with_context(|| format!("{flag} {value} is too large"))?;
            layers = layers.flag(key, value, flag)?;
        }
    }
    Ok(layers.build()?)
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
    let found = status(runner.path(), registry)?;
    write!(out, "{} policies", found.elites)?;
    if let Some(coverage) = found.coverage {
        write!(out, " in {:.1} % of the archive's cells", 100.0 * coverage)?;
    }
    let [best, mean] = [found.best_objective, found.mean_objective].map(|value| value.unwrap_or(f64::NAN));
    write!(out, ", best return {best:.1}, mean {mean:.1}")?;
    if let Some(score) = found.qd_score {
        write!(out, ", QD score {score:.0}")?;
    }
    writeln!(out, "; {} environment steps", found.env_steps)?;
    writeln!(out, "archive:  {path}/archive.parquet")?;
    writeln!(out, "curves:   {path}/metrics.csv")?;
    if reason != EndReason::Finished {
        writeln!(
            out,
            "stopped after iteration {} of {}; go on with: autoqd resume {path}",
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
        _ => Err("expected a positive number of seconds, or one with s, m or h behind it".to_owned()),
    }
}
