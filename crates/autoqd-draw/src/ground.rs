//! Floor and sky of a picture: what every pixel would show if there were no solid, a row at a time in single precision,
//! which compilers turn into vector instructions.

use std::ops::Range;

use rayon::prelude::*;

use crate::Mode;
use crate::camera::Camera;
use crate::vector::{Frame, V3, v3};

/// Linear colour.
pub(crate) type Color = [f32; 3];

/// The colours of a row, channel by channel.
pub(crate) type Channels = [Vec<f32>; 3];

/// Light is soft: it is computed at places some columns and rows of the picture apart, and blended in between. So far apart
/// are the places for the light of the sky, and those for shadows.
const SKY: usize = 4;
const SHADOW: usize = 2;

/// Distance of the fog, and of the farthest point of the floor that is told apart, in radii of the scene.
const FOG: f64 = 9.0;
const FARTHEST: f64 = 2000.0;

/// Colours of the stage, linear.
pub(crate) struct Stage {
    pub sky: V3,
    pub horizon: V3,
    pub floor: V3,
    pub line: V3,
}

impl Stage {
    pub fn new(mode: Mode) -> Self {
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

/// The empty stage before a camera.
pub(crate) struct Ground<'a> {
    camera: &'a Camera,
    floor: Option<Frame>,
    stage: &'a Stage,
    middle: V3,
    reach: f64,
    width: usize,
    height: usize,
}

/// A direction before the camera as a function of the column, in single precision.
struct Directions {
    from: [f32; 3],
    per_column: [f32; 3],
}

impl Directions {
    #[inline(always)]
    fn at(&self, column: usize) -> [f32; 3] {
        let x = column as f32;
        std::array::from_fn(|i| self.from[i] + x * self.per_column[i])
    }
}

impl<'a> Ground<'a> {
    pub fn new(
        camera: &'a Camera,
        floor: Option<Frame>,
        stage: &'a Stage,
        (middle, reach): (V3, f64),
        (width, height): (usize, usize),
    ) -> Self {
        Self { camera, floor, stage, middle, reach: reach.max(0.3), width, height }
    }

    /// A grid of numbers about the points of the floor that are seen `step` pixels apart: 1 until told otherwise. `fill` is
    /// given its rows, with their height in the picture.
    fn grid(&self, step: usize, fill: impl Fn(f64, &mut [f32]) + Sync) -> Grid {
        let (columns, rows) = (self.width.div_ceil(step) + 1, self.height.div_ceil(step) + 1);
        let mut values = vec![1.0; columns * rows];
        let scale = 2.0 / self.height as f64;
        values
            .par_chunks_exact_mut(columns)
            .enumerate()
            .for_each(|(row, out)| fill((0.5 * self.height as f64 - (step * row) as f64) * scale, out));
        Grid { values, columns }
    }

    /// Where a column of a grid is in the picture.
    fn place(&self, step: usize, column: usize) -> f64 {
        ((step * column) as f64 - 0.5 * self.width as f64) * (2.0 / self.height as f64)
    }

    fn line(&self, y: f64) -> Option<Line> {
        let side = (self.width as f64 + 2.0) / self.height as f64;
        let (from, to) = (self.floor_at(-side, y)?, self.floor_at(side, y)?);
        let length = (to - from).length();
        Some(Line { from, along: (to - from).unit(), length, normal: self.floor.as_ref()?.z() })
    }

    /// How the floor is lit.
    pub fn light(&self, lamps: &impl Lamps) -> Light {
        let sky = self.grid(SKY, |y, out| {
            let place = |column| Some((column, self.floor_at(self.place(SKY, column), y)?));
            let points: Vec<(usize, V3)> = (0..out.len()).filter_map(place).collect();
            lamps.sky(&points, out);
        });
        let shadow = self.grid(SHADOW, |y, out| {
            let shades = self.line(y).and_then(|line| self.shades(&line, lamps, out.len()));
            let shades = shades.unwrap_or_else(|| (0..lamps.solids()).map(|i| (i, 0..out.len())).collect());
            let from = shades.iter().map(|(_, columns)| columns.start).min().unwrap_or(0);
            let to = shades.iter().map(|(_, columns)| columns.end).max().unwrap_or(0);
            for column in from..to {
                if let Some(point) = self.floor_at(self.place(SHADOW, column), y) {
                    let past = shades.iter().filter(|(_, columns)| columns.contains(&column));
                    out[column] = lamps.key(point, past.map(|(solid, _)| *solid)) as f32;
                }
            }
        });
        Light { sky, shadow }
    }

    /// The solids that may shade a line of the floor, and in which of so many columns of the grid of shadows.
    fn shades(&self, line: &Line, lamps: &impl Lamps, columns: usize) -> Option<Vec<(usize, Range<usize>)>> {
        let column = |along: f64| {
            let (x, _, _) =
                self.camera.circle(line.from + line.along * along.clamp(0.0, line.length), 0.0)?;
            Some(
                (0.5 * (x * self.height as f64 + self.width as f64) / SHADOW as f64)
                    .clamp(0.0, columns as f64),
            )
        };
        let range = |shade: Shade| {
            let range = column(shade.from)? as usize..(column(shade.to)? as usize + 2).min(columns);
            Some((shade.solid, range))
        };
        lamps.shading(line)?.into_iter().map(range).collect()
    }

    fn floor_at(&self, x: f64, y: f64) -> Option<V3> {
        let floor = self.floor.as_ref()?;
        let ray = self.camera.ray(x, y);
        let slope = ray.direction.dot(floor.z());
        let t = (floor.origin - ray.origin).dot(floor.z()) / slope;
        (slope < -1e-9 && t > 0.0).then(|| ray.at(t))
    }

    fn directions(&self, row: usize) -> Directions {
        let scale = 2.0 / self.height as f64;
        let y = (0.5 * self.height as f64 - (row as f64 + 0.5)) * scale;
        let at = |x: f64| self.camera.direction(x, y);
        let (from, next) =
            (at((0.5 - 0.5 * self.width as f64) * scale), at((1.5 - 0.5 * self.width as f64) * scale));
        let single = |v: V3| [v.x as f32, v.y as f32, v.z as f32];
        Directions { from: single(from), per_column: single(next - from) }
    }

    /// A row of the picture.
    pub fn row(&self, row: usize, light: &Light, scratch: &mut Scratch, out: &mut Channels) {
        pulp::Arch::new().dispatch(RowWork { ground: self, row, light, scratch, out });
    }

    #[inline(always)]
    fn draw_row(&self, row: usize, light: &Light, scratch: &mut Scratch, out: &mut Channels) {
        let directions = self.directions(row);
        let [sky, horizon] = [self.stage.sky, self.stage.horizon].map(color);
        let away = |column| up(directions.at(column));
        let Some(floor) = &self.floor else {
            for (k, out) in out.iter_mut().enumerate() {
                out.iter_mut().enumerate().for_each(|(column, c)| *c = mix(horizon[k], sky[k], away(column)));
            }
            return;
        };
        self.lines_and_fog(floor, &directions, scratch);
        light.row(row, scratch);
        let [plain, line] = [self.stage.floor, self.stage.line].map(color);
        let Scratch { lines, fog, light, .. } = scratch;
        for (k, out) in out.iter_mut().enumerate() {
            for (((out, lines), fog), light) in out.iter_mut().zip(&*lines).zip(&*fog).zip(&*light) {
                *out = mix(mix(plain[k], line[k], *lines) * light, horizon[k], *fog);
            }
        }
        if fog.iter().any(|fog| *fog < 0.0) {
            for column in (0..self.width).filter(|column| fog[*column] < 0.0) {
                let up = away(column);
                (0..3).for_each(|k| out[k][column] = mix(horizon[k], sky[k], up));
            }
        }
    }

    /// For each pixel of a row how much of it lines of the floor's grid cover, and how much fog is before it; less than none
    /// where there is no floor.
    #[inline(always)]
    fn lines_and_fog(&self, floor: &Frame, directions: &Directions, scratch: &mut Scratch) {
        // Coordinates from a crossing of coarse lines near by: single precision is enough around it.
        let base = |x: f64| (x / 5.0).round() * 5.0;
        let eye = self.camera.eye();
        let origin = [(eye.x - base(self.middle.x)) as f32, (eye.y - base(self.middle.y)) as f32];
        let middle = [
            (self.middle.x - base(self.middle.x)) as f32,
            (self.middle.y - base(self.middle.y)) as f32,
            (self.middle.z - eye.z) as f32,
        ];
        let normal = [floor.z().x as f32, floor.z().y as f32, floor.z().z as f32];
        let height = (floor.origin - eye).dot(floor.z()) as f32;
        let pixel = (self.camera.angle() * 2.0 / self.height as f64) as f32;
        let farthest = (FARTHEST * self.reach) as f32;
        let per_fog = (1.0 / (FOG * self.reach)) as f32;
        let (lines, fogs) = (&mut scratch.lines[..self.width], &mut scratch.fog[..self.width]);
        for (column, (line, fog)) in lines.iter_mut().zip(fogs).enumerate() {
            let d = directions.at(column);
            let slope = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2];
            let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
            let below = slope < -1e-9 * length && height < 0.0;
            let t = least(height / if below { slope } else { -1.0 }, farthest / length);
            let [x, y] = [origin[0] + t * d[0], origin[1] + t * d[1]];
            let spread = most(t * length * pixel * length / most(-d[2], 0.02 * length), 1e-6);
            let part = 1.0 / spread;
            let fine = ruled::<1>(x, y, 0.022, spread, part);
            let coarse = ruled::<5>(x, y, 0.05, spread, part);
            *line = least(0.75 * fine + 0.9 * coarse, 1.0);
            let away = [x - middle[0], y - middle[1], t * d[2] - middle[2]];
            let far = (away[0] * away[0] + away[1] * away[1] + away[2] * away[2]).sqrt() * per_fog;
            let thick = 1.0 - 1.0 / (1.0 + far * far * far);
            *fog = if below { thick } else { -1.0 };
        }
    }
}

/// A row, for [`pulp`] to compile for every width of vectors.
struct RowWork<'a, 'b> {
    ground: &'a Ground<'b>,
    row: usize,
    light: &'a Light,
    scratch: &'a mut Scratch,
    out: &'a mut Channels,
}

impl pulp::WithSimd for RowWork<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.ground.draw_row(self.row, self.light, self.scratch, self.out);
    }
}

/// Room for a row.
pub(crate) struct Scratch {
    lines: Vec<f32>,
    fog: Vec<f32>,
    sky: Vec<f32>,
    light: Vec<f32>,
}

impl Scratch {
    pub fn new(width: usize) -> Self {
        let [lines, fog, sky, light] = std::array::from_fn(|_| vec![0.0; width]);
        Self { lines, fog, sky, light }
    }
}

/// What a row of the picture shows of the floor.
pub(crate) struct Line {
    pub from: V3,
    pub along: V3,
    pub length: f64,
    /// Upwards from the floor.
    pub normal: V3,
}

/// Where a solid may shade a line, as distances from its start.
pub(crate) struct Shade {
    pub solid: usize,
    pub from: f64,
    pub to: f64,
}

/// What lights the floor.
pub(crate) trait Lamps: Sync {
    /// How much of the sky points of the floor see, from 0 to 1, in the places that they say.
    fn sky(&self, points: &[(usize, V3)], out: &mut [f32]);

    /// How much of the key light reaches it past some of the solids.
    fn key(&self, point: V3, past: impl Iterator<Item = usize>) -> f64;

    /// How many solids there are.
    fn solids(&self) -> usize;

    /// The solids that may shade a line; `None` if the light comes in too low to say.
    fn shading(&self, line: &Line) -> Option<Vec<Shade>>;
}

/// The light on the floor of a picture.
pub(crate) struct Light {
    sky: Grid,
    shadow: Grid,
}

impl Light {
    /// The light along a row of pixels.
    #[inline(always)]
    fn row(&self, row: usize, Scratch { sky, light, .. }: &mut Scratch) {
        self.sky.row::<SKY>(row, sky);
        self.shadow.row::<SHADOW>(row, light);
        for (light, sky) in light.iter_mut().zip(&*sky) {
            *light = most(0.42 * sky + 0.58 * *light * (0.35 + 0.65 * sky), 0.12);
        }
    }
}

/// Numbers some pixels apart.
struct Grid {
    values: Vec<f32>,
    columns: usize,
}

impl Grid {
    /// The numbers along a row of pixels, blended from the rows of the grid above and below it.
    #[inline(always)]
    fn row<const STEP: usize>(&self, row: usize, out: &mut [f32]) {
        let within: [f32; STEP] = std::array::from_fn(|i| (i as f32 + 0.5) / STEP as f32);
        let (place, down) = (row / STEP, within[row % STEP]);
        let of = |place: usize| self.values[place * self.columns..][..self.columns].windows(2);
        for (out, (above, below)) in out.chunks_mut(STEP).zip(of(place).zip(of(place + 1))) {
            for (out, right) in out.iter_mut().zip(within) {
                let along = |row: &[f32]| row[0] + (row[1] - row[0]) * right;
                let (above, below) = (along(above), along(below));
                *out = above + (below - above) * down;
            }
        }
    }
}

/// Comparisons that become single instructions; the functions of `f32` also look for NaN.
#[inline(always)]
pub(super) fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
pub(super) fn most(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// How far up the sky a direction points, from 0 to 1.
#[inline(always)]
fn up([x, y, z]: [f32; 3]) -> f32 {
    (z / (x * x + y * y + z * z).sqrt() * 2.2).clamp(0.0, 1.0)
}

pub(crate) fn color(v: V3) -> Color {
    [v.x as f32, v.y as f32, v.z as f32]
}

#[inline(always)]
fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// The whole number under `x`: adding a number of this size rounds.
#[inline(always)]
fn floor(x: f32) -> f32 {
    const ROUNDS: f32 = 12_582_912.0;
    let whole = (x + ROUNDS) - ROUNDS;
    if whole > x { whole - 1.0 } else { whole }
}

/// Coverage of the lines of a grid, one `EVERY` so many metres, by a pixel: exact for a box filter as wide as the pixel's
/// `spread` on the floor, of which `part` is the inverse.
#[inline(always)]
fn ruled<const EVERY: u32>(x: f32, y: f32, width: f32, spread: f32, part: f32) -> f32 {
    let every = EVERY as f32;
    let integral = |x: f32| {
        let cell = floor(x * (1.0 / every));
        cell * width + least(x - cell * every, width)
    };
    let along = |x: f32| {
        let from = x + 0.5 * width - 0.5 * spread;
        (integral(from + spread) - integral(from)) * part
    };
    let (a, b) = (along(x), along(y));
    (a + b - a * b) * (every / (every + spread))
}
