//! Tendons, and the constraints that act in every state: friction loss, equalities, and limits of tendons.

use super::law::Law;
use super::{Frame, JointPlan, MovingBody};
use crate::LanesError;
use crate::model::{Coupling, Equality, Limit, Model, Path, Waypoint};
use crate::rigid::{Mat3, Vec3, multiply, rotate, rotation};

/// A point of a moving body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyPoint {
    pub(crate) body: usize,
    pub(crate) position: Vec3,
    /// Degrees of freedom that move the body.
    pub(crate) chain: u64,
}

/// A straight piece of a tendon: its ends, and how often its length counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) ends: [BodyPoint; 2],
    pub(crate) factor: f64,
}

/// What a tendon's length is made of.
#[derive(Clone, Debug)]
pub(crate) enum PathPlan {
    /// Coordinate, degree of freedom, factor.
    Fixed(Vec<(usize, usize, f64)>),
    Spatial(Vec<Piece>),
    /// A force and a torque at a point, in the frame of its body.
    Wrench {
        at: BodyPoint,
        force: Vec3,
        torque: Vec3,
    },
}

/// A tendon.
#[derive(Clone, Debug)]
pub(crate) struct TendonPlan {
    pub(crate) path: PathPlan,
    pub(crate) stiffness: f64,
    pub(crate) relaxed: [f64; 2],
    pub(crate) damping: f64,
    /// Degrees of freedom it depends on.
    pub(crate) touched: u64,
}

/// A scalar that a constraint is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scalar {
    /// Coordinate, degree of freedom.
    Joint(usize, usize),
    Tendon(usize),
}

/// A scalar and its value in the reference pose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Referred {
    pub(crate) scalar: Scalar,
    pub(crate) reference: f64,
}

/// What a block of rows is about.
#[derive(Clone, Debug)]
pub(crate) enum RowKind {
    /// Dry friction, up to this force.
    Friction { scalar: Scalar, loss: f64 },
    /// A bound of a tendon's length: +1 for the lower, -1 for the upper.
    Limit { tendon: usize, bound: f64, sign: f64, margin: f64 },
    /// The first is a polynomial of the second.
    Polynomial { first: Referred, second: Option<Referred>, coefficients: [f64; 5] },
    /// Three rows: two points coincide.
    Points { points: [BodyPoint; 2] },
    /// Six rows: two frames coincide.
    Frames { points: [BodyPoint; 2], rotations: [Mat3; 2], torque_scale: f64 },
}

impl RowKind {
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Friction { .. } | Self::Limit { .. } | Self::Polynomial { .. } => 1,
            Self::Points { .. } => 3,
            Self::Frames { .. } => 6,
        }
    }
}

/// A block of rows of one constraint.
#[derive(Clone, Debug)]
pub(crate) struct RowPlan {
    pub(crate) kind: RowKind,
    /// The approximate inverse inertia of the first three rows, and of the others.
    pub(crate) weights: [f64; 2],
    pub(crate) law: Law,
    pub(crate) touched: u64,
}

/// What the plans are made from.
pub(super) struct Parts<'a> {
    pub(super) model: &'a Model,
    pub(super) joints: &'a [JointPlan],
    pub(super) bodies: &'a [MovingBody],
    pub(super) frames: &'a [Frame],
}

impl Parts<'_> {
    pub(super) fn tendons(&self) -> Vec<TendonPlan> {
        let plan = |tendon: &crate::model::Tendon| {
            let (path, touched) = match &tendon.path {
                Path::Fixed(terms) => self.fixed(terms),
                Path::Spatial(waypoints) => self.spatial(waypoints),
                Path::Wrench { body, position, orientation, force, torque } => {
                    let at = self.point(*body, *position);
                    let axes = multiply(&self.frames[*body].pose.rotation, &rotation(*orientation));
                    let (force, torque) = (rotate(&axes, *force), rotate(&axes, *torque));
                    (PathPlan::Wrench { at, force, torque }, at.chain)
                }
            };
            let (stiffness, relaxed, damping) = (tendon.stiffness, tendon.relaxed, tendon.damping);
            TendonPlan { path, stiffness, relaxed, damping, touched }
        };
        self.model.tendons.iter().map(plan).collect()
    }

    fn fixed(&self, terms: &[(usize, f64)]) -> (PathPlan, u64) {
        let term = |&(joint, factor): &(usize, f64)| {
            (self.joints[joint].coordinate, self.joints[joint].freedom, factor)
        };
        let terms: Vec<_> = terms.iter().map(term).collect();
        let touched = terms.iter().fold(0, |bits, &(_, k, _)| bits | 1 << k);
        (PathPlan::Fixed(terms), touched)
    }

    fn spatial(&self, waypoints: &[Waypoint]) -> (PathPlan, u64) {
        let (mut pieces, mut touched) = (Vec::new(), 0);
        let (mut factor, mut last) = (1.0, None::<BodyPoint>);
        for waypoint in waypoints {
            match *waypoint {
                Waypoint::Pulley(divisor) => (factor, last) = (1.0 / divisor, None),
                Waypoint::Point { body, position } => {
                    let point = self.point(body, position);
                    if let Some(before) = last.replace(point) {
                        // Two points of one body are always as far from each other, but they have a length.
                        pieces.push(Piece { ends: [before, point], factor });
                        touched |= before.chain ^ point.chain;
                    }
                }
            }
        }
        (PathPlan::Spatial(pieces), touched)
    }

    fn point(&self, body: usize, position: Vec3) -> BodyPoint {
        let frame = &self.frames[body];
        let chain = self.bodies[frame.body].chain;
        BodyPoint { body: frame.body, position: frame.pose.point(position), chain }
    }

    pub(super) fn rows(&self, tendons: &[TendonPlan]) -> Result<Vec<RowPlan>, LanesError> {
        let mut rows = Vec::new();
        for equality in &self.model.equalities {
            rows.push(self.equality(equality, tendons)?);
        }
        let options = &self.model.options;
        for (joint, plan) in self.model.joints.iter().zip(self.joints) {
            for k in plan.freedom..plan.freedom + joint.kind.freedoms() {
                let freedom = &self.model.freedoms[k];
                if freedom.friction_loss > 0.0 {
                    rows.push(RowPlan {
                        kind: RowKind::Friction {
                            scalar: Scalar::Joint(plan.coordinate, k),
                            loss: freedom.friction_loss,
                        },
                        weights: [freedom.inverse_weight; 2],
                        law: Law::new(&freedom.friction_softness, options)?,
                        touched: 1 << k,
                    });
                }
            }
        }
        for (t, (tendon, plan)) in self.model.tendons.iter().zip(tendons).enumerate() {
            if tendon.friction_loss > 0.0 {
                rows.push(RowPlan {
                    kind: RowKind::Friction { scalar: Scalar::Tendon(t), loss: tendon.friction_loss },
                    weights: [tendon.inverse_weight; 2],
                    law: Law::new(&tendon.friction_softness, options)?,
                    touched: plan.touched,
                });
            }
            if let Some(limit) = &tendon.limit {
                for (bound, sign) in [(limit.range[0], 1.0), (limit.range[1], -1.0)] {
                    rows.push(self.tendon_limit(t, limit, bound, sign, plan)?);
                }
            }
        }
        // As in libmujoco, what nothing moves is no constraint.
        rows.retain(|row| row.touched != 0);
        Ok(rows)
    }

    fn tendon_limit(
        &self,
        tendon: usize,
        limit: &Limit,
        bound: f64,
        sign: f64,
        plan: &TendonPlan,
    ) -> Result<RowPlan, LanesError> {
        Ok(RowPlan {
            kind: RowKind::Limit { tendon, bound, sign, margin: limit.margin },
            weights: [self.model.tendons[tendon].inverse_weight; 2],
            law: Law::new(&limit.softness, &self.model.options)?,
            touched: plan.touched,
        })
    }

    fn equality(&self, equality: &Equality, tendons: &[TendonPlan]) -> Result<RowPlan, LanesError> {
        let law = Law::new(&equality.softness, &self.model.options)?;
        let bodies_of = |bodies: [usize; 2]| bodies.map(|b| &self.model.bodies[b]);
        let (kind, weights, touched) = match equality.coupling {
            Coupling::Joints { first, second, polynomial } => {
                let joint = |j: usize| self.joints[j].freedom;
                let referred = |j: usize| Referred {
                    scalar: Scalar::Joint(self.joints[j].coordinate, joint(j)),
                    reference: self.model.joints[j].reference,
                };
                let weight = |j: usize| self.model.freedoms[joint(j)].inverse_weight;
                let touched = 1 << joint(first) | second.map_or(0, |j| 1 << joint(j));
                let kind = RowKind::Polynomial {
                    first: referred(first),
                    second: second.map(referred),
                    coefficients: polynomial,
                };
                (kind, [weight(first) + second.map_or(0.0, weight); 2], touched)
            }
            Coupling::Tendons { first, second, polynomial } => {
                let referred = |t: usize| Referred {
                    scalar: Scalar::Tendon(t),
                    reference: self.model.tendons[t].reference_length,
                };
                let weight = |t: usize| self.model.tendons[t].inverse_weight;
                let touched = tendons[first].touched | second.map_or(0, |t| tendons[t].touched);
                let kind = RowKind::Polynomial {
                    first: referred(first),
                    second: second.map(referred),
                    coefficients: polynomial,
                };
                (kind, [weight(first) + second.map_or(0.0, weight); 2], touched)
            }
            Coupling::Points { bodies, points } => {
                let ends = [self.point(bodies[0], points[0]), self.point(bodies[1], points[1])];
                let weight = bodies_of(bodies).iter().map(|b| b.inverse_weight).sum();
                (RowKind::Points { points: ends }, [weight; 2], ends[0].chain | ends[1].chain)
            }
            Coupling::Frames { bodies, points, orientations, torque_scale } => {
                let ends = [self.point(bodies[0], points[0]), self.point(bodies[1], points[1])];
                let rotations = std::array::from_fn(|i| {
                    multiply(&self.frames[bodies[i]].pose.rotation, &rotation(orientations[i]))
                });
                let weights = [
                    bodies_of(bodies).iter().map(|b| b.inverse_weight).sum(),
                    bodies_of(bodies).iter().map(|b| b.inverse_weight_of_rotation).sum(),
                ];
                let touched = ends[0].chain | ends[1].chain;
                (RowKind::Frames { points: ends, rotations, torque_scale }, weights, touched)
            }
        };
        Ok(RowPlan { kind, weights, law, touched })
    }
}
