//! The arithmetic of the paper's own tables, and populations at the edge of what can be measured.

use autoqd_measure::{
    Estimate, GtGrid, RolloutDescriptors, area_under, mann_whitney, stability, success_count,
};

fn assert_close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "{got} is not {expected} within {tolerance}");
}

fn unit_grid(dimension: usize, cells: usize) -> GtGrid {
    GtGrid::new(&vec![(0.0, 1.0); dimension], cells).unwrap()
}

#[test]
fn ant_regular_qd_score_follows_from_coverage_mean_and_offset() {
    // Table 1: 182.58e4; fine-grained table: 918 cells, mean objective 988.09; offset 1000.
    let mut grid = unit_grid(4, 20);
    for i in 0..918 {
        let at = |d: u32| (f64::from(i / 20_u32.pow(d) % 20) + 0.5) / 20.0;
        grid.add(&[at(0), at(1), at(2), at(3)], 988.09);
    }
    assert_eq!((grid.coverage(), grid.size()), (918, 160_000));
    assert_close(grid.qd_score(-1000.0) / 1e4, 182.58, 0.1);
}

#[test]
fn regular_qd_rows_of_the_paper_agree_with_the_offsets() {
    // (QD score in 1e4, coverage, mean objective, offset, residual of the elites' mean).
    let rows = [
        (182.58, 918.00, 988.09, 1000.0, 0.8),
        (24.91, 94.00, 2526.13, 100.0, 23.9),
        (1.2, 9.67, 1105.31, 100.0, 35.6),
        (11.09, 463.67, 240.70, 0.0, -1.5),
        (11.39, 91.33, 1150.78, 100.0, -3.7),
        (1.81, 89.33, 2.30, 200.0, 0.3),
    ];
    for (qd, coverage, mean, offset, residual) in rows {
        assert_close(qd * 1e4 / coverage - mean - offset, residual, 0.06);
    }
}

#[test]
fn quality_weighted_scores_of_bipedal_walker_share_one_denominator() {
    // qVS = (mean + 200) / D * VS with D = 200 + the best population mean of a single run, about 393.
    for (qvs, vs, mean) in
        [(5.16, 12.17, -33.18), (0.81, 1.57, 2.30), (1.03, 1.06, 182.07), (2.11, 5.54, -51.42)]
    {
        assert_close((mean + 200.0) / 393.0 * vs, qvs, 0.02);
    }
}

#[test]
fn standard_errors_are_those_of_three_seeds() {
    let coverage = Estimate::of(&[18.0, 19.0, 20.0]).unwrap();
    assert_eq!(format!("{:.2} {:.2}", coverage.mean, coverage.standard_error.unwrap()), "19.00 0.58");
    let regular = Estimate::of(&[9.0, 10.0, 10.0]).unwrap();
    assert_eq!(format!("{:.2} {:.2}", regular.mean, regular.standard_error.unwrap()), "9.67 0.33");
    let ant = Estimate::of(&[2041.0, 2042.0, 2056.0]).unwrap();
    assert_eq!(format!("{:.2} {:.2}", ant.mean, ant.standard_error.unwrap()), "2046.33 4.84");
}

#[test]
fn an_estimate_needs_numbers() {
    assert_eq!(Estimate::of(&[]), None);
    assert_eq!(Estimate::of(&[f64::NAN]), None);
    let single = Estimate::of(&[3.0, f64::NAN]).unwrap();
    assert_eq!((single.mean, single.standard_error, single.count), (3.0, None, 1));
}

#[test]
fn the_grid_counts_best_per_cell_and_leaves_out_what_is_no_number() {
    let mut grid = unit_grid(2, 20);
    assert_eq!((grid.coverage(), grid.qd_score(-100.0), grid.below(-100.0)), (0, 0.0, 0));
    for objective in [3.0, 7.0, 5.0] {
        grid.add(&[0.51, 0.52], objective);
    }
    assert_eq!((grid.coverage(), grid.qd_score(-100.0)), (1, 107.0));
    grid.add(&[f64::NAN, 0.5], 1.0);
    grid.add(&[0.9, 0.9], f64::NAN);
    grid.add(&[0.9, 0.9], f64::INFINITY);
    assert_eq!((grid.coverage(), grid.ignored()), (1, 3));
    // Below the offset a policy still covers its cell and lowers the score.
    grid.add(&[0.0, 0.0], -150.0);
    assert_eq!((grid.coverage(), grid.qd_score(-100.0), grid.below(-100.0)), (2, 57.0, 1));
}

#[test]
fn a_measure_on_an_edge_or_outside_has_a_cell() {
    let mut grid = unit_grid(1, 20);
    // 150 of 1000 steps: 0.15 * 20 is a little less than 3 in binary.
    grid.add(&[0.15], 1.0);
    grid.add(&[0.151], 2.0);
    assert_eq!(grid.coverage(), 1);
    grid.add(&[1.0], 1.0);
    grid.add(&[1.2], 1.0);
    grid.add(&[0.999], 1.0);
    assert_eq!(grid.coverage(), 2);
    grid.add(&[-0.1], 1.0);
    assert_eq!(grid.coverage(), 3);
}

#[test]
fn coarse_cells_nest_in_fine_ones() {
    // A population with one policy per coarse cell covers as many fine cells: RegularQD's 10 of 20 on Hopper.
    let (mut coarse, mut fine) = (unit_grid(1, 10), unit_grid(1, 20));
    for i in 0..10 {
        coarse.add(&[0.1 * f64::from(i) + 0.01], 1.0);
        fine.add(&[0.1 * f64::from(i) + 0.01], 1.0);
    }
    assert_eq!((coarse.coverage(), fine.coverage()), (10, 10));
}

#[test]
fn areas_of_the_adaptation_table_are_widths_times_heights() {
    // Friction 0.5..7.5 in steps of 0.5: AutoQD's 1429.66 is a mean height of about 204 over a width of 7.
    let curve: Vec<(f64, f64)> = (1..=15).map(|i| (0.5 * f64::from(i), 1429.66 / 7.0)).collect();
    let area = area_under(&curve).unwrap();
    assert_close(area.auc, 1429.66, 1e-9);
    assert_close(area.per_width.unwrap(), 204.24, 0.01);
    assert_eq!(area_under(&[]), None);
    let point = area_under(&[(1.0, 5.0)]).unwrap();
    assert_eq!((point.auc, point.per_width), (0.0, None));
    assert_eq!(area_under(&[(0.0, -2.0), (1.0, -4.0)]).unwrap().auc, -3.0);
}

#[test]
fn successes_need_a_positive_best_return() {
    let returns = [100.0, 90.0, 89.9, 70.0, f64::NAN, -5.0];
    assert_eq!(success_count(&returns, 100.0, 0.9), Some(2));
    assert_eq!(success_count(&returns, 100.0, 0.7), Some(4));
    assert_eq!(success_count(&returns, -1.0, 0.9), None);
}

#[test]
fn rank_tests_agree_with_scipy() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/metrics.json");
    let golden: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = golden["rank_tests"].as_array().unwrap();
    assert_eq!(cases.len(), 7);
    for case in cases {
        let [a, b]: [Vec<f64>; 2] = ["a", "b"].map(|k| serde_json::from_value(case[k].clone()).unwrap());
        let test = mann_whitney(&a, &b).unwrap();
        assert_eq!(test.u, case["u"].as_f64().unwrap());
        assert_eq!(test.exact, a.len() + b.len() <= 40);
        assert_close(test.p, case["p"].as_f64().unwrap(), 1e-12);
    }
}

#[test]
fn ties_are_counted_out_exactly() {
    // All orders of {1, 1} against {1, 2}: the larger value is in the second sample in half of them.
    let test = mann_whitney(&[1.0, 1.0], &[1.0, 2.0]).unwrap();
    assert_eq!((test.u, test.p, test.superiority), (1.0, 1.0, 0.25));
    assert_eq!(mann_whitney(&[1.0; 8], &[1.0; 8]).unwrap().p, 1.0);
    assert_eq!(mann_whitney(&[1.0; 50], &[1.0; 50]).unwrap().p, 1.0);
    assert_eq!(mann_whitney(&[], &[1.0]), None);
    assert_eq!(mann_whitney(&[f64::NAN], &[1.0]), None);
    // Complete separation of eight from eight: two of 12,870 choices.
    let (low, high): (Vec<f64>, Vec<f64>) =
        ((0..8).map(f64::from).collect(), (8..16).map(f64::from).collect());
    assert_close(mann_whitney(&low, &high).unwrap().p, 2.0 / 12_870.0, 1e-15);
}

#[test]
fn stability_is_free_of_the_descriptors_scale() {
    let values = vec![0.1, 0.2, 0.15, 0.9, 0.8, 0.95, 0.4, 0.5, 0.45];
    let seen = |scale: f64, shift: f64| RolloutDescriptors {
        values: values.iter().map(|v| v * scale + shift).collect(),
        rollouts: 3,
        dimension: 1,
    };
    let (plain, scaled) = (stability(&seen(1.0, 0.0)), stability(&seen(1000.0, -3.0)));
    for (a, b) in plain.variances.iter().zip(&scaled.variances) {
        assert_close(a.unwrap(), b.unwrap(), 1e-12);
    }
    assert_close(plain.noise_share.unwrap(), scaled.noise_share.unwrap(), 1e-12);
    assert!(plain.noise_share.unwrap() < 0.05);
}

#[test]
fn stability_of_nothing_of_constants_and_of_noise() {
    let none = stability(&RolloutDescriptors { values: vec![], rollouts: 32, dimension: 2 });
    assert_eq!((none.variances.len(), none.noise_share), (0, None));
    let constant = stability(&RolloutDescriptors { values: vec![4.0; 12], rollouts: 3, dimension: 2 });
    assert_eq!((constant.variances, constant.noise_share), (vec![Some(0.0); 2], None));
    let broken =
        stability(&RolloutDescriptors { values: vec![0.0, f64::NAN, 1.0, 1.0], rollouts: 2, dimension: 1 });
    assert_eq!(broken.variances, [None, Some(0.0)]);
    // Every policy has the same rollouts: all variance is noise.
    let noise = stability(&RolloutDescriptors { values: [0.0, 1.0].repeat(10), rollouts: 2, dimension: 1 });
    assert_eq!(noise.noise_share, Some(1.0));
}
