//! `autoqd init` in a program without MuJoCo: says what is missing.

use autoqd::registry::Registry;
use clap::Args;
use std::io::Write;
use std::process::ExitCode;

/// Arguments of `autoqd init`, whatever they are.
#[derive(Args)]
pub struct InitArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _ignored: Vec<String>,
}

/// Refuses the command.
pub fn run(_args: &InitArgs, _registry: &Registry, _out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    anyhow::bail!("a model needs MuJoCo; build the program with --features mujoco")
}
