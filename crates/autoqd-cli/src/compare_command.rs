//! `autoqd compare`: the paper's tables for any runs.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use autoqd::run_folder::write_atomic;
use autoqd_measure::{
    Cell, Estimate, Group, MannWhitney, Row, RunMetrics, Table, TaskEvaluation, mann_whitney,
};

use crate::curves::curves_csv;
use crate::eval_command::{ProtocolArgs, evaluate_all, print_notices};
use crate::measuring::{MeasureArgs, TableFormat, print_json};

/// Arguments of `autoqd compare`.
#[derive(clap::Args)]
pub struct CompareArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    #[command(flatten)]
    protocol: ProtocolArgs,
    /// How the tables are printed
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    /// Two methods, as the tables name them, to compare by the Mann-Whitney U test
    #[arg(long, num_args = 2, value_names = ["METHOD", "METHOD"])]
    test: Option<Vec<String>>,
    /// Write the learning curves (mean and standard error over seeds, by iteration and by environment steps) as CSV
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
}

type Number = fn(&RunMetrics) -> Option<f64>;

/// A number of a table: name, digits, whether larger is better, and where it comes from.
struct Metric(&'static str, usize, bool, Number);

/// The unit of QD scores in the paper's tables.
const TEN_THOUSANDS: &str = " (×10^4)";

/// The paper's Table 1.
const MAIN: [Metric; 3] = [
    Metric("QD (×10^4)", 2, true, |run| Some(run.gt.first()?.qd_score / 1e4)),
    Metric("qVS", 2, true, |run| run.quality_vendi),
    Metric("VS", 2, true, |run| Some(run.vendi.value)),
];

/// The paper's fine-grained table, with what it leaves out.
const FINE: [Metric; 11] = [
    Metric("Mean Objective", 2, true, |run| run.mean_objective),
    Metric("GT Coverage", 2, true, |run| Some(run.gt.first()?.coverage as f64)),
    Metric("Vendi Score", 2, true, |run| Some(run.vendi.value)),
    Metric("Max Objective", 2, true, |run| run.max_objective),
    Metric("Max, fresh seeds", 2, true, |run| Some(run.max_rechecked?.mean)),
    Metric("QD at 10 cells (×10^4)", 2, true, |run| Some(run.gt.get(1)?.qd_score / 1e4)),
    Metric("GT Coverage at 10 cells", 2, true, |run| Some(run.gt.get(1)?.coverage as f64)),
    Metric("VS, length-normalised", 2, true, |run| Some(run.vendi_length_normalized)),
    Metric("Policies", 1, false, |run| Some(run.policies as f64)),
    Metric("Evaluations", 0, false, |run| Some(run.budget?.evaluations as f64)),
    Metric("Env steps (×10^6)", 2, false, |run| Some(run.budget?.env_steps as f64 / 1e6)),
];

/// A Mann-Whitney test of one number in one task.
#[derive(serde::Serialize)]
struct Tested {
    task: String,
    metric: &'static str,
    methods: [String; 2],
    runs: [usize; 2],
    test: Option<MannWhitney>,
}

/// Runs the command.
pub fn run(args: &CompareArgs, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let found = evaluate_all(&args.measure, &args.protocol)?;
    let tested = args.test.as_ref().map(|methods| tests(&found, &methods[0], &methods[1])).transpose()?;
    if let Some(path) = &args.curves {
        let csv = curves_csv(&found)?;
        write_atomic(path, |file| Ok(file.write_all(csv.as_bytes())?))?;
    }
    if args.measure.json {
        print_json(&serde_json::json!({"evaluations": found, "tests": tested}), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    args.format.print(&table(&found, &MAIN), out)?;
    writeln!(out)?;
    args.format.print(&table(&found, &FINE), out)?;
    writeln!(out)?;
    args.format.print(&trade_off(&found), out)?;
    tested.iter().flatten().try_for_each(|tested| print_test(tested, out))?;
    found.iter().try_for_each(|evaluation| print_notices(evaluation, out))?;
    Ok(ExitCode::SUCCESS)
}

/// The runs of each method of a task.
fn methods(evaluation: &TaskEvaluation) -> BTreeMap<&str, Vec<&RunMetrics>> {
    let mut methods: BTreeMap<&str, Vec<&RunMetrics>> = BTreeMap::new();
    for run in &evaluation.runs {
        methods.entry(&run.variant).or_default().push(run);
    }
    methods
}

fn all_methods(found: &[TaskEvaluation]) -> Vec<String> {
    let mut names: Vec<String> =
        found.iter().flat_map(|e| methods(e).into_keys().map(str::to_owned)).collect();
    names.sort();
    names.dedup();
    names
}

fn values(runs: Option<&Vec<&RunMetrics>>, number: Number) -> Vec<f64> {
    runs.into_iter().flatten().filter_map(|run| number(run)).collect()
}

/// Mean and standard error over seeds: a group per task, a column per method.
fn table(found: &[TaskEvaluation], metrics: &[Metric]) -> Table {
    let columns = all_methods(found);
    let group = |evaluation: &TaskEvaluation| {
        let of = methods(evaluation);
        let rows = metrics.iter().map(|metric| {
            let samples: Vec<Vec<f64>> =
                columns.iter().map(|m| values(of.get(m.as_str()), metric.3)).collect();
            row(metric, &samples)
        });
        Group { title: evaluation.reference.task.clone(), rows: rows.collect() }
    };
    Table { corner: "Metric".to_owned(), groups: found.iter().map(group).collect(), columns }
}

/// One line of a table; a unit that would leave nothing but zeros is dropped.
fn row(Metric(label, digits, mark_best, _): &Metric, samples: &[Vec<f64>]) -> Row {
    let largest = samples.iter().flatten().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let (label, factor) = match label.strip_suffix(TEN_THOUSANDS) {
        Some(plain) if largest < 0.1 => (plain, 1e4),
        _ => (*label, 1.0),
    };
    let cell = |sample: &Vec<f64>| {
        let scaled: Vec<f64> = sample.iter().map(|value| value * factor).collect();
        Estimate::of(&scaled).map_or(Cell::Empty, Cell::Value)
    };
    Row {
        label: label.to_owned(),
        cells: samples.iter().map(cell).collect(),
        digits: *digits,
        mark_best: *mark_best,
    }
}

/// Quality and diversity, each scaled to [0, 1] over the methods of a task, and how often diversity wins.
fn trade_off(found: &[TaskEvaluation]) -> Table {
    let columns = all_methods(found);
    let mut above = vec![0; columns.len()];
    let mut groups = Vec::new();
    for evaluation in found {
        let of = methods(evaluation);
        let mean_of = |method: &String, number: Number| {
            Some(Estimate::of(&values(of.get(method.as_str()), number))?.mean)
        };
        let scaled = |number: Number| scale(&columns.iter().map(|m| mean_of(m, number)).collect::<Vec<_>>());
        let (quality, diversity) = (scaled(|run| run.mean_objective), scaled(|run| Some(run.vendi.value)));
        for (count, (q, d)) in above.iter_mut().zip(quality.iter().zip(&diversity)) {
            *count += usize::from(q.zip(*d).is_some_and(|(q, d)| d > q));
        }
        let rows = vec![scaled_row("Quality", &quality), scaled_row("Diversity", &diversity)];
        groups.push(Group { title: evaluation.reference.task.clone(), rows });
    }
    let cells = above.iter().map(|count| Cell::Text(format!("{count} of {}", found.len()))).collect();
    let row = Row { label: "Above the diagonal".to_owned(), cells, digits: 0, mark_best: false };
    groups.push(Group { title: "Trade-off".to_owned(), rows: vec![row] });
    Table { corner: "Scaled to [0, 1]".to_owned(), columns, groups }
}

fn scale(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let low = values.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter().map(|v| v.filter(|_| high > low).map(|v| (v - low) / (high - low))).collect()
}

fn scaled_row(label: &str, values: &[Option<f64>]) -> Row {
    let cell = |value: &Option<f64>| value.and_then(|v| Estimate::of(&[v])).map_or(Cell::Empty, Cell::Value);
    Row { label: label.to_owned(), cells: values.iter().map(cell).collect(), digits: 2, mark_best: false }
}

fn tests(found: &[TaskEvaluation], a: &str, b: &str) -> anyhow::Result<Vec<Tested>> {
    let known = all_methods(found);
    for method in [a, b] {
        let missing =
            || format!("--test: there is no method '{method}' among the runs; there is {}", known.join(", "));
        known.iter().find(|name| *name == method).with_context(missing)?;
    }
    let mut tested = Vec::new();
    for evaluation in found {
        let of = methods(evaluation);
        for Metric(metric, _, _, number) in MAIN.iter().chain(&FINE[..2]).chain(&FINE[3..5]) {
            let samples = [a, b].map(|method| values(of.get(method), *number));
            tested.push(Tested {
                task: evaluation.reference.task.clone(),
                metric,
                methods: [a.to_owned(), b.to_owned()],
                runs: [samples[0].len(), samples[1].len()],
                test: mann_whitney(&samples[0], &samples[1]),
            });
        }
    }
    Ok(tested)
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
