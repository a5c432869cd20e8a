//! Learning curves of runs, over iterations and over environment steps.

use std::collections::BTreeMap;

use crate::error::MeasureError;
use crate::evaluation::TaskEvaluation;
use crate::run::Run;
use autoqd::export::csv_field;
use autoqd::run_folder::IterationRow;
use autoqd_statistics::Estimate;

/// Points of a curve over environment steps.
const POINTS: usize = 100;

type Number = fn(&IterationRow) -> f64;

const NUMBERS: [(&str, Number); 4] = [
    ("qd_score", |row| row.qd_score),
    ("coverage", |row| row.coverage),
    ("best_objective", |row| row.best_objective),
    ("mean_objective", |row| row.mean_objective),
];

/// Mean and standard error over seeds of what the searches logged about their own archives, one line per task, method,
/// axis, position and number.
pub fn learning_curves_csv(found: &[TaskEvaluation]) -> Result<String, MeasureError> {
    let mut out = "task,method,axis,x,metric,mean,standard_error,runs\n".to_owned();
    for evaluation in found {
        let mut methods: BTreeMap<&str, Vec<Vec<IterationRow>>> = BTreeMap::new();
        for run in &evaluation.runs {
            methods.entry(&run.variant).or_default().push(Run::open(&run.path)?.log()?);
        }
        for (method, runs) in methods {
            let head = format!("{},{}", csv_field(&evaluation.reference.task), csv_field(method));
            for (axis, points) in [("iteration", by_iteration(&runs)), ("env_steps", by_steps(&runs))] {
                out.extend(points.iter().map(|point| format!("{head},{axis},{point}\n")));
            }
        }
    }
    Ok(out)
}

fn by_iteration(runs: &[Vec<IterationRow>]) -> Vec<String> {
    let last = runs.iter().filter_map(|rows| Some(rows.last()?.iteration)).max().unwrap_or(0);
    let at = |iteration: u64| -> Vec<&IterationRow> {
        runs.iter().filter_map(|rows| rows.iter().find(|row| row.iteration == iteration)).collect()
    };
    (1..=last).flat_map(|iteration| lines(iteration, &at(iteration))).collect()
}

/// At equal steps every run shows its latest iteration; the curve ends where the shortest run ends.
fn by_steps(runs: &[Vec<IterationRow>]) -> Vec<String> {
    let end = runs.iter().map(|rows| rows.last().map_or(0, |row| row.env_steps)).min().unwrap_or(0);
    let at = |steps: u64| -> Vec<&IterationRow> {
        runs.iter().filter_map(|rows| rows.iter().rfind(|row| row.env_steps <= steps)).collect()
    };
    let positions = (1..=POINTS as u64).map(|i| end * i / POINTS as u64);
    positions.flat_map(|steps| lines(steps, &at(steps))).collect()
}

fn lines(x: u64, rows: &[&IterationRow]) -> Vec<String> {
    let line = |(name, number): &(&str, Number)| {
        let values: Vec<f64> = rows.iter().map(|row| number(row)).collect();
        let estimate = Estimate::of(&values)?;
        let error = estimate.standard_error.map_or(String::new(), |e| e.to_string());
        Some(format!("{x},{name},{},{error},{}", estimate.mean, estimate.count))
    };
    NUMBERS.iter().filter_map(line).collect()
}
