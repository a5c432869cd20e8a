//! A camera that follows the body.

use autoqd_env::{Pose, Scene, ShapeKind};

use super::solid::Ray;
use super::vector::{V3, v3};
use crate::replay::Replay;

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
    pub fn ray(&self, x: f64, y: f64) -> Ray {
        let direction = self.forward + self.right * (x * self.zoom) + self.up * (y * self.zoom);
        Ray { origin: self.eye, direction: direction.unit() }
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
pub struct View {
    /// Direction from the target to the eye.
    offset: V3,
    zoom: f64,
    /// What the camera looks at in each frame.
    targets: Vec<V3>,
}

impl View {
    /// Looks from the side at bodies that stay in a vertical plane, from above at those that stay in a
    /// horizontal one, else from a corner; near enough to fill the picture.
    pub fn of(replay: &Replay) -> Self {
        let radius = reach_of_body(replay).max(0.05);
        let [_, spread_y, spread_z] = spread(replay);
        let thin = 0.02 * radius;
        let (azimuth, elevation): (f64, f64) = match (spread_y < thin, spread_z < thin) {
            (true, false) => (-78.0, 11.0),
            (_, true) => (-80.0, 52.0),
            (false, false) => (-58.0, 24.0),
        };
        let (azimuth, elevation) = (azimuth.to_radians(), elevation.to_radians());
        let flat = elevation.cos();
        let direction = v3(flat * azimuth.cos(), flat * azimuth.sin(), elevation.sin());
        let zoom = 0.3;
        Self { offset: direction * (1.02 * radius / zoom), zoom, targets: targets(replay) }
    }

    pub(crate) fn camera(&self, frame: usize) -> Camera {
        let target = self.targets[frame.min(self.targets.len() - 1)];
        Camera::new(target + self.offset, target, self.zoom)
    }
}

fn solids<'a>(
    scene: &'a Scene,
    poses: &'a [Pose],
) -> impl Iterator<Item = (&'a autoqd_env::Shape, &'a Pose)> {
    scene.shapes.iter().zip(poses).filter(|(shape, _)| shape.kind != ShapeKind::Plane)
}

/// Largest distance of any part of the body from its middle, over a sample of frames.
fn reach_of_body(replay: &Replay) -> f64 {
    let mut reach: f64 = 0.0;
    for frame in sample(replay) {
        let center = middle(replay, frame);
        for (shape, pose) in solids(&replay.scene, replay.poses(frame)) {
            let own = shape.size[0] + if shape.kind == ShapeKind::Capsule { shape.size[1] } else { 0.0 };
            reach = reach.max((V3::from(pose.position) - center).length() + own);
        }
    }
    reach
}

/// Middle of the box around the centres of all shapes that move with the body; in the plane it stays with the
/// followed shape, so that a swinging limb does not shake the picture.
fn middle(replay: &Replay, frame: usize) -> V3 {
    let poses = replay.poses(frame);
    let followed = poses[replay.scene.follow].position;
    let heights = || solids(&replay.scene, poses).map(|(_, pose)| pose.position[2]);
    let (low, high) = heights().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), z| (l.min(z), h.max(z)));
    v3(followed[0], followed[1], 0.5 * (low + high))
}

/// How far the shapes move along each axis of the world.
fn spread(replay: &Replay) -> [f64; 3] {
    let mut spread = [0.0_f64; 3];
    let first = replay.poses(0);
    for frame in sample(replay) {
        let shapes = replay.scene.shapes.iter().zip(replay.poses(frame)).zip(first);
        for ((_, now), then) in shapes.filter(|((shape, _), _)| shape.kind != ShapeKind::Plane) {
            for (axis, widest) in spread.iter_mut().enumerate() {
                *widest = widest.max((now.position[axis] - then.position[axis]).abs());
            }
        }
    }
    spread
}

fn sample(replay: &Replay) -> impl Iterator<Item = usize> {
    let frames = replay.frames();
    (0..frames).step_by((frames / 64).max(1))
}

/// The path of the followed shape, smoothed over half a second; its height over all frames, so that a jump is
/// seen as a jump.
fn targets(replay: &Replay) -> Vec<V3> {
    let frames = replay.frames();
    let path: Vec<V3> = (0..frames).map(|f| middle(replay, f)).collect();
    let height = path.iter().map(|p| p.z).sum::<f64>() / frames.max(1) as f64;
    let window = (0.25 / replay.seconds_per_frame().max(1e-3)).round() as usize;
    let smooth = |f: usize| {
        let around = &path[f.saturating_sub(window)..(f + window + 1).min(frames)];
        let sum = around.iter().fold(v3(0.0, 0.0, 0.0), |sum, p| sum + *p);
        let mean = sum * (1.0 / around.len() as f64);
        v3(mean.x, mean.y, height)
    };
    (0..frames).map(smooth).collect()
}
