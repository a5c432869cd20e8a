//! Seeds as wide as numpy accepts them.

use std::fmt;
use std::str::FromStr;

use crate::EnvError;

/// Largest power of ten in a 32-bit word: text is read and written in groups of nine digits.
const GROUP: u64 = 1_000_000_000;

/// A non-negative integer of any width that seeds a random stream, as 32-bit words, least significant first.
///
/// ```
/// use autoqd_env::Seed;
///
/// let wide: Seed = "1606938044258990275541962092341162602522202993782792835301376".parse()?; // 2^200
/// assert_eq!(wide.words().count(), 7);
/// assert_eq!(Seed::from(42_u64), "42".parse()?);
/// assert_eq!(Seed::from(42_u64).to_string(), "42");
/// # Ok::<(), autoqd_env::EnvError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seed {
    low: [u32; 4],
    /// Words beyond the fourth; empty (and without a heap allocation) for every seed below 2^128.
    high: Vec<u32>,
    len: usize,
}

impl Seed {
    /// The words of the seed, least significant first, at least one, without leading zeros.
    pub fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.low.iter().take(self.len.min(4)).chain(&self.high).copied()
    }

    /// The seed with these words, least significant first; leading zeros are dropped.
    pub fn from_words(words: &[u32]) -> Self {
        let len = words.iter().rposition(|&w| w != 0).map_or(1, |last| last + 1);
        let mut low = [0; 4];
        for (to, from) in low.iter_mut().zip(words) {
            *to = *from;
        }
        let high = words.get(4..len).unwrap_or_default().to_vec();
        Self { low, high, len }
    }
}

impl From<u64> for Seed {
    fn from(value: u64) -> Self {
        Self::from(u128::from(value))
    }
}

impl From<u128> for Seed {
    fn from(value: u128) -> Self {
        let low = [0, 32, 64, 96].map(|shift| (value >> shift) as u32);
        let bits = 128 - value.leading_zeros() as usize;
        Self { low, high: Vec::new(), len: bits.div_ceil(32).max(1) }
    }
}

impl FromStr for Seed {
    type Err = EnvError;

    /// Reads any number of decimal digits.
    fn from_str(text: &str) -> Result<Self, EnvError> {
        let digits = text.as_bytes();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(EnvError::SeedText { text: text.to_string() });
        }
        let mut words = vec![0];
        // The first group takes what is left over, so that all others have nine digits.
        let first = digits.len() % 9;
        push_group(&mut words, &digits[..first]);
        for group in digits[first..].chunks(9) {
            push_group(&mut words, group);
        }
        Ok(Self::from_words(&words))
    }
}

/// Appends decimal digits (at most nine) to the number in `words`.
fn push_group(words: &mut Vec<u32>, digits: &[u8]) {
    let factor = 10_u64.pow(digits.len() as u32);
    let mut carry = digits.iter().fold(0, |value, d| 10 * value + u64::from(d - b'0'));
    for word in words.iter_mut() {
        let value = u64::from(*word) * factor + carry;
        *word = value as u32;
        carry = value >> 32;
    }
    if carry > 0 {
        words.push(carry as u32);
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<u32> = self.words().collect();
        let mut groups = Vec::new();
        while words.iter().any(|&w| w != 0) {
            groups.push(divide(&mut words));
        }
        write!(f, "{}", groups.pop().unwrap_or(0))?;
        groups.iter().rev().try_for_each(|group| write!(f, "{group:09}"))
    }
}

/// Divides the number in `words` by [`GROUP`] and returns the remainder.
fn divide(words: &mut [u32]) -> u64 {
    let mut remainder = 0;
    for word in words.iter_mut().rev() {
        let value = (remainder << 32) | u64::from(*word);
        *word = (value / GROUP) as u32;
        remainder = value % GROUP;
    }
    remainder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(seed: &Seed) -> Vec<u32> {
        seed.words().collect()
    }

    #[test]
    fn widths_agree() {
        for value in [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX] {
            let seed = Seed::from(value);
            assert_eq!(seed, Seed::from(u128::from(value)));
            assert_eq!(seed, value.to_string().parse().unwrap());
            assert_eq!(seed.to_string(), value.to_string());
        }
        assert_eq!(words(&Seed::from(0_u64)), [0]);
        assert_eq!(words(&Seed::from(u128::MAX)), [u32::MAX; 4]);
    }

    #[test]
    fn text_wider_than_any_machine_word_round_trips() {
        let two_to_the_200 = "1606938044258990275541962092341162602522202993782792835301376";
        let seed: Seed = two_to_the_200.parse().unwrap();
        assert_eq!(words(&seed), [0, 0, 0, 0, 0, 0, 256]);
        assert_eq!(seed.to_string(), two_to_the_200);
        assert_eq!(
            "000000000000000000000000000000000000000000000007".parse::<Seed>().unwrap(),
            Seed::from(7_u64)
        );
    }

    #[test]
    fn other_text_is_refused_by_name() {
        for text in ["", "-1", "1.5", "1e3", "0x10", " 1", "十"] {
            let message = text.parse::<Seed>().unwrap_err().to_string();
            assert!(message.contains(&format!("'{text}'")), "{message}");
        }
    }

    #[test]
    fn leading_zero_words_are_dropped() {
        assert_eq!(Seed::from_words(&[5, 0, 0, 0, 0, 0]), Seed::from(5_u64));
        assert_eq!(Seed::from_words(&[]), Seed::from(0_u64));
    }
}
