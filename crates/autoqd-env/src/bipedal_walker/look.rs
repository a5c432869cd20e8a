//! What the walker looks like: the ground line, the hull and four limbs.

use super::world::{Definition, State};
use crate::{Pose, Scene, Shape, ShapeKind};

const GROUND: [f32; 4] = [0.30, 0.60, 0.30, 1.0];
const HULL: [f32; 4] = [0.50, 0.20, 0.90, 1.0];
/// Of leg 1, behind the hull, and leg 2, before it.
const LEGS: [[f32; 4]; 2] = [[0.70, 0.40, 0.60, 1.0], [0.50, 0.20, 0.40, 1.0]];

/// Ground, hull, upper leg 1, lower leg 1, upper leg 2, lower leg 2.
pub fn scene(definition: &Definition) -> Scene {
    let mut shapes = vec![
        shape(ShapeKind::Polyline, &definition.terrain, GROUND, "ground"),
        shape(ShapeKind::Polygon, &definition.hull_corners, HULL, "hull"),
    ];
    for (leg, rgba) in LEGS.into_iter().enumerate() {
        for (part, limb) in ["upper", "lower"].into_iter().zip(&definition.limbs) {
            let [x, y] = limb.half_size;
            let corners = [[-x, -y], [x, -y], [x, y], [-x, y]];
            shapes.push(shape(ShapeKind::Polygon, &corners, rgba, &format!("{part} leg {}", leg + 1)));
        }
    }
    Scene { shapes, flat: true, follow: 1, seconds_per_step: 0.02 }
}

fn shape(kind: ShapeKind, points: &[[f32; 2]], rgba: [f32; 4], name: &str) -> Shape {
    let points = points.iter().map(|p| p.map(f64::from)).collect();
    Shape { kind, size: [0.0; 3], points, mesh: None, rgba, name: name.into(), body: name.into() }
}

/// One pose per shape of [`scene`].
pub fn poses(state: &State, out: &mut Vec<Pose>) {
    out.clear();
    out.push(Pose::IDENTITY);
    out.extend(state.pose.iter().map(|pose| {
        let [x, y, angle] = pose.map(f64::from);
        Pose::planar(x, y, angle)
    }));
}
