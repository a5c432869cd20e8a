//! The numbers of the robot that no episode changes, as Box2D computes them from the definition.

use super::super::world::{BODIES, Description, HULL_CORNERS};
use super::geometry::Point;

/// Outline of a body, in its own frame.
#[derive(Clone, Debug)]
pub struct Outline {
    count: usize,
    corners: [Point; HULL_CORNERS],
    normals: [Point; HULL_CORNERS],
    pub centroid: Point,
}

impl Outline {
    pub fn corners(&self) -> &[Point] {
        &self.corners[..self.count]
    }

    /// Of the side from each corner to the next.
    pub fn normals(&self) -> &[Point] {
        &self.normals[..self.count]
    }
}

/// One body.
#[derive(Clone, Debug)]
pub struct Part {
    pub outline: Outline,
    pub local_center: Point,
    pub inverse_mass: f32,
    pub inverse_inertia: f32,
    /// On the ground.
    pub friction: f32,
    pub start: Point,
    pub start_angle: f32,
    pub start_center: Point,
}

/// The joint of a leg with its parent.
#[derive(Clone, Debug)]
pub struct Hinge {
    /// From the centers of mass of parent and leg.
    pub arms: [Point; 2],
    pub reference: f32,
    pub limits: [f32; 2],
}

/// The whole robot: hull, upper leg 1, lower leg 1, upper leg 2, lower leg 2. Hinge `k` holds part `k + 1`.
#[derive(Clone, Debug)]
pub struct Robot {
    pub parts: [Part; BODIES],
    pub hinges: [Hinge; 4],
}

/// The part that hinge `k` hangs on.
pub fn parent(k: usize) -> usize {
    if k.is_multiple_of(2) { 0 } else { k }
}

impl Robot {
    pub fn new(description: &Description) -> Self {
        let parts = std::array::from_fn(|i| {
            let body = &description.bodies[i];
            Part {
                outline: Outline {
                    count: body.corner_count as usize,
                    corners: body.corners,
                    normals: body.normals,
                    centroid: body.centroid,
                },
                local_center: body.local_center,
                inverse_mass: body.inverse_mass,
                inverse_inertia: body.inverse_inertia,
                friction: body.friction,
                start: body.position,
                start_angle: body.angle,
                start_center: body.center,
            }
        });
        let hinges = std::array::from_fn(|k| {
            let hinge = &description.hinges[k];
            Hinge { arms: hinge.arms, reference: hinge.reference, limits: hinge.limits }
        });
        Self { parts, hinges }
    }
}
