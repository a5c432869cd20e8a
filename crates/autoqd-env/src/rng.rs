//! numpy's default random generator, bit for bit: `SeedSequence`, PCG64 and the draws that tasks use.

use crate::Seed;
use crate::ziggurat;

/// Multiplier of the 128-bit linear congruential generator under PCG64.
const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

/// The generator that `numpy.random.default_rng(seed)` returns.
///
/// ```
/// use autoqd_env::{NumpyRng, Seed};
///
/// let mut rng = NumpyRng::from_seed(&Seed::from(42_u64));
/// assert_eq!(rng.double(), 0.7739560485559633);
/// assert_eq!(rng.integers(5, 10), 8);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumpyRng {
    state: u128,
    increment: u128,
    /// Upper half of the last 64-bit draw, kept for the next 32-bit draw.
    half: Option<u32>,
}

impl NumpyRng {
    /// The generator seeded with `seed`.
    pub fn from_seed(seed: &Seed) -> Self {
        let [q0, q1, q2, q3] = seed_sequence(seed).map(u128::from);
        let increment = (((q2 << 64) | q3) << 1) | 1;
        let mut rng = Self { state: 0, increment, half: None };
        rng.advance();
        rng.state = rng.state.wrapping_add((q0 << 64) | q1);
        rng.advance();
        rng
    }

    fn advance(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    /// The next 64 random bits. Neither uses nor clears the stored half of [`Self::next_u32`].
    pub fn next_u64(&mut self) -> u64 {
        self.advance();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// The next 32 random bits: the lower half of a 64-bit draw, then its upper half.
    pub fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let bits = self.next_u64();
        self.half = Some((bits >> 32) as u32);
        bits as u32
    }

    /// A number in [0, 1) with 53 random bits.
    pub fn double(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A number in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.double()
    }

    /// An integer in low..high, by Lemire's method as numpy does it.
    ///
    /// # Panics
    /// If the range is empty.
    pub fn integers(&mut self, low: i64, high: i64) -> i64 {
        assert!(low < high, "integers({low}, {high}): the range is empty");
        let span = high.wrapping_sub(low) as u64;
        let offset = match span {
            1 => 0,
            0x1_0000_0000 => u64::from(self.next_u32()),
            2..0x1_0000_0000 => u64::from(self.below_u32(span as u32)),
            _ => self.below_u64(span),
        };
        low.wrapping_add(offset as i64)
    }

    fn below_u32(&mut self, span: u32) -> u32 {
        let mut product = u64::from(self.next_u32()) * u64::from(span);
        if (product as u32) < span {
            let threshold = span.wrapping_neg() % span;
            while (product as u32) < threshold {
                product = u64::from(self.next_u32()) * u64::from(span);
            }
        }
        (product >> 32) as u32
    }

    fn below_u64(&mut self, span: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(span);
        if (product as u64) < span {
            let threshold = span.wrapping_neg() % span;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(span);
            }
        }
        (product >> 64) as u64
    }

    /// A draw of the standard normal distribution.
    pub fn standard_normal(&mut self) -> f64 {
        ziggurat::standard_normal(self)
    }

    /// State of the linear congruential generator (`bit_generator.state["state"]["state"]`).
    pub fn state(&self) -> u128 {
        self.state
    }

    /// Increment of the linear congruential generator (`bit_generator.state["state"]["inc"]`).
    pub fn increment(&self) -> u128 {
        self.increment
    }

    /// The stored half that the next 32-bit draw will return (`uinteger` where `has_uint32` is 1).
    pub fn stored_half(&self) -> Option<u32> {
        self.half
    }
}

/// numpy's hash of 32-bit words whose constant carries over from call to call.
struct RunningHash {
    constant: u32,
    multiplier: u32,
}

impl RunningHash {
    fn hash(&mut self, word: u32) -> u32 {
        let mixed = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let product = mixed.wrapping_mul(self.constant);
        product ^ (product >> 16)
    }
}

fn mix(a: u32, b: u32) -> u32 {
    let r = a.wrapping_mul(0xCA01_F9DD).wrapping_sub(b.wrapping_mul(0x4973_F715));
    r ^ (r >> 16)
}

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_sequence(seed: &Seed) -> [u64; 4] {
    let pool = entropy_pool(seed);
    let mut output = RunningHash { constant: 0x8B51_F9DD, multiplier: 0x58F3_8DED };
    let words: [u32; 8] = std::array::from_fn(|i| output.hash(pool[i % 4]));
    std::array::from_fn(|i| u64::from(words[2 * i]) | (u64::from(words[2 * i + 1]) << 32))
}

fn entropy_pool(seed: &Seed) -> [u32; 4] {
    let mut input = RunningHash { constant: 0x43B0_D7E5, multiplier: 0x931E_8875 };
    let mut words = seed.words();
    let mut pool: [u32; 4] = std::array::from_fn(|_| input.hash(words.next().unwrap_or(0)));
    for source in 0..4 {
        for target in (0..4).filter(|&t| t != source) {
            pool[target] = mix(pool[target], input.hash(pool[source]));
        }
    }
    for word in words {
        for target in &mut pool {
            *target = mix(*target, input.hash(word));
        }
    }
    pool
}
