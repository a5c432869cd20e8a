//! One frame of a world in three dimensions, drawn by casting rays.

use std::sync::LazyLock;

use autoqd_env::{Pose, Scene, ShapeKind};
use rayon::prelude::*;

use super::camera::Camera;
use super::solid::{Ray, Solid};
use super::vector::{Frame, V3, v3};
use crate::image::Image;
use crate::plot::Mode;

/// Colours of the stage, linear.
struct Stage {
    sky: V3,
    horizon: V3,
    floor: V3,
    line: V3,
}

impl Stage {
    fn new(mode: Mode) -> Self {
        match mode {
            Mode::Light => Self {
                sky: v3(0.80, 0.88, 0.96),
                horizon: v3(0.95, 0.965, 0.98),
                floor: v3(0.80, 0.82, 0.845),
                line: v3(0.60, 0.635, 0.68),
            },
            Mode::Dark => Self {
                sky: v3(0.012, 0.016, 0.024),
                horizon: v3(0.030, 0.037, 0.050),
                floor: v3(0.050, 0.058, 0.072),
                line: v3(0.115, 0.135, 0.165),
            },
        }
    }
}

/// Direction to the key light and half its width.
const LIGHT: V3 = v3(-0.42, -0.48, 0.77);
const LIGHT_SPREAD: f64 = 0.13;
/// Samples per pixel along an edge are this number squared.
const EDGE_SAMPLES: usize = 3;

/// What a ray saw. The first look at a picture keeps one per pixel.
#[derive(Clone, Copy)]
struct Seen {
    color: V3,
    /// Index of the solid, -1 for the floor, -2 for the sky.
    what: i32,
    normal: V3,
}

/// A world ready to be drawn.
pub(crate) struct ScenePicture<'a> {
    camera: &'a Camera,
    solids: Vec<Solid>,
    /// Screen circle of each solid.
    circles: Vec<Option<(f64, f64, f64)>>,
    floor: Option<Frame>,
    /// Ball around all solids: what lies far from it has no shadow.
    middle: V3,
    reach: f64,
    stage: Stage,
    light: V3,
}

impl<'a> ScenePicture<'a> {
    pub fn new(scene: &Scene, poses: &[Pose], camera: &'a Camera, mode: Mode) -> Self {
        let placed = || scene.shapes.iter().zip(poses);
        let solids: Vec<Solid> = placed()
            .filter_map(|(shape, pose)| Solid::new(shape, Frame::from(pose)))
            .filter(|solid| solid.color[3] > 0.01)
            .collect();
        let circles = solids.iter().map(|s| camera.circle(s.center(), s.reach)).collect();
        let floor =
            placed().find(|(shape, _)| shape.kind == ShapeKind::Plane).map(|(_, pose)| Frame::from(pose));
        let count = solids.len().max(1) as f64;
        let middle = solids.iter().fold(v3(0.0, 0.0, 0.0), |sum, s| sum + s.center()) * (1.0 / count);
        let reach = solids.iter().map(|s| (s.center() - middle).length() + s.reach).fold(0.0, f64::max);
        Self { camera, solids, circles, floor, middle, reach, stage: Stage::new(mode), light: LIGHT.unit() }
    }

    /// Draws the picture. Each pixel is computed on its own, so the number of threads does not matter.
    pub fn draw(&self, width: usize, height: usize) -> Image {
        let scale = 2.0 / height as f64;
        let place = |column: f64, row: f64| {
            ((column - 0.5 * width as f64) * scale, (0.5 * height as f64 - row) * scale)
        };
        let first: Vec<Seen> = (0..height)
            .into_par_iter()
            .flat_map_iter(|row| {
                let near = self.near_row(place(0.0, row as f64 + 0.5).1, scale);
                (0..width).map(move |column| {
                    let (x, y) = place(column as f64 + 0.5, row as f64 + 0.5);
                    self.see(x, y, scale, &near)
                })
            })
            .collect();
        let (mut image, table) = (Image::new(width, height), &*SRGB);
        image.rgba.par_chunks_exact_mut(4 * width).enumerate().for_each(|(row, line)| {
            let near = self.near_row(place(0.0, row as f64 + 0.5).1, scale);
            for (column, pixel) in line.chunks_exact_mut(4).enumerate() {
                let color = if is_edge(&first, width, height, column, row) {
                    self.supersample(column, row, &place, scale, &near)
                } else {
                    first[row * width + column].color
                };
                pixel.copy_from_slice(&[
                    encode(color.x, table),
                    encode(color.y, table),
                    encode(color.z, table),
                    255,
                ]);
            }
        });
        image
    }

    fn supersample(
        &self,
        column: usize,
        row: usize,
        place: &impl Fn(f64, f64) -> (f64, f64),
        scale: f64,
        near: &[usize],
    ) -> V3 {
        let mut sum = v3(0.0, 0.0, 0.0);
        for i in 0..EDGE_SAMPLES * EDGE_SAMPLES {
            let part = |k: usize| (k as f64 + 0.5) / EDGE_SAMPLES as f64;
            let (x, y) = place(column as f64 + part(i % EDGE_SAMPLES), row as f64 + part(i / EDGE_SAMPLES));
            sum = sum + self.see(x, y, scale, near).color;
        }
        sum * (1.0 / (EDGE_SAMPLES * EDGE_SAMPLES) as f64)
    }

    /// The solids whose circle touches a row of the picture.
    fn near_row(&self, y: f64, scale: f64) -> Vec<usize> {
        let touches =
            |circle: &Option<(f64, f64, f64)>| circle.is_none_or(|(_, cy, r)| (cy - y).abs() <= r + scale);
        (0..self.solids.len()).filter(|i| touches(&self.circles[*i])).collect()
    }

    fn see(&self, x: f64, y: f64, scale: f64, near: &[usize]) -> Seen {
        let ray = self.camera.ray(x, y);
        let touches = |i: usize| {
            self.circles[i].is_none_or(|(cx, cy, r)| {
                (cx - x) * (cx - x) + (cy - y) * (cy - y) <= (r + scale) * (r + scale)
            })
        };
        let hits =
            near.iter().copied().filter(|i| touches(*i)).filter_map(|i| Some((i, self.solids[i].hit(&ray)?)));
        let nearest = hits.min_by(|a, b| a.1.t.total_cmp(&b.1.t));
        let floor = self.floor_at(&ray);
        match (nearest, floor) {
            (Some((i, hit)), floor) if floor.is_none_or(|t| hit.t < t) => Seen {
                color: self.shade_solid(i, &ray, hit.t, hit.normal),
                what: i as i32,
                normal: hit.normal,
            },
            (_, Some(t)) => {
                Seen { color: self.shade_floor(&ray, t, scale), what: -1, normal: v3(0.0, 0.0, 1.0) }
            }
            _ => Seen { color: self.background(&ray), what: -2, normal: v3(0.0, 0.0, 0.0) },
        }
    }

    fn floor_at(&self, ray: &Ray) -> Option<f64> {
        let floor = self.floor.as_ref()?;
        let slope = ray.direction.dot(floor.z());
        let t = (floor.origin - ray.origin).dot(floor.z()) / slope;
        (slope < -1e-9 && t > 0.0).then_some(t)
    }

    fn background(&self, ray: &Ray) -> V3 {
        let up = (ray.direction.z * 2.2).clamp(0.0, 1.0);
        mix(self.stage.horizon, self.stage.sky, up)
    }

    fn light_at(&self, point: V3, except: Option<usize>) -> f64 {
        let others = self.solids.iter().enumerate().filter(|(i, _)| Some(*i) != except);
        others.map(|(_, s)| s.light_past(point, self.light, LIGHT_SPREAD)).fold(1.0, f64::min)
    }

    /// Whether anything can darken a point of the floor: near the ball around all solids or its shadow.
    fn may_be_dark(&self, point: V3) -> bool {
        let to = self.middle - point;
        let along = to.dot(self.light).max(0.0);
        let off = to - self.light * along;
        let clear = self.reach * 1.6 + LIGHT_SPREAD * along;
        off.dot(off) < clear * clear
    }

    fn shade_floor(&self, ray: &Ray, t: f64, scale: f64) -> V3 {
        let point = ray.at(t);
        let footprint = t * self.camera.angle() * scale;
        let spread = (footprint / (-ray.direction.z).max(0.02)).max(1e-6);
        let part = 1.0 / spread;
        let fine = grid::<1>(point, 0.022, spread, part);
        let coarse = grid::<5>(point, 0.05, spread, part);
        let mut color = mix(self.stage.floor, self.stage.line, (0.75 * fine + 0.9 * coarse).min(1.0));
        if self.may_be_dark(point) {
            let hidden: f64 = self.solids.iter().map(|s| s.hides_of_sky(point, v3(0.0, 0.0, 1.0))).sum();
            let sky = (1.0 - 0.55 * hidden).max(0.35);
            let key = self.light_at(point, None);
            color = color * ((0.42 * sky + 0.58 * key * (0.35 + 0.65 * sky)).max(0.12));
        }
        let distance = (point - self.middle).length();
        let fog = 1.0 - 1.0 / (1.0 + (distance / (9.0 * self.reach.max(0.3))).powi(3));
        mix(color, self.stage.horizon, fog.clamp(0.0, 1.0))
    }

    fn shade_solid(&self, index: usize, ray: &Ray, t: f64, normal: V3) -> V3 {
        let [r, g, b, _] = self.solids[index].color;
        let base = v3(r, g, b);
        let point = ray.at(t) + normal * 1e-4;
        let facing = normal.dot(self.light).max(0.0);
        let key = if facing > 0.0 { facing * (0.3 + 0.7 * self.light_at(point, Some(index))) } else { 0.0 };
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

fn mix(a: V3, b: V3, t: f64) -> V3 {
    a * (1.0 - t) + b * t
}

/// The whole number under `x`, without a call: this is asked eight times for every pixel of the floor.
fn floor(x: f64) -> f64 {
    let whole = x as i64 as f64;
    if whole > x { whole - 1.0 } else { whole }
}

/// Coverage of the lines of a grid, one `EVERY` so many metres, by a pixel: exact for a box filter as wide as the pixel's
/// `spread` on the floor, of which `part` is the inverse.
fn grid<const EVERY: u32>(point: V3, width: f64, spread: f64, part: f64) -> f64 {
    let every = f64::from(EVERY);
    let integral = |x: f64| {
        let cell = floor(x * (1.0 / every));
        cell * width + (x - cell * every).min(width)
    };
    let along = |x: f64| {
        let from = x + 0.5 * width - 0.5 * spread;
        (integral(from + spread) - integral(from)) * part
    };
    let fade = every / (every + spread);
    let (a, b) = (along(point.x), along(point.y));
    (a + b - a * b) * fade
}

fn is_edge(seen: &[Seen], width: usize, height: usize, column: usize, row: usize) -> bool {
    let here = &seen[row * width + column];
    let columns = column.saturating_sub(1)..=(column + 1).min(width - 1);
    let rows = row.saturating_sub(1)..=(row + 1).min(height - 1);
    rows.flat_map(|r| columns.clone().map(move |c| r * width + c)).any(|i| {
        let other = &seen[i];
        other.what != here.what || (other.what >= 0 && other.normal.dot(here.normal) < 0.8)
    })
}

/// Parts of the table that finds bytes of sRGB; fewer than three bytes share one.
const SRGB_PARTS: usize = 4096;

/// The byte at the start of each part of the linear range, and the linear value at which each byte begins.
static SRGB: LazyLock<(Vec<u8>, [f64; 257])> = LazyLock::new(|| {
    let begin = |byte: usize| {
        let s = (byte as f64 - 0.5) / 255.0;
        if s <= 0.04045 { s / 12.92 } else { libm::pow((s + 0.055) / 1.055, 2.4) }
    };
    let begins: [f64; 257] = std::array::from_fn(|byte| if byte < 256 { begin(byte) } else { f64::INFINITY });
    let byte = |linear: f64| begins.iter().rposition(|b| *b <= linear).unwrap_or(0).min(255) as u8;
    ((0..=SRGB_PARTS).map(|i| byte(i as f64 / SRGB_PARTS as f64)).collect(), begins)
});

/// Linear light to a byte of sRGB. A power per channel would be a quarter of the time of a picture.
fn encode(linear: f64, (parts, begins): &(Vec<u8>, [f64; 257])) -> u8 {
    let c = linear.clamp(0.0, 1.0);
    let mut byte = usize::from(parts[(c * SRGB_PARTS as f64) as usize]);
    while c >= begins[byte + 1] {
        byte += 1;
    }
    byte as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_srgb_are_those_of_its_formula() {
        for i in -5..=100_005 {
            let linear = f64::from(i) / 100_000.0;
            let c = linear.clamp(0.0, 1.0);
            let s = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * libm::pow(c, 1.0 / 2.4) - 0.055 };
            assert_eq!(encode(linear, &SRGB), (255.0 * s + 0.5) as u8, "{linear}");
        }
    }
}
