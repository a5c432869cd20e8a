//! `autoqd export`: a run's archive or policies in the formats of other tools.

use autoqd::registry::Registry;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use autoqd::export::{TableFormat, policy_to_onnx, write_table};
use autoqd::run_folder::write_atomic;
use autoqd_measure::LoadedRun;

use crate::run_args::RunArg;

/// Arguments of `autoqd export`.
#[derive(clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    run: RunArg,
    /// a file whose ending (.parquet, .csv, .npz, .safetensors, .onnx) gives the format; a folder for several policies as
    /// ONNX
    #[arg(long)]
    out: PathBuf,
    /// parquet, csv, npz, safetensors or onnx; by default what the file's ending says
    #[arg(long)]
    format: Option<String>,
    /// repeatable; without it, all of them are exported
    #[arg(long)]
    policy: Vec<u64>,
}

/// Writes the archive of a run, or its policies.
pub fn run(args: &ExportArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let run = LoadedRun::open(&args.run.run)?;
    let rows = chosen(args, &run)?;
    let ending = args.out.extension().and_then(|e| e.to_str()).unwrap_or_default();
    if args.format.as_deref().unwrap_or(ending) == "onnx" {
        export_onnx(args, &run, &rows, registry)?;
    } else {
        write_table(&run.table.select(&rows), format(args)?, &args.out)?;
    }
    writeln!(out, "{} policies written to {}", rows.len(), args.out.display())?;
    Ok(ExitCode::SUCCESS)
}

/// Policies that are exported.
fn chosen(args: &ExportArgs, run: &LoadedRun) -> anyhow::Result<Vec<usize>> {
    if args.policy.is_empty() {
        return Ok((0..run.len()).collect());
    }
    args.policy.iter().map(|id| Ok(run.row(*id)?)).collect()
}

fn format(args: &ExportArgs) -> anyhow::Result<TableFormat> {
    let names = TableFormat::ALL.map(TableFormat::as_str).join(", ");
    let found = match &args.format {
        Some(name) => TableFormat::ALL.into_iter().find(|format| format.as_str() == name),
        None => TableFormat::of_path(&args.out),
    };
    match found {
        Some(format) => Ok(format),
        None => {
            bail!("which format should {} have? Use --format with one of {names} or onnx", args.out.display())
        }
    }
}

/// One model as the file itself, several as ID.onnx in a folder.
fn export_onnx(
    args: &ExportArgs,
    run: &LoadedRun,
    rows: &[usize],
    registry: &Registry,
) -> anyhow::Result<()> {
    let spec = run.policy_spec(run.task(registry)?.spec())?;
    let write = |row: usize, path: &Path| -> anyhow::Result<()> {
        let model = policy_to_onnx(&spec, run.parameters(row))?;
        Ok(write_atomic(path, |file| Ok(file.write_all(&model)?))?)
    };
    if let ([row], true) = (rows, args.out.extension().is_some()) {
        return write(*row, &args.out);
    }
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot create the folder {}", args.out.display()))?;
    rows.iter().try_for_each(|row| write(*row, &args.out.join(format!("{}.onnx", run.table.id[*row]))))
}
