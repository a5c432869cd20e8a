//! `autoqd physics` in a program without MuJoCo: says what is missing.

use autoqd::registry::Registry;
use clap::Args;
use std::io::Write;
use std::process::ExitCode;

/// Arguments of `autoqd physics`, whatever they are.
#[derive(Args)]
pub struct PhysicsArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _ignored: Vec<String>,
}

/// Refuses the command.
pub fn run(_args: &PhysicsArgs, _registry: &Registry, _out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    anyhow::bail!("both simulators it compares are MuJoCo's; build the program with --features mujoco")
}
