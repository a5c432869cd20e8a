//! When a moving body first touches an edge: Box2D's `b2TimeOfImpact`, by conservative advancement along the axis that
//! separates the two, which the distance algorithm of Gilbert, Johnson and Keerthi finds.

use std::f32::consts::TAU;

use super::geometry::{
    EPSILON, Frame, Point, SKIN, SLOP, clockwise, cross, dot, greater, length, minus, negative, normalized,
    plus, rotation, scale,
};
use super::robot::Part;
use super::terrain::Edge;

/// At this distance of the shapes without their skins they touch.
const TARGET: f32 = greater(SLOP, SKIN + SKIN - 3.0 * SLOP);
/// How exactly it is met.
const TOLERANCE: f32 = 0.25 * SLOP;
const ITERATIONS: usize = 20;
const ROOT_ITERATIONS: usize = 50;
/// How often the deepest point may change in one iteration.
const PUSHES: usize = 16;

/// The motion of a body in the rest of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sweep {
    pub from: Point,
    pub from_angle: f32,
    pub to: Point,
    pub to_angle: f32,
}

impl Sweep {
    fn at(&self, t: f32, local_center: Point) -> Frame {
        let center = plus(scale(1.0 - t, self.from), scale(t, self.to));
        let angle = (1.0 - t) * self.from_angle + t * self.to_angle;
        Frame::around(center, rotation(angle), local_center)
    }

    /// With less than a full turn.
    fn normalized(mut self) -> Self {
        let turns = TAU * (self.from_angle / TAU).floor();
        self.from_angle -= turns;
        self.to_angle -= turns;
        self
    }
}

/// A pair of corners, of edge and body.
#[derive(Clone, Copy, Default)]
struct Pair {
    corners: [usize; 2],
    on_edge: Point,
    on_body: Point,
    /// From the edge to the body.
    between: Point,
    share: f32,
}

/// What is left of a simplex for the next time: its corners and its size.
#[derive(Clone, Copy, Default)]
struct Memory {
    corners: [[usize; 2]; 3],
    count: usize,
    size: f32,
}

#[derive(Clone, Copy, Default)]
struct Simplex {
    pairs: [Pair; 3],
    count: usize,
}

struct Scene<'a> {
    edge: &'a Edge,
    part: &'a Part,
}

fn support(corners: &[Point], d: Point) -> usize {
    let mut best = (0, dot(corners[0], d));
    for (i, v) in corners.iter().enumerate().skip(1) {
        let value = dot(*v, d);
        if value > best.1 {
            best = (i, value);
        }
    }
    best.0
}

impl Scene<'_> {
    fn body(&self) -> &[Point] {
        self.part.outline.corners()
    }

    fn edge_support(&self, d: Point) -> usize {
        support(&[self.edge.from, self.edge.to], d)
    }

    fn pair(&self, corners: [usize; 2], frame: &Frame) -> Pair {
        let on_edge = self.edge.corner(corners[0]);
        let on_body = frame.apply(self.body()[corners[1]]);
        Pair { corners, on_edge, on_body, between: minus(on_body, on_edge), share: 0.0 }
    }

    fn remember(&self, memory: &Memory, frame: &Frame) -> Simplex {
        let mut simplex = Simplex { count: memory.count, ..Simplex::default() };
        for (pair, corners) in simplex.pairs.iter_mut().zip(memory.corners).take(memory.count) {
            *pair = self.pair(corners, frame);
        }
        if simplex.count > 1 {
            let (before, now) = (memory.size, simplex.size());
            if now < 0.5 * before || 2.0 * before < now || now < EPSILON {
                simplex.count = 0;
            }
        }
        if simplex.count == 0 {
            simplex.pairs[0] = Pair { share: 1.0, ..self.pair([0, 0], frame) };
            simplex.count = 1;
        }
        simplex
    }

    /// Between the shapes without their skins.
    fn distance(&self, memory: &mut Memory, frame: &Frame) -> f32 {
        let mut simplex = self.remember(memory, frame);
        for _ in 0..ITERATIONS {
            let saved = simplex;
            simplex.solve();
            if simplex.count == 3 {
                break;
            }
            let d = simplex.search_direction();
            if dot(d, d) < EPSILON * EPSILON {
                break;
            }
            let corners = [self.edge_support(negative(d)), support(self.body(), frame.rotation.undo(d))];
            simplex.pairs[simplex.count] = self.pair(corners, frame);
            if saved.pairs[..saved.count].iter().any(|pair| pair.corners == corners) {
                break;
            }
            simplex.count += 1;
        }
        *memory = simplex.memory();
        let [a, b] = simplex.witnesses();
        length(minus(a, b))
    }
}

impl Simplex {
    fn memory(&self) -> Memory {
        Memory { corners: self.pairs.map(|pair| pair.corners), count: self.count, size: self.size() }
    }

    fn size(&self) -> f32 {
        let [a, b, c] = self.pairs.map(|pair| pair.between);
        match self.count {
            2 => length(minus(a, b)),
            3 => cross(minus(b, a), minus(c, a)),
            _ => 0.0,
        }
    }

    fn search_direction(&self) -> Point {
        let [a, b, _] = self.pairs.map(|pair| pair.between);
        if self.count == 1 {
            return negative(a);
        }
        let e = minus(b, a);
        if cross(e, negative(a)) > 0.0 { negative(clockwise(e)) } else { clockwise(e) }
    }

    /// The nearest points of both shapes.
    fn witnesses(&self) -> [Point; 2] {
        let [a, b, c] = self.pairs;
        let mix = |x: Point, y: Point| plus(scale(a.share, x), scale(b.share, y));
        match self.count {
            1 => [a.on_edge, a.on_body],
            2 => [mix(a.on_edge, b.on_edge), mix(a.on_body, b.on_body)],
            _ => [plus(mix(a.on_edge, b.on_edge), scale(c.share, c.on_edge)); 2],
        }
    }

    /// Drops the pairs that do not hold the nearest point.
    fn solve(&mut self) {
        match self.count {
            2 => self.solve_line(),
            3 => self.solve_triangle(),
            _ => {}
        }
    }

    fn keep_one(&mut self, i: usize) {
        self.pairs[i].share = 1.0;
        self.count = 1;
        self.pairs[0] = self.pairs[i];
    }

    /// With weights, of which the first belongs to pair `i`.
    fn keep_two(&mut self, i: usize, j: usize, weights: [f32; 2]) {
        let inverse = 1.0 / (weights[0] + weights[1]);
        self.pairs[i].share = weights[0] * inverse;
        self.pairs[j].share = weights[1] * inverse;
        self.count = 2;
    }

    fn solve_line(&mut self) {
        let [a, b, _] = self.pairs.map(|pair| pair.between);
        let e = minus(b, a);
        let second = -dot(a, e);
        if second <= 0.0 {
            return self.keep_one(0);
        }
        let first = dot(b, e);
        if first <= 0.0 {
            return self.keep_one(1);
        }
        self.keep_two(0, 1, [first, second]);
    }

    fn solve_triangle(&mut self) {
        let [w1, w2, w3] = self.pairs.map(|pair| pair.between);
        let (e12, e13, e23) = (minus(w2, w1), minus(w3, w1), minus(w3, w2));
        let (d12_1, d12_2) = (dot(w2, e12), -dot(w1, e12));
        let (d13_1, d13_2) = (dot(w3, e13), -dot(w1, e13));
        let (d23_1, d23_2) = (dot(w3, e23), -dot(w2, e23));
        let n = cross(e12, e13);
        let (d1, d2, d3) = (n * cross(w2, w3), n * cross(w3, w1), n * cross(w1, w2));
        if d12_2 <= 0.0 && d13_2 <= 0.0 {
            self.keep_one(0);
        } else if d12_1 > 0.0 && d12_2 > 0.0 && d3 <= 0.0 {
            self.keep_two(0, 1, [d12_1, d12_2]);
        } else if d13_1 > 0.0 && d13_2 > 0.0 && d2 <= 0.0 {
            self.keep_two(0, 2, [d13_1, d13_2]);
            self.pairs[1] = self.pairs[2];
        } else if d12_1 <= 0.0 && d23_2 <= 0.0 {
            self.keep_one(1);
        } else if d13_1 <= 0.0 && d23_1 <= 0.0 {
            self.keep_one(2);
        } else if d23_1 > 0.0 && d23_2 > 0.0 && d1 <= 0.0 {
            self.keep_two(1, 2, [d23_1, d23_2]);
            self.pairs[0] = self.pairs[2];
        } else {
            let inverse = 1.0 / (d1 + d2 + d3);
            for (pair, d) in self.pairs.iter_mut().zip([d1, d2, d3]) {
                pair.share = d * inverse;
            }
        }
    }
}

/// The separation of the shapes along an axis that a corner or a side of one of them gives.
enum Axis {
    Corners { axis: Point },
    EdgeSide { normal: Point, point: Point },
    BodySide { axis: Point, point: Point },
}

impl Scene<'_> {
    fn axis(&self, memory: &Memory, frame: &Frame) -> Axis {
        let [[a, b], [c, d], _] = memory.corners;
        if memory.count == 1 {
            let between = minus(frame.apply(self.body()[b]), self.edge.corner(a));
            return Axis::Corners { axis: normalized(between).0 };
        }
        if a == c {
            let [p, q] = [self.body()[b], self.body()[d]];
            let (axis, _) = normalized(clockwise(minus(q, p)));
            let point = scale(0.5, plus(p, q));
            let out = minus(self.edge.corner(a), frame.apply(point));
            let s = dot(out, frame.rotation.apply(axis));
            return Axis::BodySide { axis: if s < 0.0 { negative(axis) } else { axis }, point };
        }
        let [p, q] = [self.edge.corner(a), self.edge.corner(c)];
        let (axis, _) = normalized(clockwise(minus(q, p)));
        let point = scale(0.5, plus(p, q));
        let s = dot(minus(frame.apply(self.body()[b]), point), axis);
        Axis::EdgeSide { normal: if s < 0.0 { negative(axis) } else { axis }, point }
    }

    /// The corners that are nearest along the axis.
    fn deepest(&self, axis: &Axis, frame: &Frame) -> [usize; 2] {
        let body = |d: Point| support(self.body(), frame.rotation.undo(d));
        match axis {
            Axis::Corners { axis } => [self.edge_support(*axis), body(negative(*axis))],
            Axis::EdgeSide { normal, .. } => [0, body(negative(*normal))],
            Axis::BodySide { axis, .. } => [self.edge_support(negative(frame.rotation.apply(*axis))), 0],
        }
    }

    fn separation(&self, axis: &Axis, corners: [usize; 2], frame: &Frame) -> f32 {
        let on_edge = self.edge.corner(corners[0]);
        let on_body = |i: usize| frame.apply(self.body()[i]);
        match axis {
            Axis::Corners { axis } => dot(minus(on_body(corners[1]), on_edge), *axis),
            Axis::EdgeSide { normal, point } => dot(minus(on_body(corners[1]), *point), *normal),
            Axis::BodySide { axis, point } => {
                dot(minus(on_edge, frame.apply(*point)), frame.rotation.apply(*axis))
            }
        }
    }
}

/// What one round of advancement finds.
enum Round {
    /// Never in this step.
    Apart,
    At(f32),
    /// Not before then; ask again.
    Later(f32),
}

/// The fraction of the sweep at which body and edge touch, if they do.
pub fn time_of_impact(edge: &Edge, part: &Part, sweep: &Sweep) -> Option<f32> {
    let scene = Scene { edge, part };
    let sweep = sweep.normalized();
    let mut memory = Memory::default();
    let mut now = 0.0;
    for _ in 0..ITERATIONS {
        match scene.advance(&sweep, &mut memory, now) {
            Round::Apart => return None,
            Round::At(t) => return Some(t),
            Round::Later(t) => now = t,
        }
    }
    None
}

impl Scene<'_> {
    fn advance(&self, sweep: &Sweep, memory: &mut Memory, now: f32) -> Round {
        let at = |t: f32| sweep.at(t, self.part.local_center);
        let frame = at(now);
        let distance = self.distance(memory, &frame);
        if distance <= 0.0 {
            return Round::Apart;
        }
        if distance < TARGET + TOLERANCE {
            return Round::At(now);
        }
        let axis = self.axis(memory, &frame);
        let mut later = 1.0;
        for _ in 0..PUSHES {
            let end = at(later);
            let corners = self.deepest(&axis, &end);
            let s2 = self.separation(&axis, corners, &end);
            if s2 > TARGET + TOLERANCE {
                return Round::Apart;
            }
            if s2 > TARGET - TOLERANCE {
                return Round::Later(later);
            }
            let s1 = self.separation(&axis, corners, &frame);
            if s1 < TARGET - TOLERANCE {
                return Round::Apart;
            }
            if s1 <= TARGET + TOLERANCE {
                return Round::At(now);
            }
            later = root([now, later], [s1, s2], |t| self.separation(&axis, corners, &at(t)), later);
        }
        Round::Later(now)
    }
}

/// Where a separation that falls from `s[0]` at `t[0]` to `s[1]` at `t[1]` meets the target, by bisection and secants
/// in turns; `otherwise` if it does not get there.
fn root(t: [f32; 2], s: [f32; 2], separation: impl Fn(f32) -> f32, otherwise: f32) -> f32 {
    let ([mut a1, mut a2], [mut s1, mut s2]) = (t, s);
    for i in 0..ROOT_ITERATIONS {
        let t = if i % 2 == 1 { a1 + (TARGET - s1) * (a2 - a1) / (s2 - s1) } else { 0.5 * (a1 + a2) };
        let s = separation(t);
        if greater(s - TARGET, -(s - TARGET)) < TOLERANCE {
            return t;
        }
        if s > TARGET {
            (a1, s1) = (t, s);
        } else {
            (a2, s2) = (t, s);
        }
    }
    otherwise
}
