//! Numbers that start at a cache line.

use std::ops::{Deref, DerefMut};

use super::PAD;

/// One cache line of single-precision numbers.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([f32; PAD]);

/// A fixed number of single-precision numbers that start at a cache line: a register of aligned numbers then
/// never lies across two lines, which would cost a second load.
#[derive(Clone, Debug)]
pub(crate) struct Aligned(Vec<Line>);

impl Aligned {
    /// At least `len` zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        Self(vec![Line([0.0; PAD]); len.div_ceil(PAD)])
    }
}

impl Deref for Aligned {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: a line is exactly PAD numbers without padding, and lines follow each other.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * PAD) }
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * PAD) }
    }
}
