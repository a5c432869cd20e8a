//! constants* and the stop test of eigen_and_stop*.

use autoqd_qd::{CmaEs, EvolutionStrategy, RankOne, Weights, is_flat};
use serde_json::Value;

use super::files::{assert_close, assert_state, integer, list, load, matrix, number, numbers};

#[track_caller]
fn assert_rates(place: &str, got: &Weights, expected: &Value) {
    for (name, got) in [("cc", got.cc), ("cs", got.cs), ("c1", got.c1), ("cmu", got.cmu)] {
        let expected = number(&expected[name]);
        assert!(
            (got - expected).abs() <= 1e-12 * expected.abs(),
            "{place}: {name} {got} instead of {expected}"
        );
    }
}

#[test]
fn golden_constants_agree() {
    for (name, file) in load("constants") {
        for row in list(&file["rows"]) {
            let (n, batch) = (integer(&row["n"]), integer(&row["batch_size"]));
            let parents = integer(&row["num_parents"]);
            let place = format!("{name} n={n} batch={batch} parents={parents}");
            let ours = Weights::new(n, parents);
            assert_rates(&place, &ours, row);
            assert_rates(&place, &Weights::separable(n, parents), &row["sep"]);
            let close = |what: &str, got: f64, tolerance: f64| {
                let expected = number(&row[what]);
                assert!(
                    (got - expected).abs() <= tolerance * expected.abs(),
                    "{place}: {what} {got} {expected}"
                );
            };
            close("mueff", ours.mueff, 1e-12);
            close("lazy_gap_evals", Weights::lazy_gap(n, batch), 1e-12);
            // Recovered from one update of sigma, so less exact.
            close("cs_over_damps", ours.cs / ours.damps, 1e-8);
            assert_eq!(Weights::default_batch_size(n), integer(&row["default_batch_size"]), "{place}");
            let ends = [ours.weights[0], ours.weights[parents - 1]];
            assert_state(&place, &ends, &numbers(&row["weights_first_last"]));
        }
    }
}

#[test]
fn golden_matrices_decompose() {
    for (name, file) in load("eigen_and_stop") {
        for case in list(&file["matrices"]) {
            check_matrix(&format!("{name} {}", case["kind"]), case);
        }
    }
}

fn check_matrix(place: &str, case: &Value) {
    let n = integer(&case["n"]);
    let mut es = CmaEs::new(&vec![0.0; n], 1.0, 4, None, RankOne::Pyribs).unwrap();
    es.set_covariance(&matrix(&case["input"])).unwrap();
    let ours: Vec<f64> = (0..n * n).map(|k| es.covariance(k / n, k % n)).collect();
    assert_eq!(ours, matrix(&case["cov_after_symmetrising"]), "{place}: symmetric part");
    assert_state(place, &es.eigenvalues().unwrap(), &numbers(&case["abs_eigenvalues"]));
    let condition = number(&case["condition_number"]);
    assert_close(place, es.condition(), condition, 1e-9, condition);
    let mut inverse_root = Vec::new();
    for i in 0..n {
        let mut column = vec![0.0; n];
        column[i] = 1.0;
        es.whiten(&mut column).unwrap();
        inverse_root.extend(column);
    }
    if condition.is_finite() {
        assert_state(place, &inverse_root, &matrix(&case["inverse_sqrt"]));
    } else {
        // pyribs returns infinities and NaN here; we must not.
        assert!(inverse_root.iter().all(|x| x.is_finite()), "{place}: {inverse_root:?}");
    }
}

#[test]
fn golden_stop_tests_agree() {
    for (name, file) in load("eigen_and_stop") {
        for (i, case) in list(&file["stop_cases"]).iter().enumerate() {
            let eigenvalues = numbers(&case["eigenvalues"]);
            let n = eigenvalues.len();
            let mut es = CmaEs::new(&vec![0.0; n], number(&case["sigma"]), 4, None, RankOne::Pyribs).unwrap();
            let diagonal = |k: usize| if k / n == k % n { eigenvalues[k / n] } else { 0.0 };
            es.set_covariance(&(0..n * n).map(diagonal).collect::<Vec<_>>()).unwrap();
            let flat = flat(list(&case["sorted_ranking_values"]));
            let expected = case["stop"].as_bool().unwrap();
            assert_eq!(es.check_stop(flat).is_some(), expected, "{name} stop case {i}");
        }
    }
}

/// Whether the first and the last of sorted ranking values are the same.
pub fn flat(sorted: &[Value]) -> bool {
    match sorted {
        [first, .., last] => is_flat(key(first), key(last)),
        _ => false,
    }
}

fn key(value: &Value) -> [f64; 2] {
    match value.as_array() {
        Some(pair) => [number(&pair[0]), number(&pair[1])],
        None => [0.0, number(value)],
    }
}
