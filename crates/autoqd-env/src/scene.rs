//! What a world looks like, as plain data: shapes once per episode, their poses once per frame.

use serde::{Deserialize, Serialize};

/// Kind of a [`Shape`]; `size` and `points` mean what the kind says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShapeKind {
    /// An endless floor through the shape's position, normal to its z axis.
    Plane,
    /// Radius `size[0]`.
    Sphere,
    /// Radius `size[0]`, half length of the straight part `size[1]` along the z axis.
    Capsule,
    /// Half axes `size`.
    Ellipsoid,
    /// Radius `size[0]`, half length `size[1]` along the z axis.
    Cylinder,
    /// Half edges `size`.
    Box,
    /// A filled polygon `points` in the x-y plane.
    Polygon,
    /// A line through `points` in the x-y plane; the ground of a two-dimensional world.
    Polyline,
    /// The triangles of `mesh`; `size` are half edges of a box that holds them.
    Mesh,
}

/// A surface of triangles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mesh {
    /// Corners, in the shape's own frame.
    pub vertices: Vec<[f32; 3]>,
    /// Indices of the corners of each triangle.
    pub faces: Vec<[u32; 3]>,
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// What it is.
    pub kind: ShapeKind,
    /// Half sizes; what each number means depends on the kind.
    pub size: [f64; 3],
    /// Corners of a polygon or points of a polyline, in the shape's own frame; empty for solids.
    pub points: Vec<[f64; 2]>,
    /// The triangles of a mesh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<Mesh>,
    /// Red, green, blue and opacity, from 0 to 1.
    pub rgba: [f32; 4],
    /// Name of the shape in the model, empty if it has none.
    pub name: String,
    /// Name of the body that carries it.
    pub body: String,
}

/// The shapes of one episode; the terrain of some tasks differs from episode to episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// The shapes, in the order of the poses.
    pub shapes: Vec<Shape>,
    /// A world in the x-y plane with y up. Otherwise z is up.
    pub flat: bool,
    /// The shape that a camera keeps in view.
    pub follow: usize,
    /// Seconds of simulated time between two steps.
    pub seconds_per_step: f64,
}

/// Where a shape is in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position of the shape's frame in the world.
    pub position: [f64; 3],
    /// Rotation from the shape's frame to the world, row by row.
    pub rotation: [f64; 9],
}

impl Pose {
    /// At the origin, not rotated.
    pub const IDENTITY: Pose =
        Pose { position: [0.0; 3], rotation: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] };

    /// A pose in the x-y plane.
    pub fn planar(x: f64, y: f64, angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { position: [x, y, 0.0], rotation: [cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0] }
    }

    /// A point of the shape's frame in the world.
    pub fn apply(&self, point: [f64; 3]) -> [f64; 3] {
        let r = &self.rotation;
        std::array::from_fn(|i| {
            self.position[i] + r[3 * i] * point[0] + r[3 * i + 1] * point[1] + r[3 * i + 2] * point[2]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planar_pose_turns_counterclockwise() {
        let pose = Pose::planar(1.0, 2.0, std::f64::consts::FRAC_PI_2);
        let [x, y, z] = pose.apply([1.0, 0.0, 5.0]);
        assert!((x - 1.0).abs() < 1e-12 && (y - 3.0).abs() < 1e-12 && z == 5.0);
        assert_eq!(Pose::IDENTITY.apply([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }
}
