//! `autoqd physics`: does the fast simulator agree with libmujoco on this machine, and how fast is it?

use anyhow::Context;
use autoqd_env::lanes::{Agreement, CheckOptions, CheckReport, DECADES, SELF_CHECK_LIMIT, check};
use autoqd_env::{LocomotionTask, Perturbation, canonical_name};
use clap::{Args, Subcommand};
use std::io::Write;
use std::process::ExitCode;

/// Arguments of `autoqd physics`.
#[derive(Args)]
pub struct PhysicsArgs {
    #[command(subcommand)]
    command: PhysicsCommand,
}

#[derive(Subcommand)]
enum PhysicsCommand {
    /// Compare single steps of the lanes engine with libmujoco's, and the speed of both; exit code 1 if they differ
    Check {
        /// Name, Gymnasium id, or path of a task file of a MuJoCo task
        task: String,
        /// Steps to compare per kind of states
        #[arg(long, default_value_t = 40_000)]
        steps: usize,
        /// Seed of the random states
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Leave out the measurement of speed
        #[arg(long)]
        no_speed: bool,
    },
}

/// Runs the command and says how it went.
pub fn run(args: &PhysicsArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let PhysicsCommand::Check { task, steps, seed, no_speed } = &args.command;
    let task = load(task)?;
    let options =
        CheckOptions { lane_steps: *steps, seed: *seed, speed_rounds: if *no_speed { 0 } else { 5 } };
    let report = check(&task, &options, &mut [])?;
    print(&report, out)?;
    Ok(if report.worst() <= SELF_CHECK_LIMIT { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn load(name: &str) -> anyhow::Result<LocomotionTask> {
    let none = Perturbation::default();
    let task = match canonical_name(name) {
        Some(name) => LocomotionTask::builtin(name, &none),
        None => LocomotionTask::from_file(name, &none),
    };
    task.context("the lanes engine runs MuJoCo tasks only")
}

fn print(report: &CheckReport, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "{}: single steps of the lanes engine ({}) against libmujoco",
        report.task, report.backend
    )?;
    report.agreement.iter().try_for_each(|agreement| print_agreement(agreement, out))?;
    if let Some(speed) = &report.speed {
        writeln!(out, "\nsteps of the task per second of one core, observations and rewards included")?;
        writeln!(out, "  {:<10}{:>10.0}", "libmujoco", speed.reference)?;
        for (backend, rate) in &speed.lanes {
            writeln!(out, "  {:<10}{rate:>10.0}  {:.1} x", backend.to_string(), rate / speed.reference)?;
        }
    }
    Ok(())
}

fn print_agreement(agreement: &Agreement, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "\n{}: {} steps", agreement.states, agreement.steps)?;
    let most = agreement.histogram.iter().max().copied().unwrap_or(0).max(1);
    for (k, &count) in agreement.histogram.iter().enumerate().filter(|(_, count)| **count > 0) {
        let label = match k {
            0 => "under 1e-17".to_string(),
            _ if k == DECADES - 1 => "1e-1 and more".to_string(),
            _ => format!("from 1e-{}", 18 - k),
        };
        let bar = "#".repeat((count * 40).div_ceil(most));
        writeln!(out, "  {label:<14}{count:>9}  {bar}")?;
    }
    if let Some(worst) = &agreement.worst {
        writeln!(out, "  worst {:.1e}: {}; {}", worst.deviation, worst.place, worst.explanation)?;
        if worst.deviation > SELF_CHECK_LIMIT {
            writeln!(
                out,
                "  from qpos {:?}\n  qvel {:?}\n  control {:?}",
                worst.qpos, worst.qvel, worst.control
            )?;
        }
    }
    Ok(())
}
