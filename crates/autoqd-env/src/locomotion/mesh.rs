//! Triangles of meshes and height fields, few enough to be drawn and sent to a browser.

use crate::mujoco::Model;
use crate::scene::Mesh;
use std::collections::BTreeMap;

/// Finer meshes are simplified to about as many triangles.
const MOST_TRIANGLES: usize = 900;
/// Cells along the longest edge of a mesh's box, from fine to coarse, until few enough triangles are left.
const CELLS: [f32; 10] = [64.0, 48.0, 40.0, 32.0, 26.0, 20.0, 16.0, 12.0, 8.0, 4.0];
/// Points of a height field along one side.
const MOST_POINTS: usize = 40;

/// The triangles of mesh `id` of a model, in the frame of its geoms.
pub(super) fn of_mesh(model: &Model, id: usize) -> Mesh {
    let vertices = model.mesh_vertadr()[id] as usize..;
    let vertices = &model.mesh_vert()[vertices][..model.mesh_vertnum()[id] as usize];
    let faces = model.mesh_faceadr()[id] as usize..;
    let faces = &model.mesh_face()[faces][..model.mesh_facenum()[id] as usize];
    let whole = Mesh {
        vertices: vertices.to_vec(),
        faces: faces.iter().map(|face| face.map(|v| v as u32)).collect(),
    };
    simplified(whole)
}

/// The surface of height field `id`, with fewer points if it is fine.
pub(super) fn of_height_field(model: &Model, id: usize) -> Mesh {
    let (rows, columns) = (model.hfield_nrow()[id] as usize, model.hfield_ncol()[id] as usize);
    let [half_x, half_y, height, _] = model.hfield_size()[id];
    let data = &model.hfield_data()[model.hfield_adr()[id] as usize..][..rows * columns];
    let pick = |count: usize| -> Vec<usize> {
        let points = count.min(MOST_POINTS);
        (0..points).map(|i| i * (count - 1) / (points - 1).max(1)).collect()
    };
    let (at_row, at_column) = (pick(rows), pick(columns));
    let place = |i: usize, count: usize, half: f64| 2.0 * half * i as f64 / (count - 1).max(1) as f64 - half;
    let mut mesh = Mesh { vertices: Vec::new(), faces: Vec::new() };
    for &row in &at_row {
        for &column in &at_column {
            let (x, y) = (place(column, columns, half_x), place(row, rows, half_y));
            let z = f64::from(data[row * columns + column]) * height;
            mesh.vertices.push([x as f32, y as f32, z as f32]);
        }
    }
    let wide = at_column.len() as u32;
    for row in 1..at_row.len() as u32 {
        for column in 1..wide {
            let corner = row * wide + column;
            let [a, b, c, d] = [corner - wide - 1, corner - wide, corner - 1, corner];
            mesh.faces.extend([[a, b, d], [a, d, c]]);
        }
    }
    mesh
}

/// Vertices of one cell of a grid become their mean; triangles that collapse are dropped.
fn simplified(mesh: Mesh) -> Mesh {
    if mesh.faces.len() <= MOST_TRIANGLES {
        return mesh;
    }
    let mut least = [f32::INFINITY; 3];
    let mut most = [f32::NEG_INFINITY; 3];
    for vertex in &mesh.vertices {
        for i in 0..3 {
            (least[i], most[i]) = (least[i].min(vertex[i]), most[i].max(vertex[i]));
        }
    }
    let edge = (0..3).map(|i| most[i] - least[i]).fold(1e-6, f32::max);
    let coarser = CELLS.iter().map(|cells| clustered(&mesh, least, edge / cells));
    coarser.reduce(|kept, next| if kept.faces.len() <= MOST_TRIANGLES { kept } else { next }).unwrap_or(mesh)
}

fn clustered(mesh: &Mesh, origin: [f32; 3], cell: f32) -> Mesh {
    let mut cells: BTreeMap<[i32; 3], u32> = BTreeMap::new();
    let (mut sums, mut of_vertex) = (Vec::<([f32; 3], f32)>::new(), Vec::new());
    for vertex in &mesh.vertices {
        let key = std::array::from_fn(|i| ((vertex[i] - origin[i]) / cell) as i32);
        let index = *cells.entry(key).or_insert_with(|| {
            sums.push(([0.0; 3], 0.0));
            sums.len() as u32 - 1
        });
        let (sum, count) = &mut sums[index as usize];
        (0..3).for_each(|i| sum[i] += vertex[i]);
        *count += 1.0;
        of_vertex.push(index);
    }
    let mut faces: Vec<[u32; 3]> = mesh
        .faces
        .iter()
        .map(|face| face.map(|v| of_vertex[v as usize]))
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .map(|face| {
            // The smallest index first, so that equal triangles are equal.
            let first = (0..3).min_by_key(|&i| face[i]).unwrap_or(0);
            std::array::from_fn(|i| face[(first + i) % 3])
        })
        .collect();
    faces.sort_unstable();
    faces.dedup();
    Mesh { vertices: sums.iter().map(|(sum, count)| sum.map(|x| x / count)).collect(), faces }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fine_mesh_keeps_its_extent_with_few_triangles() {
        let (n, mut mesh) = (120_u32, Mesh { vertices: Vec::new(), faces: Vec::new() });
        for i in 0..n * n {
            let (u, v) = ((i % n) as f32 / (n - 1) as f32, (i / n) as f32 / (n - 1) as f32);
            mesh.vertices.push([u, v, (6.0 * u).sin() * 0.1]);
            if i % n > 0 && i / n > 0 {
                mesh.faces.push([i - n - 1, i - n, i]);
                mesh.faces.push([i - n - 1, i, i - 1]);
            }
        }
        let small = simplified(mesh);
        assert!(small.faces.len() <= MOST_TRIANGLES && small.faces.len() > MOST_TRIANGLES / 4);
        let widest = small.vertices.iter().map(|v| v[0]).fold(0.0, f32::max);
        assert!((0.93..=1.0).contains(&widest), "{widest}");
        assert!(small.faces.iter().flatten().all(|&v| (v as usize) < small.vertices.len()));
    }
}
