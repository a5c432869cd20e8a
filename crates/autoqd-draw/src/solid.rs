//! Where a ray meets a shape, and how much light a shape blocks.

use std::sync::Arc;

use autoqd_env::{Shape, ShapeKind};

use crate::mesh::Surface;
use crate::vector::{Frame, V3, v3};

/// A ray; the direction has length one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub origin: V3,
    pub direction: V3,
}

impl Ray {
    pub fn at(&self, t: f64) -> V3 {
        self.origin + self.direction * t
    }
}

/// Where a ray enters a solid, and the outward normal there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub t: f64,
    pub normal: V3,
}

/// A solid in its place.
#[derive(Clone, Debug)]
pub(crate) struct Solid {
    kind: ShapeKind,
    size: V3,
    frame: Frame,
    /// Linear colour and opacity.
    pub color: [f64; 4],
    /// Radius of a ball around the origin of the frame that holds the solid.
    pub reach: f64,
    /// The solid as a ball that was swept along a line, for shadows.
    swept: Swept,
    /// The triangles of a mesh.
    surface: Option<Arc<Surface>>,
}

/// A ball swept along a line: exact for spheres and capsules.
#[derive(Clone, Copy, Debug)]
struct Swept {
    from: V3,
    to: V3,
    radius: f64,
    /// Half the length of the line.
    half: f64,
    /// One over the square of its length; 0 for a ball.
    inverse_square: f64,
}

impl Swept {
    fn new(kind: ShapeKind, size: V3, frame: &Frame) -> Self {
        let half = match kind {
            ShapeKind::Capsule => size.y,
            ShapeKind::Cylinder => (size.y - size.x).max(0.0),
            _ => 0.0,
        };
        let radius = match kind {
            ShapeKind::Box | ShapeKind::Ellipsoid | ShapeKind::Mesh => (size.x + size.y + size.z) / 3.0,
            _ => size.x,
        };
        let arm = frame.z() * half;
        let inverse_square = if half > 0.0 { 0.25 / (half * half) } else { 0.0 };
        Self { from: frame.origin - arm, to: frame.origin + arm, radius, half, inverse_square }
    }
}

impl Solid {
    /// `None` for shapes that are not solids: planes and flat shapes.
    pub fn new(shape: &Shape, surface: Option<&Arc<Surface>>, frame: Frame) -> Option<Self> {
        let size = V3::from(shape.size);
        let reach = match shape.kind {
            ShapeKind::Mesh => surface.as_ref()?.reach,
            ShapeKind::Sphere => size.x,
            ShapeKind::Capsule => size.x + size.y,
            ShapeKind::Cylinder => (size.x * size.x + size.y * size.y).sqrt(),
            ShapeKind::Ellipsoid => size.x.max(size.y).max(size.z),
            ShapeKind::Box => size.length(),
            ShapeKind::Plane | ShapeKind::Polygon | ShapeKind::Polyline => return None,
        };
        let linear = |c: f32| f64::from(c.clamp(0.0, 1.0)) * f64::from(c.clamp(0.0, 1.0));
        let [r, g, b, a] = shape.rgba;
        let color = [linear(r), linear(g), linear(b), f64::from(a)];
        let swept = Swept::new(shape.kind, size, &frame);
        Some(Self { kind: shape.kind, size, frame, color, reach, swept, surface: surface.cloned() })
    }

    pub fn center(&self) -> V3 {
        self.frame.origin
    }

    /// The triangles of a mesh, and where they are.
    pub fn mesh(&self) -> Option<(&Surface, &Frame)> {
        Some((self.surface.as_deref()?, &self.frame))
    }

    /// Two balls of one radius that hold the solid together with all between them.
    pub fn ends(&self) -> (V3, V3, f64) {
        match self.kind {
            ShapeKind::Capsule | ShapeKind::Cylinder => {
                let arm = self.frame.z() * self.size.y;
                (self.frame.origin - arm, self.frame.origin + arm, self.size.x)
            }
            _ => (self.frame.origin, self.frame.origin, self.reach),
        }
    }

    /// The ends of the line and the radius of a ball swept along it, which is what shades in place of the solid.
    pub fn swept(&self) -> (V3, V3, f64) {
        (self.swept.from, self.swept.to, self.swept.radius)
    }

    /// A point of the world as the solid has it.
    pub fn inside(&self, point: V3) -> V3 {
        self.frame.turn_back(point - self.frame.origin)
    }

    /// The nearest entry of a ray that starts outside.
    #[cfg(test)]
    pub fn hit(&self, ray: &Ray) -> Option<Hit> {
        self.hit_from(self.inside(ray.origin), ray.direction)
    }

    /// The nearest entry of a ray in this direction of the world from outside; `origin` is where it starts, as the solid has it.
    /// Meshes are seen triangle by triangle instead.
    #[inline]
    pub fn hit_from(&self, origin: V3, direction: V3) -> Option<Hit> {
        let direction = self.frame.turn_back(direction);
        let (t, normal) = match self.kind {
            ShapeKind::Sphere => sphere(origin, direction, self.size.x, v3(0.0, 0.0, 0.0))?,
            ShapeKind::Capsule => capsule(origin, direction, self.size.x, self.size.y)?,
            ShapeKind::Cylinder => cylinder(origin, direction, self.size.x, self.size.y)?,
            ShapeKind::Ellipsoid => ellipsoid(origin, direction, self.size)?,
            ShapeKind::Box => cuboid(origin, direction, self.size)?,
            ShapeKind::Mesh | ShapeKind::Plane | ShapeKind::Polygon | ShapeKind::Polyline => return None,
        };
        (t > 0.0).then(|| Hit { t, normal: self.frame.turn(normal) })
    }

    /// Part of a wide, far light that reaches `point` past this solid. The penumbra grows with the distance.
    #[inline]
    pub fn light_past(&self, point: V3, light: V3, spread: f64) -> f64 {
        let Swept { from, to, radius, half, .. } = self.swept;
        // Most points lie far from the shadow of most solids: no need to know how far.
        let center = self.frame.origin - point;
        let along = center.dot(light);
        let clear = half + radius + spread * (along + half).max(0.0) + 1e-3;
        if center.dot(center) - along * along.max(0.0) > clear * clear {
            return 1.0;
        }
        let (t, distance) = ray_to_segment(point, light, from, to);
        let soft = spread * t + 1e-3;
        let edge = ((distance - radius) / soft).clamp(-1.0, 1.0);
        let x = 0.5 * (edge + 1.0);
        x * x * (3.0 - 2.0 * x)
    }

    /// Adds the parts of the sky over points of the floor that this solid hides.
    #[inline(always)]
    pub fn hide_sky(&self, [x, y, z]: [&[f64]; 3], hidden: &mut [f64]) {
        let Swept { from, to, radius, inverse_square, .. } = self.swept;
        let along = to - from;
        for (((x, y), z), hidden) in x.iter().zip(y).zip(z).zip(hidden) {
            let point = v3(*x, *y, *z);
            let part = (point - from).dot(along) * inverse_square;
            let part = if part > 0.0 { part } else { 0.0 };
            let part = if part < 1.0 { part } else { 1.0 };
            let to = from + along * part - point;
            let (near, square) = (radius * radius, to.dot(to));
            let square = if square > near { square } else { near };
            let up = if to.z > 0.0 { to.z } else { 0.0 };
            let hides = up * radius * radius / (square * square.sqrt());
            // From twenty radii on it is less than a shade.
            *hidden += if square > 400.0 * radius * radius { 0.0 } else { hides };
        }
    }
}

#[inline]
fn nearest_on_segment(p: V3, a: V3, b: V3) -> V3 {
    let along = b - a;
    let square = along.dot(along);
    let s = if square > 0.0 { ((p - a).dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
    a + along * s
}

/// Distance along the ray of its point nearest to the segment, and the distance between the two.
#[inline]
fn ray_to_segment(origin: V3, direction: V3, a: V3, b: V3) -> (f64, f64) {
    let along = b - a;
    let w = origin - a;
    let (bd, cc) = (direction.dot(along), along.dot(along));
    let (d, e) = (direction.dot(w), along.dot(w));
    let denominator = cc - bd * bd;
    let s = if denominator > 1e-12 { ((e - bd * d) / denominator).clamp(0.0, 1.0) } else { 0.0 };
    let on_segment = a + along * s;
    let t = (on_segment - origin).dot(direction).max(0.0);
    let on_ray = origin + direction * t;
    // With t at its bound the foot on the segment moves.
    let on_segment = if t > 0.0 { on_segment } else { nearest_on_segment(on_ray, a, b) };
    (t, (on_ray - on_segment).length())
}

/// Smaller root of t² + 2bt + c.
fn first_root(b: f64, c: f64) -> Option<f64> {
    let d = b * b - c;
    (d >= 0.0).then(|| -b - d.sqrt())
}

fn sphere(o: V3, d: V3, radius: f64, center: V3) -> Option<(f64, V3)> {
    let from = o - center;
    let t = first_root(from.dot(d), from.dot(from) - radius * radius)?;
    Some((t, (from + d * t) * (1.0 / radius)))
}

/// The curved side of an endless cylinder about z: distance and height of the entry.
fn tube(o: V3, d: V3, radius: f64) -> Option<(f64, f64)> {
    let a = d.x * d.x + d.y * d.y;
    if a < 1e-14 {
        return None;
    }
    let t = first_root((o.x * d.x + o.y * d.y) / a, (o.x * o.x + o.y * o.y - radius * radius) / a)?;
    Some((t, o.z + t * d.z))
}

fn capsule(o: V3, d: V3, radius: f64, half: f64) -> Option<(f64, V3)> {
    let side = tube(o, d, radius);
    if let Some((t, height)) = side.filter(|(_, h)| h.abs() <= half) {
        return Some((t, v3((o.x + t * d.x) / radius, (o.y + t * d.y) / radius, 0.0 * height)));
    }
    let caps = [half, -half].map(|z| sphere(o, d, radius, v3(0.0, 0.0, z)));
    caps.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0))
}

fn cylinder(o: V3, d: V3, radius: f64, half: f64) -> Option<(f64, V3)> {
    if let Some((t, _)) = tube(o, d, radius).filter(|(_, h)| h.abs() <= half) {
        return Some((t, v3((o.x + t * d.x) / radius, (o.y + t * d.y) / radius, 0.0)));
    }
    let cap = if d.z < 0.0 { 1.0 } else { -1.0 };
    let t = (cap * half - o.z) / d.z;
    let (x, y) = (o.x + t * d.x, o.y + t * d.y);
    (t.is_finite() && x * x + y * y <= radius * radius).then(|| (t, v3(0.0, 0.0, cap)))
}

fn ellipsoid(o: V3, d: V3, size: V3) -> Option<(f64, V3)> {
    let shrink = |v: V3| v3(v.x / size.x, v.y / size.y, v.z / size.z);
    let (from, along) = (shrink(o), shrink(d));
    let a = along.dot(along);
    let t = first_root(from.dot(along) / a, (from.dot(from) - 1.0) / a)?;
    Some((t, shrink(from + along * t).unit()))
}

fn cuboid(o: V3, d: V3, size: V3) -> Option<(f64, V3)> {
    let (mut enter, mut leave, mut normal) = (f64::NEG_INFINITY, f64::INFINITY, v3(0.0, 0.0, 1.0));
    let axes = [
        (o.x, d.x, size.x, v3(1.0, 0.0, 0.0)),
        (o.y, d.y, size.y, v3(0.0, 1.0, 0.0)),
        (o.z, d.z, size.z, v3(0.0, 0.0, 1.0)),
    ];
    for (o, d, half, axis) in axes {
        if d.abs() < 1e-14 {
            if o.abs() > half {
                return None;
            }
            continue;
        }
        let (near, far) = ((-half * d.signum() - o) / d, (half * d.signum() - o) / d);
        if near > enter {
            (enter, normal) = (near, axis * -d.signum());
        }
        leave = leave.min(far);
    }
    (enter <= leave).then_some((enter, normal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use autoqd_env::Pose;

    fn solid(kind: ShapeKind, size: [f64; 3], pose: Pose) -> Solid {
        let shape = Shape {
            kind,
            size,
            points: vec![],
            mesh: None,
            rgba: [1.0; 4],
            name: String::new(),
            body: String::new(),
        };
        Solid::new(&shape, None, Frame::from(&pose)).unwrap()
    }

    fn from_above(x: f64, y: f64) -> Ray {
        Ray { origin: v3(x, y, 10.0), direction: v3(0.0, 0.0, -1.0) }
    }

    #[test]
    fn rays_meet_solids_where_geometry_says() {
        let size = [0.5, 1.0, 0.25];
        let at = |kind, x, y| solid(kind, size, Pose::IDENTITY).hit(&from_above(x, y)).map(|h| 10.0 - h.t);
        let near = |got: Option<f64>, want: f64| (got.unwrap() - want).abs() < 1e-12;
        assert!(near(at(ShapeKind::Sphere, 0.0, 0.0), 0.5));
        assert!(near(at(ShapeKind::Capsule, 0.3, 0.0), 1.4));
        assert!(near(at(ShapeKind::Cylinder, 0.3, 0.3), 1.0));
        assert!(near(at(ShapeKind::Ellipsoid, 0.0, 0.0), 0.25));
        assert!(near(at(ShapeKind::Box, 0.4, 0.9), 0.25));
        for kind in
            [ShapeKind::Sphere, ShapeKind::Capsule, ShapeKind::Cylinder, ShapeKind::Ellipsoid, ShapeKind::Box]
        {
            assert!(at(kind, 0.6, 0.0).is_none(), "{kind:?}");
        }
    }

    #[test]
    fn normals_point_outward_and_turn_with_the_solid() {
        // The local z axis points along the world's x axis.
        let lying = Pose { position: [0.0; 3], rotation: [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0] };
        for kind in [ShapeKind::Capsule, ShapeKind::Cylinder] {
            let hit = solid(kind, [0.5, 2.0, 0.0], lying).hit(&from_above(1.5, 0.3)).unwrap();
            let want = v3(0.0, 0.6, 0.8);
            assert!((hit.normal - want).length() < 1e-12, "{kind:?} {hit:?}");
        }
    }

    #[test]
    fn shadow_is_full_under_the_middle_and_absent_far_away() {
        let ball =
            solid(ShapeKind::Sphere, [0.5, 0.0, 0.0], Pose { position: [0.0, 0.0, 2.0], ..Pose::IDENTITY });
        let light = |x: f64| ball.light_past(v3(x, 0.0, 0.0), v3(0.0, 0.0, 1.0), 0.1);
        assert_eq!((light(0.0), light(5.0)), (0.0, 1.0));
        assert!((light(0.5) - 0.5).abs() < 0.01);
        assert_eq!(ball.light_past(v3(0.0, 0.0, 4.0), v3(0.0, 0.0, 1.0), 0.1), 1.0);
    }
}
