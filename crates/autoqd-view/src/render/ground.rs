//! Floor and sky of a picture: what every pixel would show if there were no solid, a row at a time in single precision,
//! which compilers turn into vector instructions.

use rayon::prelude::*;

use super::camera::Camera;
use super::vector::{Frame, V3, v3};
use crate::plot::Mode;

/// Linear colour.
pub(super) type Color = [f32; 3];

/// Light is soft: it is computed at places some columns and rows of the picture apart, and blended in between. So far apart
/// are the places for the light of the sky, and those for shadows.
const SKY: usize = 4;
const SHADOW: usize = 2;

/// Distance of the fog, and of the farthest point of the floor that is told apart, in radii of the scene.
const FOG: f64 = 9.0;
const FARTHEST: f64 = 2000.0;

/// Colours of the stage, linear.
pub(super) struct Stage {
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
pub(super) struct Ground<'a> {
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

    /// A grid of numbers about the points of the floor that are seen `step` pixels apart. `about` is given the line of a row
    /// of the grid on the floor (a point, its direction, and the floor's normal; nothing if the row shows other things too)
    /// and says what there is to know of its points; beside the floor it is 1.
    fn grid<F: Fn(V3) -> f64>(&self, step: usize, about: impl Fn(Option<(V3, V3, V3)>) -> F + Sync) -> Grid {
        let (columns, rows) = (self.width.div_ceil(step) + 1, self.height.div_ceil(step) + 1);
        let mut values = vec![1.0; columns * rows];
        let scale = 2.0 / self.height as f64;
        values.par_chunks_exact_mut(columns).enumerate().for_each(|(row, out)| {
            let y = (0.5 * self.height as f64 - (step * row) as f64) * scale;
            let number = about(self.line(y));
            for (column, out) in out.iter_mut().enumerate() {
                let x = ((step * column) as f64 - 0.5 * self.width as f64) * scale;
                *out = self.floor_at(x, y).map_or(1.0, |point| number(point) as f32);
            }
        });
        Grid { values, columns, step }
    }

    fn line(&self, y: f64) -> Option<(V3, V3, V3)> {
        let side = (self.width as f64 + 2.0) / self.height as f64;
        let (from, to) = (self.floor_at(-side, y)?, self.floor_at(side, y)?);
        Some((from, (to - from).unit(), self.floor.as_ref()?.z()))
    }

    /// How the floor is lit.
    pub fn light(&self, lamps: &impl Lamps) -> Light {
        let sky = self.grid(SKY, |_| |point| lamps.sky(point));
        let shadow = self.grid(SHADOW, |line| {
            let past = line.map(|line| lamps.shading(&line));
            move |point| lamps.key(point, past.as_deref())
        });
        Light { sky, shadow }
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
    pub fn row(&self, row: usize, light: &Light, scratch: &mut Scratch, out: &mut [Color]) {
        let directions = self.directions(row);
        let [sky, horizon] = [self.stage.sky, self.stage.horizon].map(color);
        let Some(floor) = &self.floor else {
            for (column, out) in out.iter_mut().enumerate() {
                *out = mix(horizon, sky, up(directions.at(column)));
            }
            return;
        };
        self.lines_and_fog(floor, &directions, scratch);
        let [plain, line] = [self.stage.floor, self.stage.line].map(color);
        let (sky_light, shadow) = (light.sky.row(row), light.shadow.row(row));
        for (column, out) in out.iter_mut().enumerate() {
            let fog = scratch.fog[column];
            *out = if fog < 0.0 {
                mix(horizon, sky, up(directions.at(column)))
            } else {
                let light = Light::of(sky_light.at(column), shadow.at(column));
                mix(mix(plain, line, scratch.lines[column]).map(|c| c * light), horizon, fog)
            };
        }
    }

    /// For each pixel of a row how much of it lines of the floor's grid cover, and how much fog is before it; less than none
    /// where there is no floor.
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

/// Room for a row.
pub(super) struct Scratch {
    lines: Vec<f32>,
    fog: Vec<f32>,
}

impl Scratch {
    pub fn new(width: usize) -> Self {
        Self { lines: vec![0.0; width], fog: vec![0.0; width] }
    }
}

/// What lights the floor.
pub(super) trait Lamps: Sync {
    /// How much of the sky a point of the floor sees, from 0 to 1.
    fn sky(&self, point: V3) -> f64;

    /// How much of the key light reaches it, past these solids alone if they are known.
    fn key(&self, point: V3, past: Option<&[usize]>) -> f64;

    /// The solids that may shade a line on the floor: a point, its direction, and the floor's normal.
    fn shading(&self, line: &(V3, V3, V3)) -> Vec<usize>;
}

/// The light on the floor of a picture.
pub(super) struct Light {
    sky: Grid,
    shadow: Grid,
}

impl Light {
    fn of(sky: f32, key: f32) -> f32 {
        most(0.42 * sky + 0.58 * key * (0.35 + 0.65 * sky), 0.12)
    }
}

/// Numbers some pixels apart.
struct Grid {
    values: Vec<f32>,
    columns: usize,
    step: usize,
}

/// The numbers along a row of pixels, blended from the rows of the grid above and below it.
struct Blend<'a> {
    above: &'a [f32],
    below: &'a [f32],
    part: f32,
    step: usize,
}

impl Grid {
    /// Where a pixel's middle lies between two places.
    fn between(pixel: usize, step: usize) -> (usize, f32) {
        (pixel / step, ((pixel % step) as f32 + 0.5) / step as f32)
    }

    fn row(&self, row: usize) -> Blend<'_> {
        let (place, part) = Self::between(row, self.step);
        let of = |place: usize| &self.values[place * self.columns..][..self.columns];
        Blend { above: of(place), below: of(place + 1), part, step: self.step }
    }
}

impl Blend<'_> {
    fn at(&self, column: usize) -> f32 {
        let (i, part) = Grid::between(column, self.step);
        let along = |row: &[f32]| row[i] + (row[i + 1] - row[i]) * part;
        let (above, below) = (along(self.above), along(self.below));
        above + (below - above) * self.part
    }
}

/// Comparisons that become single instructions; the functions of `f32` also look for NaN.
#[inline(always)]
fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
fn most(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// How far up the sky a direction points, from 0 to 1.
fn up([x, y, z]: [f32; 3]) -> f32 {
    (z / (x * x + y * y + z * z).sqrt() * 2.2).clamp(0.0, 1.0)
}

pub(super) fn color(v: V3) -> Color {
    [v.x as f32, v.y as f32, v.z as f32]
}

#[inline(always)]
fn mix(a: Color, b: Color, t: f32) -> Color {
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t)
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
