//! A picture in memory.

use crate::DrawError;

/// Pixels with red, green, blue and opacity, one byte each, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Four bytes per pixel.
    pub rgba: Vec<u8>,
}

impl Image {
    /// A transparent picture.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, rgba: vec![0; 4 * width * height] }
    }

    /// Paints `other` over this picture with its upper left corner at (x, y); what lies outside is cut off.
    pub fn draw(&mut self, other: &Image, x: usize, y: usize) {
        let columns = other.width.min(self.width.saturating_sub(x));
        for row in 0..other.height.min(self.height.saturating_sub(y)) {
            let from = &other.rgba[4 * row * other.width..][..4 * columns];
            let to = &mut self.rgba[4 * ((y + row) * self.width + x)..][..4 * columns];
            if from.chunks_exact(4).all(|pixel| pixel[3] == 255) {
                to.copy_from_slice(from);
                continue;
            }
            for (to, from) in to.chunks_exact_mut(4).zip(from.chunks_exact(4)) {
                blend(to, from);
            }
        }
    }

    /// The picture as a PNG file.
    pub fn png(&self) -> Result<Vec<u8>, DrawError> {
        let fail = |e: png::EncodingError| DrawError::Encode { format: "PNG", reason: e.to_string() };
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        let opaque = self.rgba.chunks_exact(4).all(|p| p[3] == 255);
        encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(fail)?;
        if opaque {
            let rgb: Vec<u8> = self.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
            writer.write_image_data(&rgb).map_err(fail)?;
        } else {
            writer.write_image_data(&self.rgba).map_err(fail)?;
        }
        writer.finish().map_err(fail)?;
        Ok(bytes)
    }
}

fn blend(to: &mut [u8], from: &[u8]) {
    let alpha = u32::from(from[3]);
    for (t, f) in to[..3].iter_mut().zip(from) {
        *t = ((u32::from(*f) * alpha + u32::from(*t) * (255 - alpha) + 127) / 255) as u8;
    }
    to[3] = (alpha + u32::from(to[3]) * (255 - alpha) / 255) as u8;
}
