//! The `autoqd` program as a library: parses, calls the other crates, prints, and turns the outcome into an exit code.
//!
//! A program of one's own has every command of `autoqd` with the parts that it brings:
//!
//! ```no_run
//! use autoqd::registry::Registry;
//! # fn register_my_task(_: &mut Registry) {}
//! fn main() -> std::process::ExitCode {
//!     let mut registry = autoqd_cli::registry();
//!     register_my_task(&mut registry);
//!     autoqd_cli::main(registry)
//! }
//! ```

#![deny(missing_docs)]

mod adapt_command;
mod cluster_command;
mod compare_command;
mod config_command;
mod describe_command;
mod engine_args;
mod env_command;
mod eval_command;
mod explore_command;
mod export_command;
mod fresh_returns;
#[cfg_attr(not(feature = "mujoco"), path = "init_command_without_mujoco.rs")]
mod init_command;
mod layer_args;
mod measuring;
mod notes;
mod options;
mod out_of_memory;
#[cfg_attr(not(feature = "mujoco"), path = "physics_command_without_mujoco.rs")]
mod physics_command;
mod plot_command;
mod progress;
mod registry;
mod render_command;
mod report_command;
mod results_command;
mod run_args;
mod run_command;
mod run_table;
mod runs_command;
mod select_command;
mod shell_command;
mod signals;
mod space;
mod stability_command;
mod status_command;
mod sweep_command;

pub use out_of_memory::Allocator;
pub use registry::registry;

use autoqd::registry::Registry;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use notes::note;

/// Finds many policies for a control task that are each good and all different.
#[derive(Parser)]
#[command(name = "autoqd", version, after_help = FIRST_RUN)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What the list of commands does not say: where to begin.
const FIRST_RUN: &str = "A first run, of seconds:
  autoqd run swimmer --preset quick
  autoqd explore runs/swimmer-autoqd-0";

#[derive(Subcommand)]
enum Command {
    /// Search a task for many good and different policies
    Run(run_command::RunArgs),
    /// Print the full configuration that a run would use, with every setting explained
    Config(config_command::ConfigArgs),
    /// Continue a run where it stopped; the result is the same as if it had never stopped
    Resume(run_command::ResumeArgs),
    /// List the runs below a folder
    Runs(runs_command::RunsArgs),
    /// Show the status of runs
    Status(status_command::StatusArgs),
    /// Check the files of runs against their checksums
    Verify(status_command::VerifyArgs),
    /// Roll a policy out and print its measures under a run's descriptor
    Describe(describe_command::DescribeArgs),
    /// Write a run's archive in the formats of other tools
    Export(export_command::ExportArgs),
    /// Draw behaviours as filmstrips or films
    Render(render_command::RenderArgs),
    /// Draw a run's curves and archive
    Plot(plot_command::PlotArgs),
    /// Write everything about runs into one HTML file
    Report(report_command::ReportArgs),
    /// Look at runs in the browser: click an elite and watch it move
    Explore(explore_command::ExploreArgs),
    /// Look at a task in the browser before any search: zero, sine and random actions
    View(explore_command::ViewArgs),
    /// Measure how good and how diverse populations are
    Eval(eval_command::EvalArgs),
    /// Print the paper's tables for any runs
    Compare(compare_command::CompareArgs),
    /// Find the policies that cope with changed dynamics
    Adapt(adapt_command::AdaptArgs),
    /// Measure how much descriptors vary between rollouts of the same policy
    Stability(stability_command::StabilityArgs),
    /// Choose a few policies that are good and far apart
    Select(select_command::SelectArgs),
    /// Divide a population into groups of similar policies
    Cluster(cluster_command::ClusterArgs),
    /// Run a grid of configurations and seeds
    Sweep(sweep_command::SweepArgs),
    /// Keep finished runs as small folders, and make the page of results from them
    Results(results_command::ResultsArgs),
    /// Write a first task file for a MuJoCo model, and say what the model has
    Init(init_command::InitArgs),
    /// Control tasks: list them, show one, compare with recordings of Gymnasium
    Env(env_command::EnvArgs),
    /// The fast simulator: compare it with libmujoco, in agreement and speed
    Physics(physics_command::PhysicsArgs),
    /// Print a script that completes commands and options in a shell
    Completions(shell_command::CompletionsArgs),
    /// Write the manual pages
    Man(shell_command::ManArgs),
}

/// Does what the command line asks for, with the parts of a registry.
pub fn main(registry: Registry) -> ExitCode {
    run(registry, std::env::args_os())
}

/// Does what the arguments ask for, the first of which is the program's name, and returns the exit code.
///
/// Like [`main`], it prints to the standard streams; wrong arguments, `--help` and `--version` end the process.
pub fn run(registry: Registry, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = parse(&registry, arguments).unwrap_or_else(|error| error.exit());
    carry_out(cli.command, &registry, &mut std::io::stdout().lock()).unwrap_or_else(report)
}

/// Does what the arguments ask for, and returns what it would have printed.
///
/// For programs that have a command's outcome inside themselves: wrong arguments are an error like any other.
///
/// # Errors
/// Whatever the program would have said.
pub fn output(registry: &Registry, arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<Vec<u8>> {
    let cli = parse(registry, arguments).map_err(|error| {
        // The first paragraph without the word; the rest is about the shell.
        let text = error.to_string();
        let first = text.split("\n\n").next().unwrap_or_default().trim();
        anyhow::anyhow!("{}", first.strip_prefix("error: ").unwrap_or(first))
    })?;
    let mut printed = Vec::new();
    carry_out(cli.command, registry, &mut printed)?;
    Ok(printed)
}

fn carry_out(command: Command, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    match command {
        Command::Config(args) => config_command::run(&args, registry, out),
        Command::Runs(args) => runs_command::run(&args, registry, out),
        Command::Completions(args) => shell_command::completions(&args, program(registry), out),
        Command::Man(args) => shell_command::man(&args, program(registry), out),
        Command::Run(args) => run_command::run(&args, registry, out),
        Command::Resume(args) => run_command::resume(&args, registry, out),
        Command::Status(args) => status_command::run_status(&args, registry, out),
        Command::Verify(args) => status_command::run_verify(&args, out),
        Command::Describe(args) => describe_command::run(&args, registry, out),
        Command::Export(args) => export_command::run(&args, registry, out),
        Command::Render(args) => render_command::run(&args, registry, out),
        Command::Plot(args) => plot_command::run(&args, registry, out),
        Command::Report(args) => report_command::run(&args, registry, out),
        Command::Explore(args) => explore_command::run(&args, registry, out),
        Command::View(args) => explore_command::view(&args, registry, out),
        Command::Eval(args) => eval_command::run(&args, registry, out),
        Command::Compare(args) => compare_command::run(&args, registry, out),
        Command::Adapt(args) => adapt_command::run(&args, registry, out),
        Command::Stability(args) => stability_command::run(&args, registry, out),
        Command::Select(args) => select_command::run(&args, registry, out),
        Command::Cluster(args) => cluster_command::run(&args, registry, out),
        Command::Sweep(args) => sweep_command::run(&args, registry, out),
        Command::Results(args) => results_command::run(&args, registry, out),
        Command::Init(args) => init_command::run(&args, registry, out),
        Command::Env(args) => env_command::run(&args, registry, out),
        Command::Physics(args) => physics_command::run(&args, registry, out),
    }
}

/// The command line; the help of `run` explains the settings of all registered parts.
fn program(registry: &Registry) -> clap::Command {
    let settings = autoqd::config::settings_help(registry);
    options::unify(Cli::command()).mut_subcommand("run", |run| run.after_long_help(settings))
}

fn parse(registry: &Registry, arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&program(registry).try_get_matches_from(arguments)?)
}

/// One line and exit code 2; a reader that went away, as with `| head`, is not an error.
fn report(error: anyhow::Error) -> ExitCode {
    let broken_pipe = |cause: &std::io::Error| cause.kind() == ErrorKind::BrokenPipe;
    if error.chain().filter_map(|cause| cause.downcast_ref()).any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    note!("error: {}", message(&error));
    ExitCode::from(2)
}

/// An error and its causes, each said once: many messages already include what the system said.
fn message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said.is_empty() {
        true => cause,
        false if said.contains(&cause) => said,
        false => format!("{said}: {cause}"),
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    #[test]
    fn what_the_system_says_is_printed_once() {
        let nowhere = std::path::Path::new("/nowhere/run/file");
        let refused =
            autoqd::run_folder::write_atomic(nowhere, |_| Ok(())).context("cannot go on").unwrap_err();
        let message = super::message(&refused);
        assert!(message.starts_with("cannot go on: cannot write /nowhere/run/file: "), "{message}");
        assert_eq!(message.matches("os error").count(), 1, "{message}");
    }
}
