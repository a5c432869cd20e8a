//! archive* and grid_lookup*.

use autoqd_qd::{
    AddInfo, Archive, Batch, CellConfig, Grid, GridArchive, GridConfig, Result, Rows, Tessellation,
};
use serde_json::Value;

use super::files::{assert_close, finite, integer, integers, list, load, matrix, number, numbers};

/// The grid archive that a golden header describes.
pub fn grid_archive(solution_dim: usize, header: &Value, offset: f64) -> Result<GridArchive> {
    let ranges: Vec<_> = numbers(&header["lower"]).into_iter().zip(numbers(&header["upper"])).collect();
    let mut config = GridConfig::new(solution_dim, &integers(&header["dims"]), &ranges);
    if let Some(epsilon) = header["epsilon"].as_f64() {
        config.epsilon = epsilon;
    }
    let cell = CellConfig {
        learning_rate: finite(&header["learning_rate"]),
        threshold_min: finite(&header["threshold_min"]),
        ..CellConfig::default()
    };
    config.cell(cell.qd_score_offset(offset)).build()
}

/// Status exact, value to 1e-12 of the larger of 1, objective and threshold.
pub fn check_add(place: &str, info: &AddInfo, objective: &[f64], expected: &Value) {
    let status: Vec<usize> = info.status.iter().map(|s| *s as usize).collect();
    assert_eq!(status, integers(&expected["status"]), "{place}: status");
    for (row, value) in numbers(&expected["value"]).into_iter().enumerate() {
        let scale = objective[row].abs().max((objective[row] - value).abs());
        assert_close(&format!("{place}: value of row {row}"), info.value[row], value, 1e-12, scale);
    }
}

#[test]
fn golden_archives_replay() {
    for (name, file) in load("archive") {
        for case in list(&file["cases"]) {
            let place = format!("{name} {}", case["name"]);
            let built = grid_archive(1, case, finite(&case["qd_score_offset"]).unwrap_or(0.0));
            assert_eq!(built.is_err(), !case["constructor_error"].is_null(), "{place}: constructor");
            let Ok(mut archive) = built else { continue };
            for (i, batch) in list(&case["batches"]).iter().enumerate() {
                replay_batch(&format!("{place} batch {i}"), &mut archive, case, batch);
            }
        }
    }
}

fn replay_batch(place: &str, archive: &mut GridArchive, case: &Value, expected: &Value) {
    let (solutions, objective) = (numbers(&expected["solution_id"]), numbers(&expected["objective"]));
    let measures = matrix(&expected["measures"]);
    let measures = Rows::new(&measures, integers(&case["dims"]).len()).unwrap();
    let cells: Vec<usize> = measures.iter().map(|m| archive.cell_of(m).unwrap()).collect();
    assert_eq!(cells, integers(&expected["cell"]), "{place}: cells");
    let batch = Batch::new(Rows::new(&solutions, 1).unwrap(), &objective, measures);
    let info = match case["mode"].as_str() {
        Some("single") => archive.add_single(&batch).unwrap(),
        Some("batch") => archive.add(&batch).unwrap(),
        other => panic!("{place}: unknown mode {other:?}"),
    };
    check_add(place, &info, &objective, expected);
    check_contents(place, archive, &expected["after"]);
    check_stats(place, archive, &expected["after"]);
}

fn check_contents(place: &str, archive: &GridArchive, after: &Value) {
    let order: Vec<usize> = archive.cells().collect();
    assert_eq!(order, integers(&after["occupied_order"]), "{place}: order of occupation");
    assert_eq!(order.len(), list(&after["cells"]).len(), "{place}: occupied cells");
    for expected in list(&after["cells"]) {
        let cell = integer(&expected["cell"]);
        let place = format!("{place} cell {cell}");
        let elite = archive.elite_in(cell).unwrap_or_else(|| panic!("{place} is empty"));
        assert_eq!(elite.solution, [number(&expected["solution_id"])], "{place}: solution");
        assert_eq!(elite.objective, number(&expected["objective"]), "{place}: objective");
        assert_eq!(elite.measures, numbers(&expected["measures"]), "{place}: measures");
        let threshold = number(&expected["threshold"]);
        let scale = threshold.abs().max(elite.objective.abs());
        assert_close(&format!("{place}: threshold"), archive.threshold_in(cell), threshold, 1e-12, scale);
    }
}

fn check_stats(place: &str, archive: &GridArchive, after: &Value) {
    let (stats, expected) = (archive.stats(), &after["stats"]);
    assert_eq!(stats.num_elites, integer(&expected["num_elites"]), "{place}: num_elites");
    let figures = [
        ("coverage", Some(stats.coverage)),
        ("qd_score", Some(stats.qd_score)),
        ("norm_qd_score", Some(stats.norm_qd_score)),
        ("obj_max", stats.obj_max),
        ("obj_mean", stats.obj_mean),
    ];
    for (name, got) in figures {
        match (got, finite(&expected[name])) {
            (Some(got), Some(expected)) => {
                assert_close(&format!("{place}: {name}"), got, expected, 1e-10, expected)
            }
            (got, expected) => {
                assert!(expected.is_none() && stats.num_elites == 0, "{place}: {name} {got:?}")
            }
        }
    }
    let best = archive.best_elite().map(|e| e.solution[0]);
    assert_eq!(best, finite(&after["best_solution_id"]), "{place}: best elite");
}

#[test]
fn golden_grid_lookups_replay() {
    for (name, file) in load("grid_lookup") {
        for grid in list(&file["grids"]) {
            let dims = integers(&grid["dims"]);
            let (lower, upper) = (numbers(&grid["lower"]), numbers(&grid["upper"]));
            let ours = Grid::new(&dims, &lower, &upper, number(&grid["epsilon"])).unwrap();
            let points = list(&grid["measures"]).iter().map(numbers);
            let expected = integers(&grid["cell"]).into_iter().zip(list(&grid["grid_index"]));
            for (point, (cell, index)) in points.zip(expected) {
                assert_eq!(ours.grid_index(&point), integers(index), "{name}: index of {point:?}");
                assert_eq!(ours.cell(&point), cell, "{name}: cell of {point:?}");
                assert_eq!(ours.unflatten(cell), integers(index), "{name}: position of {cell}");
            }
            for (got, expected) in ours.boundaries().iter().zip(list(&grid["boundaries"])) {
                for (got, expected) in got.iter().zip(numbers(expected)) {
                    assert_close(&format!("{name}: boundary"), *got, expected, 1e-12, expected);
                }
            }
        }
    }
}
