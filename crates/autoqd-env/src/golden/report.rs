//! What a replay found.

/// What a replay found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The recorded environment.
    pub env: String,
    /// Rollouts replayed.
    pub rollouts: usize,
    /// Steps compared.
    pub steps: usize,
    /// Numbers compared.
    pub values: usize,
    /// Numbers that differ or are missing.
    pub mismatches: usize,
    /// The first of them: where, what is, what should be.
    pub first: Option<String>,
}

/// Precision in which numbers were recorded.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Precision {
    Double,
    Single,
}

impl Report {
    /// Compares a list of numbers; `place` is asked only if something differs.
    pub(super) fn compare(
        &mut self,
        place: &dyn Fn() -> String,
        what: &str,
        expected: &[f64],
        got: &[f64],
        precision: Precision,
    ) {
        self.values += expected.len();
        if expected.len() != got.len() {
            self.fail(|| {
                format!("{}: {what} has {} numbers, expected {}", place(), got.len(), expected.len())
            });
        }
        for (i, (&expected, &got)) in expected.iter().zip(got).enumerate() {
            if !same(expected, got, precision) {
                self.fail(|| format!("{}: {what}[{i}] is {got:?}, expected {expected:?}", place()));
            }
        }
    }

    /// Compares one number.
    pub(super) fn compare_one(&mut self, place: &dyn Fn() -> String, what: &str, expected: f64, got: f64) {
        self.values += 1;
        if expected.to_bits() != got.to_bits() {
            self.fail(|| format!("{}: {what} is {got:?}, expected {expected:?}", place()));
        }
    }

    /// Counts a mismatch and keeps the first one's description.
    pub(super) fn fail(&mut self, describe: impl FnOnce() -> String) {
        self.mismatches += 1;
        if self.first.is_none() {
            self.first = Some(describe());
        }
    }
}

fn same(expected: f64, got: f64, precision: Precision) -> bool {
    match precision {
        Precision::Double => expected.to_bits() == got.to_bits(),
        Precision::Single => (expected as f32).to_bits() == (got as f32).to_bits(),
    }
}
