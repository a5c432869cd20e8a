//! Where the bodies of the model are after a step, welded ones included, and the centres of mass of trees: for all lanes at
//! once, because tasks in space read them in every lane.
//!
//! Sums and products are those of [`crate::rigid`], in its order and not fused.

use crate::compile::Compiled;
use crate::rigid::{IDENTITY, NOISE, Pose, Vec3};
use crate::simd::{Lane, Mask};
use crate::vector::{M3, V3, zero3};

/// Poses of all bodies of a model, and per body the centre of mass of the tree whose first body it is.
pub(crate) struct Frames<F> {
    poses: Vec<(V3<F>, M3<F>)>,
    centers: Vec<V3<F>>,
}

impl<F: Lane> Frames<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let frames = model.frames.len();
        Self { poses: vec![(zero3(), [F::zero(); 9]); frames], centers: vec![zero3(); frames] }
    }

    /// Takes the poses of an evaluation, given by the moving bodies' positions and rotations.
    #[inline(always)]
    pub(crate) fn place(&mut self, model: &Compiled, positions: &[V3<F>], rotations: &[M3<F>]) {
        let Self { poses, centers } = self;
        centers.fill(zero3());
        for (frame, pose) in model.frames.iter().zip(poses.iter_mut()) {
            let (x, r) = (positions[frame.body], &rotations[frame.body]);
            let mut rotation = *r;
            if frame.pose.rotation != IDENTITY {
                for i in 0..3 {
                    for j in 0..3 {
                        let inner = &frame.pose.rotation;
                        rotation[3 * i + j] = product(r, i, [inner[j], inner[3 + j], inner[6 + j]]);
                    }
                }
            }
            for entry in &mut rotation {
                *entry = entry.keep(entry.abs().lt(F::splat(NOISE)).not());
            }
            *pose = (point(x, r, frame.pose.position), rotation);
            let (center, mass) = (point(pose.0, &pose.1, frame.center), F::splat(frame.mass));
            let sum = &mut centers[frame.root];
            for i in 0..3 {
                sum[i] = sum[i] + center[i] * mass;
            }
        }
        for (root, center) in centers.iter_mut().enumerate() {
            let mass = model.frames[root].tree_mass;
            for x in center {
                *x = *x * F::splat(1.0 / mass);
            }
        }
    }

    pub(crate) fn pose(&self, body: usize, lane: usize) -> Pose {
        let (position, rotation) = &self.poses[body];
        Pose { position: position.map(|x| x.get(lane)), rotation: rotation.map(|x| x.get(lane)) }
    }

    pub(crate) fn center(&self, root: usize, lane: usize) -> Vec3 {
        self.centers[root].map(|x| x.get(lane))
    }
}

/// Row `i` of R times a constant vector.
#[inline(always)]
fn product<F: Lane>(r: &M3<F>, i: usize, v: Vec3) -> F {
    r[3 * i] * F::splat(v[0]) + r[3 * i + 1] * F::splat(v[1]) + r[3 * i + 2] * F::splat(v[2])
}

/// x + R p
#[inline(always)]
fn point<F: Lane>(x: V3<F>, r: &M3<F>, p: Vec3) -> V3<F> {
    [x[0] + product(r, 0, p), x[1] + product(r, 1, p), x[2] + product(r, 2, p)]
}
