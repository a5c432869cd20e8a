//! Thompson sampling among the weights of diversity.

use autoqd::random::NormalStream;
use serde::{Deserialize, Serialize};

/// The return before the first iteration: any is better.
const BEFORE: f64 = -99_999.0;
/// Earlier returns that a new one is compared with, and choices that are made without looking at outcomes.
const WINDOW: usize = 5;
/// Latest outcomes that count.
const MEMORY: usize = 50;

/// Which weight of diversity has raised the mean return lately.
///
/// Pull j is the arm that led to return j + 1. It was a success if that return exceeds the highest of the five returns
/// before return j, and half of one if they are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bandit {
    returns: Vec<f64>,
    pulls: Vec<u32>,
}

impl Bandit {
    /// A bandit that begins with the first arm.
    pub fn new() -> Self {
        Self { returns: vec![BEFORE], pulls: vec![0] }
    }

    /// The arm in use.
    pub fn arm(&self) -> usize {
        self.pulls.last().map_or(0, |arm| *arm as usize)
    }

    /// Takes the mean return that the arm in use led to, and chooses the next among `arms`.
    pub fn pull(&mut self, mean_return: f64, arms: usize, random: &mut NormalStream) {
        self.returns.push(mean_return);
        let arm = if self.pulls.len() > WINDOW {
            let counts = self.counts(arms);
            let draws = counts.iter().map(|(a, b)| beta(*a, *b, random)).collect::<Vec<f64>>();
            (1..arms).fold(0, |best, arm| if draws[arm] > draws[best] { arm } else { best })
        } else {
            // The stream is above 0 and reaches 1.
            ((1.0 - random.uniform()) * arms as f64) as usize
        };
        self.pulls.push(arm as u32);
    }

    /// Parameters of the Beta distribution of every arm: one plus successes, one plus failures.
    fn counts(&self, arms: usize) -> Vec<(f64, f64)> {
        let outcomes: Vec<(usize, f64)> = (WINDOW..self.returns.len() - 1).map(|j| self.outcome(j)).collect();
        // The first one is compared with the return before the first iteration.
        let outcomes = outcomes.get(1..).unwrap_or_default();
        let mut counts = vec![(1.0, 1.0); arms];
        for (arm, success) in &outcomes[outcomes.len().saturating_sub(MEMORY)..] {
            counts[*arm].0 += success;
            counts[*arm].1 += 1.0 - success;
        }
        counts
    }

    fn outcome(&self, pull: usize) -> (usize, f64) {
        let before = self.returns[pull - WINDOW..pull].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let success = match self.returns[pull + 1].total_cmp(&before) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        (self.pulls[pull] as usize, success)
    }
}

/// A number from the Beta distribution, as a share of two from Gamma distributions.
fn beta(a: f64, b: f64, random: &mut NormalStream) -> f64 {
    let (x, y) = (gamma(a, random), gamma(b, random));
    x / (x + y)
}

/// A number from the Gamma distribution with a shape of at least 1 (Marsaglia and Tsang).
fn gamma(shape: f64, random: &mut NormalStream) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = random.normal();
        let root = 1.0 + c * x;
        let v = root * root * root;
        if v > 0.0 && libm::log(random.uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bandit(returns: &[f64], pulls: &[u32]) -> Bandit {
        let returns = std::iter::once(BEFORE).chain(returns.iter().copied()).collect();
        Bandit { returns, pulls: pulls.to_vec() }
    }

    #[test]
    fn an_outcome_looks_past_the_return_before_it() {
        // Pull 6 led to return 7 = 4, and is compared with returns 1 to 5, not with return 6.
        let b = bandit(&[1.0, 2.0, 3.0, 3.0, 3.0, 9.0, 4.0], &[0, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(b.outcome(6), (1, 1.0));
        // The outcome of pull 5 is dropped.
        assert_eq!(b.counts(2), [(1.0, 1.0), (2.0, 1.0)]);
        let b = bandit(&[1.0, 2.0, 3.0, 3.0, 3.0, 9.0, 3.0], &[0, 0, 1, 0, 1, 0, 0, 0]);
        assert_eq!(b.counts(2), [(1.5, 1.5), (1.0, 1.0)], "half a success where they are equal");
    }

    #[test]
    fn only_the_last_fifty_outcomes_count() {
        let falling: Vec<f64> = (0..100).map(|i| -f64::from(i)).collect();
        let b = bandit(&falling, &[1; 101]);
        assert_eq!(b.counts(2), [(1.0, 1.0), (1.0, 51.0)]);
    }

    #[test]
    fn the_better_arm_is_chosen_more_and_more() {
        let mut random = NormalStream::new(3, b"test    ");
        let mut b = Bandit::new();
        assert_eq!(b.arm(), 0);
        let (mut level, mut late) = (0.0, 0);
        for i in 0..200 {
            level += if b.arm() == 1 { 1.0 } else { -1.0 };
            b.pull(level, 2, &mut random);
            late += usize::from(i >= 100 && b.arm() == 1);
        }
        assert!(late > 80, "{late} of 100");
    }

    #[test]
    fn beta_has_its_mean_and_variance() {
        let mut random = NormalStream::new(1, b"test    ");
        let (a, b, n) = (3.5, 1.5, 50_000);
        let sample: Vec<f64> = (0..n).map(|_| beta(a, b, &mut random)).collect();
        let mean = sample.iter().sum::<f64>() / f64::from(n);
        let variance = sample.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
        assert!((mean - a / (a + b)).abs() < 0.005, "{mean}");
        assert!((variance - a * b / ((a + b) * (a + b) * (a + b + 1.0))).abs() < 0.002, "{variance}");
    }
}
