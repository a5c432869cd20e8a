//! One frame of a world in two dimensions, drawn as an SVG.

use autoqd_env::{Pose, Scene, Shape, ShapeKind};

use crate::ViewError;
use crate::plot::svg::Svg;
use crate::plot::{Mode, Rgb, svg_to_pixels};
use autoqd_draw::Image;
use autoqd_draw::Replay;

/// The part of the plane that is shown.
#[derive(Clone, Debug)]
pub struct FlatView {
    /// Middle of the picture in each frame.
    centers: Vec<(f64, f64)>,
    /// Height of the picture in the world's units, for a picture of this shape.
    height: f64,
    /// Smallest width that must be seen; the height grows if the picture is too narrow for it.
    width: f64,
}

impl FlatView {
    /// All of a walled world or of a body fixed to its place; otherwise the camera follows the body.
    pub fn of(replay: &Replay) -> Self {
        let scene = &replay.scene;
        let ground = scene.shapes.iter().any(is_open_line);
        if ground { Self::following(replay) } else { Self::whole(replay) }
    }

    fn following(replay: &Replay) -> Self {
        let path: Vec<[f64; 3]> =
            (0..replay.frames()).map(|f| replay.poses(f)[replay.scene.follow].position).collect();
        let mean = path.iter().map(|p| p[1]).sum::<f64>() / path.len().max(1) as f64;
        let reach = replay.scene.shapes.iter().filter(|s| !is_open_line(s)).map(reach).fold(0.1, f64::max);
        // Limbs hang from one another: about four of the longest fill the height.
        let height = 5.2 * reach;
        Self { centers: path.iter().map(|p| (p[0], mean - 0.03 * height)).collect(), height, width: 0.0 }
    }

    fn whole(replay: &Replay) -> Self {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for frame in 0..replay.frames() {
            for (shape, pose) in replay.scene.shapes.iter().zip(replay.poses(frame)) {
                let around = if shape.points.is_empty() { shape.size[0] } else { 0.0 };
                let own = [[0.0, 0.0]];
                let points = if shape.points.is_empty() { &own[..] } else { &shape.points[..] };
                for [x, y, _] in points.iter().map(|p| pose.apply([p[0], p[1], 0.0])) {
                    low = [low[0].min(x - around), low[1].min(y - around)];
                    high = [high[0].max(x + around), high[1].max(y + around)];
                }
            }
        }
        let size = |i: usize| ((high[i] - low[i]) * 1.12).max(1e-3);
        let center = (0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]));
        Self { centers: vec![center; replay.frames()], height: size(1), width: size(0) }
    }
}

fn is_open_line(shape: &Shape) -> bool {
    shape.kind == ShapeKind::Polyline && shape.points.first() != shape.points.last()
}

fn reach(shape: &Shape) -> f64 {
    let far = shape.points.iter().map(|p| (p[0] * p[0] + p[1] * p[1]).sqrt());
    far.fold(shape.size[0].max(shape.size[1]), f64::max)
}

/// Draws one frame.
pub(crate) fn draw(
    scene: &Scene,
    poses: &[Pose],
    view: &FlatView,
    frame: usize,
    (width, height): (usize, usize),
    mode: Mode,
) -> Result<Image, ViewError> {
    let (w, h) = (width as f64, height as f64);
    let shown = view.height.max(view.width * h / w);
    let scale = h / shown;
    let (cx, cy) = view.centers[frame.min(view.centers.len() - 1)];
    let to_pixel = |[x, y, _]: [f64; 3]| (0.5 * w + (x - cx) * scale, 0.5 * h - (y - cy) * scale);
    let mut svg = Svg::new(w, h);
    draw_sky(&mut svg, w, h, mode);
    for (shape, pose) in scene.shapes.iter().zip(poses) {
        let points: Vec<(f64, f64)> =
            shape.points.iter().map(|p| to_pixel(pose.apply([p[0], p[1], 0.0]))).collect();
        let color = rgb(shape.rgba);
        match shape.kind {
            ShapeKind::Polyline if is_open_line(shape) => draw_ground(&mut svg, &points, (w, h), color, mode),
            ShapeKind::Polyline => svg.polyline(&points, color, 3.0, "", 1.0),
            ShapeKind::Polygon => draw_polygon(&mut svg, &points, color),
            _ => svg.circle(to_pixel(pose.position), shape.size[0] * scale, color, f64::from(shape.rgba[3])),
        }
    }
    svg_to_pixels(&svg.finish(), 1.0)
}

fn draw_sky(svg: &mut Svg, w: f64, h: f64, mode: Mode) {
    let (top, bottom) = match mode {
        Mode::Light => ("#dcecfb", "#fbfdff"),
        Mode::Dark => ("#10161f", "#1b2431"),
    };
    svg.raw(&format!(
        "<defs><linearGradient id=\"sky\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\"><stop offset=\"0\" stop-color=\"{top}\"/>\
         <stop offset=\"1\" stop-color=\"{bottom}\"/></linearGradient></defs>\
         <rect width=\"{w}\" height=\"{h}\" fill=\"url(#sky)\"/>\n"
    ));
}

/// The ground is filled down to the lower edge, with posts at regular steps so that motion shows.
fn draw_ground(svg: &mut Svg, points: &[(f64, f64)], (w, h): (f64, f64), color: Rgb, mode: Mode) {
    let seen: Vec<(f64, f64)> = points
        .iter()
        .enumerate()
        .filter(|(i, p)| {
            let next = points.get(i + 1).map_or(p.0, |n| n.0);
            let previous = i.checked_sub(1).map_or(p.0, |i| points[i].0);
            next >= 0.0 && previous <= w
        })
        .map(|(_, p)| *p)
        .collect();
    let (Some(first), Some(last)) = (seen.first(), seen.last()) else { return };
    let mut outline = vec![(first.0, h)];
    outline.extend(&seen);
    outline.push((last.0, h));
    svg.polygon(&outline, color, if mode == Mode::Light { 0.35 } else { 0.28 });
    svg.polyline(&seen, color, 3.0, "", 1.0);
    for (i, (x, y)) in points.iter().enumerate().step_by(5) {
        if (0.0..=w).contains(x) {
            let length = if i % 25 == 0 { 18.0 } else { 9.0 };
            svg.line((*x, y + 3.0), (*x, y + 3.0 + length), color, 1.5);
        }
    }
}

fn draw_polygon(svg: &mut Svg, points: &[(f64, f64)], color: Rgb) {
    svg.polygon(points, color, 1.0);
    let closed: Vec<(f64, f64)> = points.iter().chain(points.first()).copied().collect();
    svg.polyline(&closed, darker(color), 1.6, "", 1.0);
}

fn darker(color: Rgb) -> Rgb {
    [16, 8, 0].into_iter().fold(0, |rgb, shift| (rgb << 8) | (((color >> shift) & 255) * 6 / 10))
}

fn rgb([r, g, b, _]: [f32; 4]) -> Rgb {
    let byte = |c: f32| (c.clamp(0.0, 1.0) * 255.0).round() as Rgb;
    (byte(r) << 16) | (byte(g) << 8) | byte(b)
}
