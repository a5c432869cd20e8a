//! `autoqd export`: a run's archive or policies in the formats of other tools.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use autoqd::export::{TableFormat, policy_to_onnx, write_table};
use autoqd::policy::PolicySpec;
use autoqd::run_folder::{ArchiveTable, read_config, write_atomic};

use crate::registry::registry;

/// Arguments of `autoqd export`.
#[derive(clap::Args)]
pub struct ExportArgs {
    /// Folder of the run
    run: PathBuf,
    /// File to write; its ending (.parquet, .csv, .npz, .safetensors, .onnx) gives the format. With several policies as
    /// ONNX, a folder
    #[arg(long, short, value_name = "PATH")]
    out: PathBuf,
    /// Format, where the file's ending does not say: parquet, csv, npz, safetensors or onnx
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Only this elite, by its id; repeatable. Without it, all of them
    #[arg(long, value_name = "ID")]
    policy: Vec<u64>,
}

/// Writes the archive of a run, or its policies.
pub fn run(args: &ExportArgs, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let table = ArchiveTable::read(&args.run)?;
    let rows = chosen(args, &table)?;
    let ending = args.out.extension().and_then(|e| e.to_str()).unwrap_or_default();
    if args.format.as_deref().unwrap_or(ending) == "onnx" {
        export_onnx(args, &table, &rows)?;
    } else {
        write_table(&table.select(&rows), format(args)?, &args.out)?;
    }
    writeln!(out, "{} policies written to {}", rows.len(), args.out.display())?;
    Ok(ExitCode::SUCCESS)
}

/// Rows of the table that are exported.
fn chosen(args: &ExportArgs, table: &ArchiveTable) -> anyhow::Result<Vec<usize>> {
    if args.policy.is_empty() {
        return Ok((0..table.len()).collect());
    }
    let row = |id: &u64| {
        let found = table.id.iter().position(|i| i == id);
        found.with_context(|| {
            format!("{} has no elite with id {id}; archive.parquet lists them", args.run.display())
        })
    };
    args.policy.iter().map(row).collect()
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
fn export_onnx(args: &ExportArgs, table: &ArchiveTable, rows: &[usize]) -> anyhow::Result<()> {
    let config = read_config(&args.run)?;
    let task = registry().task_of(&config)?;
    let spec = PolicySpec::stored_or_for_task(table.policy()?, &config.policy, task.spec())?;
    let write = |row: usize, path: &Path| -> anyhow::Result<()> {
        let model = policy_to_onnx(&spec, table.parameters.row(row))?;
        Ok(write_atomic(path, |file| Ok(file.write_all(&model)?))?)
    };
    if let ([row], true) = (rows, args.out.extension().is_some()) {
        return write(*row, &args.out);
    }
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the folder {}", args.out.display()))?;
    rows.iter().try_for_each(|row| write(*row, &args.out.join(format!("{}.onnx", table.id[*row]))))
}
