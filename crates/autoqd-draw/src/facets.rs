//! The triangles of a picture's meshes as the camera has them, by the band of rows that they are in.
//!
//! A place of the picture is a direction d = f + x r + y u before the camera. Whether it points into a triangle with the
//! corners a, b, c (from the eye) is told by the signs of (a × b)·d, (b × c)·d and (c × a)·d, and how far the triangle is
//! by n·d / n·a with the normal n: four linear functions of the place, whatever lies behind the camera. Two triangles
//! with an edge in common have exactly opposite functions there, so no place falls between them.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::ground::{least, most};
use crate::solid::Solid;
use crate::vector::V3;

/// A linear function of a place: a constant, and what x and y add to it.
type Linear = [f32; 3];

/// A triangle that may be in the picture.
struct Facet {
    /// Not negative inside, one for each edge.
    edges: [Linear; 3],
    /// One over the distance, in units of the direction to a place.
    nearness: Linear,
    /// The columns and rows, with their fractions, that it is in.
    columns: (f32, f32),
    rows: (f32, f32),
    /// Towards the eye; not of length one.
    normal: [f32; 3],
    solid: u32,
}

/// A corner as the camera has it.
#[derive(Clone, Copy)]
struct Corner {
    /// From the eye.
    to: V3,
    /// Its column and row; `None` beside or behind the camera.
    place: Option<(f32, f32)>,
}

/// What is seen of meshes at a place.
#[derive(Clone, Copy)]
pub(super) struct Glimpse {
    pub solid: usize,
    /// Distance in units of the direction to the place.
    pub distance: f64,
    /// Which triangle it is.
    pub facet: u32,
}

/// What places in some rows and columns show of meshes.
#[derive(Default)]
pub(super) struct Look {
    rows: Range<usize>,
    columns: Range<usize>,
    samples: usize,
    /// Places along a row.
    places: usize,
    x: Vec<f32>,
    nearness: Vec<f32>,
    facets: Vec<u32>,
}

/// Places along a row are a multiple of this, which is one of the widths of vectors.
const LANES: usize = 16;

/// All triangles of a picture.
pub(super) struct Facets {
    facets: Vec<Facet>,
    /// The triangles of each band, band after band, and where each band begins.
    of_band: Vec<u32>,
    begins: Vec<u32>,
}

/// Rows of a band: many triangles lie in one alone, and what is seen in it stays in a cache.
pub(super) const BAND: usize = 24;

/// Corners nearer to the plane of the eye than this have no place.
const NEAREST: f64 = 1e-3;

impl Look {
    /// From the first to the last column of a row in which a mesh is seen.
    pub fn filled(&self, row: usize) -> Range<usize> {
        let line = (row - self.rows.start) * self.samples;
        let nearness = &self.nearness[line * self.places..(line + self.samples) * self.places];
        let seen = |column: &usize| {
            let places = column * self.samples..(column + 1) * self.samples;
            nearness.chunks(self.places).any(|line| line[places.clone()].iter().any(|near| *near > 0.0))
        };
        let Some(first) = (0..self.columns.len()).find(seen) else { return 0..0 };
        let last = (first..self.columns.len()).rfind(seen).unwrap_or(first);
        self.columns.start + first..self.columns.start + last + 1
    }
}

impl Facets {
    pub fn new(camera: &Camera, solids: &[Solid], canvas: &Canvas) -> Self {
        let (mut facets, mut corners) = (Vec::new(), Vec::new());
        for (index, solid) in solids.iter().enumerate() {
            let Some((surface, frame)) = solid.mesh() else { continue };
            corners.clear();
            corners.extend(surface.corners.iter().map(|c| {
                let to = frame.turn(*c) + (frame.origin - camera.eye());
                let place = camera.place(to, NEAREST).map(|place| canvas.pixel(place));
                Corner { to, place }
            }));
            let facet = |triangle: &[u32; 3]| {
                Facet::new(triangle.map(|i| corners[i as usize]), index as u32, camera, canvas)
            };
            facets.extend(surface.triangles.iter().filter_map(facet));
        }
        let count = canvas.height.div_ceil(BAND);
        let bands = |facet: &Facet| {
            let rows = within(facet.rows, canvas.height);
            rows.start / BAND..rows.end.div_ceil(BAND)
        };
        let mut begins = vec![0; count + 1];
        for band in facets.iter().flat_map(bands) {
            begins[band + 1] += 1;
        }
        (0..count).for_each(|band| begins[band + 1] += begins[band]);
        let (mut next, mut of_band) = (begins.clone(), vec![0; begins[count] as usize]);
        for (index, facet) in facets.iter().enumerate() {
            for band in bands(facet) {
                of_band[next[band] as usize] = index as u32;
                next[band] += 1;
            }
        }
        Self { facets, of_band, begins }
    }

    fn band(&self, band: usize) -> impl Iterator<Item = (u32, &Facet)> {
        let of_band = &self.of_band[self.begins[band] as usize..self.begins[band + 1] as usize];
        of_band.iter().map(|&index| (index, &self.facets[index as usize]))
    }

    /// Looks at the pixels of a band in which there may be triangles, into each at so many places along either side.
    pub fn look(&self, canvas: &Canvas, band: usize, samples: usize, look: &mut Look) {
        let ends = self.band(band).map(|(_, facet)| facet.columns);
        let ends = ends.reduce(|(a, b), (c, d)| (least(a, c), most(b, d)));
        look.columns = ends.map_or(0..0, |ends| within(ends, canvas.width));
        look.rows = band * BAND..((band + 1) * BAND).min(canvas.height);
        look.samples = samples;
        look.places = (samples * look.columns.len()).next_multiple_of(LANES);
        let places = look.places * samples * look.rows.len();
        look.nearness.clear();
        look.nearness.resize(places, 0.0);
        look.facets.resize(places, 0);
        let (first, part) = (samples * look.columns.start, 1.0 / samples as f64);
        look.x.clear();
        look.x.extend((0..look.places).map(|i| canvas.x((first + i) as f64 * part + 0.5 * part) as f32));
        if !look.columns.is_empty() {
            pulp::Arch::new().dispatch(LookWork { facets: self, canvas, band, look });
        }
    }

    #[inline(always)]
    fn look_now<S: Simd>(&self, simd: S, canvas: &Canvas, band: usize, look: &mut Look) {
        let Look { rows, columns, samples, places, x, nearness, facets } = look;
        let (scale, part) = (*samples as f32, 1.0 / *samples as f64);
        let (first, top) = ((*samples * columns.start) as f32, (*samples * rows.start) as f32);
        let last_line = *samples * rows.len() - 1;
        let (x, _) = S::as_simd_f32s(x);
        let (zero, none) = (simd.splat_f32s(0.0), simd.splat_u32s(0));
        for (index, facet) in self.band(band) {
            // The groups of places along a row, and the lines of places, that the triangle may be in.
            let group = |column: f32| (column * scale - first) as usize / S::F32_LANES;
            let groups = group(facet.columns.0)..(group(facet.columns.1) + 1).min(x.len());
            let name = simd.splat_u32s(index);
            let line = |row: f32| ((row * scale - top) as usize).min(last_line);
            for line in line(facet.rows.0)..=line(facet.rows.1) {
                let y = canvas.y(rows.start as f64 + (line as f64 + 0.5) * part) as f32;
                let along = |[constant, by_x, by_y]: Linear| {
                    (simd.splat_f32s(constant + by_y * y), simd.splat_f32s(by_x))
                };
                let (near, [a, b, c]) = (along(facet.nearness), facet.edges.map(along));
                let of_line = line * *places..(line + 1) * *places;
                let (nearness, _) = S::as_mut_simd_f32s(&mut nearness[of_line.clone()]);
                let (seen, _) = S::as_mut_simd_u32s(&mut facets[of_line]);
                let groups = (&x[groups.clone()], &mut nearness[groups.clone()], &mut seen[groups.clone()]);
                for ((x, nearness), seen) in groups.0.iter().zip(groups.1).zip(groups.2) {
                    let at = |(constant, by_x)| simd.add_f32s(constant, simd.mul_f32s(by_x, *x));
                    let within = simd.min_f32s(simd.min_f32s(at(a), at(b)), at(c));
                    let near = at(near);
                    let nearer = simd.and_m32s(
                        simd.greater_than_or_equal_f32s(within, zero),
                        simd.greater_than_f32s(near, *nearness),
                    );
                    // Written as a choice between old and new, both would be masked stores, which take AMD's processors
                    // many times as long.
                    *nearness = simd.max_f32s(*nearness, simd.select_f32s(nearer, near, zero));
                    let change = simd.select_u32s(nearer, simd.xor_u32s(*seen, name), none);
                    *seen = simd.xor_u32s(*seen, change);
                }
            }
        }
    }

    /// What is seen at a place of a pixel.
    pub fn seen(
        &self,
        look: &Look,
        (column, row): (usize, usize),
        (x, y): (usize, usize),
    ) -> Option<Glimpse> {
        if !look.columns.contains(&column) {
            return None;
        }
        let line = (row - look.rows.start) * look.samples + y;
        let place = line * look.places + (column - look.columns.start) * look.samples + x;
        let (nearness, facet) = (look.nearness[place], look.facets[place]);
        (nearness > 0.0).then(|| Glimpse {
            solid: self.facets[facet as usize].solid as usize,
            distance: 1.0 / f64::from(nearness),
            facet,
        })
    }

    /// The normal of what is seen, towards the eye.
    pub fn normal(&self, glimpse: &Glimpse) -> V3 {
        V3::from(self.facets[glimpse.facet as usize].normal.map(f64::from)).unit()
    }
}

impl Facet {
    /// `None` for a triangle that is not in the picture, or seen along its edge.
    fn new([a, b, c]: [Corner; 3], solid: u32, camera: &Camera, canvas: &Canvas) -> Option<Self> {
        let (columns, rows) = match (a.place, b.place, c.place) {
            (Some(a), Some(b), Some(c)) => (range([a.0, b.0, c.0]), range([a.1, b.1, c.1])),
            (None, None, None) => return None,
            _ => ((0.0, canvas.width as f32), (0.0, canvas.height as f32)),
        };
        if within(columns, canvas.width).is_empty() || within(rows, canvas.height).is_empty() {
            return None;
        }
        let [a, b, c] = [a.to, b.to, c.to];
        let normal = (b - a).cross(c - a);
        let volume = normal.dot(a);
        if volume == 0.0 {
            return None;
        }
        let side = volume.signum();
        let linear = |v: V3, by: f64| camera.along(v).map(|part| (part * by) as f32);
        Some(Self {
            edges: [(a, b), (b, c), (c, a)].map(|(from, to)| linear(from.cross(to), side)),
            nearness: linear(normal, 1.0 / volume),
            columns,
            rows,
            normal: [normal.x, normal.y, normal.z].map(|part| (-side * part) as f32),
            solid,
        })
    }
}

fn range([a, b, c]: [f32; 3]) -> (f32, f32) {
    (least(least(a, b), c), most(most(a, b), c))
}

/// The pixels of a row or column of so many that lie between two places.
fn within((low, high): (f32, f32), count: usize) -> Range<usize> {
    // Casts end at the first and the last number.
    if high < 0.0 { 0..0 } else { low as usize..(high as usize).saturating_add(1).min(count) }
}

/// A band to be looked at, for [`pulp`] to compile for every width of vectors.
struct LookWork<'a> {
    facets: &'a Facets,
    canvas: &'a Canvas,
    band: usize,
    look: &'a mut Look,
}

impl WithSimd for LookWork<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.facets.look_now(simd, self.canvas, self.band, self.look);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Surface;
    use crate::vector::{Frame, v3};
    use autoqd_env::{Mesh, Pose, Shape, ShapeKind};
    use std::sync::Arc;

    /// A dented sheet of many triangles: heights x y / 4 above the square from -1 to 1.
    fn sheet(n: u32) -> Mesh {
        let mut mesh = Mesh::default();
        for i in 0..n * n {
            let part = |k: u32| 2.0 * k as f32 / (n - 1) as f32 - 1.0;
            let (x, y) = (part(i % n), part(i / n));
            mesh.vertices.push([x, y, 0.25 * x * y]);
            if i % n > 0 && i / n > 0 {
                mesh.faces.extend([[i - n - 1, i - n, i], [i - n - 1, i, i - 1]]);
            }
        }
        // One that names a corner that is not there.
        mesh.faces.push([0, 1, n * n]);
        mesh
    }

    fn solid(mesh: &Mesh) -> Solid {
        let shape = Shape {
            kind: ShapeKind::Mesh,
            size: [1.0; 3],
            points: vec![],
            mesh: None,
            rgba: [1.0; 4],
            name: String::new(),
            body: String::new(),
        };
        Solid::new(&shape, Some(&Arc::new(Surface::new(mesh))), Frame::from(&Pose::IDENTITY)).unwrap()
    }

    #[test]
    fn a_sheet_has_no_gaps_and_is_where_it_is_from_both_sides() {
        let (canvas, solids) = (Canvas::new(90, 70), [solid(&sheet(40))]);
        for eye in [v3(0.3, -0.2, 4.0), v3(0.1, -1.0, -3.0)] {
            let camera = Camera::new(eye, v3(0.0, 0.0, 0.0), 0.4);
            let facets = Facets::new(&camera, &solids, &canvas);
            let (mut inside, mut look) = (0, Look::default());
            for row in 0..canvas.height {
                if row % BAND == 0 {
                    facets.look(&canvas, row / BAND, 3, &mut look);
                }
                for (column, i) in (0..canvas.width).flat_map(|column| (0..9).map(move |i| (column, i))) {
                    let within = (i % 3, i / 3);
                    let part = |k: usize| (k as f64 + 0.5) / 3.0;
                    let (x, y) = canvas.place(column as f64 + part(within.0), row as f64 + part(within.1));
                    let direction = camera.direction(x, y);
                    let seen = facets.seen(&look, (column, row), within);
                    // The sheet is nearly flat: where the ray meets its middle plane tells whether it meets the sheet.
                    let flat = eye + direction * (-eye.z / direction.z);
                    if flat.x.abs() < 0.8 && flat.y.abs() < 0.8 {
                        let glimpse = seen.expect("a gap");
                        let point = eye + direction * glimpse.distance;
                        assert!((point.z - 0.25 * point.x * point.y).abs() < 1e-3, "{point:?}");
                        assert!(facets.normal(&glimpse).dot(direction) < 0.0);
                        inside += 1;
                    } else if flat.x.abs() > 1.2 || flat.y.abs() > 1.2 {
                        assert!(seen.is_none(), "{flat:?}");
                    }
                }
            }
            assert!(inside > 2000, "{inside}");
        }
    }

    #[test]
    fn triangles_that_reach_behind_the_camera_are_seen_before_it() {
        // A floor under the camera, of two triangles.
        let mesh = Mesh {
            vertices: vec![[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [9.0, 9.0, 0.0], [-9.0, 9.0, 0.0]],
            faces: vec![[0, 1, 2], [0, 2, 3]],
        };
        let (canvas, solids) = (Canvas::new(40, 30), [solid(&mesh)]);
        let eye = v3(0.0, 0.0, 1.0);
        let camera = Camera::new(eye, v3(1.5, 0.2, 0.0), 0.3);
        let facets = Facets::new(&camera, &solids, &canvas);
        let mut look = Look::default();
        for row in 0..canvas.height {
            if row % BAND == 0 {
                facets.look(&canvas, row / BAND, 1, &mut look);
            }
            for column in 0..canvas.width {
                let (x, y) = canvas.place(column as f64 + 0.5, row as f64 + 0.5);
                let glimpse = facets.seen(&look, (column, row), (0, 0)).expect("a gap");
                let point = eye + camera.direction(x, y) * glimpse.distance;
                assert!(point.z.abs() < 1e-4, "{point:?}");
            }
        }
    }
}
