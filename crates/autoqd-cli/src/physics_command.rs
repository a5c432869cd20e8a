//! `autoqd physics`: does the fast simulator agree with libmujoco on this machine, and how fast is it?

use anyhow::{Context, ensure};
use autoqd::policy::Policy;
use autoqd::registry::Registry;
use autoqd_env::lanes::{
    self, Agreement, CheckOptions, CheckReport, DECADES, SELF_CHECK_LIMIT, Speed, check, measure_speed,
};
use autoqd_env::{LocomotionTask, Perturbation, Physics, Task, canonical_name};
use autoqd_measure::{
    LoadedRun, PhysicsComparison, PhysicsOptions, QuantityComparison, compare_physics, sample,
};
use clap::{Args, Subcommand};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::measuring::{RolloutProgress, bench, print_json};
use crate::run_args::RunArg;

/// Policies of a run that visit states for a check; more than have their turn in a million steps.
const POLICIES: usize = 1000;

/// Turns of a measurement of speed, and how long each is.
const ROUNDS: usize = 5;
const TURN: Duration = Duration::from_millis(200);

/// Arguments of `autoqd physics`.
#[derive(Args)]
pub struct PhysicsArgs {
    #[command(subcommand)]
    command: PhysicsCommand,
}

#[derive(Subcommand)]
enum PhysicsCommand {
    /// Compare single steps of the lanes engine with libmujoco's, and the speed of both; exit code 1 if they differ
    Check(CheckArgs),
    /// Measure how many steps of a task both simulators make in a second of one core
    Speed(SpeedArgs),
    /// Compare how the policies of a run fare on both simulators: returns, lengths and measures; exit code 1 if they
    /// can be told apart
    Compare(CompareArgs),
}

#[derive(Args)]
struct CheckArgs {
    /// Name, Gymnasium id, or path of a task file of a MuJoCo task
    task: String,
    /// Compare also from states that the policies of this run visit (a run folder, .json list or .parquet table)
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// Steps to compare per kind of states
    #[arg(long, value_name = "N", default_value_t = 40_000)]
    steps: usize,
    /// the random states
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Leave out the measurement of speed
    #[arg(long)]
    no_speed: bool,
}

#[derive(Args)]
struct SpeedArgs {
    /// Name, Gymnasium id, or path of a task file of a MuJoCo task
    task: String,
}

#[derive(Args)]
struct CompareArgs {
    #[command(flatten)]
    run: RunArg,
    /// policies to compare, drawn at random
    #[arg(long, alias = "policies", default_value_t = PhysicsOptions::default().policies)]
    count: usize,
    /// on each simulator
    #[arg(long, alias = "seeds", default_value_t = PhysicsOptions::default().seeds)]
    episodes: usize,
    /// the draw and the episodes
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    #[arg(long)]
    json: bool,
}

/// Runs the command and says how it went.
pub fn run(args: &PhysicsArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let fine = match &args.command {
        PhysicsCommand::Check(args) => run_check(args, registry, out)?,
        PhysicsCommand::Speed(args) => run_speed(args, out)?,
        PhysicsCommand::Compare(args) => run_compare(args, registry, out)?,
    };
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run_check(args: &CheckArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<bool> {
    let population = args.run.as_deref().map(LoadedRun::open).transpose()?;
    let perturbation = population.as_ref().map_or_else(Perturbation::default, |p| p.perturbation);
    let task = load(&args.task, &perturbation)?;
    let speed_rounds = if args.no_speed { 0 } else { ROUNDS };
    let options = CheckOptions { lane_steps: args.steps, seed: args.seed, speed_rounds };
    let mut policies = match &population {
        Some(population) => policies(population, &task, args, registry)?,
        None => Vec::new(),
    };
    let report = check(&task, &options, &mut policies)?;
    print(&report, out)?;
    Ok(report.worst() <= SELF_CHECK_LIMIT)
}

fn run_speed(args: &SpeedArgs, out: &mut dyn Write) -> anyhow::Result<bool> {
    let task = load(&args.task, &Perturbation::default())?;
    let speed = measure_speed(&task, ROUNDS, TURN)?;
    print_speed(&speed, out)?;
    if speed.lanes.is_empty() {
        writeln!(out, "  {}", task.physics_note(Physics::Lanes))?;
    }
    Ok(true)
}

fn load(name: &str, perturbation: &Perturbation) -> anyhow::Result<LocomotionTask> {
    let task = match canonical_name(name) {
        Some(name) => LocomotionTask::builtin(name, perturbation),
        None => LocomotionTask::from_file(name, perturbation),
    };
    task.context("the lanes engine runs MuJoCo tasks only")
}

/// Policies of a run in the form a check wants them.
fn policies(
    population: &LoadedRun,
    task: &LocomotionTask,
    args: &CheckArgs,
    registry: &Registry,
) -> anyhow::Result<Vec<Box<lanes::Policy<'static>>>> {
    let path = population.path.display();
    ensure!(!population.is_empty(), "{path}: the run has no policy yet; wait for its first checkpoint");
    let (of_run, asked) = (&population.task(registry)?.spec().name.clone(), &task.spec().name);
    ensure!(of_run == asked, "{path}: the run is of task '{of_run}', not of '{asked}'");
    let spec = population.policy_spec(task.spec())?;
    let policy = |i: usize| -> anyhow::Result<Box<lanes::Policy<'static>>> {
        let mut policy = Policy::new(&spec, population.parameters(i))?;
        Ok(Box::new(move |observation, action| policy.act(observation, action)))
    };
    sample(population.len(), POLICIES, args.seed).into_iter().map(policy).collect()
}

fn run_compare(args: &CompareArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<bool> {
    let population = LoadedRun::open(&args.run.run)?;
    let bench = bench(registry, args.threads)?;
    let options = PhysicsOptions { policies: args.count, seeds: args.episodes, seed: args.seed };
    let found = compare_physics(&population, options, &bench, &mut RolloutProgress::default())?;
    if args.json {
        print_json(&found, out)?;
    } else {
        print_comparison(&found, out)?;
    }
    Ok(found.indistinguishable())
}

fn print_comparison(found: &PhysicsComparison, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "{}: {} policies, {} seeds each, on {} and on the {}",
        found.task, found.policies, found.seeds, found.reference, found.lanes
    )?;
    writeln!(
        out,
        "{:<16}{:>12}{:>12}{:>24}{:>9}{:>9}{:>9}{:>9}{:>8}",
        "", "reference", "lanes", "difference", "paired p", "KS", "KS p", "each p", "apart"
    )?;
    found.quantities.iter().try_for_each(|quantity| print_quantity(quantity, found.policies, out))?;
    if found.diverged != [0; 3] {
        writeln!(out, "diverged episodes: {:?} (reference, lanes, lanes with other seeds)", found.diverged)?;
    }
    let verdict = if found.indistinguishable() { "not distinguishable" } else { "DIFFERENT" };
    writeln!(
        out,
        "{verdict}: smallest p-value of all {} tests {:.3}, adjusted for their number",
        3 * found.quantities.len(),
        found.smallest_p()
    )?;
    Ok(())
}

fn print_quantity(q: &QuantityComparison, policies: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let difference =
        format!("{:+.2e} ± {:.1e}", q.difference.mean, q.difference.standard_error.unwrap_or(f64::NAN));
    writeln!(
        out,
        "{:<16}{:>12.5}{:>12.5}{difference:>24}{:>9.3}{:>9.4}{:>9.3}{:>9.3}{:>8}",
        q.name,
        q.reference,
        q.lanes,
        q.paired_p,
        q.pooled.distance,
        q.pooled.p,
        q.within_p,
        format!("{:.1}%", 100.0 * q.policies_apart as f64 / policies as f64)
    )
}

fn print(report: &CheckReport, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "{}: single steps of the lanes engine ({}) against libmujoco",
        report.task, report.backend
    )?;
    report.agreement.iter().try_for_each(|agreement| print_agreement(agreement, out))?;
    match &report.speed {
        Some(speed) => {
            writeln!(out)?;
            print_speed(speed, out)
        }
        None => Ok(()),
    }
}

fn print_speed(speed: &Speed, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "steps of the task per second of one core, observations and rewards included")?;
    writeln!(out, "  {:<10}{:>10.0}", "libmujoco", speed.reference)?;
    for (backend, rate) in &speed.lanes {
        writeln!(out, "  {:<10}{rate:>10.0}  {:.1} x", backend.to_string(), rate / speed.reference)?;
    }
    Ok(())
}

fn print_agreement(agreement: &Agreement, out: &mut dyn Write) -> anyhow::Result<()> {
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
