//! Random numbers of training: one stream per (run seed, refit, purpose).

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A stream of random numbers with the same bits on every platform.
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform in [0, 1), in steps of 2^-24.
    pub fn unit(&mut self) -> f32 {
        (self.0.next_u32() >> 8) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// Uniform in [-limit, limit).
    pub fn symmetric(&mut self, limit: f32) -> f32 {
        (2.0 * self.unit() - 1.0) * limit
    }

    /// A whole number below `n`, which must not be 0; the high half of a product, so that no division is biased.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Puts a list into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}
