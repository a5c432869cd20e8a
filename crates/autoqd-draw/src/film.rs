//! Films as GIF: one palette, dithered, and only the rows that change.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use color_quant::NeuQuant;
use rayon::prelude::*;

use crate::{DrawError, Image};

fn gif_failed(error: gif::EncodingError) -> DrawError {
    DrawError::Encode { format: "GIF", reason: error.to_string() }
}

/// A GIF in the making, with one palette for all of it.
pub struct Gif {
    encoder: gif::Encoder<Vec<u8>>,
    colors: Colors,
    /// How long a picture is shown, in hundredths of a second.
    delay: u16,
    /// The colours of the last picture.
    last: Vec<u8>,
}

impl Gif {
    /// Chooses the colours from samples, at least one, of the pictures that will follow at `rate` per second.
    pub fn new(samples: &[Image], rate: f64) -> Result<Self, DrawError> {
        let Some(first) = samples.first() else { return Err(DrawError::NothingToDraw) };
        let (width, height) = (first.width as u16, first.height as u16);
        let colors = Colors::of(samples);
        let mut encoder = gif::Encoder::new(Vec::new(), width, height, &colors.palette.color_map_rgb())
            .map_err(gif_failed)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(gif_failed)?;
        Ok(Self { encoder, colors, delay: (100.0 / rate) as u16, last: Vec::new() })
    }

    /// Adds pictures, each shown so many times in a row. Rows at the top and at the bottom that have not changed since the
    /// picture before (the sky, the caption) are left out, which keeps them.
    pub fn add(
        &mut self,
        pictures: &[Image],
        times: &mut dyn Iterator<Item = usize>,
    ) -> Result<(), DrawError> {
        let indexed: Vec<Vec<u8>> = pictures.par_iter().map(|p| self.colors.index(p)).collect();
        for ((picture, pixels), times) in pictures.iter().zip(indexed).zip(times) {
            let rows = changed_rows(&self.last, &pixels, picture.width);
            let frame = gif::Frame {
                width: picture.width as u16,
                top: rows.start as u16,
                height: rows.len() as u16,
                delay: self.delay.saturating_mul(times.min(usize::from(u16::MAX)) as u16),
                buffer: Cow::Borrowed(&pixels[rows.start * picture.width..rows.end * picture.width]),
                ..gif::Frame::default()
            };
            self.encoder.write_frame(&frame).map_err(gif_failed)?;
            self.last = pixels;
        }
        Ok(())
    }

    /// The complete file.
    pub fn finish(self) -> Result<Vec<u8>, DrawError> {
        self.encoder.into_inner().map_err(gif_failed)
    }
}

/// From the first to the last row that differs; at least one.
fn changed_rows(last: &[u8], pixels: &[u8], width: usize) -> Range<usize> {
    let height = pixels.len() / width;
    if last.len() != pixels.len() {
        return 0..height;
    }
    let differs = |row: &usize| last[row * width..][..width] != pixels[row * width..][..width];
    let start = (0..height).find(differs).unwrap_or(0);
    start..(start..height).rev().find(differs).unwrap_or(start) + 1
}

/// Bits of each channel that the table of nearest colours tells apart.
const BITS: u32 = 6;

/// The palette of a film, and which of its colours is nearest to each colour.
struct Colors {
    palette: NeuQuant,
    /// Found when it is first asked for: a film has few of all colours.
    nearest: Vec<AtomicU16>,
}

/// No colour of the palette.
const UNKNOWN: u16 = u16::MAX;

impl Colors {
    /// One palette for the whole film: colours do not flicker from frame to frame.
    fn of(samples: &[Image]) -> Self {
        let pixels: Vec<u8> = samples.iter().flat_map(|image| image.rgba.iter().copied()).collect();
        let palette = NeuQuant::new(10, 256, &pixels);
        Self { palette, nearest: (0..1 << (3 * BITS)).map(|_| AtomicU16::new(UNKNOWN)).collect() }
    }

    /// The colour of the palette that is nearest to those of a part of all colours. Threads that ask for the same part at the
    /// same time find the same.
    #[inline]
    fn nearest(&self, part: usize) -> u8 {
        let known = self.nearest[part].load(Ordering::Relaxed);
        if known != UNKNOWN {
            return known as u8;
        }
        let middle = |part: usize| ((part & ((1 << BITS) - 1)) << (8 - BITS) | 1 << (7 - BITS)) as u8;
        let rgba = [middle(part >> (2 * BITS)), middle(part >> BITS), middle(part), 255];
        let found = self.palette.index_of(&rgba) as u8;
        self.nearest[part].store(u16::from(found), Ordering::Relaxed);
        found
    }

    /// Nearest colours of the palette, with a fine pattern of noise in place of bands.
    fn index(&self, image: &Image) -> Vec<u8> {
        const PATTERN: [i16; 16] = [-7, 1, -5, 3, 5, -3, 7, -1, -4, 4, -6, 2, 8, 0, 6, -2];
        let mut indices = Vec::with_capacity(image.width * image.height);
        for (y, row) in image.rgba.chunks_exact(4 * image.width).enumerate() {
            let noise: [i16; 4] = std::array::from_fn(|x| PATTERN[y % 4 * 4 + x] / 3);
            indices.extend(row.chunks_exact(4).enumerate().map(|(x, p)| {
                let part =
                    |c: u8| usize::from((i16::from(c) + noise[x % 4]).clamp(0, 255) as u8 >> (8 - BITS));
                self.nearest(part(p[0]) << (2 * BITS) | part(p[1]) << BITS | part(p[2]))
            }));
        }
        indices
    }
}
