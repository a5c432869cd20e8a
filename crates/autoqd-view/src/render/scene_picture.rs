//! One frame of a world in three dimensions, drawn by casting rays.

use std::sync::LazyLock;

use autoqd_env::{Pose, Scene, ShapeKind};
use rayon::prelude::*;

use super::camera::Camera;
use super::ground::{Color, Ground, Lamps, Scratch, Stage, color};
use super::mesh::Surfaces;
use super::solid::{Hit, Ray, Solid};
use super::vector::{Frame, V3, v3};
use crate::image::Image;
use crate::plot::Mode;

/// Direction to the key light and half its width.
const LIGHT: V3 = v3(-0.42, -0.48, 0.77);
const LIGHT_SPREAD: f64 = 0.13;
/// Samples per pixel along an edge are this number squared.
const EDGE_SAMPLES: usize = 3;

/// What the middle of a pixel shows of the solids.
#[derive(Clone, Copy)]
struct Seen {
    color: Color,
    normal: [f32; 3],
    /// Index of the solid, `NOTHING` if there is none.
    what: u32,
}

const NOTHING: u32 = u32::MAX;
const UNSEEN: Seen = Seen { color: [0.0; 3], normal: [0.0; 3], what: NOTHING };

/// The columns of a row in which there may be solids.
#[derive(Default)]
struct SeenRow {
    from: usize,
    seen: Vec<Seen>,
}

impl SeenRow {
    fn at(&self, column: usize) -> &Seen {
        self.seen.get(column.wrapping_sub(self.from)).unwrap_or(&UNSEEN)
    }
}

/// Size of a picture, and where its pixels are before the camera.
#[derive(Clone, Copy)]
struct Canvas {
    width: usize,
    height: usize,
    /// Height of a pixel where the picture's height is 2.
    scale: f64,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        Self { width, height, scale: 2.0 / height as f64 }
    }

    fn place(&self, column: f64, row: f64) -> (f64, f64) {
        ((column - 0.5 * self.width as f64) * self.scale, (0.5 * self.height as f64 - row) * self.scale)
    }
}

/// A world ready to be drawn.
pub(crate) struct ScenePicture<'a> {
    camera: &'a Camera,
    solids: Vec<Solid>,
    /// What holds each solid in the picture; `None` for one beside or behind the camera.
    outlines: Vec<Option<Outline>>,
    /// The solids that may stand between each solid and the light.
    before: Vec<Vec<usize>>,
    floor: Option<Frame>,
    /// Ball around all solids: what lies far from it has no shadow.
    middle: V3,
    reach: f64,
    stage: Stage,
    light: V3,
}

impl<'a> ScenePicture<'a> {
    /// `surfaces` are those of the scene's meshes, shape by shape.
    pub fn new(scene: &Scene, surfaces: &Surfaces, poses: &[Pose], camera: &'a Camera, mode: Mode) -> Self {
        let placed = || scene.shapes.iter().zip(poses);
        let solids: Vec<Solid> = placed()
            .enumerate()
            .filter_map(|(i, (shape, pose))| Solid::new(shape, surfaces.of(i), Frame::from(pose)))
            .filter(|solid| solid.color[3] > 0.01)
            .collect();
        let outlines = solids.iter().map(|s| Outline::new(s, camera)).collect();
        let floor =
            placed().find(|(shape, _)| shape.kind == ShapeKind::Plane).map(|(_, pose)| Frame::from(pose));
        let count = solids.len().max(1) as f64;
        let middle = solids.iter().fold(v3(0.0, 0.0, 0.0), |sum, s| sum + s.center()) * (1.0 / count);
        let reach = solids.iter().map(|s| (s.center() - middle).length() + s.reach).fold(0.0, f64::max);
        let light = LIGHT.unit();
        let before = solids.iter().enumerate().map(|(i, solid)| before(&solids, i, solid, light)).collect();
        Self { camera, solids, outlines, before, floor, middle, reach, stage: Stage::new(mode), light }
    }

    /// Draws the picture. Each pixel is computed on its own, so the number of threads does not matter.
    pub fn draw(&self, width: usize, height: usize) -> Image {
        let canvas = Canvas::new(width, height);
        let ball = (self.middle, self.reach);
        let ground = Ground::new(self.camera, self.floor, &self.stage, ball, (width, height));
        let light = ground.light(self);
        let seen: Vec<SeenRow> = (0..height).into_par_iter().map(|row| self.see_row(&canvas, row)).collect();
        let (mut image, table) = (Image::new(width, height), &*SRGB);
        let room = || (Scratch::new(width), vec![[0.0; 3]; width]);
        image.rgba.par_chunks_exact_mut(4 * width).enumerate().for_each_init(
            room,
            |(scratch, colors), (row, line)| {
                ground.row(row, &light, scratch, colors);
                self.draw_solids(&canvas, row, &seen, colors);
                for (color, pixel) in colors.iter().zip(line.chunks_exact_mut(4)) {
                    let [r, g, b] = color.map(|c| encode(c, table));
                    pixel.copy_from_slice(&[r, g, b, 255]);
                }
            },
        );
        image
    }

    /// Puts the solids of a row over what lies behind them, with smooth edges.
    fn draw_solids(&self, canvas: &Canvas, row: usize, seen: &[SeenRow], colors: &mut [Color]) {
        let rows = &seen[row.saturating_sub(1)..(row + 2).min(seen.len())];
        let filled = || rows.iter().filter(|r| !r.seen.is_empty());
        let Some(from) = filled().map(|r| r.from.saturating_sub(1)).min() else { return };
        let to = filled().map(|r| r.from + r.seen.len() + 1).max().unwrap_or(0).min(canvas.width);
        let near = self.near_row(canvas, row);
        for column in from..to {
            let here = seen[row].at(column);
            if is_edge(rows, here, column, canvas.width) {
                colors[column] = self.supersample(canvas, (column, row), &near, colors[column]);
            } else if here.what != NOTHING {
                colors[column] = here.color;
            }
        }
    }

    /// The mean of several looks into a pixel. Each surface in it is lit once.
    fn supersample(
        &self,
        canvas: &Canvas,
        (column, row): (usize, usize),
        near: &[usize],
        behind: Color,
    ) -> Color {
        const SURFACES: usize = 4;
        let mut lit = [UNSEEN; SURFACES];
        let mut sum = [0.0_f32; 3];
        for i in 0..EDGE_SAMPLES * EDGE_SAMPLES {
            let part = |k: usize| (k as f64 + 0.5) / EDGE_SAMPLES as f64;
            let place =
                canvas.place(column as f64 + part(i % EDGE_SAMPLES), row as f64 + part(i / EDGE_SAMPLES));
            let color = match self.nearest(place, canvas.scale, near) {
                None => behind,
                Some((solid, ray, hit)) => {
                    let normal = color(hit.normal);
                    let same = |s: &&Seen| s.what == solid as u32 && dot(s.normal, normal) > 0.95;
                    match lit.iter().find(same) {
                        Some(known) => known.color,
                        None => {
                            let shade = self.shade(solid, &ray, &hit);
                            lit.rotate_right(1);
                            lit[0] = shade;
                            shade.color
                        }
                    }
                }
            };
            sum = std::array::from_fn(|k| sum[k] + color[k]);
        }
        sum.map(|c| c * (1.0 / (EDGE_SAMPLES * EDGE_SAMPLES) as f32))
    }

    /// The solids that a row of the picture may show.
    fn near_row(&self, canvas: &Canvas, row: usize) -> Vec<usize> {
        let (y, scale) = (canvas.place(0.0, row as f64 + 0.5).1, canvas.scale);
        let touches = |outline: &Option<Outline>| {
            outline.as_ref().is_none_or(|o| o.low.1 - scale <= y && y <= o.high.1 + scale)
        };
        (0..self.solids.len()).filter(|i| touches(&self.outlines[*i])).collect()
    }

    fn see_row(&self, canvas: &Canvas, row: usize) -> SeenRow {
        let near = self.near_row(canvas, row);
        let (mut from, mut to) = (canvas.width, 0);
        let column = |x: f64| (x / canvas.scale + 0.5 * canvas.width as f64).clamp(0.0, canvas.width as f64);
        for i in &near {
            let (low, high) = self.outlines[*i]
                .as_ref()
                .map_or((0, canvas.width), |o| (column(o.low.0) as usize, column(o.high.0) as usize + 1));
            (from, to) = (from.min(low), to.max(high.min(canvas.width)));
        }
        let look = |column: usize| {
            let place = canvas.place(column as f64 + 0.5, row as f64 + 0.5);
            self.nearest(place, canvas.scale, &near).map_or(UNSEEN, |(i, ray, hit)| self.shade(i, &ray, &hit))
        };
        SeenRow { from, seen: (from..to).map(look).collect() }
    }

    /// The solid that is seen at a place of the picture.
    fn nearest(&self, (x, y): (f64, f64), scale: f64, near: &[usize]) -> Option<(usize, Ray, Hit)> {
        let touches = |i: usize| self.outlines[i].as_ref().is_none_or(|o| o.holds(x, y, scale));
        let mut ray = None;
        let mut nearest: Option<(usize, Hit)> = None;
        for i in near.iter().copied().filter(|i| touches(*i)) {
            let ray = ray.get_or_insert_with(|| self.camera.ray(x, y));
            if let Some(hit) = self.solids[i].hit(ray)
                && nearest.is_none_or(|(_, other)| hit.t < other.t)
            {
                nearest = Some((i, hit));
            }
        }
        let ((i, hit), ray) = (nearest?, ray?);
        self.floor_at(&ray).is_none_or(|t| hit.t < t).then_some((i, ray, hit))
    }

    fn shade(&self, index: usize, ray: &Ray, hit: &Hit) -> Seen {
        let shade = self.shade_solid(index, ray, hit.t, hit.normal);
        Seen { color: color(shade), normal: color(hit.normal), what: index as u32 }
    }

    fn floor_at(&self, ray: &Ray) -> Option<f64> {
        let floor = self.floor.as_ref()?;
        let slope = ray.direction.dot(floor.z());
        let t = (floor.origin - ray.origin).dot(floor.z()) / slope;
        (slope < -1e-9 && t > 0.0).then_some(t)
    }

    /// How much of the light reaches a point past some of the solids.
    fn light_at(&self, point: V3, past: impl Iterator<Item = usize>) -> f64 {
        let mut light = 1.0_f64;
        for i in past {
            light = light.min(self.solids[i].light_past(point, self.light, LIGHT_SPREAD));
            if light <= 0.0 {
                break;
            }
        }
        light
    }

    /// Whether anything can darken a point of the floor: near the ball around all solids or its shadow.
    fn may_be_dark(&self, point: V3) -> bool {
        let to = self.middle - point;
        let along = to.dot(self.light).max(0.0);
        let off = to - self.light * along;
        let clear = self.reach * 1.6 + LIGHT_SPREAD * along;
        off.dot(off) < clear * clear
    }

    fn shade_solid(&self, index: usize, ray: &Ray, t: f64, normal: V3) -> V3 {
        let [r, g, b, _] = self.solids[index].color;
        let base = v3(r, g, b);
        let point = ray.at(t) + normal * 1e-4;
        let facing = normal.dot(self.light).max(0.0);
        let key = if facing > 0.0 {
            facing * (0.3 + 0.7 * self.light_at(point, self.before[index].iter().copied()))
        } else {
            0.0
        };
        // Light from the sky above, and what the floor reflects from below.
        let above = 0.5 + 0.5 * normal.z;
        let ambient = v3(0.42, 0.45, 0.50) * above + v3(0.24, 0.22, 0.20) * (1.0 - above);
        let half = (self.light - ray.direction).unit();
        let shine = 0.22 * normal.dot(half).max(0.0).powi(40) * key.min(1.0);
        let rim = 0.16 * (1.0 + normal.dot(ray.direction)).clamp(0.0, 1.0).powi(3) * above;
        let lit = |base: f64, ambient: f64| base * (ambient + 0.95 * key) + shine + rim * (0.3 + 0.7 * base);
        v3(lit(base.x, ambient.x), lit(base.y, ambient.y), lit(base.z, ambient.z))
    }
}

/// A line with round ends that holds a solid in the picture.
struct Outline {
    from: (f64, f64),
    along: (f64, f64),
    inverse_square: f64,
    radius: f64,
    /// Corners of a box around it.
    low: (f64, f64),
    high: (f64, f64),
}

impl Outline {
    fn new(solid: &Solid, camera: &Camera) -> Option<Self> {
        let (from, to, radius) = solid.ends();
        let [(ax, ay, ra), (bx, by, rb)] = [camera.circle(from, radius)?, camera.circle(to, radius)?];
        let radius = ra.max(rb);
        let along = (bx - ax, by - ay);
        let square = along.0 * along.0 + along.1 * along.1;
        Some(Self {
            from: (ax, ay),
            along,
            inverse_square: if square > 0.0 { 1.0 / square } else { 0.0 },
            radius,
            low: (ax.min(bx) - radius, ay.min(by) - radius),
            high: (ax.max(bx) + radius, ay.max(by) + radius),
        })
    }

    /// Whether a place of the picture lies in it or no farther from it than `around`.
    fn holds(&self, x: f64, y: f64, around: f64) -> bool {
        let to = (x - self.from.0, y - self.from.1);
        let part = ((to.0 * self.along.0 + to.1 * self.along.1) * self.inverse_square).clamp(0.0, 1.0);
        let off = (to.0 - part * self.along.0, to.1 - part * self.along.1);
        off.0 * off.0 + off.1 * off.1 <= (self.radius + around) * (self.radius + around)
    }
}

/// The solids that may stand between a solid and the light.
fn before(solids: &[Solid], index: usize, solid: &Solid, light: V3) -> Vec<usize> {
    let may = |other: &Solid| {
        let to = other.center() - solid.center();
        let along = to.dot(light);
        let clear =
            other.reach + solid.reach + LIGHT_SPREAD * (along + other.reach + solid.reach).max(0.0) + 1e-3;
        let off = to - light * along.max(0.0);
        off.dot(off) <= clear * clear
    };
    (0..solids.len()).filter(|i| *i != index && may(&solids[*i])).collect()
}

impl Lamps for ScenePicture<'_> {
    fn sky(&self, point: V3) -> f64 {
        if !self.may_be_dark(point) {
            return 1.0;
        }
        let hidden: f64 = self.solids.iter().map(|s| s.hides_of_sky(point, v3(0.0, 0.0, 1.0))).sum();
        (1.0 - 0.55 * hidden).max(0.35)
    }

    fn key(&self, point: V3, past: Option<&[usize]>) -> f64 {
        match past {
            _ if !self.may_be_dark(point) => 1.0,
            Some(some) => self.light_at(point, some.iter().copied()),
            None => self.light_at(point, 0..self.solids.len()),
        }
    }

    fn shading(&self, (from, along, normal): &(V3, V3, V3)) -> Vec<usize> {
        let (upward, spread) = (self.light.dot(*normal), LIGHT_SPREAD);
        let sideways = (1.0 - upward * upward).max(0.0).sqrt();
        let crosses = |solid: &Solid| {
            // Where the middle of the shadow is, and how far it reaches from there: a shadow widens with the distance.
            let away = (solid.center() - *from).dot(*normal) / upward;
            let middle = solid.center() - self.light * away;
            let reach =
                (solid.reach * (1.0 + spread) + spread * away.max(0.0) + 1e-2) / (upward - spread * sideways);
            let to = middle - *from;
            let off = to - *along * to.dot(*along);
            off.dot(off) <= reach * reach
        };
        (0..self.solids.len()).filter(|i| upward < 0.3 || crosses(&self.solids[*i])).collect()
    }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Whether one of the pixels around shows something else, or the same solid from another side.
fn is_edge(rows: &[SeenRow], here: &Seen, column: usize, width: usize) -> bool {
    let columns = column.saturating_sub(1)..(column + 2).min(width);
    rows.iter().any(|row| {
        columns.clone().any(|c| {
            let other = row.at(c);
            other.what != here.what || (other.what != NOTHING && dot(other.normal, here.normal) < 0.8)
        })
    })
}

/// Parts of the table that finds bytes of sRGB; fewer than three bytes share one.
const SRGB_PARTS: usize = 4096;

/// The byte at the start of each part of the linear range, and the linear value at which each byte begins.
struct Srgb {
    parts: [u8; SRGB_PARTS + 1],
    begins: [f32; 257],
}

static SRGB: LazyLock<Srgb> = LazyLock::new(|| {
    let begin = |byte: usize| {
        let s = (byte as f64 - 0.5) / 255.0;
        if s <= 0.04045 { s / 12.92 } else { libm::pow((s + 0.055) / 1.055, 2.4) }
    };
    let begins: [f32; 257] =
        std::array::from_fn(|byte| if byte < 256 { begin(byte) as f32 } else { f32::INFINITY });
    let byte = |linear: f32| begins.iter().rposition(|b| *b <= linear).unwrap_or(0).min(255) as u8;
    Srgb { parts: std::array::from_fn(|i| byte(i as f32 / SRGB_PARTS as f32)), begins }
});

/// Linear light to a byte of sRGB. A power per channel would be a quarter of the time of a picture.
fn encode(linear: f32, table: &Srgb) -> u8 {
    let c = linear.clamp(0.0, 1.0);
    let mut byte = table.parts[(c * SRGB_PARTS as f32) as usize];
    while c >= table.begins[usize::from(byte) + 1] {
        byte += 1;
    }
    byte
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_srgb_are_those_of_its_formula() {
        for i in -5..=100_005 {
            let linear = i as f32 / 100_000.0;
            let c = f64::from(linear).clamp(0.0, 1.0);
            let s = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * libm::pow(c, 1.0 / 2.4) - 0.055 };
            assert_eq!(encode(linear, &SRGB), (255.0 * s + 0.5) as u8, "{linear}");
        }
    }
}
