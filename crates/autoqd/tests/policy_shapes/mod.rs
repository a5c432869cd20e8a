//! Policies of all shapes, and a Python to run them elsewhere.

use std::process::Command;

use autoqd::policy::{Activation, Biases, FilterSpec, PolicySpec, Squash, Weights};

/// Numbers between ±amplitude.
pub fn wave(n: usize, amplitude: f64) -> Vec<f64> {
    (0..n).map(|i| amplitude * (i as f64 * 0.7).sin()).collect()
}

/// An interpreter that can run `needs`; without one the test is skipped, unless everything is required.
pub fn python(needs: &str) -> Option<String> {
    let python = std::env::var("AUTOQD_PYTHON").unwrap_or_else(|_| "python3".into());
    let there = Command::new(&python).args(["-c", needs]).output();
    if there.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    let missing = format!("{python} cannot {needs} (AUTOQD_PYTHON chooses another interpreter)");
    assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "{missing}");
    eprintln!("skipped: {missing}");
    None
}

/// Policies with every kind of part.
pub fn shapes() -> Vec<PolicySpec> {
    let of = |weights, hidden: &[usize]| {
        let (low, high) = (vec![-1.0, -0.5, 2.0], vec![1.0, 3.0, 4.0]);
        PolicySpec::new(weights, hidden.to_vec(), 17, low, high).unwrap()
    };
    let mut mixed = of(Weights::Toeplitz, &[12, 9]).with_squash(Squash::Clip);
    mixed.layers[1].weights = Weights::Dense;
    mixed.layers[1].activation = Activation::None;
    mixed.layers[2].activation = Activation::Tanh;
    vec![
        of(Weights::Toeplitz, &[128, 128]),
        of(Weights::Dense, &[20]),
        of(Weights::Toeplitz, &[]),
        of(Weights::Dense, &[256, 256]).with_activation(Activation::Relu).with_biases(Biases::All),
        of(Weights::Dense, &[32, 32]).with_biases(Biases::None).with_filter(FilterSpec { clip: Some(0.5) }),
        of(Weights::Toeplitz, &[8]).with_filter(FilterSpec::default()).with_squash(Squash::Clip),
        mixed,
    ]
}
