//! The `autoqd` program: parses, calls the libraries, prints, and turns the outcome into an exit code.

mod env_command;

use clap::{Parser, Subcommand};
use std::io::ErrorKind;
use std::process::ExitCode;

/// Finds many policies for a control task that are each good and all different.
#[derive(Parser)]
#[command(name = "autoqd", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Control tasks: list them, show one, compare with recordings of Gymnasium
    Env(env_command::EnvArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Env(args) => env_command::run(&args, &mut std::io::stdout().lock()),
    };
    outcome.unwrap_or_else(report)
}

/// One line and exit code 2; a reader that went away, as with `| head`, is no error.
fn report(error: anyhow::Error) -> ExitCode {
    let broken_pipe = |cause: &std::io::Error| cause.kind() == ErrorKind::BrokenPipe;
    if error.chain().filter_map(|cause| cause.downcast_ref()).any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {error:#}");
    ExitCode::from(2)
}
