//! `autoqd runs`: the runs below a folder.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use autoqd::registry::Registry;

use crate::measuring::print_json;
use crate::run_args::runs_below;
use crate::run_table::{Row, print};

/// Arguments of `autoqd runs`.
#[derive(clap::Args)]
pub struct RunsArgs {
    /// Folder to look in, with everything below it
    #[arg(default_value = "runs")]
    dir: PathBuf,
    #[arg(long)]
    json: bool,
}

/// Lists the runs; a folder that is damaged or half written is a line that says so.
pub fn run(args: &RunsArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let dir = args.dir.display();
    ensure!(args.dir.is_dir(), "there is no folder {dir}; `autoqd run TASK` makes a run in the folder runs");
    let rows: Vec<Row> = runs_below(&args.dir).iter().map(|found| Row::read(&found.path, registry)).collect();
    if args.json {
        print_json(&rows, out)?;
    } else if rows.is_empty() {
        writeln!(out, "there are no runs below {dir}")?;
    } else {
        print(&rows, out)?;
    }
    Ok(ExitCode::SUCCESS)
}
