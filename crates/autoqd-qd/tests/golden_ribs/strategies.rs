//! cma_es_* and bounds*.

use autoqd_qd::{Bounds, CmaEs, EvolutionStrategy, RankOne, Rows};
use serde_json::Value;

use super::constants::flat;
use super::files::{
    Recorded, assert_close, assert_state, integer, integers, list, load, matrix, norm, number, numbers,
};

#[test]
fn golden_cma_es_replays() {
    for (name, file) in load("cma_es_") {
        let x0 = numbers(&file["x0"]);
        let (batch, sigma0) = (integer(&file["batch_size"]), number(&file["sigma0"]));
        let mut es = CmaEs::new(&x0, sigma0, batch, None, RankOne::Pyribs).unwrap();
        assert_state(&name, &[es.lazy_gap()], &[number(&file["lazy_gap_evals"])]);
        let probe = numbers(&file["probe"]);
        for (g, generation) in list(&file["generations_data"]).iter().enumerate() {
            let place = format!("{name} generation {g}");
            check_ask(&place, &mut es, generation);
            let solutions = matrix(&generation["solutions"]);
            es.inject(Rows::new(&solutions, x0.len()).unwrap()).unwrap();
            let ranking = integers(&generation["ranking_indices"]);
            es.tell(&ranking, integer(&generation["num_parents"])).unwrap();
            check_after(&place, &es, generation, &probe);
        }
    }
}

/// The sample of the recorded noise, up to the freedom in the eigenvectors.
fn check_ask(place: &str, es: &mut CmaEs, generation: &Value) {
    let z = matrix(&generation["z"]);
    let refreshed_before = es.last_refresh();
    let own = es.ask(&mut Recorded::new(z.clone())).as_slice().to_vec();
    let refreshed = es.last_refresh() != refreshed_before;
    assert_eq!(refreshed, generation["eigensystem_updated_in_ask"].as_bool().unwrap(), "{place}: refresh");
    if refreshed {
        let expected: Vec<f64> =
            numbers(&generation["eigenvalues_ascending"]).iter().map(|v| v.abs()).collect();
        assert_state(place, &es.eigenvalues().unwrap(), &expected);
        let condition = number(&generation["condition_number"]);
        // The smallest eigenvalue is known to an epsilon of the largest.
        let tolerance = f64::max(1e-9, 1e-14 * condition);
        assert_close(place, es.condition(), condition, tolerance, condition);
    }
    for solutions in [own, matrix(&generation["solutions"])] {
        check_lengths(place, es, &z, &solutions);
    }
}

/// |C^(-1/2) (x - m)| / sigma = |z|, as far as rounding of x allows.
fn check_lengths(place: &str, es: &mut CmaEs, z: &[f64], solutions: &[f64]) {
    let (n, sigma, mean) = (es.dim(), es.sigma(), es.mean().to_vec());
    let smallest = es.eigenvalues().unwrap().into_iter().fold(f64::INFINITY, f64::min);
    for (z, x) in z.chunks(n).zip(solutions.chunks(n)) {
        let mut y: Vec<f64> = x.iter().zip(&mean).map(|(x, m)| x - m).collect();
        es.whiten(&mut y).unwrap();
        let rounding = 64.0 * f64::EPSILON * (norm(x) + norm(&mean)) / (sigma * smallest.sqrt());
        let difference = (norm(&y) / sigma - norm(z)).abs();
        assert!(difference <= 1e-9 * norm(z) + rounding, "{place}: length differs by {difference:e}");
    }
}

fn check_after(place: &str, es: &CmaEs, generation: &Value, probe: &[f64]) {
    let (after, n) = (&generation["after"], es.dim());
    assert_eq!(es.evaluations() as usize, integer(&after["current_eval"]), "{place}: evaluations");
    let cov: Vec<f64> = (0..n * n).map(|k| es.covariance(k / n, k % n)).collect();
    let times_probe: Vec<f64> =
        cov.chunks(n).map(|row| row.iter().zip(probe).map(|(c, p)| c * p).sum()).collect();
    let diagonal: Vec<f64> = cov.iter().step_by(n + 1).copied().collect();
    for (what, got) in [
        ("mean", es.mean()),
        ("pc", es.covariance_path()),
        ("ps", es.step_size_path()),
        ("cov_diag", &diagonal),
        ("cov_times_probe", &times_probe),
    ] {
        assert_state(&format!("{place}: {what}"), got, &numbers(&after[what]));
    }
    for (what, got) in
        [("sigma", es.sigma()), ("cov_frobenius", norm(&cov)), ("cov_trace", diagonal.iter().sum())]
    {
        assert_state(&format!("{place}: {what}"), &[got], &[number(&after[what])]);
    }
    if !after["cov"].is_null() {
        assert_state(&format!("{place}: cov"), &cov, &matrix(&after["cov"]));
    }
    let stop = es.check_stop(ranked_flat(generation)).is_some();
    assert_eq!(stop, after["check_stop"].as_bool().unwrap(), "{place}: stop test");
}

/// Whether best and worst candidate of a generation have the same ranking value.
pub fn ranked_flat(generation: &Value) -> bool {
    let values = list(&generation["ranking_values"]);
    let sorted: Vec<Value> =
        integers(&generation["ranking_indices"]).iter().map(|&i| values[i].clone()).collect();
    flat(&sorted)
}

#[test]
fn golden_bounds_replay() {
    for (name, file) in load("bounds") {
        for (i, case) in list(&file["cases"]).iter().enumerate() {
            let bounds = Bounds::new(numbers(&case["lower"]), numbers(&case["upper"])).unwrap();
            let (x0, sigma0) = (numbers(&case["x0"]), number(&case["sigma0"]));
            let batch = integer(&case["batch_size"]);
            let mut es = CmaEs::new(&x0, sigma0, batch, Some(bounds), RankOne::Pyribs).unwrap();
            let mut noise = Recorded::new(list(&case["z_rounds"]).iter().flat_map(matrix).collect());
            let solutions = es.ask(&mut noise).as_slice().to_vec();
            assert_state(&format!("{name} case {i}"), &solutions, &matrix(&case["solutions"]));
            assert!(noise.is_used_up(), "{name} case {i}: fewer rounds than recorded");
        }
    }
}
