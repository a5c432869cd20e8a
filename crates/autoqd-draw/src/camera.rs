//! A camera that follows the body.

use autoqd_env::{Shape, ShapeKind};

use crate::replay::Replay;
use crate::solid::Ray;
use crate::vector::{Frame, V3, v3};

/// A pinhole camera.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    eye: V3,
    forward: V3,
    right: V3,
    up: V3,
    /// Tangent of half the vertical field of view.
    zoom: f64,
}

impl Camera {
    /// Looks from `eye` at `target`, z up.
    pub fn new(eye: V3, target: V3, zoom: f64) -> Self {
        let forward = (target - eye).unit();
        let right = forward.cross(v3(0.0, 0.0, 1.0)).unit();
        Self { eye, forward, right, up: right.cross(forward), zoom }
    }

    /// The ray through a place of the picture: x and y from the middle, the picture's height is 2.
    #[inline]
    pub fn ray(&self, x: f64, y: f64) -> Ray {
        Ray { origin: self.eye, direction: self.direction(x, y).unit() }
    }

    /// Where that ray points; not of length one.
    #[inline]
    pub fn direction(&self, x: f64, y: f64) -> V3 {
        self.forward + self.right * (x * self.zoom) + self.up * (y * self.zoom)
    }

    /// The place of a point, given from the eye; `None` nearer to the plane of the eye than `nearest`.
    pub fn place(&self, to: V3, nearest: f64) -> Option<(f64, f64)> {
        let depth = to.dot(self.forward);
        let scale = 1.0 / (self.zoom * depth);
        (depth > nearest).then(|| (to.dot(self.right) * scale, to.dot(self.up) * scale))
    }

    /// The product of a vector with [`Camera::direction`] as a linear function: a constant, and what x and y add to it.
    pub fn along(&self, v: V3) -> [f64; 3] {
        [v.dot(self.forward), v.dot(self.right) * self.zoom, v.dot(self.up) * self.zoom]
    }

    #[inline]
    pub fn eye(&self) -> V3 {
        self.eye
    }

    /// Angle per unit of the picture, for filters.
    pub fn angle(&self) -> f64 {
        self.zoom
    }

    /// A circle of the picture that holds a ball: centre and radius; `None` behind the camera.
    pub fn circle(&self, center: V3, radius: f64) -> Option<(f64, f64, f64)> {
        let to = center - self.eye;
        let depth = to.dot(self.forward);
        if depth <= radius {
            return None;
        }
        let scale = 1.0 / (self.zoom * depth);
        // Perspective stretches balls towards the border; the nearest depth bounds that.
        Some((
            to.dot(self.right) * scale,
            to.dot(self.up) * scale,
            radius * 1.25 / (self.zoom * (depth - radius)),
        ))
    }
}

/// From where a whole replay is seen: chosen once, then the camera only follows.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// Direction from the target to the eye.
    offset: V3,
    zoom: f64,
    /// What the camera looks at in each frame.
    targets: Vec<V3>,
}

/// Share of the picture's height and width that the body may fill.
const FILL: f64 = 0.88;

impl View {
    /// Looks from the side at bodies that stay in a vertical plane, from above at those that stay in a
    /// horizontal one, else from a corner; near enough to fill a picture of this width per height, and far enough
    /// that nothing is ever cut off.
    pub fn of(replay: &Replay, aspect: f64) -> Self {
        let [_, (front, back), (bottom, top)] = ranges(replay);
        let solids = Balls::of(replay);
        let thin = 0.02 * body_size(replay, &solids);
        let (azimuth, elevation): (f64, f64) = match (back - front < thin, top - bottom < thin) {
            (_, true) => (-80.0, 52.0),
            (true, false) => (-78.0, 11.0),
            (false, false) => (-58.0, 24.0),
        };
        let (azimuth, elevation) = (azimuth.to_radians(), elevation.to_radians());
        let flat = elevation.cos();
        let direction = v3(flat * azimuth.cos(), flat * azimuth.sin(), elevation.sin());
        let (zoom, mut targets) = (0.3, targets(replay, &solids));
        solids.center(replay, &mut targets, direction);
        let distance = solids.distance_that_fits(replay, &targets, direction, zoom, aspect);
        Self { offset: direction * distance, zoom, targets }
    }

    pub(crate) fn camera(&self, frame: usize) -> Camera {
        let target = self.targets[frame.min(self.targets.len() - 1)];
        Camera::new(target + self.offset, target, self.zoom)
    }
}

/// Whether a shape has to be in the picture: all but the floor and terrain.
fn is_framed(shape: &Shape) -> bool {
    shape.kind != ShapeKind::Plane && !(shape.kind == ShapeKind::Mesh && shape.body == "world")
}

/// Balls that hold every solid, in the frames of the shapes.
struct Balls(Vec<Vec<(V3, f64)>>);

impl Balls {
    fn of(replay: &Replay) -> Self {
        let balls = |shape: &Shape| if is_framed(shape) { balls_of(shape) } else { Vec::new() };
        Self(replay.scene.shapes.iter().map(balls).collect())
    }

    /// Those of a frame, in the world.
    fn at(&self, replay: &Replay, frame: usize) -> impl Iterator<Item = (V3, f64)> {
        let shapes = self.0.iter().zip(replay.poses(frame));
        shapes.flat_map(|(balls, pose)| {
            let frame = Frame::from(pose);
            balls.iter().map(move |&(at, radius)| (frame.point(at), radius))
        })
    }

    /// Moves the targets across the view so that what is seen over all frames is in the middle.
    fn center(&self, replay: &Replay, targets: &mut [V3], back: V3) {
        let camera = Camera::new(back, v3(0.0, 0.0, 0.0), 1.0);
        for axis in [camera.right, camera.up] {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for frame in sample(replay) {
                for (center, radius) in self.at(replay, frame) {
                    let across = (center - targets[frame]).dot(axis);
                    (low, high) = (low.min(across - radius), high.max(across + radius));
                }
            }
            if low < high {
                targets.iter_mut().for_each(|target| *target = *target + axis * (0.5 * (low + high)));
            }
        }
    }

    /// From how far away every ball of every frame lies within the picture.
    fn distance_that_fits(&self, replay: &Replay, targets: &[V3], back: V3, zoom: f64, aspect: f64) -> f64 {
        let camera = Camera::new(back, v3(0.0, 0.0, 0.0), zoom);
        let mut distance: f64 = 0.05 / zoom;
        for frame in sample(replay) {
            for (center, radius) in self.at(replay, frame) {
                let from = center - targets[frame];
                let side = (from.dot(camera.right).abs() + radius) / aspect;
                let up = from.dot(camera.up).abs() + radius;
                distance = distance.max(side.max(up) / (FILL * zoom) - from.dot(camera.forward));
            }
        }
        distance
    }
}

/// The ends of a round shape, the corners of any other.
fn balls_of(shape: &Shape) -> Vec<(V3, f64)> {
    let [a, b, c] = shape.size;
    match shape.kind {
        ShapeKind::Capsule => vec![(v3(0.0, 0.0, b), a), (v3(0.0, 0.0, -b), a)],
        ShapeKind::Sphere => vec![(v3(0.0, 0.0, 0.0), a)],
        ShapeKind::Ellipsoid | ShapeKind::Box => corners([-a, -b, -c], [a, b, c]),
        ShapeKind::Cylinder => corners([-a, -a, -b], [a, a, b]),
        _ => match &shape.mesh {
            Some(mesh) if !mesh.vertices.is_empty() => {
                let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
                for vertex in &mesh.vertices {
                    for k in 0..3 {
                        let x = f64::from(vertex[k]);
                        (low[k], high[k]) = (low[k].min(x), high[k].max(x));
                    }
                }
                corners(low, high)
            }
            _ => vec![(v3(0.0, 0.0, 0.0), v3(a, b, c).length())],
        },
    }
}

fn corners(low: [f64; 3], high: [f64; 3]) -> Vec<(V3, f64)> {
    let end = |corner: usize, k: usize| if corner >> k & 1 == 0 { low[k] } else { high[k] };
    (0..8).map(|corner| (v3(end(corner, 0), end(corner, 1), end(corner, 2)), 0.0)).collect()
}

/// Where the middles of the shapes are along each axis of the world, over a sample of frames.
fn ranges(replay: &Replay) -> [(f64, f64); 3] {
    let mut ranges = [(f64::INFINITY, f64::NEG_INFINITY); 3];
    for frame in sample(replay) {
        let shapes = replay.scene.shapes.iter().zip(replay.poses(frame));
        for (_, pose) in shapes.filter(|(shape, _)| is_framed(shape)) {
            for (range, at) in ranges.iter_mut().zip(pose.position) {
                *range = (range.0.min(at), range.1.max(at));
            }
        }
    }
    ranges
}

/// Largest distance of any part of the body from the shape that is followed, at the start.
fn body_size(replay: &Replay, solids: &Balls) -> f64 {
    let center = V3::from(replay.poses(0)[replay.scene.follow].position);
    solids.at(replay, 0).map(|(at, radius)| (at - center).length() + radius).fold(0.05, f64::max)
}

fn sample(replay: &Replay) -> impl Iterator<Item = usize> + use<> {
    let frames = replay.frames();
    (0..frames).step_by((frames / 64).max(1))
}

/// The path of the followed shape, smoothed over half a second; its height is the middle of all heights, so that a
/// jump is seen as a jump.
fn targets(replay: &Replay, solids: &Balls) -> Vec<V3> {
    let frames = replay.frames();
    let path: Vec<V3> =
        (0..frames).map(|f| V3::from(replay.poses(f)[replay.scene.follow].position)).collect();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for frame in sample(replay) {
        for (at, radius) in solids.at(replay, frame) {
            (low, high) = (low.min(at.z - radius), high.max(at.z + radius));
        }
    }
    let height = if low <= high { 0.5 * (low + high) } else { 0.0 };
    let window = (0.25 / replay.seconds_per_frame().max(1e-3)).round() as usize;
    let smooth = |f: usize| {
        let around = &path[f.saturating_sub(window)..(f + window + 1).min(frames)];
        let sum = around.iter().fold(v3(0.0, 0.0, 0.0), |sum, p| sum + *p);
        let mean = sum * (1.0 / around.len() as f64);
        v3(mean.x, mean.y, height)
    };
    (0..frames).map(smooth).collect()
}
