//! Which instruction set runs the kernels.

use std::fmt;

/// An instruction set the kernels are compiled for. All give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instructions {
    /// Plain code, vectorised by the compiler for the baseline of the target (NEON on aarch64).
    Portable,
    /// x86-64 baseline, 4 numbers at a time.
    Sse2,
    /// 8 numbers at a time.
    Avx2,
    /// 16 numbers at a time.
    Avx512,
}

impl Instructions {
    /// The fastest set this CPU has.
    pub fn detect() -> Self {
        *Self::available().last().unwrap_or(&Self::Portable)
    }

    /// The fastest set this CPU has among those of at most 256 bits.
    ///
    /// Beside scalar code 512-bit kernels cost more than they save: with them a HalfCheetah search on libmujoco was 15
    /// to 20 % slower (Ice Lake). Presumably the CPU lowers its clock for a while after each; that was not measured.
    pub fn detect_beside_scalar() -> Self {
        let narrow = Self::available().into_iter().rfind(|set| *set != Self::Avx512);
        narrow.unwrap_or(Self::Portable)
    }

    /// Every set this CPU has, slowest first.
    pub fn available() -> Vec<Self> {
        [Self::Portable, Self::Sse2, Self::Avx2, Self::Avx512].into_iter().filter(|i| i.supported()).collect()
    }

    /// Whether this CPU has the set.
    #[cfg(target_arch = "x86_64")]
    pub fn supported(self) -> bool {
        match self {
            Self::Portable | Self::Sse2 => true,
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            Self::Avx512 => is_x86_feature_detected!("avx512f"),
        }
    }

    /// Whether this CPU has the set.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn supported(self) -> bool {
        self == Self::Portable
    }
}

/// Declares the upper halves of this thread's vector registers unused.
///
/// faer's matrix products seem to leave them in use, and a thread may inherit that from its parent; code compiled for
/// SSE, as all of this program outside its kernels and as Box2D, is slow until something clears them. Measured: with
/// this call after each product, the backward pass of the recurrent layer took half the time; Box2D replays doubled
/// their speed.
pub fn clean_registers() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        #[target_feature(enable = "avx")]
        fn clean() {
            std::arch::x86_64::_mm256_zeroupper();
        }
        // SAFETY: the CPU has AVX.
        unsafe { clean() }
    }
}

impl Default for Instructions {
    fn default() -> Self {
        Self::detect()
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable",
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}
