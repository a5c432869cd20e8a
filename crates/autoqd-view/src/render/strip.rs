//! Frames side by side, and captions.

use super::{FrameStyle, Renderer};
use crate::ViewError;
use crate::plot::svg::{Anchor, Svg, TextStyle};
use crate::plot::{Theme, svg_to_pixels};
use autoqd_draw::Image;

/// Pixels between two frames.
const GAP: usize = 3;

/// What is written under a picture.
#[derive(Clone, Debug, Default)]
pub struct Caption {
    /// In bold, at the left: which elite.
    pub title: String,
    /// After it: return, measures.
    pub text: String,
    /// At the right: task, time span.
    pub note: String,
}

impl Caption {
    /// The caption as a bar of this width.
    pub(crate) fn draw(&self, width: usize, style: FrameStyle) -> Result<Image, ViewError> {
        let theme = Theme::new(style.mode);
        let size = if width >= 900 { 15.0 } else { 12.5 };
        let height = 2.0 * size;
        let mut svg = Svg::new(width as f64, height);
        svg.rect(0.0, 0.0, width as f64, height, theme.background);
        let base = 1.35 * size;
        svg.text((10.0, base), &self.title, TextStyle::new(size, theme.ink).bold());
        let indent = if self.title.is_empty() {
            10.0
        } else {
            22.0 + crate::plot::svg::text_width(&self.title, 1.07 * size)
        };
        svg.text((indent, base), &self.text, TextStyle::new(size, theme.ink));
        svg.text(
            (width as f64 - 10.0, base),
            &self.note,
            TextStyle::new(size, theme.muted).anchor(Anchor::End),
        );
        svg_to_pixels(&svg.finish(), 1.0)
    }

    /// The picture with this caption under it.
    pub(crate) fn under(&self, picture: Image, style: FrameStyle) -> Result<Image, ViewError> {
        let bar = self.draw(picture.width, style)?;
        Ok(stack(&[picture, bar], 0))
    }
}

/// These frames side by side over a caption.
pub fn filmstrip(renderer: &Renderer<'_>, frames: &[usize], caption: &Caption) -> Result<Image, ViewError> {
    let style = renderer.style();
    let count = frames.len().max(1);
    let mut strip =
        filled(count * (style.width + GAP) - GAP, style.height, Theme::new(style.mode).background);
    for (i, frame) in frames.iter().enumerate() {
        strip.draw(&renderer.frame(*frame)?, i * (style.width + GAP), 0);
    }
    caption.under(strip, style)
}

/// Pictures one under the other, as wide as the widest.
pub fn stack(pictures: &[Image], gap: usize) -> Image {
    let width = pictures.iter().map(|p| p.width).max().unwrap_or(1);
    let height = pictures.iter().map(|p| p.height + gap).sum::<usize>().saturating_sub(gap).max(1);
    let mut all = Image::new(width, height);
    let mut y = 0;
    for picture in pictures {
        all.draw(picture, 0, y);
        y += picture.height + gap;
    }
    all
}

fn filled(width: usize, height: usize, color: u32) -> Image {
    let mut image = Image::new(width, height);
    let [_, r, g, b] = color.to_be_bytes();
    image.rgba.chunks_exact_mut(4).for_each(|p| p.copy_from_slice(&[r, g, b, 255]));
    image
}
