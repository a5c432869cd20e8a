//! Where a body touches an edge: Box2D's `b2CollideEdgeAndPolygon` for edges without neighbours.

use super::geometry::{
    ANGULAR_SLOP, Frame, Point, SKIN, clockwise, dot, lesser, minus, negative, plus, scale,
};
use super::robot::Outline;
use super::terrain::Edge;

/// Skins of both shapes.
const RADIUS: f32 = 2.0 * SKIN;

/// A point where they touch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touch {
    /// In the frame of the body, or in that of the ground if the body's side is the reference.
    pub local: Point,
    pub normal_impulse: f32,
    pub tangent_impulse: f32,
    /// Which corners and sides meet here; points of one step and the next with the same name are the same.
    pub name: [u8; 4],
}

/// Up to two points and what their distances are measured from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manifold {
    pub count: usize,
    /// Whether a side of the body is the reference, and not the edge.
    pub on_body: bool,
    pub normal: Point,
    pub point: Point,
    pub points: [Touch; 2],
}

/// An end of the segment that is clipped.
#[derive(Clone, Copy, Default)]
struct End {
    v: Point,
    name: [u8; 4],
}

/// For names.
const CORNER: u8 = 0;
const SIDE: u8 = 1;

/// The side that everything is measured from.
struct Reference {
    corners: [usize; 2],
    from: Point,
    to: Point,
    normal: Point,
}

/// `corners` are those of the outline in `frame`.
pub fn collide(edge: &Edge, outline: &Outline, frame: &Frame, corners: &[Point]) -> Manifold {
    let centroid = frame.apply(outline.centroid);
    let front = dot(edge.normal, minus(centroid, edge.from)) >= 0.0;
    let normal = if front { edge.normal } else { negative(edge.normal) };
    let separation = corners.iter().fold(f32::MAX, |least, v| {
        let s = dot(normal, minus(*v, edge.from));
        if s < least { s } else { least }
    });
    if separation > RADIUS {
        return Manifold::default();
    }
    touch(edge, outline, frame, corners, front, normal, separation).unwrap_or_default()
}

/// The rest, for a body that reaches down to the line of the edge.
fn touch(
    edge: &Edge,
    outline: &Outline,
    frame: &Frame,
    corners: &[Point],
    front: bool,
    normal: Point,
    edge_separation: f32,
) -> Option<Manifold> {
    let mut normals = [[0.0; 2]; 5];
    let normals = &mut normals[..corners.len()];
    for (to, from) in normals.iter_mut().zip(outline.normals()) {
        *to = frame.rotation.apply(*from);
    }
    let side = best_side(edge, corners, normals, normal)?;
    let next = |i: usize| if i + 1 < corners.len() { i + 1 } else { 0 };
    let on_body = side.filter(|(_, separation)| *separation > 0.98 * edge_separation + 0.001);
    let (ends, reference) = match on_body {
        None => {
            let facing = most_opposed(normals, normal);
            let end = |i: usize| End { v: corners[i], name: [0, i as u8, SIDE, CORNER] };
            let (corners, from, to) =
                if front { ([0, 1], edge.from, edge.to) } else { ([1, 0], edge.to, edge.from) };
            ([end(facing), end(next(facing))], Reference { corners, from, to, normal })
        }
        Some((i, _)) => {
            let end = |v: Point| End { v, name: [0, i as u8, CORNER, SIDE] };
            let j = next(i);
            let reference =
                Reference { corners: [i, j], from: corners[i], to: corners[j], normal: normals[i] };
            ([end(edge.from), end(edge.to)], reference)
        }
    };
    let ends = between_sides(ends, &reference)?;
    let mut manifold = match on_body {
        None => Manifold { normal: reference.normal, point: reference.from, ..Manifold::default() },
        Some((i, _)) => {
            let (normal, point) = (outline.normals()[i], outline.corners()[i]);
            Manifold { on_body: true, normal, point, ..Manifold::default() }
        }
    };
    for end in ends {
        if dot(reference.normal, minus(end.v, reference.from)) <= RADIUS {
            let [a, b, c, d] = end.name;
            let (local, name) =
                if manifold.on_body { (end.v, [b, a, d, c]) } else { (frame.undo(end.v), end.name) };
            manifold.points[manifold.count] = Touch { local, name, ..Touch::default() };
            manifold.count += 1;
        }
    }
    Some(manifold)
}

/// The side of the body that is farthest from the edge and faces it, if there is one; nothing at all if it is too far.
fn best_side(
    edge: &Edge,
    corners: &[Point],
    normals: &[Point],
    normal: Point,
) -> Option<Option<(usize, f32)>> {
    let mut best = None;
    let mut separation = -f32::MAX;
    for (i, (v, side)) in corners.iter().zip(normals).enumerate() {
        let n = negative(*side);
        let s = lesser(dot(n, minus(*v, edge.from)), dot(n, minus(*v, edge.to)));
        if s > RADIUS {
            return None;
        }
        if dot(minus(n, negative(normal)), normal) < -ANGULAR_SLOP {
            continue;
        }
        if s > separation {
            (best, separation) = (Some((i, s)), s);
        }
    }
    Some(best)
}

/// The side whose normal points against `normal` most.
fn most_opposed(normals: &[Point], normal: Point) -> usize {
    let mut best = (0, dot(normal, normals[0]));
    for (i, side) in normals.iter().enumerate().skip(1) {
        let value = dot(normal, *side);
        if value < best.1 {
            best = (i, value);
        }
    }
    best.0
}

/// The part of a segment that is between the ends of the reference.
fn between_sides(ends: [End; 2], reference: &Reference) -> Option<[End; 2]> {
    let side = clockwise(reference.normal);
    let ends = clip(ends, side, dot(side, reference.from), reference.corners[0])?;
    let side = negative(side);
    clip(ends, side, dot(side, reference.to), reference.corners[1])
}

/// The part of a segment behind a line, unless only a point is left.
fn clip(ends: [End; 2], normal: Point, offset: f32, corner: usize) -> Option<[End; 2]> {
    let d = ends.map(|end| dot(normal, end.v) - offset);
    let mut out = [End::default(); 2];
    let mut count = 0;
    for (end, d) in ends.iter().zip(d) {
        if d <= 0.0 {
            out[count] = *end;
            count += 1;
        }
    }
    if d[0] * d[1] < 0.0 {
        let part = d[0] / (d[0] - d[1]);
        let v = plus(ends[0].v, scale(part, minus(ends[1].v, ends[0].v)));
        out[count] = End { v, name: [corner as u8, ends[0].name[1], CORNER, SIDE] };
        count += 1;
    }
    (count == 2).then_some(out)
}
