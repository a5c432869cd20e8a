//! Tables of single measurements, one row or column per run.

use std::path::Path;

use crate::adaptation::{Adaptation, AdaptationCurve, AdaptationKnob, CurvePoint};
use crate::descriptor_stability::DescriptorStability;
use crate::evaluation::{RunMetrics, TaskEvaluation};
use crate::table::{Cell, Group, Row, Table};
use autoqd_statistics::Estimate;

/// The name of a population in a table: its variant and seed, or its path where those are missing.
fn label(variant: &str, seed: Option<u64>, path: &Path) -> String {
    match seed {
        Some(seed) => format!("{variant} seed {seed}"),
        None => path.display().to_string(),
    }
}

const COLUMNS: [&str; 13] = [
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
    "gradient steps",
    "seconds",
];

/// The scores of every run, task by task.
pub fn evaluation_table(found: &[TaskEvaluation]) -> Table {
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
        run.budget.and_then(|b| b.gradient_steps).map(|steps| steps.to_string()),
        number(run.budget.and_then(|b| b.seconds), 0),
    ];
    Row {
        label: label(&run.variant, run.seed, &run.path),
        cells: values.into_iter().map(|value| value.map_or(Cell::Empty, Cell::Text)).collect(),
        digits: 0,
        mark_best: false,
    }
}

/// A study along one knob: the settings as rows, the runs as columns.
pub fn adaptation_table(found: &Adaptation, knob: &AdaptationKnob) -> Table {
    let columns = knob.curves.iter().map(|c| label(&c.variant, c.seed, &c.path)).collect();
    let row = |label: String, digits, mark_best, cell: &dyn Fn(&AdaptationCurve) -> Cell| Row {
        label,
        cells: knob.curves.iter().map(cell).collect(),
        digits,
        mark_best,
    };
    let value = |v: Option<f64>| v.and_then(|v| Estimate::of(&[v])).map_or(Cell::Empty, Cell::Value);
    let area = vec![
        row("AUC".into(), 2, true, &|c| value(c.area.map(|a| a.auc))),
        row("AUC per width".into(), 2, true, &|c| value(c.area.and_then(|a| a.per_width))),
    ];
    let settings = knob.vary.values.iter().enumerate();
    let best = settings
        .clone()
        .map(|(i, x)| row(x.to_string(), 2, true, &|c| c.points[i].best.map_or(Cell::Empty, Cell::Value)));
    let mut groups = vec![
        Group { title: format!("{}, area under the best policies", knob.vary.knob), rows: area },
        Group { title: format!("{}, return of the best policy", knob.vary.knob), rows: best.collect() },
    ];
    for (p, share) in found.options.success.iter().enumerate() {
        let count = |point: &CurvePoint| value(point.successes[p].map(|count| count as f64));
        let rows =
            settings.clone().map(|(i, x)| row(x.to_string(), 0, true, &|c| count(&c.points[i]))).collect();
        groups.push(Group {
            title: format!("{}, policies with at least {share} of the best return", knob.vary.knob),
            rows,
        });
    }
    groups.push(Group {
        title: format!("{}, quartiles of the returns that are not negative", knob.vary.knob),
        rows: boxes(knob),
    });
    Table { corner: "setting".to_owned(), columns, groups }
}

fn boxes(knob: &AdaptationKnob) -> Vec<Row> {
    let count = knob.curves.first().map_or(0, |c| c.boxes.len());
    let cell = |curve: &AdaptationCurve, i: usize| match curve.boxes[i].quantiles {
        Some([_, low, middle, high, top]) => {
            Cell::Text(format!("{low:.0} {middle:.0} {high:.0} max {top:.0}"))
        }
        None => Cell::Empty,
    };
    let row = |i: usize| Row {
        label: knob.curves[0].boxes[i].value.to_string(),
        cells: knob.curves.iter().map(|curve| cell(curve, i)).collect(),
        digits: 0,
        mark_best: false,
    };
    (0..count).map(row).collect()
}

/// How stable the descriptor of every run is.
pub fn stability_table(found: &[DescriptorStability]) -> Table {
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
