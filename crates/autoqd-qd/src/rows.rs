//! A borrowed row-major matrix: the form in which batches are passed.

use crate::error::{Error, Result};

/// Rows of equal width in one flat slice.
///
/// ```
/// use autoqd_qd::Rows;
/// let rows = Rows::new(&[1.0, 2.0, 3.0, 4.0], 2)?;
/// assert_eq!(rows.len(), 2);
/// assert_eq!(rows.row(1), &[3.0, 4.0]);
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rows<'a> {
    data: &'a [f64],
    width: usize,
}

impl<'a> Rows<'a> {
    /// Views `data` as rows of `width` numbers.
    ///
    /// # Errors
    /// When `data` is not a whole number of rows.
    pub fn new(data: &'a [f64], width: usize) -> Result<Self> {
        let whole = if width == 0 { data.is_empty() } else { data.len().is_multiple_of(width) };
        if whole {
            return Ok(Self { data, width });
        }
        Err(Error::Shape {
            what: "length of a flat matrix",
            expected: data.len() / width.max(1) * width,
            got: data.len(),
            remedy: "give a whole number of rows",
        })
    }

    /// No rows of the given width.
    pub fn empty(width: usize) -> Self {
        Self { data: &[], width }
    }

    /// For data whose shape this crate produced itself.
    pub(crate) fn trusted(data: &'a [f64], width: usize) -> Self {
        debug_assert!(if width == 0 { data.is_empty() } else { data.len().is_multiple_of(width) });
        Self { data, width }
    }

    /// Number of rows; 0 for width 0.
    pub fn len(&self) -> usize {
        self.data.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Numbers per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All numbers, row after row.
    pub fn as_slice(&self) -> &'a [f64] {
        self.data
    }

    /// One row.
    ///
    /// # Panics
    /// When `index` is out of range, as slices do.
    pub fn row(&self, index: usize) -> &'a [f64] {
        &self.data[index * self.width..(index + 1) * self.width]
    }

    /// The rows `range`.
    ///
    /// # Panics
    /// When the range is out of bounds, as slices do.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Rows<'a> {
        Self { data: &self.data[range.start * self.width..range.end * self.width], width: self.width }
    }

    /// Row after row.
    pub fn iter(&self) -> std::slice::ChunksExact<'a, f64> {
        self.data.chunks_exact(self.width.max(1))
    }
}

impl<'a> IntoIterator for Rows<'a> {
    type Item = &'a [f64];
    type IntoIter = std::slice::ChunksExact<'a, f64>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Whether every number is finite. Without an early exit, so that the compiler can use vectors.
pub(crate) fn all_finite(values: &[f64]) -> bool {
    values.iter().fold(true, |all, v| all & v.is_finite())
}
