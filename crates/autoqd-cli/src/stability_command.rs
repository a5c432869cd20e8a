//! `autoqd stability`: how much descriptors vary between rollouts of the same policy.

use autoqd::registry::Registry;
use std::io::Write;
use std::process::ExitCode;

use autoqd_measure::{RunStability, Stored, descriptor_stability, stability_table};

use crate::measuring::{MeasureArgs, RolloutProgress, TableFormat, print_json};

/// Arguments of `autoqd stability`.
#[derive(clap::Args)]
pub struct StabilityArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// random policies per run
    #[arg(long, alias = "policies", default_value_t = 100)]
    count: usize,
    /// 2 or more
    #[arg(long, alias = "rollouts", default_value_t = 32, value_parser = clap::value_parser!(u16).range(2..))]
    episodes: u16,
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

/// Runs the command.
pub fn run(args: &StabilityArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let runs = args.measure.one_task()?;
    let mut progress = RolloutProgress::default();
    let (bench, rollouts) = (args.measure.bench(registry)?, usize::from(args.episodes));
    let found = descriptor_stability(&runs, registry, args.count, rollouts, &bench, &mut progress)?;
    drop(progress);
    for (run, own) in runs.iter().zip(&found) {
        Stored::new(run, RunStability { stability: own.clone() }).write(&run.folder)?;
    }
    if args.measure.json {
        print_json(&found, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    args.format.print(&stability_table(&found), out)?;
    writeln!(
        out,
        "\nvariance over {rollouts} rollouts, after scaling every measure to [0, 1] over all policies; noise \
                   share: variance within policies over all variance, free of that scale"
    )?;
    Ok(ExitCode::SUCCESS)
}
