//! The plots of run folders: from archives and logs to figures.

use autoqd::run_folder::{ArchiveTable, IterationRow, Row};

use crate::plot::{ArchivePlot, Curve, Figure, Mode, band_over_seeds, learning_curves};
use crate::{RunView, ViewError};

/// Cells per dimension of the picture of an archive that has no grid.
const PICTURE_CELLS: usize = 40;

/// The columns of the log that a learning curve shows, with their titles.
const CURVES: [(&str, &str); 4] = [
    ("qd_score", "QD score"),
    ("coverage", "coverage"),
    ("best_objective", "best return found"),
    ("mean_objective", "mean return found"),
];

/// What the plots of an archive need; coloured by the objective or by a statistic of this name.
pub fn archive_plot(run: &RunView, table: &ArchiveTable, color: Option<&str>) -> ArchivePlot {
    let layout = run.layout(table);
    let dimensions = table.measures.width;
    let bounds: Vec<(f64, f64)> = layout.bounds.iter().take(dimensions).map(|b| (b[0], b[1])).collect();
    let cells = layout.cells.unwrap_or_else(|| vec![PICTURE_CELLS; bounds.len()]);
    let statistic = color.and_then(|name| Some((name.to_string(), table.statistic(name)?.to_vec())));
    let (value_name, values) = statistic.unwrap_or_else(|| ("return".to_string(), table.objective.clone()));
    ArchivePlot {
        names: run.measure_names(bounds.len()),
        measures: (0..table.len()).map(|i| table.measures.row(i).to_vec()).collect(),
        bounds,
        cells,
        values,
        value_name,
        marked: Vec::new(),
    }
}

/// How the runs of one task are told apart in a legend: by method, and by the settings in which runs of one method
/// differ. Runs of the same name differ in their seed and share one curve.
fn variants(runs: &[&RunView]) -> Vec<String> {
    autoqd_measure::variants(&runs.iter().map(|run| run.run()).collect::<Vec<_>>())
}

/// Names of the tasks of these runs, in the order of first appearance.
pub(crate) fn tasks_of(runs: &[RunView]) -> Vec<String> {
    let mut tasks: Vec<String> = Vec::new();
    for run in runs {
        let name = &run.task().spec().name;
        if !tasks.contains(name) {
            tasks.push(name.clone());
        }
    }
    tasks
}

/// Learning curves, one figure per task with a name for its file: mean and standard error over the seeds of each
/// method.
pub fn learning(runs: &[RunView], mode: Mode) -> Result<Vec<(String, Figure)>, ViewError> {
    let tasks = tasks_of(runs);
    let figure = |task: &String| {
        let own: Vec<&RunView> = runs.iter().filter(|run| run.task().spec().name == *task).collect();
        let (title, name) = match tasks.len() {
            1 => ("", "learning".to_string()),
            _ => (task.as_str(), format!("{task}-learning")),
        };
        Ok((name, learning_of(&own, title, mode)?))
    };
    tasks.iter().map(figure).collect()
}

fn learning_of(runs: &[&RunView], title: &str, mode: Mode) -> Result<Figure, ViewError> {
    let mut groups: Vec<(String, Vec<Vec<IterationRow>>)> = Vec::new();
    for (run, name) in runs.iter().zip(variants(runs)) {
        let rows = run.metrics()?;
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, seeds)) => seeds.push(rows),
            None => groups.push((name, vec![rows])),
        }
    }
    let panels: Vec<(String, Vec<Curve>)> = CURVES
        .iter()
        .map(|(column, title)| {
            let curves = groups.iter().map(|(name, seeds)| curve(name, seeds, column));
            (title.to_string(), curves.collect())
        })
        .collect();
    let mut figure = learning_curves(title, &panels, "iteration", mode);
    if groups.iter().any(|(_, seeds)| seeds.len() > 1) {
        figure.note = "Bands: standard error over seeds.".to_string();
    }
    Ok(figure)
}

fn curve(name: &str, seeds: &[Vec<IterationRow>], column: &str) -> Curve {
    let point = |row: &IterationRow| {
        let value = row.numbers().into_iter().find(|(n, _)| *n == column)?.1;
        Some((row.iteration as f64, value))
    };
    let seeds: Vec<Vec<(f64, f64)>> =
        seeds.iter().map(|rows| rows.iter().filter_map(point).collect()).collect();
    Curve { name: name.to_string(), band: band_over_seeds(&seeds) }
}
