//! The numbers networks compute with.

use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use faer::traits::ComplexField;

/// Single precision for training; double precision for checking gradients against finite differences.
pub trait Real:
    ComplexField
    + Copy
    + Send
    + Sync
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Mul<Output = Self>
    + Sub<Output = Self>
    + SubAssign
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// The nearest number to one in double precision.
    fn of(x: f64) -> Self;

    /// Hyperbolic tangent.
    fn tanh(self) -> Self;

    /// Whether the sign is negative, also that of a zero.
    fn is_negative(self) -> bool;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn of(x: f64) -> Self {
        x as Self
    }

    fn tanh(self) -> Self {
        autoqd::kernels::tanh(self)
    }

    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn of(x: f64) -> Self {
        x
    }

    fn tanh(self) -> Self {
        libm::tanh(self)
    }

    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
}

/// Makes a buffer `len` zeros, in the memory it already has where that is enough.
pub fn zeros<T: Real>(buffer: &mut Vec<T>, len: usize) {
    buffer.clear();
    buffer.resize(len, T::ZERO);
}
