//! Random numbers with the same bits on every platform.

use std::sync::LazyLock;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng};
use serde::{Deserialize, Serialize};

/// Where a strategy takes its standard normal numbers from; a test can replay recorded ones.
pub trait NormalSource {
    /// Fills a slice with independent standard normal numbers.
    fn fill_normal(&mut self, out: &mut [f64]);
}

/// A ChaCha8 stream. Equal seed and stream give equal numbers, on every platform and in every release of 0.x.
///
/// ```
/// use autoqd_qd::Rng;
/// let (mut a, mut b) = (Rng::new(7, 0), Rng::new(7, 0));
/// assert_eq!(a.normal(), b.normal());
/// assert_ne!(Rng::new(7, 1).normal(), Rng::new(7, 2).normal());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rng {
    inner: ChaCha8Rng,
}

impl Rng {
    /// The stream `stream` of the seed `seed`; different streams are independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut inner = ChaCha8Rng::seed_from_u64(seed);
        inner.set_stream(stream);
        Self { inner }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..n, without bias.
    ///
    /// # Panics
    /// When `n` is 0.
    pub fn index(&mut self, n: usize) -> usize {
        assert!(n > 0, "cannot draw an index from nothing");
        let n = n as u64;
        // Lemire: the high half of the product is uniform once the low half is outside the biased remainder.
        let unfair = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= unfair {
                return (product >> 64) as usize;
            }
        }
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        ZIGGURAT.draw(&mut self.inner)
    }
}

impl NormalSource for Rng {
    fn fill_normal(&mut self, out: &mut [f64]) {
        let ziggurat: &Ziggurat = &ZIGGURAT;
        out.iter_mut().for_each(|x| *x = ziggurat.draw(&mut self.inner));
    }
}

const LAYERS: usize = 256;
/// Where the tail begins for 256 layers of equal area (Marsaglia and Tsang 2000).
const TAIL: f64 = 3.654152885361009;

/// The normal density cut into layers of equal area.
struct Ziggurat {
    /// Right edge of each layer; `x[0]` is the width of a rectangle with the area of base layer and tail.
    x: [f64; LAYERS + 1],
    /// Density at each edge.
    f: [f64; LAYERS + 1],
}

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(Ziggurat::new);

fn density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x)
}

impl Ziggurat {
    fn new() -> Self {
        let (mut x, mut f) = ([0.0; LAYERS + 1], [0.0; LAYERS + 1]);
        let tail_area = libm::sqrt(std::f64::consts::FRAC_PI_2) * libm::erfc(TAIL / std::f64::consts::SQRT_2);
        let area = TAIL * density(TAIL) + tail_area;
        (x[0], f[0]) = (area / density(TAIL), 0.0);
        (x[1], f[1]) = (TAIL, density(TAIL));
        for i in 2..LAYERS {
            f[i] = f[i - 1] + area / x[i - 1];
            x[i] = libm::sqrt(-2.0 * libm::log(f[i]));
        }
        (x[LAYERS], f[LAYERS]) = (0.0, 1.0);
        Self { x, f }
    }

    #[inline]
    fn draw(&self, rng: &mut ChaCha8Rng) -> f64 {
        loop {
            let bits = rng.next_u64();
            let layer = (bits & 0xff) as usize;
            // 53 bits from the top, one sign among them: uniform in (-1, 1).
            let u = ((bits >> 11) as i64 - (1 << 52)) as f64 * (1.0 / (1u64 << 52) as f64);
            let x = u * self.x[layer];
            if x.abs() < self.x[layer + 1] {
                return x;
            }
            if layer == 0 {
                return tail(rng).copysign(u);
            }
            let height = self.f[layer] + (self.f[layer + 1] - self.f[layer]) * unit(rng);
            if height < density(x) {
                return x;
            }
        }
    }
}

/// Uniform in (0, 1].
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A number beyond [`TAIL`] (Marsaglia 1964).
#[cold]
fn tail(rng: &mut ChaCha8Rng) -> f64 {
    loop {
        let x = -libm::log(unit(rng)) / TAIL;
        if -2.0 * libm::log(unit(rng)) > x * x {
            return TAIL + x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_have_the_right_moments_and_tails() {
        let mut rng = Rng::new(1, 0);
        let n = 2_000_000;
        let (mut moments, mut beyond) = ([0.0; 4], [0usize; 4]);
        for _ in 0..n {
            let x = rng.normal();
            (0..4).for_each(|k| moments[k] += x.powi(k as i32 + 1));
            [1.0, 2.0, 3.0, TAIL].iter().zip(&mut beyond).for_each(|(t, b)| *b += usize::from(x.abs() > *t));
        }
        // Expected value and variance of x, x^2, x^3, x^4.
        for (k, (mean, variance)) in [(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)].iter().enumerate() {
            let z = (moments[k] / n as f64 - mean) / f64::sqrt(variance / n as f64);
            assert!(z.abs() < 4.5, "moment {} is off by {z} standard errors", k + 1);
        }
        for (t, count) in [1.0, 2.0, 3.0, TAIL].iter().zip(beyond) {
            let p = libm::erfc(t / std::f64::consts::SQRT_2);
            let z = (count as f64 - n as f64 * p) / f64::sqrt(n as f64 * p * (1.0 - p));
            assert!(z.abs() < 4.5, "P(|x| > {t}) is off by {z} standard errors");
        }
    }

    #[test]
    fn the_layers_close_at_the_top() {
        // One more layer of the same area would end exactly at the peak, if TAIL belongs to this number of layers.
        let (x, f) = (&ZIGGURAT.x, &ZIGGURAT.f);
        let area = x[0] * density(TAIL);
        assert!((f[LAYERS - 1] + area / x[LAYERS - 1] - 1.0).abs() < 1e-9);
        assert!(x.windows(2).all(|w| w[0] > w[1]));
    }

    #[test]
    fn indices_cover_their_range_evenly() {
        let mut rng = Rng::new(3, 0);
        let mut counts = [0usize; 7];
        (0..70_000).for_each(|_| counts[rng.index(7)] += 1);
        assert!(counts.iter().all(|&c| (c as f64 - 10_000.0).abs() < 450.0), "{counts:?}");
    }

    #[test]
    fn the_first_numbers_of_a_stream_are_fixed() {
        // A change in the underlying generator would break every stored seed.
        let mut rng = Rng::new(0, 0);
        assert_eq!(rng.next_u64(), 13080132717333068652);
        assert_eq!(rng.normal().to_bits(), 13817730424566365364);
    }
}
