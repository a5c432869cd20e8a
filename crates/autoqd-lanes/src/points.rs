//! Points of bodies and how they move, in three dimensions.

use crate::compile::{BodyPoint, Compiled};
use crate::simd::Lane;
use crate::vector::{M3, V3};

/// Where the points of bodies are. A model that asks is not compiled to a plane.
pub(crate) trait Points<F: Lane> {
    fn point(&self, point: &BodyPoint) -> V3<F>;
    fn rotation(&self, body: usize) -> M3<F>;
    /// How a degree of freedom moves a point of a body it moves, and how it turns it.
    fn motion(&self, model: &Compiled, k: usize, point: V3<F>) -> (V3<F>, V3<F>);
    /// Acceleration of a point of a body if all coordinates go on at their velocities (with that of free fall taken away),
    /// angular acceleration and angular velocity of the body.
    fn drift(&self, model: &Compiled, body: usize, point: V3<F>) -> [V3<F>; 3];
}
