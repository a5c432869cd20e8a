//! The elements of a panel, in the coordinates of its data.

use super::figure::Area;
use super::svg::{Anchor, Svg, TextStyle};
use super::theme::{Rgb, hex};

/// Shape of a dot, a second mark besides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// ●
    Circle,
    /// ■
    Square,
    /// ▲
    Triangle,
    /// ◆
    Diamond,
    /// ▼
    TriangleDown,
    /// ✚
    Plus,
}

impl Marker {
    /// Marker of series `i`.
    pub fn series(i: usize) -> Self {
        [Self::Circle, Self::Square, Self::Triangle, Self::Diamond, Self::TriangleDown, Self::Plus][i % 6]
    }

    /// Draws the marker with about the area of a disc of this radius.
    pub fn draw(self, svg: &mut Svg, (x, y): (f64, f64), r: f64, fill: Rgb, opacity: f64) {
        let at = |corners: &[(f64, f64)]| {
            corners.iter().map(|(dx, dy)| (x + r * dx, y + r * dy)).collect::<Vec<_>>()
        };
        let corners = match self {
            Self::Circle => return svg.circle((x, y), r, fill, opacity),
            Self::Square => at(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Self::Triangle => at(&[(0.0, -1.25), (1.15, 0.85), (-1.15, 0.85)]),
            Self::TriangleDown => at(&[(0.0, 1.25), (1.15, -0.85), (-1.15, -0.85)]),
            Self::Diamond => at(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            Self::Plus => {
                let (a, b) = (0.42, 1.25);
                at(&[
                    (-a, -b),
                    (a, -b),
                    (a, -a),
                    (b, -a),
                    (b, a),
                    (a, a),
                    (a, b),
                    (-a, b),
                    (-a, a),
                    (-b, a),
                    (-b, -a),
                    (-a, -a),
                ])
            }
        };
        svg.polygon(&corners, fill, opacity);
    }
}

/// A rectangle of the data space and its colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    /// Left and right edge.
    pub x: (f64, f64),
    /// Lower and upper edge.
    pub y: (f64, f64),
    /// Fill.
    pub color: Rgb,
}

/// One mark.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A line; points that are not finite break it.
    Line {
        /// The points in data coordinates.
        points: Vec<(f64, f64)>,
        /// Stroke colour.
        color: Rgb,
        /// SVG dash pattern, empty for a solid line.
        dash: &'static str,
        /// Stroke width in pixels.
        width: f64,
        /// 0 to 1.
        opacity: f64,
    },
    /// A filled outline.
    Area {
        /// Corners in data coordinates.
        outline: Vec<(f64, f64)>,
        /// Fill colour.
        color: Rgb,
        /// 0 to 1.
        opacity: f64,
    },
    /// Markers.
    Dots {
        /// Centres in data coordinates.
        points: Vec<(f64, f64)>,
        /// Fill colour.
        color: Rgb,
        /// Shape.
        marker: Marker,
        /// Radius in pixels.
        radius: f64,
        /// 0 to 1.
        opacity: f64,
    },
    /// Rectangles without gaps between neighbours.
    Tiles(Vec<Tile>),
    /// A vertical error bar with caps.
    Whisker {
        /// Place.
        x: f64,
        /// Lower and upper end.
        y: (f64, f64),
        /// Half width of the caps in data units.
        cap: f64,
        /// Stroke colour.
        color: Rgb,
    },
    /// A text at a place of the data space.
    Label {
        /// Place.
        at: (f64, f64),
        /// Shift in pixels, right and down.
        shift: (f64, f64),
        /// The text.
        text: String,
        /// Its style.
        style: TextStyle,
    },
}

impl Mark {
    /// The band between two curves.
    pub fn band(x: &[f64], low: &[f64], high: &[f64], color: Rgb) -> Self {
        let there = x.iter().copied().zip(low.iter().copied());
        let back = x.iter().copied().zip(high.iter().copied()).rev();
        let outline = there.chain(back).filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        Self::Area { outline, color, opacity: 0.18 }
    }

    /// A solid line of the usual width.
    pub fn line(points: Vec<(f64, f64)>, color: Rgb, dash: &'static str) -> Self {
        Self::Line { points, color, dash, width: 2.0, opacity: 1.0 }
    }

    /// A centred text.
    pub fn label(at: (f64, f64), text: impl Into<String>, size: f64, color: Rgb) -> Self {
        let style = TextStyle::new(size, color).anchor(Anchor::Middle);
        Self::Label { at, shift: (0.0, 0.0), text: text.into(), style }
    }

    pub(crate) fn draw(&self, svg: &mut Svg, area: &Area<'_>) {
        match self {
            Self::Line { points, color, dash, width, opacity } => {
                for piece in points.split(|(x, y)| !x.is_finite() || !y.is_finite()) {
                    svg.polyline(&area.pixels(piece), *color, *width, dash, *opacity);
                }
            }
            Self::Area { outline, color, opacity } => svg.polygon(&area.pixels(outline), *color, *opacity),
            Self::Dots { points, color, marker, radius, opacity } => {
                for at in area.pixels(points) {
                    marker.draw(svg, at, *radius, *color, *opacity);
                }
            }
            Self::Tiles(tiles) => draw_tiles(svg, area, tiles),
            Self::Whisker { x, y, cap, color } => {
                svg.line(area.pixel((*x, y.0)), area.pixel((*x, y.1)), *color, 1.4);
                for end in [y.0, y.1] {
                    svg.line(area.pixel((x - cap, end)), area.pixel((x + cap, end)), *color, 1.4);
                }
            }
            Self::Label { at, shift, text, style } => {
                let (x, y) = area.pixel(*at);
                svg.text((x + shift.0, y + shift.1), text, *style);
            }
        }
    }
}

/// One path per colour: a tenth of the size of one rectangle per tile.
fn draw_tiles(svg: &mut Svg, area: &Area<'_>, tiles: &[Tile]) {
    let mut order: Vec<&Tile> = tiles.iter().collect();
    order.sort_by_key(|tile| tile.color);
    for group in order.chunk_by(|a, b| a.color == b.color) {
        let mut d = String::new();
        for tile in group {
            let (left, top) = area.pixel((tile.x.0, tile.y.1));
            let (right, bottom) = area.pixel((tile.x.1, tile.y.0));
            // Edges on whole pixels: neighbours touch, and no seam shows.
            let (left, right, top, bottom) = (left.round(), right.round(), top.round(), bottom.round());
            let (w, h) = ((right - left).max(1.0), (bottom - top).max(1.0));
            d.push_str(&format!("M{left} {top}h{w}v{h}h-{w}z"));
        }
        svg.raw(&format!(
            "<path d=\"{d}\" fill=\"{}\" shape-rendering=\"crispEdges\"/>\n",
            hex(group[0].color)
        ));
    }
}
