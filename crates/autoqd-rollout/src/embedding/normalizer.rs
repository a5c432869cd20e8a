//! Mean and spread of observations over a run.

use serde::{Deserialize, Serialize};

/// A dimension whose standard deviation is below this maps to 0: it carries no behaviour, and dividing by its
/// rounding noise would make some up.
pub const FLAT_STD: f64 = 1e-6;

/// Count, mean and sum of squared deviations of observations.
///
/// Episodes collect their own; merged in the order of candidates and episodes, the result does not depend on
/// which thread ran what.
///
/// ```
/// use autoqd_rollout::embedding::RunningStatistics;
/// let mut a = RunningStatistics::new(1);
/// let mut b = RunningStatistics::new(1);
/// a.push(&[1.0]);
/// b.push(&[3.0]);
/// a.merge(&b);
/// assert_eq!((a.count(), a.mean()[0], a.variance()[0]), (2, 2.0, 1.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunningStatistics {
    count: u64,
    mean: Vec<f64>,
    /// Sum of squared deviations from the mean.
    m2: Vec<f64>,
}

impl RunningStatistics {
    /// Statistics of no observation of the given length.
    pub fn new(size: usize) -> Self {
        Self { count: 0, mean: vec![0.0; size], m2: vec![0.0; size] }
    }

    /// Forgets everything, without giving memory back.
    pub fn clear(&mut self) {
        self.count = 0;
        self.mean.fill(0.0);
        self.m2.fill(0.0);
    }

    /// Takes one observation in (Welford).
    pub fn push(&mut self, observation: &[f64]) {
        self.count += 1;
        let share = 1.0 / self.count as f64;
        for ((mean, m2), x) in self.mean.iter_mut().zip(&mut self.m2).zip(observation) {
            let delta = x - *mean;
            *mean += delta * share;
            *m2 += delta * (x - *mean);
        }
    }

    /// Takes the observations of other statistics in (Chan, Golub and LeVeque).
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let (n, m) = (self.count as f64, other.count as f64);
        self.count += other.count;
        let total = n + m;
        let theirs = other.mean.iter().zip(&other.m2);
        for ((mean, m2), (other_mean, other_m2)) in self.mean.iter_mut().zip(&mut self.m2).zip(theirs) {
            let delta = other_mean - *mean;
            *mean += delta * (m / total);
            *m2 += other_m2 + delta * delta * (n * m / total);
        }
    }

    /// Number of observations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean per dimension; 0 without observations.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Population variance per dimension; 0 without observations.
    pub fn variance(&self) -> Vec<f64> {
        let n = self.count.max(1) as f64;
        self.m2.iter().map(|m2| m2 / n).collect()
    }

    /// The statistics as one row of numbers: count, means, sums of squared deviations.
    pub fn to_row(&self) -> Vec<f64> {
        let mut row = vec![self.count as f64];
        row.extend_from_slice(&self.mean);
        row.extend_from_slice(&self.m2);
        row
    }

    /// The statistics written by [`to_row`](Self::to_row).
    pub fn from_row(row: &[f64]) -> Self {
        let (count, rest) = row.split_first().unwrap_or((&0.0, &[]));
        let (mean, m2) = rest.split_at(rest.len() / 2);
        Self { count: *count as u64, mean: mean.to_vec(), m2: m2.to_vec() }
    }

    /// A snapshot of mean and standard deviation; without observations the identity.
    pub fn normalizer(&self) -> Normalizer {
        if self.count == 0 {
            return Normalizer::identity(self.mean.len());
        }
        Normalizer::new(self.mean.clone(), self.variance().iter().map(|v| v.sqrt()).collect())
    }
}

/// A frozen mean and standard deviation per observation dimension.
///
/// `(x - mean) * factor` in double precision, where `factor = 1 / std`, or 0 if `std` is below [`FLAT_STD`];
/// no clipping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Normalizer {
    mean: Vec<f64>,
    std: Vec<f64>,
    factor: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    mean: Vec<f64>,
    std: Vec<f64>,
}

impl Normalizer {
    /// A normaliser with the given mean and standard deviation per dimension.
    pub fn new(mean: Vec<f64>, std: Vec<f64>) -> Self {
        let factor = std.iter().map(|s| if *s < FLAT_STD { 0.0 } else { 1.0 / s }).collect();
        Self { mean, std, factor }
    }

    /// The normaliser that changes nothing.
    pub fn identity(size: usize) -> Self {
        Self::new(vec![0.0; size], vec![1.0; size])
    }

    /// Length of an observation.
    pub fn size(&self) -> usize {
        self.mean.len()
    }

    /// Mean per dimension.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Standard deviation per dimension.
    pub fn std(&self) -> &[f64] {
        &self.std
    }

    /// The observation, normalised.
    pub fn apply<'a>(&'a self, observation: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let with = self.mean.iter().zip(&self.factor);
        observation.iter().zip(with).map(|(x, (mean, factor))| (x - mean) * factor)
    }
}

impl TryFrom<Stored> for Normalizer {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        if stored.mean.len() != stored.std.len() {
            return Err("the mean and the std of a normalizer differ in length");
        }
        Ok(Self::new(stored.mean, stored.std))
    }
}

impl From<Normalizer> for Stored {
    fn from(normalizer: Normalizer) -> Self {
        Self { mean: normalizer.mean, std: normalizer.std }
    }
}
