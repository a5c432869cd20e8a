//! `autoqd config`: the configuration that a run would use.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use autoqd::config::commented_toml;
use autoqd::registry::Registry;
use autoqd::run_folder::write_atomic;

use crate::layer_args::LayerArgs;

/// Arguments of `autoqd config`.
#[derive(clap::Args)]
pub struct ConfigArgs {
    #[command(flatten)]
    layers: LayerArgs,
    /// a file for `autoqd run --config`; by default the standard output
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Prints every setting with its meaning and value.
pub fn run(args: &ConfigArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (written, resolved) = args.layers.resolve(registry)?;
    let text = commented_toml(&written, &resolved, registry);
    match &args.out {
        Some(path) => write_atomic(path, |file| Ok(file.write_all(text.as_bytes())?))?,
        None => out.write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
