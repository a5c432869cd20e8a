//! From SVG to pixels, with a bundled typeface, so that no system font is needed.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use crate::ViewError;
use autoqd_draw::Image;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    Arc::new(fonts)
});

/// Draws an SVG document at `scale` pixels per unit.
pub fn svg_to_pixels(svg: &str, scale: f32) -> Result<Image, ViewError> {
    let fail = |reason: String| ViewError::Raster { title: title_of(svg), reason };
    let options =
        Options { fontdb: FONTS.clone(), font_family: "Noto Sans".to_string(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| fail(e.to_string()))?;
    let size = tree
        .size()
        .to_int_size()
        .scale_by(scale)
        .ok_or_else(|| fail(format!("scale {scale} gives no valid size")))?;
    let mut pixmap =
        Pixmap::new(size.width(), size.height()).ok_or_else(|| fail("too large for memory".to_string()))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    let (width, height) = (size.width() as usize, size.height() as usize);
    Ok(Image { width, height, rgba: pixmap.take_demultiplied() })
}

/// A PNG file of an SVG document at `scale` pixels per unit.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, ViewError> {
    Ok(svg_to_pixels(svg, scale)?.png()?)
}

fn title_of(svg: &str) -> String {
    let text = svg.split("<text").nth(1).and_then(|t| t.split_once('>')).and_then(|(_, t)| t.split_once('<'));
    text.map_or_else(|| "untitled".to_string(), |(title, _)| title.to_string())
}
