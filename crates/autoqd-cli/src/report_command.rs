//! `autoqd report`: one HTML file that shows what runs found.

use autoqd::registry::Registry;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use autoqd_view::report::{ReportOptions, report};
use autoqd_view::{RunView, file};

use crate::run_args::RunsArg;

/// Arguments of `autoqd report`.
#[derive(clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    runs: RunsArg,
    /// a file, or a folder for report.html; by default report/report.html in the folder that was given, or in the first run's
    #[arg(long)]
    out: Option<PathBuf>,
    /// behaviours shown per run, fewer if the file would be larger than 20 MB
    #[arg(long, alias = "behaviours", default_value_t = ReportOptions::default().behaviours)]
    count: usize,
    #[arg(long, default_value_t = ReportOptions::default().seconds)]
    seconds: f64,
}

/// Writes the report and names the file.
pub fn run(args: &ReportArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let runs = RunView::open_all(&args.runs.with_policies(), registry)?;
    let home = args.runs.common_folder().unwrap_or(&runs[0].run().folder);
    let path = match &args.out {
        Some(folder) if folder.is_dir() => folder.join("report.html"),
        Some(file) => file.clone(),
        None => home.join("report").join("report.html"),
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    }
    let options = ReportOptions { behaviours: args.count, seconds: args.seconds, ..Default::default() };
    let page = report(&runs, options)?;
    file::write(&path, page.as_bytes())?;
    writeln!(out, "{} ({:.1} MB)", path.display(), page.len() as f64 / 1e6)?;
    Ok(ExitCode::SUCCESS)
}
