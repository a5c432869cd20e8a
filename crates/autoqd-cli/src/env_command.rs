//! `autoqd env`: what tasks there are, and whether they are Gymnasium's on this machine.

use autoqd::registry::Registry;
use autoqd_env::{EnvSpec, Perturbation, Physics, gymnasium_id};
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::notes::note;

/// Arguments of `autoqd env`.
#[derive(Args)]
pub struct EnvArgs {
    #[command(subcommand)]
    command: EnvCommand,
}

#[derive(Subcommand)]
enum EnvCommand {
    /// List the built-in tasks
    List,
    /// Show sizes, bounds, reward terms and measures of a task
    Show {
        /// Name, Gymnasium id, or path of a task file
        task: String,
    },
    /// Replay recordings of Gymnasium and compare every number bit for bit; exit code 1 if any differs
    Check {
        /// Recordings, plain or gzipped JSON; without any, the short ones that come with the program
        files: Vec<PathBuf>,
        /// Use one environment for all rollouts of a file instead of a new one for each
        #[arg(long)]
        reuse: bool,
    },
}

/// Runs the command and says how it went.
pub fn run(args: &EnvArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    match &args.command {
        EnvCommand::List => list(registry, out)?,
        EnvCommand::Show { task } => show(task, registry, out)?,
        EnvCommand::Check { files, reuse } => return check(files, *reuse, out),
    }
    Ok(ExitCode::SUCCESS)
}

fn list(registry: &Registry, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "{:<26}{:<27}{:>12}{:>8}{:>8}{:>10}",
        "task", "gymnasium", "observation", "action", "steps", "measures"
    )?;
    for name in registry.task_names() {
        let task = registry.task(name, &Perturbation::default())?;
        let spec = task.spec();
        writeln!(
            out,
            "{:<26}{:<27}{:>12}{:>8}{:>8}{:>10}",
            name,
            gymnasium_id(name).unwrap_or("-"),
            spec.observation_size,
            spec.action_size,
            spec.max_episode_steps,
            spec.measures.len()
        )?;
    }
    Ok(())
}

fn show(name: &str, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<()> {
    let task = registry.task(name, &Perturbation::default())?;
    for notice in task.notices() {
        note!("notice: {notice}");
    }
    let spec = task.spec();
    writeln!(out, "task          {}", spec.name)?;
    if let Some(id) = gymnasium_id(name) {
        writeln!(out, "gymnasium     {id}")?;
    }
    writeln!(out, "observation   {} numbers", spec.observation_size)?;
    writeln!(out, "action        {}", bounds(spec))?;
    writeln!(out, "simulator     {}", task.physics_note(Physics::Auto))?;
    writeln!(out, "episode       at most {} steps", spec.max_episode_steps)?;
    writeln!(out, "reward        {}", spec.reward_terms.join(" + "))?;
    writeln!(out, "objective     counts from {}", spec.objective_min)?;
    for (i, measure) in spec.measures.iter().enumerate() {
        let label = if i == 0 { "measures" } else { "" };
        writeln!(out, "{label:<14}{} in [{}, {}]", measure.name, measure.low, measure.high)?;
    }
    Ok(())
}

/// One interval if all components share it.
fn bounds(spec: &EnvSpec) -> String {
    let interval = |i: usize| format!("[{}, {}]", spec.action_low[i], spec.action_high[i]);
    let all: Vec<_> = (0..spec.action_size).map(interval).collect();
    match all.iter().all(|other| *other == all[0]) {
        true => format!("{} numbers in {}", spec.action_size, all[0]),
        false => format!("{} numbers in {}", spec.action_size, all.join(", ")),
    }
}

#[cfg(not(any(feature = "mujoco", feature = "box2d")))]
fn check(_files: &[PathBuf], _reuse: bool, _out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    anyhow::bail!("Gymnasium's tasks need a simulator; build the program with --features mujoco,box2d")
}

#[cfg(any(feature = "mujoco", feature = "box2d"))]
fn check(files: &[PathBuf], reuse: bool, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    use autoqd_env::golden::{Options, check_file, check_shipped};
    let mut differs = false;
    let reports = match files {
        [] => check_shipped(Options { reuse })?.into_iter().map(|(n, r)| (n.to_owned(), r)).collect(),
        files => {
            let one = |file: &PathBuf| Ok((file.display().to_string(), check_file(file, Options { reuse })?));
            files.iter().map(one).collect::<anyhow::Result<Vec<_>>>()?
        }
    };
    for (name, report) in &reports {
        differs |= report.mismatches > 0;
        print(name, report, out)?;
    }
    Ok(ExitCode::from(u8::from(differs)))
}

#[cfg(any(feature = "mujoco", feature = "box2d"))]
fn print(file: &str, report: &autoqd_env::golden::Report, out: &mut dyn Write) -> std::io::Result<()> {
    let autoqd_env::golden::Report { env, rollouts, steps, values, mismatches, first } = report;
    writeln!(
        out,
        "{file}: {env}, {rollouts} rollouts, {steps} steps, {values} numbers compared, {mismatches} mismatches"
    )?;
    match first {
        Some(first) => writeln!(out, "  first: {first}"),
        None => Ok(()),
    }
}
