//! Running means of what is shown.

/// The mean of the numbers since it was last taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    /// Counts a number.
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// The mean, not a number if there was none; starts again.
    pub fn take(&mut self) -> f64 {
        let Self { sum, count } = std::mem::take(self);
        sum / count as f64
    }
}
