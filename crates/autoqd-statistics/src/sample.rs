//! Choosing policies at random in a way that can be repeated.

use autoqd_rollout::seeds::{Purpose, derive};

/// Stream of the keys below, apart from the seeds of the evaluation's episodes.
const STREAM: u64 = u64::MAX;

/// `count` of the numbers `0..n` (all of them if there are fewer), in random but repeatable order.
///
/// Every number gets a key from the seed and the smallest keys win, so the choice has no hidden state.
///
/// ```
/// let chosen = autoqd_statistics::sample(100, 5, 7);
/// assert_eq!(chosen.len(), 5);
/// assert_eq!(chosen, autoqd_statistics::sample(100, 5, 7));
/// ```
pub fn sample(n: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut keyed: Vec<(u64, usize)> =
        (0..n).map(|i| (derive(seed, Purpose::Evaluation, [STREAM, i as u64, 0]), i)).collect();
    keyed.sort_unstable();
    keyed.into_iter().take(count).map(|(_, i)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_twice_and_all_of_them_when_few() {
        let mut all = sample(50, 80, 3);
        assert_ne!(all, (0..50).collect::<Vec<_>>(), "the order is random");
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>());
        assert_ne!(sample(50, 10, 3), sample(50, 10, 4));
        assert!(sample(0, 10, 3).is_empty());
    }
}
