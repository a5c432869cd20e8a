//! The pixels of a picture, and where they are before the camera.

use std::ops::Range;

/// Size of a picture, and where its pixels are before the camera.
#[derive(Clone, Copy)]
pub(super) struct Canvas {
    pub width: usize,
    pub height: usize,
    /// Height of a pixel where the picture's height is 2.
    pub scale: f64,
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, scale: 2.0 / height as f64 }
    }

    pub fn place(&self, column: f64, row: f64) -> (f64, f64) {
        (self.x(column), self.y(row))
    }

    #[inline]
    pub fn x(&self, column: f64) -> f64 {
        (column - 0.5 * self.width as f64) * self.scale
    }

    #[inline]
    pub fn y(&self, row: f64) -> f64 {
        (0.5 * self.height as f64 - row) * self.scale
    }

    /// The column, with its fraction, of a place; the nearest one of a place beside the picture.
    #[inline]
    pub fn column(&self, x: f64) -> f64 {
        (x / self.scale + 0.5 * self.width as f64).clamp(0.0, self.width as f64)
    }

    /// The columns between two places.
    pub fn columns(&self, low: f64, high: f64) -> Range<usize> {
        self.column(low) as usize..(self.column(high) as usize + 1).min(self.width)
    }

    /// The column and row, with their fractions, of a place.
    #[inline]
    pub fn pixel(&self, (x, y): (f64, f64)) -> (f32, f32) {
        let per = 1.0 / self.scale;
        ((x * per + 0.5 * self.width as f64) as f32, (0.5 * self.height as f64 - y * per) as f32)
    }
}
