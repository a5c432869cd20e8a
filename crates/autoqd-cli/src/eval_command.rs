//! `autoqd eval`: how good and how diverse populations are.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;
use autoqd_measure::{
    Cell, Group, Pooling, Population, Protocol, Reference, Row, RunMetrics, Table, TaskEvaluation, evaluate,
    save_json,
};

use crate::measuring::{MeasureArgs, RolloutProgress, TableFormat, label, print_json};

/// Arguments of `autoqd eval`.
#[derive(clap::Args)]
pub struct EvalArgs {
    #[command(flatten)]
    pub measure: MeasureArgs,
    #[command(flatten)]
    pub protocol: ProtocolArgs,
    /// How the table is printed
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

/// How populations are evaluated.
#[derive(clap::Args)]
pub struct ProtocolArgs {
    /// Use the normaliser, features, kernel width and scale of this file, so that scores can be compared with those of
    /// the evaluation that wrote it
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Store normaliser, features, kernel width and scale of this evaluation
    #[arg(long, value_name = "FILE", conflicts_with = "reference")]
    write_reference: Option<PathBuf>,
    /// Rollouts per policy
    #[arg(long, value_name = "N", conflicts_with = "reference")]
    episodes: Option<usize>,
    /// Seed of the evaluation
    #[arg(long, conflicts_with = "reference")]
    eval_seed: Option<u64>,
    /// Give every policy the same weight in the kernel's width, not every method
    #[arg(long, conflicts_with = "reference")]
    raw_pooling: bool,
}

impl ProtocolArgs {
    fn protocol(&self) -> anyhow::Result<Protocol> {
        let defaults = Protocol::default();
        let episodes = self.episodes.unwrap_or(defaults.episodes);
        ensure!(episodes > 0, "--episodes 0: at least one rollout per policy is needed");
        let pooling = if self.raw_pooling { Pooling::Raw } else { Pooling::Equal };
        Ok(Protocol { episodes, seed: self.eval_seed.unwrap_or(defaults.seed), pooling, ..defaults })
    }
}

/// Evaluates the populations of every task together.
pub fn evaluate_all(measure: &MeasureArgs, protocol: &ProtocolArgs) -> anyhow::Result<Vec<TaskEvaluation>> {
    let tasks = measure.by_task()?;
    ensure!(
        protocol.write_reference.is_none() || tasks.len() == 1,
        "--write-reference: a reference is of one task, but there are {}; evaluate them apart",
        tasks.len()
    );
    tasks.values().map(|populations| evaluate_task(populations, measure, protocol)).collect()
}

/// The reference in a file, if one was given and it is of the population's task.
pub fn read_reference(file: Option<&Path>, population: &Population) -> anyhow::Result<Option<Reference>> {
    let Some(file) = file else { return Ok(None) };
    let reference = Reference::read(file)?;
    reference.check(file, population.task()?.spec())?;
    Ok(Some(reference))
}

fn evaluate_task(
    populations: &[Population],
    measure: &MeasureArgs,
    args: &ProtocolArgs,
) -> anyhow::Result<TaskEvaluation> {
    let reference = read_reference(args.reference.as_deref(), &populations[0])?;
    let mut progress = RolloutProgress::default();
    let pool = measure.pool()?;
    let found = evaluate(populations, &args.protocol()?, reference.as_ref(), &pool, &mut progress)?;
    drop(progress);
    if let Some(path) = &args.write_reference {
        found.reference.write(path)?;
    }
    for (population, run) in populations.iter().zip(&found.runs) {
        let file = population.folder.join("eval").join("metrics.json");
        save_json(
            &file,
            &serde_json::json!({"version": 1, "local": found.local, "metrics": run, "reference": found.reference}),
        )?;
    }
    Ok(found)
}

/// Runs the command.
pub fn run(args: &EvalArgs, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let found = evaluate_all(&args.measure, &args.protocol)?;
    if args.measure.json {
        print_json(&found, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    args.format.print(&table(&found), out)?;
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

const COLUMNS: [&str; 11] = [
    "policies",
    "GT QD",
    "GT cells",
    "GT QD (10)",
    "GT cells (10)",
    "VS",
    "qVS",
    "mean",
    "max",
    "max again",
    "env steps",
];

fn table(found: &[TaskEvaluation]) -> Table {
    let group = |evaluation: &TaskEvaluation| Group {
        title: evaluation.reference.task.clone(),
        rows: evaluation.runs.iter().map(row).collect(),
    };
    Table {
        corner: "run".to_owned(),
        columns: COLUMNS.map(str::to_owned).to_vec(),
        groups: found.iter().map(group).collect(),
    }
}

fn row(run: &RunMetrics) -> Row {
    let number = |value: Option<f64>, digits: usize| value.map(|v| format!("{v:.digits$}"));
    let gt = |at: usize| run.gt.get(at);
    let again = run.max_rechecked.map(|e| format!("{:.1} ± {:.1}", e.mean, e.standard_error.unwrap_or(0.0)));
    let values = [
        Some(run.policies.to_string()),
        gt(0).map(|g| format!("{:.0}", g.qd_score)),
        gt(0).map(|g| g.coverage.to_string()),
        gt(1).map(|g| format!("{:.0}", g.qd_score)),
        gt(1).map(|g| g.coverage.to_string()),
        number(Some(run.vendi.value), 2),
        number(run.quality_vendi, 2),
        number(run.mean_objective, 1),
        number(run.max_objective, 1),
        again,
        run.budget.map(|b| b.env_steps.to_string()),
    ];
    Row {
        label: label(&run.variant, run.seed, &run.path),
        cells: values.into_iter().map(|value| value.map_or(Cell::Empty, Cell::Text)).collect(),
        digits: 0,
        mark_best: false,
    }
}
