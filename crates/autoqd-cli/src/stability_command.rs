//! `autoqd stability`: how much descriptors vary between rollouts of the same policy.

use std::io::Write;
use std::process::ExitCode;

use autoqd_measure::{Cell, DescriptorStability, Group, Row, Table, descriptor_stability, save_json};

use crate::measuring::{MeasureArgs, RolloutProgress, TableFormat, label, print_json};
use crate::registry::registry;

/// Arguments of `autoqd stability`.
#[derive(clap::Args)]
pub struct StabilityArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// Random policies per run
    #[arg(long, default_value_t = 100)]
    policies: usize,
    /// Rollouts per policy
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(2..))]
    rollouts: u16,
    /// How the table is printed
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

/// Runs the command.
pub fn run(args: &StabilityArgs, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let populations = args.measure.one_task()?;
    let mut progress = RolloutProgress::default();
    let (pool, rollouts) = (args.measure.pool()?, usize::from(args.rollouts));
    let found =
        descriptor_stability(&populations, &registry(), args.policies, rollouts, &pool, &mut progress)?;
    drop(progress);
    for (population, own) in populations.iter().zip(&found) {
        let file = population.folder.join("eval").join("stability.json");
        save_json(&file, &serde_json::json!({"version": 1, "stability": own}))?;
    }
    if args.measure.json {
        print_json(&found, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    args.format.print(&table(&found), out)?;
    writeln!(
        out,
        "\nvariance over {rollouts} rollouts, after scaling every measure to [0, 1] over all policies; noise \
                   share: variance within policies over all variance, free of that scale"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn table(found: &[DescriptorStability]) -> Table {
    let number = |value: Option<f64>| value.map_or(Cell::Empty, |v| Cell::Text(format!("{v:.3e}")));
    let row = |own: &DescriptorStability| Row {
        label: label(&own.variant, own.seed, &own.path),
        cells: vec![
            Cell::Text(own.variances.len().to_string()),
            number(own.quantiles.map(|q| q[0])),
            number(own.quantiles.map(|q| q[1])),
            number(own.quantiles.map(|q| q[2])),
            own.noise_share.map_or(Cell::Empty, |share| Cell::Text(format!("{share:.4}"))),
        ],
        digits: 0,
        mark_best: false,
    };
    Table {
        corner: "descriptor of".to_owned(),
        columns: ["policies", "10 %", "median", "90 %", "noise share"].map(str::to_owned).to_vec(),
        groups: vec![Group { title: String::new(), rows: found.iter().map(row).collect() }],
    }
}
