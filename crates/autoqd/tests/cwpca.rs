//! Calibrated weighted PCA: what it promises, and the cases the paper does not cover.

use autoqd::cwpca::{AffineMap, CwPcaOptions, fit, quantile, random, weights};
use proptest::prelude::*;

fn noise(n: usize, seed: u64, amplitude: f64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        amplitude * ((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    };
    (0..n).map(|_| next()).collect()
}

/// Rows whose spread falls from one dimension to the next.
fn rows(m: usize, dimension: usize, seed: u64) -> Vec<Vec<f64>> {
    let row = |i: usize| {
        let noise = noise(dimension, seed.wrapping_add(i as u64 * 7919), 0.05);
        noise.iter().enumerate().map(|(d, x)| 0.1 + x / (1.0 + d as f64)).collect()
    };
    (0..m).map(row).collect()
}

fn fit_default(rows: &[Vec<f64>], objectives: &[f64], k: usize) -> AffineMap {
    fit(rows, objectives, k, &CwPcaOptions::default()).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn column(map: &AffineMap, rows: &[Vec<f64>], axis: usize) -> Vec<f64> {
    let mut column: Vec<f64> = rows.iter().map(|row| map.map(row)[axis]).collect();
    column.sort_by(f64::total_cmp);
    column
}

#[test]
fn quantiles_interpolate() {
    assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
    assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
    assert_eq!(quantile(&[1.0, 2.0, 4.0], 1.0), 4.0);
    assert_eq!(quantile(&[7.0], 0.05), 7.0);
    assert!(quantile(&[], 0.5).is_nan());
}

#[test]
fn weights_follow_the_formula() {
    // Normalised 0, 0.5, 1 with the floor 1/3.
    let expected = [1.0 / 3.0, 0.5, 1.0].map(|share| share / (1.0 / 3.0 + 1.5));
    weights(&[-10.0, 0.0, 10.0]).iter().zip(expected).for_each(|(w, e)| assert!((w - e).abs() < 1e-15));
}

#[test]
fn equal_objectives_weigh_the_same() {
    assert_eq!(weights(&[3.0; 4]), vec![0.25; 4]);
    let rows = rows(30, 6, 1);
    let unweighted = CwPcaOptions { weighted: false, ..Default::default() };
    let (a, b) = (fit_default(&rows, &[3.0; 30], 3), fit(&rows, &noise(30, 2, 9.0), 3, &unweighted).unwrap());
    a.a.iter().zip(&b.a).for_each(|(a, b)| assert!((a - b).abs() < 1e-9 * a.abs().max(1.0)));
}

#[test]
fn good_policies_pull_the_first_axis() {
    // Good policies differ in dimension 1, bad ones (twice as much) in dimension 0.
    let mut rows = Vec::new();
    let mut objectives = Vec::new();
    for i in 0..40 {
        let x = f64::from(i) / 20.0 - 1.0;
        rows.extend([vec![2.0 * x, 0.0], vec![0.0, x]]);
        objectives.extend([0.0, 100.0]);
    }
    let first = |weighted| {
        let options = CwPcaOptions { weighted, ..Default::default() };
        fit(&rows, &objectives, 1, &options).unwrap().component(0).to_vec()
    };
    assert!(first(true)[1].abs() > 0.99);
    assert!(first(false)[0].abs() > 0.99);
}

#[test]
fn fewer_elites_than_measures_leave_flat_axes_at_the_end() {
    let rows = rows(3, 8, 1);
    let map = fit_default(&rows, &[1.0, 2.0, 3.0], 4);
    // Three points span two directions.
    assert_eq!((0..4).map(|axis| map.is_flat(axis)).collect::<Vec<_>>(), [false, false, true, true]);
    for row in &rows {
        assert_eq!(map.map(row)[2..], [0.0, 0.0]);
    }
    assert!(map.a.iter().chain(&map.b).all(|x| x.is_finite()));
}

#[test]
fn more_measures_than_features_leave_flat_axes() {
    let map = fit_default(&rows(20, 2, 1), &noise(20, 3, 1.0), 5);
    assert_eq!((0..5).filter(|axis| map.is_flat(*axis)).count(), 3);
    let map = random(&rows(20, 2, 1), 5, &CwPcaOptions::default(), 1).unwrap();
    assert_eq!((0..5).filter(|axis| map.is_flat(*axis)).count(), 3);
}

#[test]
fn a_constant_direction_and_rounding_noise_make_no_axis() {
    let mut rows = rows(50, 5, 1);
    for (i, row) in rows.iter_mut().enumerate() {
        row[2] = 0.1;
        row[3] = 0.1 + 1e-9 * (i % 3) as f64;
        row[4] = 0.1;
    }
    let map = fit_default(&rows, &noise(50, 3, 1.0), 4);
    assert_eq!((0..4).map(|axis| map.is_flat(axis)).collect::<Vec<_>>(), [false, false, true, true]);
    assert_eq!(map.map(&rows[7])[2..], [0.0, 0.0]);
}

#[test]
fn one_elite_or_identical_ones_are_in_the_middle() {
    for n in [1, 5] {
        let rows = vec![vec![0.1, 0.2, 0.3]; n];
        let map = fit_default(&rows, &vec![4.0; n], 2);
        assert_eq!(map.map(&rows[0]), [0.0, 0.0]);
        assert_eq!(map.map(&[9.0, 9.0, 9.0]), [0.0, 0.0]);
        assert_eq!(map.explained(), [0.0, 0.0]);
    }
}

#[test]
fn extremes_calibrate_where_quantiles_coincide() {
    let mut rows = vec![vec![0.0, 0.0]; 98];
    rows.extend([vec![1.0, 0.0], vec![-3.0, 0.0]]);
    let map = fit_default(&rows, &[0.0; 100], 1);
    assert!((map.map(&rows[98])[0].abs() - 1.0).abs() < 1e-12);
    assert!((map.map(&rows[99])[0].abs() - 1.0).abs() < 1e-12);
}

#[test]
fn impossible_data_is_reported() {
    let options = CwPcaOptions::default();
    let none: [Vec<f64>; 0] = [];
    assert!(fit(&none, &[], 2, &options).unwrap_err().to_string().contains("at least 1"));
    assert!(fit(&[vec![1.0]], &[1.0, 2.0], 2, &options).is_err());
    assert!(fit(&[vec![1.0], vec![1.0, 2.0]], &[1.0, 2.0], 2, &options).is_err());
    assert!(fit(&[vec![f64::NAN], vec![1.0]], &[1.0, 2.0], 2, &options).is_err());
    assert!(fit(&[vec![1.0], vec![2.0]], &[f64::INFINITY, 2.0], 2, &options).is_err());
    assert!(fit(&[vec![1.0], vec![2.0]], &[1.0, 2.0], 0, &options).is_err());
    let swapped = CwPcaOptions { low_quantile: 0.9, high_quantile: 0.1, ..options };
    assert!(fit(&[vec![1.0], vec![2.0]], &[1.0, 2.0], 1, &swapped).is_err());
    let mut a = fit_default(&rows(5, 3, 1), &[0.0; 5], 2);
    let b = fit_default(&rows(5, 4, 1), &[0.0; 5], 2);
    assert!(a.align(&b, Default::default()).is_err());
}

#[test]
fn a_random_map_is_orthonormal_calibrated_and_reproducible() {
    let rows = rows(60, 10, 1);
    let map = random(&rows, 4, &CwPcaOptions::default(), 7).unwrap();
    for i in 0..4 {
        (0..4).for_each(|j| {
            let expected = if i == j { 1.0 } else { 0.0 };
            assert!((dot(map.component(i), map.component(j)) - expected).abs() < 1e-14);
        });
        let column = column(&map, &rows, i);
        assert!((quantile(&column, 0.05) + 1.0).abs() < 1e-9);
        assert!((quantile(&column, 0.95) - 1.0).abs() < 1e-9);
    }
    assert_eq!(map, random(&rows, 4, &CwPcaOptions::default(), 7).unwrap());
    assert_ne!(map, random(&rows, 4, &CwPcaOptions::default(), 8).unwrap());
}

#[test]
fn aligning_undoes_signs_and_order() {
    let rows = rows(80, 6, 1);
    let first = fit_default(&rows, &[1.0; 80], 3);
    // The same map with its axes in another order and with other signs.
    let mut shuffled = first.clone();
    let pick = [2, 0, 1];
    for (axis, from) in pick.into_iter().enumerate() {
        let sign = if axis == 1 { 1.0 } else { -1.0 };
        let row = axis * 6..axis * 6 + 6;
        let source = from * 6..from * 6 + 6;
        shuffled.a[row.clone()]
            .copy_from_slice(&first.a[source.clone()].iter().map(|x| x * sign).collect::<Vec<_>>());
        let component: Vec<f64> = first.components[source].iter().map(|x| x * sign).collect();
        shuffled.components[row].copy_from_slice(&component);
        shuffled.b[axis] = sign * first.b[from];
        shuffled.offset[axis] = sign * first.offset[from];
        (shuffled.scale[axis], shuffled.variance[axis]) = (first.scale[from], first.variance[from]);
    }
    let turn = shuffled.align(&first, Default::default()).unwrap();
    assert_eq!(shuffled, first);
    assert_eq!(turn.order, [1, 2, 0]);
    assert_eq!(turn.flipped, [false, true, true]);
    assert!(turn.axis_degrees.iter().chain(&turn.principal_degrees).all(|angle| *angle < 1e-5));
}

#[test]
fn a_flat_axis_of_the_earlier_map_can_come_alive() {
    let rows = rows(40, 5, 1);
    let first = fit_default(&rows[..2], &[1.0, 2.0], 3);
    let mut second = fit_default(&rows, &[1.0; 40], 3);
    let turn = second.align(&first, Default::default()).unwrap();
    assert!((0..3).all(|axis| !second.is_flat(axis)));
    assert_eq!(turn.principal_degrees.len(), 1);
    assert_eq!(turn.axis_degrees[1..], [90.0, 90.0]);
}

#[test]
fn a_rotation_shows_as_its_angle() {
    // Data along the first dimension, then along a direction 30 degrees away from it.
    let line = |angle: f64| -> Vec<Vec<f64>> {
        let (sin, cos) = angle.to_radians().sin_cos();
        (0..50).map(|i| f64::from(i) / 50.0).map(|x| vec![x * cos, x * sin, 0.0]).collect()
    };
    let first = fit_default(&line(0.0), &[0.0; 50], 1);
    let turn = fit_default(&line(30.0), &[0.0; 50], 1).align(&first, Default::default()).unwrap();
    assert!((turn.principal_degrees[0] - 30.0).abs() < 1e-9);
    assert!((turn.axis_degrees[0] - 30.0).abs() < 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn axes_are_orthonormal_ordered_calibrated_and_signed(
        m in 12_usize..60, dimension in 4_usize..30, k in 1_usize..4, seed: u64, weighted: bool,
    ) {
        let (rows, objectives) = (rows(m, dimension, seed), noise(m, seed ^ 5, 100.0));
        let options = CwPcaOptions { weighted, ..Default::default() };
        let map = fit(&rows, &objectives, k, &options).unwrap();
        for i in 0..k {
            for j in 0..k {
                let expected = if i == j { 1.0 } else { 0.0 };
                prop_assert!((dot(map.component(i), map.component(j)) - expected).abs() < 1e-12);
            }
            let largest = map.component(i).iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
            prop_assert!(largest > 0.0);
            let column = column(&map, &rows, i);
            prop_assert!((quantile(&column, 0.05) + 1.0).abs() < 1e-8);
            prop_assert!((quantile(&column, 0.95) - 1.0).abs() < 1e-8);
        }
        prop_assert!(map.variance.windows(2).all(|pair| pair[0] >= pair[1]));
        prop_assert!(map.explained().iter().sum::<f64>() <= 1.0 + 1e-12);
    }

    /// Distances along the axes do not change when all embeddings are moved.
    #[test]
    fn the_map_follows_a_shift_of_all_embeddings(seed: u64, shift in -1.0_f64..1.0) {
        let rows = rows(30, 6, seed);
        let moved: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x + shift).collect()).collect();
        let objectives = noise(30, seed ^ 5, 100.0);
        let (a, b) = (fit_default(&rows, &objectives, 2), fit_default(&moved, &objectives, 2));
        for (row, moved) in rows.iter().zip(&moved) {
            for (x, y) in a.map(row).iter().zip(b.map(moved)) {
                prop_assert!((x - y).abs() < 1e-6, "{} {}", x, y);
            }
        }
    }
}
