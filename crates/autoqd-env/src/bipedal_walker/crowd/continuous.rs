//! Impacts within a step: Box2D stops a body where it would first touch an edge, and lets it do the rest of its step from
//! there, so that nothing falls through the ground.

use super::super::world::BODIES;
use super::geometry::{Point, dot, greater, lesser, minus, negative};
use super::impact::time_of_impact;
use super::lane::{Body, Lane};
use super::robot::{Part, Robot};
use super::terrain::Edge;

/// Impacts of one contact in a step.
const MOST_IMPACTS: usize = 8;
/// Contacts that are solved together.
const MOST_CONTACTS: usize = 32;
/// Farther apart than this, shapes without their skins do not touch: Box2D's target with its tolerance, and one
/// thousandth for the rounding of its search.
const FAR: f32 = 0.005 + 0.25 * 0.005 + 0.001;
/// No point of the robot is farther from a centre of mass than eight times this.
const BULGE: f32 = 0.25;

/// A body that has been stopped at an edge.
#[derive(Clone, Debug)]
pub struct Impact {
    pub body: usize,
    /// When, as a fraction of the step.
    pub time: f32,
    /// Of the body that touch the ground then, in Box2D's order.
    pub contacts: Vec<usize>,
}

impl Lane {
    /// To be called before the first [`Lane::next_impact`] of a step.
    pub fn forget_impacts(&mut self) {
        for contact in &mut self.contacts {
            (contact.impact, contact.impacts) = (None, 0);
        }
        self.bodies.iter_mut().for_each(|body| body.advanced = 0.0);
        while let Some(edge) = self.advanced_edges.pop() {
            self.advanced[edge] = 0.0;
        }
    }

    /// Stops the body whose impact comes first, if there is one. What `impact` holds is overwritten.
    pub fn next_impact(&mut self, robot: &Robot, impact: &mut Impact) -> bool {
        while let Some((i, time)) = self.first_impact(robot) {
            let body = self.contacts[i].body;
            let edge = self.contacts[i].edge;
            let (body_before, edge_before) = (self.bodies[body], self.advanced[edge]);
            self.advance_edge(edge, time);
            self.bodies[body].advance(&robot.parts[body], time);
            self.update(i, robot);
            self.contacts[i].impact = None;
            self.contacts[i].impacts += 1;
            if !self.contacts[i].touching {
                self.contacts[i].enabled = false;
                self.bodies[body] = body_before;
                self.advanced[edge] = edge_before;
                continue;
            }
            (impact.body, impact.time) = (body, time);
            impact.contacts.clear();
            impact.contacts.push(i);
            self.join_impact(robot, impact);
            return true;
        }
        false
    }

    /// The contact that is first to touch in the rest of the step.
    fn first_impact(&mut self, robot: &Robot) -> Option<(usize, f32)> {
        let mut first = None;
        let mut earliest = 1.0;
        for i in (0..self.contacts.len()).rev() {
            let contact = &self.contacts[i];
            if !contact.enabled || contact.impacts > MOST_IMPACTS {
                continue;
            }
            let time = match contact.impact {
                Some(time) => time,
                None if !self.bodies[contact.body].awake => continue,
                None => self.impact_of(i, robot),
            };
            self.contacts[i].impact = Some(time);
            if time < earliest {
                (first, earliest) = (Some(i), time);
            }
        }
        // Box2D's last ten rounding errors of a step do not count.
        first.filter(|_| !(1.0 - 10.0 * f32::EPSILON < earliest)).map(|i| (i, earliest))
    }

    /// When a contact touches; 1 for not in this step.
    fn impact_of(&mut self, i: usize, robot: &Robot) -> f32 {
        let (number, edge_number) = (self.contacts[i].body, self.contacts[i].edge);
        let part = &robot.parts[number];
        let edge = self.terrain.edge(edge_number);
        let body = &mut self.bodies[number];
        let edge_advanced = self.advanced[edge_number];
        if body.advanced == 0.0 && edge_advanced == 0.0 && stays_away(edge, part, body) {
            return 1.0;
        }
        let from = greater(edge_advanced, body.advanced);
        if body.advanced < from {
            body.advance_sweep(from);
        }
        let sweep = body.sweep;
        let time = time_of_impact(edge, part, &sweep);
        if edge_advanced < from {
            self.advance_edge(edge_number, from);
        }
        time.map_or(1.0, |time| lesser(from + (1.0 - from) * time, 1.0))
    }

    /// Edges do not move; Box2D keeps their time all the same.
    fn advance_edge(&mut self, edge: usize, time: f32) {
        self.advanced[edge] = time;
        self.advanced_edges.push(edge);
    }

    /// Finds the other contacts of the stopped body.
    fn join_impact(&mut self, robot: &Robot, impact: &mut Impact) {
        for i in (0..self.contacts.len()).rev() {
            let contact = &self.contacts[i];
            if contact.body != impact.body || i == impact.contacts[0] {
                continue;
            }
            if impact.contacts.len() == MOST_CONTACTS {
                break;
            }
            self.update(i, robot);
            if self.contacts[i].touching {
                self.advance_edge(self.contacts[i].edge, impact.time);
                impact.contacts.push(i);
            }
        }
        debug_assert!(impact.body < BODIES);
    }
}

/// Whether the body is so far from the edge in the whole step that Box2D's search could only say so, too: behind the line
/// of the edge or beyond one of its ends, by more than its corners bulge out of their straight ways by turning.
pub fn stays_away(edge: &Edge, part: &Part, body: &Body) -> bool {
    let count = part.outline.corners().len();
    let turn = body.sweep.to_angle - body.sweep.from_angle;
    let far = FAR + BULGE * turn * turn;
    let all = |direction: Point, from: Point| {
        let beyond = |v: &Point| dot(direction, minus(*v, from)) > far;
        body.corners[..count].iter().all(beyond) && body.old_corners[..count].iter().all(beyond)
    };
    all(negative(edge.normal), edge.from) || all([1.0, 0.0], edge.to) || all([-1.0, 0.0], edge.from)
}
