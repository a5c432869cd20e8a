//! Where a ray meets a surface of triangles: a tree of boxes, made once for all frames of a film.

use std::sync::Arc;

use super::vector::{V3, v3};
use autoqd_env::{Mesh, Scene};

/// Triangles in a leaf.
const LEAF: usize = 4;

#[derive(Clone, Debug)]
struct Node {
    low: V3,
    high: V3,
    /// Range of triangles of a leaf, or the second child of an inner node, whose first child follows it.
    from: usize,
    to: usize,
    second: usize,
}

/// The triangles of a mesh in a tree.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    /// A corner and the two edges from it.
    triangles: Vec<[V3; 3]>,
    nodes: Vec<Node>,
    /// The farthest corner from the origin.
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
        let corner = |i: u32| {
            mesh.vertices.get(i as usize).map(|v| v3(f64::from(v[0]), f64::from(v[1]), f64::from(v[2])))
        };
        let triangle = |face: &[u32; 3]| {
            let (a, b, c) = (corner(face[0])?, corner(face[1])?, corner(face[2])?);
            Some([a, b - a, c - a])
        };
        let triangles: Vec<[V3; 3]> = mesh.faces.iter().filter_map(triangle).collect();
        let corners = triangles.iter().flat_map(|[a, b, c]| [*a, *a + *b, *a + *c]);
        let reach = corners.map(V3::length).fold(0.0, f64::max);
        let mut surface = Self { triangles, nodes: Vec::new(), reach };
        if !surface.triangles.is_empty() {
            surface.grow(0, surface.triangles.len());
        }
        surface
    }

    /// Adds the node of some triangles; halves are along the longest edge of their box.
    fn grow(&mut self, from: usize, to: usize) {
        let far = f64::INFINITY;
        let (mut low, mut high) = (v3(far, far, far), v3(-far, -far, -far));
        for [a, b, c] in &self.triangles[from..to] {
            for p in [*a, *a + *b, *a + *c] {
                low = v3(low.x.min(p.x), low.y.min(p.y), low.z.min(p.z));
                high = v3(high.x.max(p.x), high.y.max(p.y), high.z.max(p.z));
            }
        }
        let index = self.nodes.len();
        self.nodes.push(Node { low, high, from, to, second: 0 });
        if to - from <= LEAF {
            return;
        }
        let size = high - low;
        let along = |[a, b, c]: &[V3; 3]| {
            let middle = *a * 3.0 + *b + *c;
            if size.x >= size.y && size.x >= size.z {
                middle.x
            } else if size.y >= size.z {
                middle.y
            } else {
                middle.z
            }
        };
        self.triangles[from..to].sort_by(|a, b| along(a).total_cmp(&along(b)));
        let half = (from + to) / 2;
        self.grow(from, half);
        self.nodes[index].second = self.nodes.len();
        self.grow(half, to);
    }

    /// Distance to the first triangle along a ray and the normal towards its origin.
    pub fn hit(&self, o: V3, d: V3) -> Option<(f64, V3)> {
        if self.nodes.is_empty() {
            return None;
        }
        let inverse = v3(1.0 / d.x, 1.0 / d.y, 1.0 / d.z);
        let (mut nearest, mut normal) = (f64::INFINITY, None);
        // Halving a number of triangles never goes deeper.
        let (mut stack, mut depth) = ([0; 64], 1);
        while depth > 0 {
            depth -= 1;
            let index = stack[depth];
            let node = &self.nodes[index];
            if !enters(node, o, inverse, nearest) {
                continue;
            }
            if node.second > 0 {
                stack[depth] = node.second;
                stack[depth + 1] = index + 1;
                depth += 2;
                continue;
            }
            for [a, b, c] in &self.triangles[node.from..node.to] {
                if let Some(t) = cross_triangle(o, d, *a, *b, *c).filter(|&t| t < nearest) {
                    (nearest, normal) = (t, Some(b.cross(*c)));
                }
            }
        }
        let normal = normal?.unit();
        Some((nearest, if normal.dot(d) > 0.0 { -normal } else { normal }))
    }
}

fn enters(node: &Node, o: V3, inverse: V3, nearest: f64) -> bool {
    let (mut enter, mut leave) = (0.0_f64, nearest);
    for (low, high, o, inverse) in [
        (node.low.x, node.high.x, o.x, inverse.x),
        (node.low.y, node.high.y, o.y, inverse.y),
        (node.low.z, node.high.z, o.z, inverse.z),
    ] {
        let (a, b) = ((low - o) * inverse, (high - o) * inverse);
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    enter <= leave
}

/// Distance along a ray to the triangle with corner `a` and edges `b` and `c`.
fn cross_triangle(o: V3, d: V3, a: V3, b: V3, c: V3) -> Option<f64> {
    let p = d.cross(c);
    let determinant = b.dot(p);
    if determinant.abs() < 1e-15 {
        return None;
    }
    let from = o - a;
    let u = from.dot(p) / determinant;
    let q = from.cross(b);
    let v = d.dot(q) / determinant;
    let t = c.dot(q) / determinant;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0).then_some(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dented sheet of many triangles: heights x y above the unit square.
    fn sheet(n: u32) -> Mesh {
        let mut mesh = Mesh::default();
        for i in 0..n * n {
            let (x, y) = ((i % n) as f32 / (n - 1) as f32, (i / n) as f32 / (n - 1) as f32);
            mesh.vertices.push([x, y, x * y]);
            if i % n > 0 && i / n > 0 {
                mesh.faces.extend([[i - n - 1, i - n, i], [i - n - 1, i, i - 1]]);
            }
        }
        mesh
    }

    #[test]
    fn rays_meet_the_surface_from_both_sides_and_miss_beside_it() {
        let surface = Surface::new(&sheet(30));
        for (x, y) in [(0.21, 0.33), (0.9, 0.04), (0.5, 0.77)] {
            for (height, down) in [(5.0, -1.0), (-5.0, 1.0)] {
                let (t, normal) = surface.hit(v3(x, y, height), v3(0.0, 0.0, down)).unwrap();
                assert!((height + down * t - x * y).abs() < 1e-3, "{x} {y}");
                assert!(normal.z * down < 0.0);
            }
        }
        assert!(surface.hit(v3(1.2, 0.5, 5.0), v3(0.0, 0.0, -1.0)).is_none());
        assert!(Surface::new(&Mesh::default()).hit(v3(0.0, 0.0, 5.0), v3(0.0, 0.0, -1.0)).is_none());
    }
}
