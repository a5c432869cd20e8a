//! One frame of a world in three dimensions, drawn by casting rays.

use std::ops::Range;
use std::sync::LazyLock;

use autoqd_env::{Pose, Scene, ShapeKind};
use rayon::prelude::*;

use crate::Mode;
use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::facets::{BAND, Facets, Glimpse, Look};
use crate::ground::{Channels, Color, Ground, Lamps, Line, Scratch, Shade, Stage, color};
use crate::image::Image;
use crate::mesh::Surfaces;
use crate::outline::Outline;
use crate::solid::{Hit, Ray, Solid};
use crate::vector::{Frame, V3, v3};

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

/// A solid that a row may show, and the columns in which it may.
struct Near {
    solid: usize,
    columns: Range<usize>,
}

/// Room for the rays of a row and what they hit.
#[derive(Default)]
struct Sight {
    rays: Vec<Ray>,
    hits: Vec<Option<(usize, Hit)>>,
    look: Look,
}

/// A world ready to be drawn.
pub(crate) struct ScenePicture<'a> {
    camera: &'a Camera,
    solids: Vec<Solid>,
    /// The camera's eye as each solid has it.
    eyes: Vec<V3>,
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
        let outlines = solids.iter().map(|s| Outline::of(s, camera)).collect();
        let eyes = solids.iter().map(|s| s.inside(camera.eye())).collect();
        let floor =
            placed().find(|(shape, _)| shape.kind == ShapeKind::Plane).map(|(_, pose)| Frame::from(pose));
        let count = solids.len().max(1) as f64;
        let middle = solids.iter().fold(v3(0.0, 0.0, 0.0), |sum, s| sum + s.center()) * (1.0 / count);
        let reach = solids.iter().map(|s| (s.center() - middle).length() + s.reach).fold(0.0, f64::max);
        let light = LIGHT.unit();
        let before = solids.iter().enumerate().map(|(i, solid)| before(&solids, i, solid, light)).collect();
        Self { camera, solids, eyes, outlines, before, floor, middle, reach, stage: Stage::new(mode), light }
    }

    /// Draws the picture. Each pixel is computed on its own, so the number of threads does not matter.
    pub fn draw(&self, width: usize, height: usize) -> Image {
        let canvas = Canvas::new(width, height);
        let ball = (self.middle, self.reach);
        let ground = Ground::new(self.camera, self.floor, &self.stage, ball, (width, height));
        let light = ground.light(self);
        let facets = Facets::new(self.camera, &self.solids, &canvas);
        let see = |sight: &mut Sight, band| {
            facets.look(&canvas, band, 1, &mut sight.look);
            let rows = band * BAND..((band + 1) * BAND).min(height);
            rows.map(|row| self.see_row(&canvas, &facets, row, sight)).collect::<Vec<_>>()
        };
        let bands = (0..height.div_ceil(BAND)).into_par_iter();
        let seen: Vec<Vec<SeenRow>> = bands.map_init(Sight::default, see).collect();
        let seen: Vec<SeenRow> = seen.into_iter().flatten().collect();
        let (mut image, table) = (Image::new(width, height), &*SRGB);
        let room = || (Scratch::new(width), std::array::from_fn(|_| vec![0.0; width]), Look::default());
        image.rgba.par_chunks_mut(4 * width * BAND).enumerate().for_each_init(
            room,
            |(scratch, colors, look), (band, lines)| {
                facets.look(&canvas, band, EDGE_SAMPLES, look);
                for (row, line) in (band * BAND..).zip(lines.chunks_exact_mut(4 * width)) {
                    ground.row(row, &light, scratch, colors);
                    self.draw_solids(&canvas, row, &seen, (&facets, look), colors);
                    let [r, g, b] = colors;
                    for (((r, g), b), pixel) in r.iter().zip(g).zip(b).zip(line.chunks_exact_mut(4)) {
                        pixel.copy_from_slice(&[table.byte(*r), table.byte(*g), table.byte(*b), 255]);
                    }
                }
            },
        );
        image
    }

    /// Puts the solids of a row over what lies behind them, with smooth edges.
    fn draw_solids(
        &self,
        canvas: &Canvas,
        row: usize,
        seen: &[SeenRow],
        meshes: (&Facets, &Look),
        colors: &mut Channels,
    ) {
        let rows = &seen[row.saturating_sub(1)..(row + 2).min(seen.len())];
        let filled = || rows.iter().filter(|r| !r.seen.is_empty());
        let Some(from) = filled().map(|r| r.from.saturating_sub(1)).min() else { return };
        let to = filled().map(|r| r.from + r.seen.len() + 1).max().unwrap_or(0).min(canvas.width);
        let near = self.near_row(canvas, row);
        let mut some = Vec::with_capacity(near.len());
        for column in from..to {
            let here = seen[row].at(column);
            let color = if is_edge(rows, here, column, canvas.width) {
                self.choose(canvas, (column, row), &near, &mut some);
                let behind = std::array::from_fn(|k| colors[k][column]);
                self.supersample(canvas, (column, row), &some, meshes, behind)
            } else if here.what != NOTHING {
                here.color
            } else {
                continue;
            };
            colors.iter_mut().zip(color).for_each(|(channel, value)| channel[column] = value);
        }
    }

    /// The solids that may be seen in a pixel.
    fn choose(&self, canvas: &Canvas, (column, row): (usize, usize), near: &[Near], some: &mut Vec<usize>) {
        let place = canvas.place(column as f64 + 0.5, row as f64 + 0.5);
        let touches = |n: &&Near| {
            let outline = &self.outlines[n.solid];
            // The corner of a pixel is less than 0.71 of its height away.
            n.columns.contains(&column) && outline.is_none_or(|o| o.holds(place, 0.75 * canvas.scale))
        };
        some.clear();
        some.extend(near.iter().filter(touches).map(|n| n.solid));
    }

    /// The mean of several looks into a pixel. Each surface in it is lit once.
    fn supersample(
        &self,
        canvas: &Canvas,
        (column, row): (usize, usize),
        near: &[usize],
        (facets, look): (&Facets, &Look),
        behind: Color,
    ) -> Color {
        const SURFACES: usize = 4;
        // What was lit, and the triangle if it is one.
        let mut lit = [(UNSEEN, NOTHING); SURFACES];
        let mut sum = [0.0_f32; 3];
        for i in 0..EDGE_SAMPLES * EDGE_SAMPLES {
            let within = (i % EDGE_SAMPLES, i / EDGE_SAMPLES);
            let part = |k: usize| (k as f64 + 0.5) / EDGE_SAMPLES as f64;
            let place = canvas.place(column as f64 + part(within.0), row as f64 + part(within.1));
            let glimpse = facets.seen(look, (column, row), within);
            let facet = glimpse.map_or(NOTHING, |glimpse| glimpse.facet);
            let known = match glimpse.filter(|_| near.is_empty()) {
                Some(glimpse)
                    if self.is_above_floor(self.camera.direction(place.0, place.1), glimpse.distance) =>
                {
                    lit.iter().find(|(_, other)| *other == facet)
                }
                _ => None,
            };
            let color = match known {
                Some((known, _)) => known.color,
                None => match self.nearest(place, near, facets, glimpse) {
                    None => behind,
                    Some((solid, ray, hit)) => {
                        let normal = color(hit.normal);
                        let same =
                            |(s, _): &&(Seen, u32)| s.what == solid as u32 && dot(s.normal, normal) > 0.95;
                        match lit.iter().find(same) {
                            Some((known, _)) => known.color,
                            None => {
                                let shade = self.shade(solid, &ray, &hit);
                                lit.rotate_right(1);
                                lit[0] = (shade, facet);
                                shade.color
                            }
                        }
                    }
                },
            };
            sum = std::array::from_fn(|k| sum[k] + color[k]);
        }
        sum.map(|c| c * (1.0 / (EDGE_SAMPLES * EDGE_SAMPLES) as f32))
    }

    /// The solids that a row of the picture may show, and where.
    fn near_row(&self, canvas: &Canvas, row: usize) -> Vec<Near> {
        let y = canvas.place(0.0, row as f64 + 0.5).1;
        let near = |(solid, outline): (usize, &Option<Outline>)| {
            if self.solids[solid].mesh().is_some() {
                return None;
            }
            let columns = match outline {
                None => 0..canvas.width,
                Some(outline) => {
                    let (low, high) = outline.across(y, canvas.scale)?;
                    canvas.columns(low, high)
                }
            };
            (!columns.is_empty()).then_some(Near { solid, columns })
        };
        self.outlines.iter().enumerate().filter_map(near).collect()
    }

    /// One solid after the other: what is the same along a row is then computed once.
    fn see_row(
        &self,
        canvas: &Canvas,
        facets: &Facets,
        row: usize,
        Sight { rays, hits, look }: &mut Sight,
    ) -> SeenRow {
        let near = self.near_row(canvas, row);
        let meshes = look.filled(row);
        let meshed = (!meshes.is_empty()).then_some(&meshes);
        let ranges = || near.iter().map(|n| &n.columns).chain(meshed);
        let Some(from) = ranges().map(|columns| columns.start).min() else { return SeenRow::default() };
        let to = ranges().map(|columns| columns.end).max().unwrap_or(from);
        rays.clear();
        rays.extend((from..to).map(|column| {
            let (x, y) = canvas.place(column as f64 + 0.5, row as f64 + 0.5);
            self.camera.ray(x, y)
        }));
        hits.clear();
        hits.resize(to - from, None);
        for Near { solid, columns } in &near {
            let (index, columns) = (*solid, columns.start - from..columns.end - from);
            let (solid, eye) = (&self.solids[index], self.eyes[index]);
            for (ray, nearest) in rays[columns.clone()].iter().zip(&mut hits[columns]) {
                if let Some(hit) = solid.hit_from(eye, ray.direction)
                    && nearest.is_none_or(|(_, other)| hit.t < other.t)
                {
                    *nearest = Some((index, hit));
                }
            }
        }
        for column in meshes {
            let place = canvas.place(column as f64 + 0.5, row as f64 + 0.5);
            let nearest = &mut hits[column - from];
            *nearest = self.nearer(*nearest, place, facets, facets.seen(look, (column, row), (0, 0)));
        }
        let look = |(hit, ray): (&Option<(usize, Hit)>, &Ray)| match hit {
            Some((index, hit)) if self.is_above_floor(ray.direction, hit.t) => self.shade(*index, ray, hit),
            _ => UNSEEN,
        };
        let is_hit = |hit: &Option<(usize, Hit)>| hit.is_some();
        let Some(first) = hits.iter().position(is_hit) else { return SeenRow::default() };
        let hit = first..hits.iter().rposition(is_hit).unwrap_or(first) + 1;
        SeenRow { from: from + first, seen: hits[hit.clone()].iter().zip(&rays[hit]).map(look).collect() }
    }

    /// The nearer of a hit and what is seen of meshes at a place of the picture.
    fn nearer(
        &self,
        hit: Option<(usize, Hit)>,
        (x, y): (f64, f64),
        facets: &Facets,
        glimpse: Option<Glimpse>,
    ) -> Option<(usize, Hit)> {
        let Some(glimpse) = glimpse else { return hit };
        let t = glimpse.distance * self.camera.direction(x, y).length();
        match hit {
            Some((_, other)) if other.t <= t => hit,
            _ => Some((glimpse.solid, Hit { t, normal: facets.normal(&glimpse) })),
        }
    }

    /// Which of some solids is seen at a place of the picture.
    fn nearest(
        &self,
        place: (f64, f64),
        near: &[usize],
        facets: &Facets,
        glimpse: Option<Glimpse>,
    ) -> Option<(usize, Ray, Hit)> {
        if near.is_empty() && glimpse.is_none() {
            return None;
        }
        let ray = self.camera.ray(place.0, place.1);
        let mut nearest: Option<(usize, Hit)> = None;
        for &i in near {
            if let Some(hit) = self.solids[i].hit_from(self.eyes[i], ray.direction)
                && nearest.is_none_or(|(_, other)| hit.t < other.t)
            {
                nearest = Some((i, hit));
            }
        }
        let (i, hit) = self.nearer(nearest, place, facets, glimpse)?;
        self.is_above_floor(ray.direction, hit.t).then_some((i, ray, hit))
    }

    fn shade(&self, index: usize, ray: &Ray, hit: &Hit) -> Seen {
        let shade = self.shade_solid(index, ray, hit.t, hit.normal);
        Seen { color: color(shade), normal: color(hit.normal), what: index as u32 }
    }

    /// Whether what is so many directions away comes before the floor.
    fn is_above_floor(&self, direction: V3, distance: f64) -> bool {
        let Some(floor) = &self.floor else { return true };
        let slope = direction.dot(floor.z());
        let t = (floor.origin - self.camera.eye()).dot(floor.z()) / slope;
        !(slope < -1e-9 && t > 0.0) || distance < t
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

/// What solids hide of the sky over points, for [`pulp`] to compile for every width of vectors.
struct HiddenSky<'a> {
    solids: &'a [Solid],
    points: [&'a [f64]; 3],
    hidden: &'a mut [f64],
}

impl pulp::WithSimd for HiddenSky<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.solids.iter().for_each(|solid| solid.hide_sky(self.points, self.hidden));
    }
}

impl Lamps for ScenePicture<'_> {
    fn sky(&self, points: &[(usize, V3)], out: &mut [f32]) {
        let dark: Vec<_> = points.iter().filter(|(_, point)| self.may_be_dark(*point)).collect();
        let [x, y, z]: [Vec<f64>; 3] = [|p: V3| p.x, |p: V3| p.y, |p: V3| p.z]
            .map(|part| dark.iter().map(|(_, point)| part(*point)).collect());
        let mut hidden = vec![0.0; dark.len()];
        pulp::Arch::new().dispatch(HiddenSky {
            solids: &self.solids,
            points: [&x, &y, &z],
            hidden: &mut hidden,
        });
        for ((place, _), hidden) in dark.iter().zip(hidden) {
            out[*place] = (1.0 - 0.55 * hidden).max(0.35) as f32;
        }
    }

    fn key(&self, point: V3, past: impl Iterator<Item = usize>) -> f64 {
        if self.may_be_dark(point) { self.light_at(point, past) } else { 1.0 }
    }

    fn solids(&self) -> usize {
        self.solids.len()
    }

    fn shading(&self, line: &Line) -> Option<Vec<Shade>> {
        let (upward, spread) = (self.light.dot(line.normal), LIGHT_SPREAD);
        if upward < 0.3 {
            return None;
        }
        let sideways = (1.0 - upward * upward).max(0.0).sqrt();
        let across = line.normal.cross(line.along);
        // Where the middle of a ball's shadow is, and how far it reaches from there: a shadow widens with the distance.
        let shadow = |ball: V3, radius: f64| {
            let away = (ball - line.from).dot(line.normal) / upward;
            let to = ball - self.light * away - line.from;
            let reach =
                (radius * (1.0 + spread) + spread * away.max(0.0) + 1e-2) / (upward - spread * sideways);
            ((to.dot(line.along), to.dot(across)), reach)
        };
        let shade = |(solid, (from, to, radius)): (usize, (V3, V3, f64))| {
            let ((from, here), (to, there)) = (shadow(from, radius), shadow(to, radius));
            let (from, to) = Outline::new(from, to, here.max(there)).across(0.0, 0.0)?;
            Some(Shade { solid, from, to })
        };
        Some(self.solids.iter().map(Solid::swept).enumerate().filter_map(shade).collect())
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
    parts: [u8; 2 * SRGB_PARTS],
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
    // A part is what rounds to its number.
    Srgb { parts: std::array::from_fn(|i| byte((i as f32 - 0.5) / SRGB_PARTS as f32)), begins }
});

impl Srgb {
    /// Linear light to a byte of sRGB. A power per channel would be a quarter of the time of a picture.
    #[inline(always)]
    fn byte(&self, linear: f32) -> u8 {
        // A number of this size has no bits left for fractions: the sum ends in the bits of the nearest whole number.
        const ROUNDS: f32 = 8_388_608.0;
        let c = if linear > 0.0 { linear } else { 0.0 };
        let c = if c < 1.0 { c } else { 1.0 };
        let part = (c * SRGB_PARTS as f32 + ROUNDS).to_bits() as usize % self.parts.len();
        let byte = self.parts[part];
        byte + u8::from(c >= self.begins[usize::from(byte) + 1])
    }
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
            assert_eq!(SRGB.byte(linear), (255.0 * s + 0.5) as u8, "{linear}");
        }
    }
}
