//! One walker of the crowd: its bodies, their contacts with the ground, and what Box2D does for each world by itself.

use super::super::world::{BODIES, HULL_CORNERS};
use super::geometry::{ANGULAR_SLOP, Bounds, Frame, Point, Rotation, dot, minus, rotation};
use super::impact::Sweep;
use super::manifold::{Manifold, collide};
use super::robot::{Part, Robot};
use super::terrain::{EDGES, MARGIN, Terrain};

/// Seconds of a step.
pub const TIME_STEP: f32 = 0.02;
/// An island that rests this long falls asleep.
const TIME_TO_SLEEP: f32 = 0.5;
/// What counts as rest.
const REST_SPEED: f32 = 0.01;
/// Contacts that a world has room for before it needs more memory.
const USUAL_CONTACTS: usize = 64;

/// A moving body.
#[derive(Clone, Copy, Debug, Default)]
pub struct Body {
    /// Of the centre of mass; `from` and `to` are those at the start of the step and now.
    pub sweep: Sweep,
    /// How much of the step lies before the start of the sweep.
    pub advanced: f32,
    pub velocity: Point,
    pub spin: f32,
    pub frame: Frame,
    /// Of the outline now, and at the start of the step.
    pub corners: [Point; HULL_CORNERS],
    pub old_corners: [Point; HULL_CORNERS],
    /// Of the corners now.
    bounds: Bounds,
    /// The box that the broad phase knows.
    fat: Bounds,
    pub awake: bool,
    rest: f32,
}

/// A pair of an edge and a body whose boxes overlap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contact {
    pub edge: usize,
    pub body: usize,
    pub touching: bool,
    pub enabled: bool,
    pub manifold: Manifold,
    /// When they will touch, once known.
    pub impact: Option<f32>,
    pub impacts: usize,
}

/// The joint of a leg with its parent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joint {
    pub impulse: [f32; 3],
    pub motor_impulse: f32,
    /// -1 at the lower limit, 1 at the upper one, 0 between them.
    pub limit: i8,
}

/// A world.
#[derive(Clone, Debug)]
pub struct Lane {
    pub terrain: Terrain,
    pub bodies: [Body; BODIES],
    pub joints: [Joint; 4],
    /// Oldest first: Box2D's lists begin at the other end.
    pub contacts: Vec<Contact>,
    /// Force on the hull in the first step.
    pub push: f32,
    /// No step has been made.
    pub fresh: bool,
    pub fallen: bool,
    pub feet: [bool; 2],
    /// As [`Body::advanced`], for edges; and those that are not at zero.
    pub advanced: Box<[f32; EDGES]>,
    pub advanced_edges: Vec<usize>,
    /// Room for pairs found.
    pairs: Vec<(usize, usize)>,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            terrain: Terrain::default(),
            bodies: Default::default(),
            joints: Default::default(),
            contacts: Vec::with_capacity(USUAL_CONTACTS),
            push: 0.0,
            fresh: true,
            fallen: false,
            feet: [false; 2],
            advanced: Box::new([0.0; EDGES]),
            advanced_edges: Vec::with_capacity(EDGES),
            pairs: Vec::with_capacity(BODIES * EDGES),
        }
    }
}

impl Body {
    fn new(part: &Part) -> Self {
        let frame = Frame { position: part.start, rotation: rotation(part.start_angle) };
        let mut body = Self {
            sweep: Sweep {
                from: part.start_center,
                from_angle: part.start_angle,
                to: part.start_center,
                to_angle: part.start_angle,
            },
            frame,
            awake: true,
            ..Self::default()
        };
        body.settle(part);
        body.fat = body.bounds.wider(MARGIN);
        body
    }

    /// Computes the corners in the frame.
    fn settle(&mut self, part: &Part) {
        let corners = part.outline.corners();
        for (to, from) in self.corners.iter_mut().zip(corners) {
            *to = self.frame.apply(*from);
        }
        self.bounds = Bounds::of(&self.corners[..corners.len()]);
    }

    /// Puts the frame where the sweep ends.
    pub fn follow(&mut self, part: &Part, rotation: Rotation<f32>) {
        self.frame = Frame::around(self.sweep.to, rotation, part.local_center);
        self.settle(part);
    }

    /// Moves the start of the sweep to `time`.
    pub fn advance_sweep(&mut self, time: f32) {
        let part = (time - self.advanced) / (1.0 - self.advanced);
        let mix = |a: f32, b: f32| (1.0 - part) * a + part * b;
        let s = &mut self.sweep;
        s.from = [mix(s.from[0], s.to[0]), mix(s.from[1], s.to[1])];
        s.from_angle = mix(s.from_angle, s.to_angle);
        self.advanced = time;
    }

    /// Moves the body to where it is at `time`, and takes back the rest of its step.
    pub fn advance(&mut self, part: &Part, time: f32) {
        self.advance_sweep(time);
        self.sweep.to = self.sweep.from;
        self.sweep.to_angle = self.sweep.from_angle;
        self.follow(part, rotation(self.sweep.to_angle));
    }

    pub fn wake(&mut self) {
        if !self.awake {
            (self.awake, self.rest) = (true, 0.0);
        }
    }

    /// Tells the broad phase that the body came here from `before`; true if its box there had to change.
    fn synchronize(&mut self, before: &Frame, bounds_before: &Bounds) -> bool {
        let swept = bounds_before.and(&self.bounds);
        if self.fat.contains(&swept) {
            return false;
        }
        let displacement = minus(self.frame.position, before.position);
        let mut fat = swept.wider(MARGIN);
        for i in 0..2 {
            let d = 2.0 * displacement[i];
            if d < 0.0 {
                fat.lower[i] += d;
            } else {
                fat.upper[i] += d;
            }
        }
        self.fat = fat;
        true
    }
}

impl Lane {
    /// Begins an episode on the terrain that [`Lane::terrain`] holds.
    pub fn reset(&mut self, robot: &Robot, push: f32) {
        self.bodies = std::array::from_fn(|i| Body::new(&robot.parts[i]));
        self.joints = Default::default();
        self.contacts.clear();
        (self.push, self.fresh, self.fallen, self.feet) = (push, true, false, [false; 2]);
        self.advanced.fill(0.0);
        self.advanced_edges.clear();
    }

    /// What a step does before it moves anything.
    pub fn begin(&mut self, robot: &Robot) {
        // Setting a motor wakes its bodies.
        self.bodies.iter_mut().for_each(Body::wake);
        if self.fresh {
            self.find_contacts([true; BODIES]);
        }
        self.collide(robot);
    }

    /// Of one body that touch the ground, newest first.
    pub fn touching(&self, body: usize) -> impl Iterator<Item = usize> {
        let solid = move |i: &usize| {
            let contact = &self.contacts[*i];
            contact.body == body && contact.touching && contact.enabled
        };
        (0..self.contacts.len()).rev().filter(solid)
    }

    /// Drops contacts whose boxes are apart, and finds where the others touch.
    fn collide(&mut self, robot: &Robot) {
        for i in (0..self.contacts.len()).rev() {
            let contact = &self.contacts[i];
            let bounds = &self.terrain.edge(contact.edge).bounds;
            if bounds.overlaps(&self.bodies[contact.body].fat) {
                self.update(i, robot);
            } else {
                let contact = self.contacts.remove(i);
                if contact.touching {
                    self.end_contact(contact.body);
                }
            }
        }
    }

    /// A number, below 2^32, that is near for worlds whose constraints are alike and take about as long to solve.
    pub fn work(&self) -> usize {
        let mut touching = [0; BODIES];
        for contact in &self.contacts {
            touching[contact.body] += usize::from(contact.touching && contact.enabled);
        }
        let limits = self.joints.iter().fold(0, |bits, joint| bits << 1 | usize::from(joint.limit != 0));
        touching.iter().sum::<usize>() << 12 | touching[2].min(15) << 8 | limits
    }

    /// Finds where a contact touches now.
    pub fn update(&mut self, i: usize, robot: &Robot) {
        let contact = &mut self.contacts[i];
        let body = &mut self.bodies[contact.body];
        let outline = &robot.parts[contact.body].outline;
        let edge = self.terrain.edge(contact.edge);
        let corners = &body.corners[..outline.corners().len()];
        let mut manifold = collide(edge, outline, &body.frame, corners);
        let old = &contact.manifold.points[..contact.manifold.count];
        for point in &mut manifold.points[..manifold.count] {
            if let Some(same) = old.iter().find(|old| old.name == point.name) {
                point.normal_impulse = same.normal_impulse;
                point.tangent_impulse = same.tangent_impulse;
            }
        }
        let was_touching = contact.touching;
        contact.manifold = manifold;
        contact.enabled = true;
        contact.touching = manifold.count > 0;
        if contact.touching == was_touching {
            return;
        }
        body.wake();
        let body = contact.body;
        if was_touching {
            self.end_contact(body);
        } else {
            self.begin_contact(body);
        }
    }

    fn begin_contact(&mut self, body: usize) {
        self.fallen |= body == 0;
        if let Some(foot) = foot(body) {
            self.feet[foot] = true;
        }
    }

    /// A foot counts as lifted when any one of its contacts ends, even if another one persists.
    fn end_contact(&mut self, body: usize) {
        if let Some(foot) = foot(body) {
            self.feet[foot] = false;
        }
    }

    /// Makes contacts of the bodies whose boxes have changed, in the order of the broad phase: by edge, then by body.
    pub fn find_contacts(&mut self, moved: [bool; BODIES]) {
        self.pairs.clear();
        for body in (0..BODIES).filter(|body| moved[*body]) {
            let fat = &self.bodies[body].fat;
            for edge in self.terrain.near(fat) {
                if self.terrain.edge(edge).bounds.overlaps(fat) {
                    self.pairs.push((edge, body));
                }
            }
        }
        self.pairs.sort_unstable();
        for i in 0..self.pairs.len() {
            let (edge, body) = self.pairs[i];
            if self.contacts.iter().all(|contact| (contact.edge, contact.body) != (edge, body)) {
                self.contacts.push(Contact { edge, body, enabled: true, ..Contact::default() });
                self.bodies[body].wake();
            }
        }
    }

    /// What follows on the solution of a step; `rotations` are those at the end of the sweeps, `solved` says whether the
    /// joints and contacts hold.
    pub fn arrive(&mut self, robot: &Robot, rotations: [Rotation<f32>; BODIES], solved: bool) {
        let mut before = [(Frame::default(), Bounds::default()); BODIES];
        for (i, body) in self.bodies.iter_mut().enumerate() {
            let part = &robot.parts[i];
            if self.fresh {
                // Where it was made need not be, to the last bit, where its centre of mass puts it.
                body.frame = Frame::around(body.sweep.from, body.frame.rotation, part.local_center);
                body.settle(part);
            }
            before[i] = (body.frame, body.bounds);
            body.old_corners = body.corners;
            body.follow(part, rotations[i]);
        }
        self.fall_asleep(solved);
        let mut moved = [false; BODIES];
        for (i, (frame, bounds)) in before.iter().enumerate() {
            moved[i] = self.bodies[i].synchronize(frame, bounds);
        }
        self.fresh = false;
        if moved.contains(&true) {
            self.find_contacts(moved);
        }
    }

    fn fall_asleep(&mut self, solved: bool) {
        let mut least = f32::MAX;
        for body in &mut self.bodies {
            let (v, w) = (body.velocity, body.spin);
            if w * w > ANGULAR_SLOP * ANGULAR_SLOP || dot(v, v) > REST_SPEED * REST_SPEED {
                body.rest = 0.0;
                least = 0.0;
            } else {
                body.rest += TIME_STEP;
                least = if least < body.rest { least } else { body.rest };
            }
        }
        if least >= TIME_TO_SLEEP && solved {
            for body in &mut self.bodies {
                (body.awake, body.rest) = (false, 0.0);
                (body.velocity, body.spin) = ([0.0; 2], 0.0);
            }
        }
    }

    /// As [`Lane::arrive`] for one body that an impact has moved within the step.
    pub fn arrive_after_impact(&mut self, i: usize, part: &Part) {
        let body = &mut self.bodies[i];
        let mut before = *body;
        before.sweep.to = before.sweep.from;
        before.follow(part, rotation(before.sweep.from_angle));
        body.follow(part, rotation(body.sweep.to_angle));
        let moved = body.synchronize(&before.frame, &before.bounds);
        for contact in self.contacts.iter_mut().filter(|contact| contact.body == i) {
            contact.impact = None;
        }
        if moved {
            self.find_contacts(std::array::from_fn(|body| body == i));
        }
    }
}

/// The number of a lower leg.
fn foot(body: usize) -> Option<usize> {
    match body {
        2 => Some(0),
        4 => Some(1),
        _ => None,
    }
}
