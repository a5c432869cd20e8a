//! The paper's tables for any runs.

use std::collections::BTreeMap;

use crate::error::MeasureError;
use crate::evaluation::{RunMetrics, TaskEvaluation};
use crate::table::{Cell, Group, Row, Table};
use crate::trade_off::{TradeOff, trade_off};
use autoqd_statistics::{Estimate, MannWhitney, mann_whitney};

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
const FINE: [Metric; 13] = [
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
    Metric("Gradient steps", 0, false, |run| Some(run.budget?.gradient_steps? as f64)),
    Metric("Wall time (s)", 0, false, |run| run.budget?.seconds),
];

/// A Mann-Whitney test of one number in one task.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Tested {
    /// The task.
    pub task: String,
    /// The number.
    pub metric: &'static str,
    /// The two methods.
    pub methods: [String; 2],
    /// Runs of each.
    pub runs: [usize; 2],
    /// The test; none if a method has no run with that number.
    pub test: Option<MannWhitney>,
}

/// The paper's Table 1.
pub fn main_table(found: &[TaskEvaluation]) -> Table {
    table(found, &MAIN)
}

/// The paper's fine-grained table, with what it leaves out.
pub fn fine_table(found: &[TaskEvaluation]) -> Table {
    table(found, &FINE)
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

/// Quality and diversity, each scaled to [0, 1] over the methods of a task, and how often a method lies above the
/// diagonal.
pub fn trade_off_table(found: &[TaskEvaluation]) -> Table {
    let columns = all_methods(found);
    let mut above = vec![0; columns.len()];
    let mut groups = Vec::new();
    for evaluation in found {
        let points = trade_off_of(evaluation, &columns);
        for (count, point) in above.iter_mut().zip(&points) {
            *count += usize::from(point.is_some_and(TradeOff::above_diagonal));
        }
        let rows = vec![
            scaled_row("Quality", &points, |point| point.quality),
            scaled_row("Diversity", &points, |point| point.diversity),
        ];
        groups.push(Group { title: evaluation.reference.task.clone(), rows });
    }
    let cells = above.iter().map(|count| Cell::Text(format!("{count} of {}", found.len()))).collect();
    let row = Row { label: "Above the diagonal".to_owned(), cells, digits: 0, mark_best: false };
    groups.push(Group { title: "Trade-off".to_owned(), rows: vec![row] });
    Table { corner: "Scaled to [0, 1]".to_owned(), columns, groups }
}

fn trade_off_of(evaluation: &TaskEvaluation, columns: &[String]) -> Vec<Option<TradeOff>> {
    let of = methods(evaluation);
    let mean_of = |method: &str, number: Number| Some(Estimate::of(&values(of.get(method), number))?.mean);
    let pairs = columns.iter().map(|method| {
        let quality = mean_of(method, |run| run.mean_objective);
        (method.as_str(), quality.zip(mean_of(method, |run| Some(run.vendi.value))))
    });
    trade_off(&pairs.collect::<Vec<_>>())
}

fn scaled_row(label: &str, points: &[Option<TradeOff>], number: fn(&TradeOff) -> f64) -> Row {
    let cell = |point: &Option<TradeOff>| {
        point.as_ref().and_then(|p| Estimate::of(&[number(p)])).map_or(Cell::Empty, Cell::Value)
    };
    Row { label: label.to_owned(), cells: points.iter().map(cell).collect(), digits: 2, mark_best: false }
}

/// Compares two methods, as the tables name them, in every task.
pub fn compare_methods(found: &[TaskEvaluation], a: &str, b: &str) -> Result<Vec<Tested>, MeasureError> {
    let known = all_methods(found);
    for method in [a, b] {
        if !known.iter().any(|name| name == method) {
            let expected = format!("there is no such method among the runs; there is {}", known.join(", "));
            return Err(MeasureError::setting("method", method, expected));
        }
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
