//! Surfaces of triangles, made once for all frames of a film.

use std::sync::Arc;

use crate::vector::{V3, v3};
use autoqd_env::{Mesh, Scene};

/// The triangles of a mesh.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    pub corners: Vec<V3>,
    /// Three corners each, all of which exist.
    pub triangles: Vec<[u32; 3]>,
    /// The farthest corner of a triangle from the origin.
    pub reach: f64,
}

/// The surfaces of a scene, shape by shape.
pub(crate) struct Surfaces(Vec<Option<Arc<Surface>>>);

impl Surfaces {
    pub fn new(scene: &Scene) -> Self {
        Self(scene.shapes.iter().map(|shape| shape.mesh.as_ref().map(Surface::new).map(Arc::new)).collect())
    }

    pub fn of(&self, shape: usize) -> Option<&Arc<Surface>> {
        self.0.get(shape)?.as_ref()
    }
}

impl Surface {
    pub fn new(mesh: &Mesh) -> Self {
        let corner = |v: &[f32; 3]| v3(f64::from(v[0]), f64::from(v[1]), f64::from(v[2]));
        let corners: Vec<V3> = mesh.vertices.iter().map(corner).collect();
        let exist = |triangle: &&[u32; 3]| triangle.iter().all(|&i| (i as usize) < corners.len());
        let triangles: Vec<[u32; 3]> = mesh.faces.iter().filter(exist).copied().collect();
        let reach = triangles.iter().flatten().map(|&i| corners[i as usize].length()).fold(0.0, f64::max);
        Self { corners, triangles, reach }
    }
}
