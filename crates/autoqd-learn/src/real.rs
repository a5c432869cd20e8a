//! The numbers networks compute with.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

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
    + Div<Output = Self>
    + Mul<Output = Self>
    + MulAssign
    + Neg<Output = Self>
    + Sub<Output = Self>
    + SubAssign
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// The nearest number to one in double precision.
    fn of(x: f64) -> Self;

    /// The same number in double precision.
    fn wide(self) -> f64;

    /// Hyperbolic tangent.
    fn tanh(self) -> Self;

    /// Hyperbolic tangent to the last place, where its distance from 1 matters.
    fn precise_tanh(self) -> Self;

    /// Exponential function.
    fn exp(self) -> Self;

    /// Natural logarithm.
    fn ln(self) -> Self;

    /// Square root.
    fn root(self) -> Self;

    /// A power with a whole exponent.
    fn power(self, exponent: u64) -> Self;

    /// Whether the sign is negative, also that of a zero.
    fn is_negative(self) -> bool;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn of(x: f64) -> Self {
        x as Self
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn tanh(self) -> Self {
        autoqd::kernels::tanh(self)
    }

    fn precise_tanh(self) -> Self {
        libm::tanhf(self)
    }

    fn exp(self) -> Self {
        libm::expf(self)
    }

    fn ln(self) -> Self {
        libm::logf(self)
    }

    fn root(self) -> Self {
        self.sqrt()
    }

    fn power(self, exponent: u64) -> Self {
        libm::powf(self, exponent as Self)
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

    fn wide(self) -> f64 {
        self
    }

    fn tanh(self) -> Self {
        libm::tanh(self)
    }

    fn precise_tanh(self) -> Self {
        libm::tanh(self)
    }

    fn exp(self) -> Self {
        libm::exp(self)
    }

    fn ln(self) -> Self {
        libm::log(self)
    }

    fn root(self) -> Self {
        self.sqrt()
    }

    fn power(self, exponent: u64) -> Self {
        libm::pow(self, exponent as Self)
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
