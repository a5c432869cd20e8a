//! `autoqd plot`: archives, learning curves and measurements as SVG and PNG.

use autoqd::registry::Registry;
use autoqd::run_folder::CHECKPOINT_FILE;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use autoqd_view::plot::{Figure, Mode, heatmap_pairs, parallel_axes, png};
use autoqd_view::{Measured, RunView, archive_plot, file, learning};

use crate::notes::note;
use crate::run_args::RunsArg;

/// Arguments of `autoqd plot`.
#[derive(clap::Args)]
pub struct PlotArgs {
    #[command(flatten)]
    runs: RunsArg,
    /// a folder; by default `report` in the folder that was given, or in the first run's
    #[arg(long)]
    out: Option<PathBuf>,
    /// Statistic of the archive that gives the colour [default: objective]
    #[arg(long, value_name = "COLUMN")]
    color: Option<String>,
    #[arg(long)]
    dark: bool,
    /// Pixels of a PNG per unit of the drawing
    #[arg(long, alias = "scale", value_name = "PIXELS", default_value_t = 2.0)]
    resolution: f32,
}

/// Draws everything that can be drawn from these runs and names the files.
pub fn run(args: &PlotArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    if !(0.1..=10.0).contains(&args.resolution) {
        bail!("--resolution {} is not between 0.1 and 10", args.resolution);
    }
    let runs = RunView::open_all(&args.runs.with_policies(), registry)?;
    let home = args.runs.common_folder().unwrap_or(&runs[0].run().folder);
    let folder = args.out.clone().unwrap_or_else(|| home.join("report"));
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let mode = if args.dark { Mode::Dark } else { Mode::Light };
    for (name, figure) in learning(&runs, mode)? {
        write(&figure, &folder.join(name), args, out)?;
    }
    for run in &runs {
        let prefix = if runs.len() > 1 { format!("{}-", run.name()) } else { String::new() };
        draw_archive(run, &folder, &prefix, args, out)?;
    }
    let measured = Measured::read(&runs)?;
    for (name, figure) in measured.figures(mode) {
        write(&figure, &folder.join(name), args, out)?;
    }
    measured.stale().iter().for_each(|stale| note!("left out: {stale}"));
    Ok(ExitCode::SUCCESS)
}

fn draw_archive(
    run: &RunView,
    folder: &Path,
    prefix: &str,
    args: &PlotArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let path = run.archive_path();
    // A run without a checkpoint has no archive yet; one with a checkpoint has lost it.
    if !path.exists() && path.with_file_name(CHECKPOINT_FILE).exists() {
        bail!("{} is missing; `autoqd resume` writes it again from the checkpoint", path.display());
    }
    let table = run.archive()?;
    if let Some(name) = args.color.as_deref().filter(|name| *name != "objective")
        && table.statistic(name).is_none()
    {
        let known: Vec<&str> = table.statistics.iter().map(|(name, _)| name.as_str()).collect();
        bail!("the archive of {} has no column '{name}'; it has objective, {}", run.name(), known.join(", "));
    }
    let mode = if args.dark { Mode::Dark } else { Mode::Light };
    let plot = archive_plot(run, &table, args.color.as_deref());
    let title = format!("{}: {} elites", run.task().spec().name, table.len());
    write(&heatmap_pairs(&title, &plot, mode), &folder.join(format!("{prefix}archive")), args, out)?;
    if plot.names.len() > 1 {
        write(&parallel_axes(&title, &plot, mode), &folder.join(format!("{prefix}parallel")), args, out)?;
    }
    Ok(())
}

fn write(figure: &Figure, path: &Path, args: &PlotArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let svg = figure.svg(if args.dark { Mode::Dark } else { Mode::Light });
    let with = |ending: &str| PathBuf::from(format!("{}.{ending}", path.display()));
    file::write(&with("svg"), svg.as_bytes())?;
    file::write(&with("png"), &png(&svg, args.resolution)?)?;
    for ending in ["svg", "png"] {
        writeln!(out, "{}", with(ending).display())?;
    }
    Ok(())
}
