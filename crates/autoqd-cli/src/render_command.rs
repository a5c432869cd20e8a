//! `autoqd render`: elites at work, as filmstrips, GIF, PNG or MP4.

use autoqd::registry::Registry;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use autoqd::run_folder::ArchiveTable;
use autoqd_view::plot::Mode;
use autoqd_view::render::{
    Caption, FrameStyle, Renderer, filmstrip, frames_of_one_cycle, gif, has_ffmpeg, mp4, png_sequence, stack,
};
use autoqd_view::{Change, Image, Replay, RunView, file};

use crate::run_args::RunArg;

/// What to make of each elite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Frames of one cycle of the movement side by side; those of several elites also in one picture
    Strip,
    /// An animation that plays anywhere
    Gif,
    /// A folder of single pictures
    Png,
    /// A film; needs the program ffmpeg
    Mp4,
    /// An MP4 where ffmpeg is installed, else a GIF
    Film,
}

/// Arguments of `autoqd render`.
#[derive(clap::Args)]
pub struct RenderArgs {
    #[command(flatten)]
    run: RunArg,
    /// repeatable
    #[arg(long)]
    policy: Vec<u64>,
    /// without --policy, elites to draw; the first of a list, or else the best and those that differ most among the best
    /// fifth
    #[arg(long, alias = "select", default_value_t = 10)]
    count: usize,
    /// what to make of each elite; repeatable
    #[arg(long, value_enum, default_value = "strip")]
    format: Vec<Format>,
    /// Frames of a strip
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=60))]
    frames: u64,
    #[arg(long, default_value_t = 6.0)]
    seconds: f64,
    /// Width and height of a frame in pixels [default: 320x240 for strips, 480x360 else]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size)]
    size: Option<(usize, usize)>,
    #[arg(long)]
    dark: bool,
    /// Factor on every friction of the task
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    friction_scale: f64,
    /// Factor on every mass of the task
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    mass_scale: f64,
    /// a folder; by default RUN/frames
    #[arg(long)]
    out: Option<PathBuf>,
}

fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parts {
        Some((w, h)) if (16..=4096).contains(&w) && (16..=4096).contains(&h) => Ok((w, h)),
        _ => Err("write it as 480x360, each side from 16 to 4096".to_string()),
    }
}

/// Draws elites and names the files.
pub fn run(args: &RenderArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    if args.format.contains(&Format::Mp4) && !has_ffmpeg() {
        bail!(
            "--format mp4 needs the program ffmpeg with libx264, which is not installed; install it or use --format film, which then makes a GIF"
        );
    }
    let run = RunView::open(&args.run.run, registry)?;
    let table = run.archive()?;
    let rows = rows(args, &run, &table)?;
    let folder = args.out.clone().unwrap_or_else(|| run.run().folder.join("frames"));
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let change = Change { friction_scale: args.friction_scale, mass_scale: args.mass_scale };
    let mut strips = Vec::new();
    for row in rows {
        let replay = run.replay(&table, row, change)?;
        let caption = Caption {
            title: format!("#{}", table.id[row]),
            text: run.caption(&table, row, &replay, change),
            note: run.task().spec().name.clone(),
        };
        for format in &args.format {
            let path = draw(args, *format, &replay, &caption, &folder, table.id[row], &mut strips)?;
            writeln!(out, "{}", path.display())?;
        }
    }
    if strips.len() > 1 {
        let path = folder.join("all.png");
        file::write(&path, &stack(&strips, 0).png()?)?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn rows(args: &RenderArgs, run: &RunView, table: &ArchiveTable) -> anyhow::Result<Vec<usize>> {
    if table.is_empty() {
        bail!("the archive of {} has no elite yet", args.run.run.display());
    }
    if args.policy.is_empty() {
        return Ok(run.to_show(table, args.count));
    }
    args.policy.iter().map(|id| Ok(run.run().row_of(table, *id)?)).collect()
}

fn draw(
    args: &RenderArgs,
    format: Format,
    replay: &Replay,
    caption: &Caption,
    folder: &Path,
    id: u64,
    strips: &mut Vec<Image>,
) -> anyhow::Result<PathBuf> {
    let usual = if format == Format::Strip { (320, 240) } else { (480, 360) };
    let (width, height) = args.size.unwrap_or(usual);
    let mode = if args.dark { Mode::Dark } else { Mode::Light };
    let renderer = Renderer::new(replay, FrameStyle { width, height, mode })?;
    let path = |ending: &str| folder.join(format!("elite-{id}{ending}"));
    match format {
        Format::Strip => {
            let strip = filmstrip(&renderer, &frames_of_one_cycle(replay, args.frames as usize), caption)?;
            file::write(&path(".png"), &strip.png()?)?;
            strips.push(strip);
            Ok(path(".png"))
        }
        Format::Film if has_ffmpeg() => {
            mp4(&renderer, caption, args.seconds, &path(".mp4"))?;
            Ok(path(".mp4"))
        }
        Format::Gif | Format::Film => {
            file::write(&path(".gif"), &gif(&renderer, caption, args.seconds)?)?;
            Ok(path(".gif"))
        }
        Format::Png => {
            png_sequence(&renderer, caption, args.seconds, &path(""))?;
            Ok(path(""))
        }
        Format::Mp4 => {
            mp4(&renderer, caption, args.seconds, &path(".mp4"))?;
            Ok(path(".mp4"))
        }
    }
}
