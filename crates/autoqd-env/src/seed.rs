//! Seeds as wide as numpy accepts them.

/// A non-negative integer of any width that seeds a random stream, as 32-bit words, least significant first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seed {
    low: [u32; 4],
    /// Words beyond the fourth; empty (and without a heap allocation) for every seed below 2^128.
    high: Vec<u32>,
    len: usize,
}

impl From<u64> for Seed {
    fn from(value: u64) -> Self {
        let low = [value as u32, (value >> 32) as u32, 0, 0];
        Self { low, high: Vec::new(), len: if low[1] == 0 { 1 } else { 2 } }
    }
}

impl Seed {
    /// The words of the seed, least significant first, at least one, without leading zeros.
    pub fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.low.iter().take(self.len.min(4)).chain(&self.high).copied()
    }
}
