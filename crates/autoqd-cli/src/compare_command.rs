//! `autoqd compare`: the paper's tables for any runs.

use autoqd::registry::Registry;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use autoqd::run_folder::write_atomic;
use autoqd_measure::{Tested, compare_methods, fine_table, learning_curves_csv, main_table, trade_off_table};

use crate::eval_command::{ProtocolArgs, evaluate_all, print_notices};
use crate::measuring::{MeasureArgs, TableFormat, print_json};

/// Arguments of `autoqd compare`.
#[derive(clap::Args)]
pub struct CompareArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    #[command(flatten)]
    protocol: ProtocolArgs,
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    /// Two methods, as the tables name them, to compare by the Mann-Whitney U test
    #[arg(long, num_args = 2, value_names = ["METHOD", "METHOD"])]
    test: Option<Vec<String>>,
    /// Write the learning curves (mean and standard error over seeds, by iteration and by environment steps) as CSV
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &CompareArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let found = evaluate_all(&args.measure, &args.protocol, registry)?;
    let tested =
        args.test.as_ref().map(|methods| compare_methods(&found, &methods[0], &methods[1])).transpose()?;
    if let Some(path) = &args.curves {
        let csv = learning_curves_csv(&found)?;
        write_atomic(path, |file| Ok(file.write_all(csv.as_bytes())?))?;
    }
    if args.measure.json {
        print_json(&serde_json::json!({"evaluations": found, "tests": tested}), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    args.format.print(&main_table(&found), out)?;
    writeln!(out)?;
    args.format.print(&fine_table(&found), out)?;
    writeln!(out)?;
    args.format.print(&trade_off_table(&found), out)?;
    tested.iter().flatten().try_for_each(|tested| print_test(tested, out))?;
    found.iter().try_for_each(|evaluation| print_notices(evaluation, out))?;
    Ok(ExitCode::SUCCESS)
}

fn print_test(tested: &Tested, out: &mut dyn Write) -> std::io::Result<()> {
    let ([a, b], [n, m]) = (&tested.methods, tested.runs);
    write!(out, "\n{}, {}: {a} ({n} runs) against {b} ({m} runs): ", tested.task, tested.metric)?;
    match &tested.test {
        Some(t) => writeln!(
            out,
            "U = {}, p = {:.4}, {a} is larger in {:.0} % of pairs",
            t.u,
            t.p,
            100.0 * t.superiority
        ),
        None => writeln!(out, "nothing to compare"),
    }
}
