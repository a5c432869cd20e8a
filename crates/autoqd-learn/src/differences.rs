//! Gradients by finite differences, for tests.

/// Asserts that `gradient` is that of `value` at `parameters`.
pub fn assert_gradient(parameters: &[f64], gradient: &[f64], value: impl Fn(&[f64]) -> f64) {
    const STEP: f64 = 1e-5;
    assert_eq!(parameters.len(), gradient.len());
    let mut moved = parameters.to_vec();
    for i in 0..parameters.len() {
        let mut at = |delta: f64| {
            moved[i] = parameters[i] + delta;
            value(&moved)
        };
        let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        moved[i] = parameters[i];
        let error = (difference - gradient[i]).abs() / difference.abs().max(1e-3);
        assert!(error < 1e-5, "parameter {i}: {difference} by differences and {}", gradient[i]);
    }
}
