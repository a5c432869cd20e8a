//! `autoqd results`: finished runs as small folders, and the page of results made from them.

use autoqd::registry::Registry;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use autoqd::run_folder::write_atomic;
use autoqd_measure::{Origin, collect, results_page};

/// Arguments of `autoqd results`.
#[derive(clap::Args)]
pub struct ResultsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Copy configuration, curve and measurements of finished, evaluated runs into a folder of results
    Add(AddArgs),
    /// Write the page of results: the paper's tables with our numbers beside its own
    Page(PageArgs),
}

#[derive(clap::Args)]
struct AddArgs {
    /// Run folders
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Folder of results
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    to: PathBuf,
    /// Commit of the program that made the runs
    #[arg(long)]
    commit: String,
    /// Command that makes the runs again
    #[arg(long)]
    command: String,
}

#[derive(clap::Args)]
struct PageArgs {
    /// Folder of results
    #[arg(value_name = "FOLDER", default_value = "results")]
    results: PathBuf,
    /// File to write
    #[arg(short, long, value_name = "FILE", default_value = "docs/results.md")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &ResultsArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    match &args.action {
        Action::Add(args) => {
            let origin = Origin { commit: args.commit.clone(), command: args.command.clone() };
            for run in &args.runs {
                let folder = collect(run, &args.to, &origin, registry)?;
                writeln!(out, "{}", folder.display())?;
            }
        }
        Action::Page(args) => {
            let page = results_page(&args.results)?;
            write_atomic(&args.out, |file| Ok(file.write_all(page.as_bytes())?))?;
            writeln!(out, "{}", args.out.display())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
