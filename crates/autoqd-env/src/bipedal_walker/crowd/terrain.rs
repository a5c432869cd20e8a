//! The ground: a line of edges in the order of x.

use std::ops::RangeInclusive;

use super::super::kernels::Kernels;
use super::super::wide::{LANES, Mask, Wide};
use super::super::world::{RAYS, TERRAIN_POINTS};
use super::geometry::{Bounds, Point, clockwise, dot, minus, normalized};

/// Edges of the ground.
pub const EDGES: usize = TERRAIN_POINTS - 1;
/// How far Box2D's broad phase looks beyond a shape.
pub const MARGIN: f32 = 0.1;

/// One edge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Edge {
    pub from: Point,
    pub to: Point,
    /// Unit vector to the right of the direction in which the edge goes: downwards.
    pub normal: Point,
    /// With skin and margin.
    pub bounds: Bounds,
}

impl Edge {
    fn new(from: Point, to: Point) -> Self {
        let (along, _) = normalized(minus(to, from));
        let bounds = Bounds::of(&[from, to]).wider(MARGIN);
        Self { from, to, normal: clockwise(along), bounds }
    }

    /// Start or end.
    pub fn corner(&self, i: usize) -> Point {
        if i == 0 { self.from } else { self.to }
    }
}

/// All edges.
#[derive(Clone, Debug)]
pub struct Terrain {
    edges: Box<[Edge; EDGES]>,
    /// Width of an edge.
    step: f32,
}

impl Default for Terrain {
    fn default() -> Self {
        Self { edges: Box::new([Edge::default(); EDGES]), step: 1.0 }
    }
}

impl Terrain {
    /// Takes the line through these points.
    pub fn build(&mut self, points: &[Point; TERRAIN_POINTS]) {
        self.step = points[1][0];
        for (edge, ends) in self.edges.iter_mut().zip(points.windows(2)) {
            *edge = Edge::new(ends[0], ends[1]);
        }
    }

    pub fn edge(&self, i: usize) -> &Edge {
        &self.edges[i]
    }

    /// The edges whose bounds may overlap `bounds`, and some more.
    pub fn near(&self, bounds: &Bounds) -> RangeInclusive<usize> {
        let first = self.at(bounds.lower[0] - 2.0 * MARGIN).saturating_sub(1);
        first..=(self.at(bounds.upper[0] + 2.0 * MARGIN) + 1).min(EDGES - 1)
    }

    /// Written so that a position that is not a number gives an edge, too.
    fn at(&self, x: f32) -> usize {
        let index = x / self.step;
        if index > 0.0 { (index as usize).min(EDGES - 1) } else { 0 }
    }

    /// How far the rays from `eye` reach, as fractions of their lengths. Of the edges under the rays, from left to
    /// right, each is tried with all rays: rays do not lean to the left, so after a hit only the next edge, which shares
    /// a corner, can give an equally near one, and later hits are farther.
    pub fn ranges<F: Kernels>(&self, eye: Point, rays: &[[f64; 2]; RAYS]) -> [f32; RAYS] {
        // What the other lanes do is looked at by nobody; they must only hit what the last ray hits.
        let mut d = [F::ZERO; 2];
        let mut right = eye[0];
        for i in 0..LANES {
            let ray = rays[i.min(RAYS - 1)];
            let end = [(f64::from(eye[0]) + ray[0]) as f32, (f64::from(eye[1]) + ray[1]) as f32];
            let [x, y] = minus(end, eye);
            d[0].set(i, x);
            d[1].set(i, y);
            right = right.max(end[0]);
        }
        let first = self.at(eye[0]).saturating_sub(1);
        let last = (self.at(right) + 1).min(EDGES - 1);
        let mut reach = F::ZERO;
        F::cast(&self.edges[first..=last], eye, &d, &mut reach);
        std::array::from_fn(|i| reach.get(i))
    }
}

/// The nearest hit of each ray `d` from `eye`, as a fraction; 1 without any.
#[inline(always)]
pub fn cast<F: Wide>(edges: &[Edge], eye: Point, d: &[F; 2]) -> F {
    let mut nearest = F::splat(1.0);
    let mut all_hit = false;
    for edge in edges {
        let along = minus(edge.to, edge.from);
        let squared = dot(along, along);
        if squared == 0.0 {
            continue;
        }
        let distance = F::splat(dot(edge.normal, minus(edge.from, eye)));
        let speed = F::splat(edge.normal[0]) * d[0] + F::splat(edge.normal[1]) * d[1];
        let t = distance / speed;
        let x = F::splat(eye[0]) + t * d[0] - F::splat(edge.from[0]);
        let y = F::splat(eye[1]) + t * d[1] - F::splat(edge.from[1]);
        let s = (x * F::splat(along[0]) + y * F::splat(along[1])) / F::splat(squared);
        let one = F::splat(1.0);
        let hit = speed.is_not_zero().and(t.is_within(one)).and(s.is_within(one));
        let over = all_hit;
        nearest = F::select(hit.and(t.is_less(nearest)), t, nearest);
        all_hit = !nearest.is_equal(one).any();
        if over {
            break;
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::super::super::wide::{Backend, with_backend};
    use super::*;

    #[test]
    fn a_level_line_is_as_far_as_it_is_deep() {
        let mut terrain = Terrain::default();
        let points = std::array::from_fn(|i| [i as f32 * 0.5, 1.0]);
        terrain.build(&points);
        let down = std::array::from_fn(|i| [i as f64 * 0.1, -4.0]);
        let eye = [10.2, 3.0];
        let short = std::array::from_fn(|i| [i as f64 * 0.1, -1.0]);
        for backend in Backend::available() {
            let half = with_backend!(backend, F => terrain.ranges::<F>(eye, &down));
            assert!(half.iter().all(|r| (r - 0.5).abs() < 1e-6));
            assert_eq!(with_backend!(backend, F => terrain.ranges::<F>(eye, &short)), [1.0; RAYS]);
        }
    }
}
