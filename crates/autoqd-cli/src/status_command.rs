//! `autoqd status` and `autoqd verify`.

use autoqd::registry::Registry;
use std::io::Write;
use std::process::ExitCode;

use autoqd::run_folder::{Status, Verification, status, verify};

use crate::fresh_returns::{fresh_returns, outside_note};
use crate::measuring::print_json;
use crate::run_args::RunsArg;
use crate::run_table::{self, Row};

/// Lists and tables of policies have neither a status nor checksums.
const FOLDERS: &str = "Run folders, or folders that hold runs";

/// Arguments of `autoqd status`.
#[derive(clap::Args)]
#[command(mut_arg("runs", |arg| arg.help(FOLDERS)))]
pub struct StatusArgs {
    #[command(flatten)]
    runs: RunsArg,
    /// an object for one run, a list for several
    #[arg(long)]
    json: bool,
}

/// Arguments of `autoqd verify`.
#[derive(clap::Args)]
#[command(mut_arg("runs", |arg| arg.help(FOLDERS)))]
pub struct VerifyArgs {
    #[command(flatten)]
    runs: RunsArg,
    /// an object for one run, a list for several
    #[arg(long)]
    json: bool,
}

/// Shows the status of runs; of one run also what its best elites return in fresh episodes. Exit code 1 when one of several cannot be read.
pub fn run_status(args: &StatusArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let runs = args.runs.all();
    if let ([run], true) = (&runs[..], args.runs.is_one()) {
        let found = status(run, registry)?;
        if args.json {
            print_json(&found, out)?
        } else {
            print(&found, out)?;
            print_fresh(&found, registry, out)?
        }
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Row> = runs.iter().map(|run| Row::read(run, registry)).collect();
    if args.json {
        print_json(&rows, out)?
    } else {
        run_table::print(&rows, out)?
    }
    Ok(ExitCode::from(u8::from(!rows.iter().all(Row::is_sound))))
}

fn print(status: &Status, out: &mut dyn Write) -> std::io::Result<()> {
    let state = match status.pid {
        Some(pid) => format!("{} (process {pid})", run_table::state(status.state)),
        None => run_table::state(status.state).to_owned(),
    };
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.1}"));
    writeln!(out, "{}: {} with {}, seed {}", status.path.display(), status.task, status.method, status.seed)?;
    writeln!(out, "  state           {state}")?;
    writeln!(out, "  iteration       {} of {}", status.iteration, status.iterations)?;
    writeln!(out, "  elites          {}", status.elites)?;
    writeln!(out, "  coverage        {} %", number(status.coverage.map(|c| 100.0 * c)))?;
    writeln!(out, "  QD score        {}", number(status.qd_score))?;
    writeln!(out, "  best return     {} (found by the search)", number(status.best_objective))?;
    writeln!(out, "  mean return     {} (found by the search)", number(status.mean_objective))?;
    if let Some(outside) = status.outside {
        writeln!(out, "  outside bounds  {:.0} % of the best fifth", 100.0 * outside)?;
    }
    writeln!(
        out,
        "  env steps       {} ({} per second)",
        status.env_steps,
        number(status.env_steps_per_second)
    )?;
    if let Some(reason) = &status.inexact {
        writeln!(out, "  not bit-exact   {reason}")?;
    }
    writeln!(out, "  time            {:.0} s", status.seconds)
}

/// What the best elites return with fresh seeds, and whether the archive's bounds hold the best elites.
fn print_fresh(status: &Status, registry: &Registry, out: &mut dyn Write) -> std::io::Result<()> {
    if let Some(fresh) = fresh_returns(&status.path, registry) {
        writeln!(out, "{fresh}")?;
    }
    let follows = autoqd::run_folder::read_config(&status.path).is_ok_and(|config| config.follows());
    match outside_note(status, follows) {
        Some(text) => writeln!(out, "note: {text}"),
        None => Ok(()),
    }
}

/// Checks the files of runs; exit code 1 when one is not what was written.
pub fn run_verify(args: &VerifyArgs, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let found = args.runs.all().iter().map(|run| verify(run)).collect::<Result<Vec<_>, _>>()?;
    match (args.json, &found[..]) {
        (true, [one]) if args.runs.is_one() => print_json(one, out)?,
        (true, several) => print_json(&several, out)?,
        (false, several) => several.iter().try_for_each(|one| print_verification(one, several.len(), out))?,
    }
    Ok(ExitCode::from(u8::from(!found.iter().all(|run| run.ok))))
}

fn print_verification(found: &Verification, of: usize, out: &mut dyn Write) -> std::io::Result<()> {
    if of > 1 {
        writeln!(out, "{}:", found.path.display())?;
    }
    for file in &found.files {
        writeln!(out, "{} {:28} {}", if file.ok { "ok " } else { "BAD" }, file.file, file.detail)?;
    }
    match &found.archive_digest {
        Some(digest) => writeln!(out, "archive digest {digest}"),
        None => Ok(()),
    }
}
