//! Strategies converge where they should, and survive where they cannot.

use autoqd_qd::{Bounds, CmaEs, EvolutionStrategy, RankOne, Rng, Rows, StopReason};

use super::support::{assert_finite, rank, strategies};

fn sphere(x: &[f64]) -> f64 {
    -x.iter().map(|v| v * v).sum::<f64>()
}

#[test]
fn every_strategy_climbs_the_sphere() {
    for (name, config) in strategies() {
        let mut es = config.build(&[1.0; 36], 0.3, 12, None).unwrap();
        let mut rng = Rng::new(1, 0);
        for _ in 0..600 {
            let values: Vec<f64> = es.ask(&mut rng).iter().map(sphere).collect();
            es.tell(&rank(&values), 6).unwrap();
        }
        // From -36; OpenAI-ES keeps its step size and cannot settle.
        assert!(sphere(es.mean()) > -0.5, "{name}: {}", sphere(es.mean()));
    }
}

#[test]
fn a_converged_strategy_asks_for_a_restart_and_has_no_nan() {
    for (name, config) in strategies().into_iter().filter(|(name, _)| !name.starts_with("openai")) {
        let mut es = config.build(&[1.0; 12], 0.3, 12, None).unwrap();
        let mut rng = Rng::new(2, 0);
        let mut stopped = None;
        for _ in 0..20_000 {
            let values: Vec<f64> = es.ask(&mut rng).iter().map(sphere).collect();
            es.tell(&rank(&values), 6).unwrap();
            // The stop signal is ignored.
            stopped = stopped.or(es.check_stop(false));
        }
        assert!(stopped.is_some(), "{name} never asks for a restart");
        assert_finite(name, &es);
    }
}

#[test]
fn an_exploding_step_size_ends_in_a_request_not_in_infinity() {
    for (name, config) in strategies().into_iter().filter(|(name, _)| !name.starts_with("openai")) {
        for dim in [2, 12] {
            let batch = if name == "lm_ma_es" { dim } else { 12 };
            let mut es = config.build(&vec![1.0; dim], 1.0, batch, None).unwrap();
            let mut rng = Rng::new(3, 0);
            let mut stopped = None;
            for generation in 0..5000 {
                let values: Vec<f64> = es.ask(&mut rng).iter().map(|x| x[0]).collect();
                assert!(values.iter().all(|v| v.is_finite()), "{name} {dim} generation {generation}");
                es.tell(&rank(&values), (batch / 2).max(1)).unwrap();
                stopped = stopped.or(es.check_stop(false));
            }
            assert_finite(&format!("{name} {dim}"), &es);
            // A linear slope has no end, so unless the covariance degenerates first, sigma must.
            assert!(stopped.is_some() || es.sigma() < 1e140, "{name} {dim}");
        }
    }
}

#[test]
fn candidates_from_far_away_do_not_break_the_state() {
    for (name, config) in
        strategies().into_iter().filter(|(n, _)| !n.starts_with("openai") && *n != "lm_ma_es")
    {
        let mut es = config.build(&[1.0; 3], 1.0, 6, None).unwrap();
        es.ask(&mut Rng::new(4, 0));
        es.inject(Rows::new(&[1e300; 18], 3).unwrap()).unwrap();
        es.tell(&[0, 1, 2, 3, 4, 5], 3).unwrap();
        assert_eq!(es.check_stop(false), Some(StopReason::Diverged), "{name}");
        assert_finite(name, &es);
        es.reset(&[0.0; 3]).unwrap();
        assert_eq!(es.check_stop(false), None, "{name}");
        assert!(es.inject(Rows::new(&[f64::NAN; 18], 3).unwrap()).is_err(), "{name}");
    }
}

#[test]
fn one_parameter_and_one_candidate_are_enough() {
    for (name, config) in strategies() {
        for (dim, batch) in [(1, 1), (1, 6), (5, 1)] {
            let Ok(mut es) = config.build(&vec![1.0; dim], 0.3, batch, None) else {
                assert_eq!(
                    (name, dim, batch),
                    ("lm_ma_es", 1, 6),
                    "only LM-MA-ES refuses more candidates than n"
                );
                continue;
            };
            let mut rng = Rng::new(5, 0);
            for _ in 0..500 {
                let values: Vec<f64> = es.ask(&mut rng).iter().map(sphere).collect();
                es.tell(&rank(&values), batch / 2).unwrap();
                es.tell(&rank(&values), batch.min(1)).unwrap();
                if es.check_stop(false).is_some() {
                    es.reset(&vec![1.0; dim]).unwrap();
                }
            }
            assert_finite(&format!("{name} {dim} {batch}"), &es);
        }
    }
}

#[test]
fn bounds_hold_even_for_a_mean_far_outside() {
    for (name, config) in strategies() {
        let bounds = Bounds::uniform(4, -1.0, 1.0).unwrap();
        let mut es = config.build(&[50.0; 4], 0.1, 4, Some(bounds.clone())).unwrap();
        assert!(es.ask(&mut Rng::new(6, 0)).iter().all(|x| bounds.contains(x)), "{name}");
    }
}

#[test]
fn a_strategy_stored_after_a_refresh_goes_on_bit_for_bit() {
    // Both forms of the factor: eigenvectors for few parameters, Cholesky for many.
    for dim in [10, 80] {
        let mut es = CmaEs::new(&vec![1.0; dim], 0.3, 12, None, RankOne::Textbook).unwrap();
        let mut rng = Rng::new(8, 0);
        let step = |es: &mut CmaEs, rng: &mut Rng| {
            let values: Vec<f64> = es.ask(rng).iter().map(sphere).collect();
            es.tell(&rank(&values), 6).unwrap();
        };
        (0..30).for_each(|_| step(&mut es, &mut rng));
        assert!(es.last_refresh() > 0, "{dim} parameters");
        let text = serde_json::to_string(&(&es, &rng)).unwrap();
        let (mut stored, mut stored_rng): (CmaEs, Rng) = serde_json::from_str(&text).unwrap();
        for _ in 0..30 {
            step(&mut es, &mut rng);
            step(&mut stored, &mut stored_rng);
            assert_eq!(es.solutions(), stored.solutions(), "{dim} parameters");
        }
        assert_eq!(serde_json::to_string(&es).unwrap(), serde_json::to_string(&stored).unwrap());
    }
}

#[test]
fn the_short_form_of_a_refresh_samples_and_whitens_like_the_eigendecomposition() {
    // 80 parameters are enough for the short form.
    let n = 80;
    let mut es = CmaEs::new(&vec![0.0; n], 1.0, 40, None, RankOne::Textbook).unwrap();
    let mut rng = Rng::new(7, 0);
    for _ in 0..6 {
        let values: Vec<f64> = es.ask(&mut rng).iter().map(|x| -x[0] * x[0] + x[1]).collect();
        es.tell(&rank(&values), 20).unwrap();
    }
    es.ask(&mut rng);
    assert!(es.last_refresh() > 0);
    let cov: Vec<f64> = (0..n * n).map(|k| es.covariance(k / n, k % n)).collect();
    es.set_covariance(&cov).unwrap();
    // Whitening twice is the inverse: C W W y = y.
    let y: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
    let mut white = y.clone();
    es.whiten(&mut white).unwrap();
    es.whiten(&mut white).unwrap();
    let back: Vec<f64> = cov.chunks(n).map(|row| row.iter().zip(&white).map(|(c, w)| c * w).sum()).collect();
    assert!(back.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-12), "C C^-1 y = y");
    // Samples of that covariance have the whitened covariance of a sphere.
    let mut sum = 0.0;
    for _ in 0..50 {
        let sigma = es.sigma();
        let mean = es.mean().to_vec();
        for x in es.ask(&mut rng).as_slice().to_vec().chunks(n) {
            let mut step: Vec<f64> = x.iter().zip(&mean).map(|(x, m)| (x - m) / sigma).collect();
            es.whiten(&mut step).unwrap();
            sum += step.iter().map(|v| v * v).sum::<f64>();
        }
    }
    let (mean, error) = (sum / 2000.0, (2.0 * n as f64 / 2000.0_f64).sqrt());
    assert!((mean - n as f64).abs() < 5.0 * error, "{mean}");
}
