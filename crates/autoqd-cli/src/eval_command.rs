//! `autoqd eval`: how good and how diverse populations are.

use autoqd::registry::Registry;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;
use autoqd_measure::{
    LoadedRun, Pooling, Protocol, Reference, Run, Stored, TaskEvaluation, evaluate, evaluation_table,
};

use crate::measuring::{MeasureArgs, RolloutProgress, TableFormat, print_json};

/// Arguments of `autoqd eval`.
#[derive(clap::Args)]
pub struct EvalArgs {
    #[command(flatten)]
    pub measure: MeasureArgs,
    #[command(flatten)]
    pub protocol: ProtocolArgs,
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

/// How populations are evaluated.
#[derive(clap::Args)]
pub struct ProtocolArgs {
    #[arg(long)]
    reference: Option<PathBuf>,
    /// Store the scale of this evaluation, so that others can be measured on it
    #[arg(long, value_name = "FILE", conflicts_with = "reference")]
    write_reference: Option<PathBuf>,
    #[arg(long, conflicts_with = "reference")]
    episodes: Option<usize>,
    /// the evaluation
    #[arg(long, alias = "eval-seed", conflicts_with = "reference")]
    seed: Option<u64>,
    /// Give every policy the same weight in the kernel's width, not every method
    #[arg(long, conflicts_with = "reference")]
    raw_pooling: bool,
}

impl ProtocolArgs {
    fn protocol(&self) -> anyhow::Result<Protocol> {
        let defaults = Protocol::default();
        let episodes = self.episodes.unwrap_or(defaults.episodes);
        ensure!(episodes > 0, "--episodes 0: at least one episode per policy is needed");
        let pooling = if self.raw_pooling { Pooling::Raw } else { Pooling::Equal };
        Ok(Protocol { episodes, seed: self.seed.unwrap_or(defaults.seed), pooling, ..defaults })
    }
}

/// Evaluates the populations of every task together.
pub fn evaluate_all(
    measure: &MeasureArgs,
    protocol: &ProtocolArgs,
    registry: &Registry,
) -> anyhow::Result<Vec<TaskEvaluation>> {
    let tasks = measure.by_task()?;
    ensure!(
        protocol.write_reference.is_none() || tasks.len() == 1,
        "--write-reference: a reference belongs to one task, but these runs have {}; evaluate them separately",
        tasks.len()
    );
    tasks.values().map(|runs| evaluate_task(runs, measure, protocol, registry)).collect()
}

/// The reference in a file, if one was given and it is of the run's task.
pub fn read_reference(
    file: Option<&Path>,
    run: &Run,
    registry: &Registry,
) -> anyhow::Result<Option<Reference>> {
    let Some(file) = file else { return Ok(None) };
    let reference = Reference::read(file)?;
    reference.check(file, run.task(registry)?.spec())?;
    Ok(Some(reference))
}

fn evaluate_task(
    runs: &[LoadedRun],
    measure: &MeasureArgs,
    args: &ProtocolArgs,
    registry: &Registry,
) -> anyhow::Result<TaskEvaluation> {
    let reference = read_reference(args.reference.as_deref(), &runs[0], registry)?;
    let mut progress = RolloutProgress::default();
    let bench = measure.bench(registry)?;
    let found = evaluate(runs, &args.protocol()?, reference.as_ref(), &bench, &mut progress)?;
    drop(progress);
    if let Some(path) = &args.write_reference {
        found.reference.write(path)?;
    }
    for (i, run) in runs.iter().enumerate() {
        Stored::new(run, found.of_run(i)).write(&run.folder)?;
    }
    Ok(found)
}

/// Runs the command.
pub fn run(args: &EvalArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let found = evaluate_all(&args.measure, &args.protocol, registry)?;
    if args.measure.json {
        print_json(&found, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    args.format.print(&evaluation_table(&found), out)?;
    for evaluation in &found {
        print_notices(evaluation, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a reader of the numbers must know.
pub fn print_notices(evaluation: &TaskEvaluation, out: &mut dyn Write) -> std::io::Result<()> {
    let reference = &evaluation.reference;
    if evaluation.local {
        writeln!(
            out,
            "\n{}: VS and qVS are on a scale of these runs alone (kernel width and best mean); compare them with others \
             only under one --reference",
            reference.task
        )?;
    }
    evaluation.notices.iter().try_for_each(|notice| writeln!(out, "note: {notice}"))
}
