//! `autoqd select`: few policies that are good and far apart.

use autoqd::registry::Registry;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use autoqd_measure::{LoadedRun, farthest_points};

use crate::measuring::print_json;
use crate::run_args::RunArg;
use crate::space::{LocateArgs, Space};

/// Arguments of `autoqd select`.
#[derive(clap::Args)]
pub struct SelectArgs {
    #[command(flatten)]
    run: RunArg,
    /// Share of the policies, by objective, to choose from
    #[arg(long, value_name = "SHARE", default_value = "20%", value_parser = parse_share)]
    top: f64,
    /// policies to choose
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    #[arg(long, value_enum, default_value = "measures")]
    space: Space,
    #[command(flatten)]
    how: LocateArgs,
    /// a list (.json) that other commands accept in place of the run; by default RUN/selected.json
    #[arg(long)]
    out: Option<PathBuf>,
    #[arg(long)]
    json: bool,
}

/// One chosen policy.
#[derive(serde::Serialize)]
pub struct Chosen<'a> {
    id: u64,
    cell: u64,
    objective: f64,
    measures: &'a [f64],
}

impl<'a> Chosen<'a> {
    /// Policy `i` of a run.
    pub fn new(run: &'a LoadedRun, i: usize) -> Self {
        let table = &run.table;
        Self {
            id: table.id[i],
            cell: table.cell[i],
            objective: table.objective[i],
            measures: table.measures.row(i),
        }
    }

    /// One line about it.
    pub fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let measures: Vec<String> = self.measures.iter().map(|m| format!("{m:.3}")).collect();
        writeln!(out, "{:>8}  return {:>10.2}  measures {}", self.id, self.objective, measures.join(" "))
    }
}

/// Runs the command.
pub fn run(args: &SelectArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (run, located) = args.how.locate(&args.run.run, args.space, registry)?;
    let objectives: Vec<f64> = located.policies.iter().map(|&i| run.table.objective[i]).collect();
    let chosen = farthest_points(located.points(), &objectives, args.top, args.count as usize);
    let chosen: Vec<usize> = chosen.into_iter().map(|at| located.policies[at]).collect();
    let file = args.out.clone().unwrap_or_else(|| run.folder.join("selected.json"));
    run.selection(&chosen, &file)?.write(&file)?;
    let shown: Vec<Chosen<'_>> = chosen.iter().map(|&i| Chosen::new(&run, i)).collect();
    if args.json {
        print_json(&serde_json::json!({"file": file, "policies": shown}), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    shown.iter().try_for_each(|one| one.print(out))?;
    located.notices.iter().try_for_each(|notice| writeln!(out, "note: {notice}"))?;
    writeln!(out, "{}", file.display())?;
    Ok(ExitCode::SUCCESS)
}

/// A share as `20%` or `0.2`.
fn parse_share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|p| p / 100.0),
        None => text.parse::<f64>(),
    };
    match share {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("expected a share such as 20% or 0.2, above 0 and at most all".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        assert_eq!(parse_share("20%"), Ok(0.2));
        assert_eq!(parse_share("0.5"), Ok(0.5));
        for text in ["0", "120%", "-1", "x", "%"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }
}
