//! `autoqd status` and `autoqd verify`.

use autoqd::registry::Registry;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use autoqd::run_folder::{RunState, Status, status, verify};

/// Arguments of `autoqd status`.
#[derive(clap::Args)]
pub struct StatusArgs {
    /// Folders of runs
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// Print JSON: an object for one run, a list for several
    #[arg(long)]
    json: bool,
}

/// Arguments of `autoqd verify`.
#[derive(clap::Args)]
pub struct VerifyArgs {
    /// Folder of a run
    run: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Says what runs did, without loading their archives.
pub fn run_status(args: &StatusArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let all =
        args.runs.iter().map(|run| Ok(status(run, registry)?)).collect::<anyhow::Result<Vec<Status>>>()?;
    match (args.json, all.as_slice()) {
        (true, [one]) => writeln!(out, "{}", serde_json::to_string_pretty(one)?)?,
        (true, several) => writeln!(out, "{}", serde_json::to_string_pretty(several)?)?,
        (false, several) => several.iter().try_for_each(|one| print(one, out))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(status: &Status, out: &mut dyn Write) -> std::io::Result<()> {
    let state = match (status.state, status.pid) {
        (RunState::Running, Some(pid)) => format!("running (process {pid})"),
        (RunState::Running, None) => "running".to_owned(),
        (RunState::Stopped, _) => "stopped".to_owned(),
        (RunState::Finished, _) => "finished".to_owned(),
    };
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.1}"));
    writeln!(out, "{}: {} with {}, seed {}", status.path.display(), status.task, status.method, status.seed)?;
    writeln!(out, "  state           {state}")?;
    writeln!(out, "  iteration       {} of {}", status.iteration, status.iterations)?;
    writeln!(out, "  elites          {}", status.elites)?;
    writeln!(out, "  coverage        {} %", number(status.coverage.map(|c| 100.0 * c)))?;
    writeln!(out, "  QD score        {}", number(status.qd_score))?;
    writeln!(out, "  best objective  {}", number(status.best_objective))?;
    writeln!(out, "  mean objective  {}", number(status.mean_objective))?;
    writeln!(
        out,
        "  env steps       {} ({} per second)",
        status.env_steps,
        number(status.env_steps_per_second)
    )?;
    writeln!(out, "  time            {:.0} s", status.seconds)
}

/// Checks the files of a run; exit code 1 when one is not what was written.
pub fn run_verify(args: &VerifyArgs, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let found = verify(&args.run)?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&found)?)?;
    } else {
        for file in &found.files {
            writeln!(out, "{} {:28} {}", if file.ok { "ok " } else { "BAD" }, file.file, file.detail)?;
        }
        if let Some(digest) = &found.archive_digest {
            writeln!(out, "archive digest {digest}")?;
        }
    }
    Ok(if found.ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
