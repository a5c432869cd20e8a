//! Normal and uniform numbers with the same bits on every platform.
//!
//! Kept separate from the streams of `autoqd_qd::Rng` (a ziggurat) and of `autoqd-learn` (single precision): the key and
//! the method of each are part of what a stored seed means, so replacing one by another would change every old run.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A stream of random numbers from a seed and a name that keeps the streams of different parts apart.
///
/// ```
/// use autoqd_rollout::random::NormalStream;
/// let draw = |name| NormalStream::new(7, name).normal();
/// assert_eq!(draw(b"one part"), draw(b"one part"));
/// assert_ne!(draw(b"one part"), draw(b"another "));
/// ```
pub struct NormalStream {
    random: ChaCha8Rng,
    /// The second number of a Box-Muller pair.
    spare: Option<f64>,
}

impl NormalStream {
    /// The stream of a seed and a name.
    pub fn new(seed: u64, name: &[u8; 8]) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(name);
        Self { random: ChaCha8Rng::from_seed(key), spare: None }
    }

    /// Uniform in (0, 1].
    pub fn uniform(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) + 1) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Standard normal, by Box and Muller with libm.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * libm::log(self.uniform())).sqrt();
        let angle = std::f64::consts::TAU * self.uniform();
        self.spare = Some(radius * libm::sin(angle));
        radius * libm::cos(angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_have_the_moments_of_a_normal() {
        let mut stream = NormalStream::new(1, b"test    ");
        let n = 100_000;
        let sample: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let moment = |p: i32| sample.iter().map(|x| x.powi(p)).sum::<f64>() / f64::from(n);
        assert!(moment(1).abs() < 0.01);
        assert!((moment(2) - 1.0).abs() < 0.02);
        assert!((moment(4) - 3.0).abs() < 0.15);
    }
}
