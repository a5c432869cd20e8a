//! `autoqd init`: a first task file for a model.

use anyhow::{Context, ensure};
use autoqd::registry::Registry;
use autoqd::run_folder::write_atomic;
use autoqd_env::Task;
use autoqd_view::render::{FrameStyle, still};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::notes::note;

/// Arguments of `autoqd init`.
#[derive(Args)]
pub struct InitArgs {
    /// MJCF file
    model: PathBuf,
    /// Task file to write; the model's name with .toml, in the present folder, if left out
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the task file if it exists
    #[arg(long)]
    force: bool,
}

/// Writes the task file and says what the model has.
pub fn run(args: &InitArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    ensure!(
        args.model.extension().is_none_or(|ending| ending != "toml"),
        "{0} is a task file already, and init wants a model; look at the task with `autoqd env show {0}`",
        args.model.display()
    );
    let file = task_file(args);
    ensure!(
        args.force || !file.exists(),
        "{} exists; choose another with --out, or replace it with --force",
        file.display()
    );
    let draft = autoqd_env::Draft::new(&args.model, &relative(&args.model, &file)?)?;
    write!(out, "{}", draft.inventory)?;
    for notice in &draft.notices {
        note!("notice: {notice}");
    }
    write_atomic(&file, |target| Ok(target.write_all(draft.task.as_bytes())?))?;
    let name = file.display().to_string();
    let task = registry.task(&name, &autoqd_env::Perturbation::default())?;
    writeln!(out, "simulator       {}", task.physics_note(autoqd_env::Physics::Auto))?;
    if let Some(picture) = draw(&*task, &file, args.force)? {
        writeln!(out, "picture         {}", picture.display())?;
    }
    writeln!(out, "wrote {name}; look at it, change it, and start with")?;
    writeln!(out, "  autoqd view {name}")?;
    writeln!(out, "  autoqd env show {name}")?;
    writeln!(out, "  autoqd run {name} --preset quick")?;
    Ok(ExitCode::SUCCESS)
}

/// Draws the task at the start of an episode, beside its file. A picture that is there already is somebody's.
fn draw(task: &dyn Task, file: &Path, replace: bool) -> anyhow::Result<Option<PathBuf>> {
    let path = file.with_extension("png");
    if path.exists() && !replace {
        note!("notice: {} exists, so no picture was drawn; --force replaces both", path.display());
        return Ok(None);
    }
    let style = FrameStyle { width: 640, height: 480, ..FrameStyle::default() };
    autoqd_view::file::write(&path, &still(task, style)?.png()?)?;
    Ok(Some(path))
}

fn task_file(args: &InitArgs) -> PathBuf {
    args.out.clone().unwrap_or_else(|| {
        let stem = args.model.file_stem().unwrap_or("task".as_ref());
        PathBuf::from(stem).with_extension("toml")
    })
}

/// The model as the task file names it: its bare name beside it, else the whole path.
fn relative(model: &Path, file: &Path) -> anyhow::Result<String> {
    let model = model.canonicalize().with_context(|| format!("model {} cannot be read", model.display()))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().with_context(|| format!("{} is not a folder", folder.display()))?;
    let shown = match model.strip_prefix(&folder) {
        Ok(inside) => inside,
        Err(_) => &model,
    };
    Ok(shown.display().to_string())
}
