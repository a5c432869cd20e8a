//! The seeds of a run.
//!
//! A seed is a pure function of what it is for: (run seed, purpose, iteration, candidate, episode). Nothing is
//! drawn from shared state, so neither the number of threads nor a restart can change a run.

/// What a derived seed is used for; keeps the streams of different parts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Start state of an episode during the search.
    Episode = 1,
    /// The evolution strategies and the archives they sample from.
    Emitters = 2,
    /// The random Fourier features.
    Features = 3,
    /// A random first map from embedding to measures.
    FirstMap = 4,
    /// Start state of an episode when elites are measured after the search.
    Evaluation = 5,
    /// Training of a learned descriptor.
    Training = 6,
    /// Centroids of a CVT archive.
    Centroids = 7,
    /// The parameters that the emitters start from.
    InitialPolicy = 8,
}

/// Derives a seed from the run seed, its purpose and up to three counters.
///
/// ```
/// use autoqd_rollout::seeds::{derive, Purpose};
/// let a = derive(7, Purpose::Episode, [3, 12, 0]);
/// assert_eq!(a, derive(7, Purpose::Episode, [3, 12, 0]));
/// assert_ne!(a, derive(7, Purpose::Episode, [3, 12, 1]));
/// assert_ne!(a, derive(7, Purpose::Evaluation, [3, 12, 0]));
/// ```
pub fn derive(run_seed: u64, purpose: Purpose, counters: [u64; 3]) -> u64 {
    let mut state = mix(run_seed ^ 0x6A09_E667_F3BC_C908);
    for word in [purpose as u64, counters[0], counters[1], counters[2]] {
        state = mix(state ^ word.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    }
    state
}

/// The seed of one episode of one candidate of one iteration.
pub fn episode(run_seed: u64, iteration: u64, candidate: u64, episode: u64) -> u64 {
    derive(run_seed, Purpose::Episode, [iteration, candidate, episode])
}

/// The finaliser of SplitMix64: every input bit reaches every output bit.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn seeds_of_a_whole_run_are_distinct() {
        let mut seen = BTreeSet::new();
        for iteration in 0..50 {
            for candidate in 0..320 {
                for e in 0..5 {
                    assert!(seen.insert(episode(0, iteration, candidate, e)));
                }
            }
        }
    }

    #[test]
    fn the_derivation_never_changes() {
        // Stored runs are replayed from these numbers.
        assert_eq!(episode(0, 0, 0, 0), 9_918_213_989_216_218_251);
        assert_eq!(episode(7, 1, 2, 3), 14_948_305_633_716_434_421);
    }
}
