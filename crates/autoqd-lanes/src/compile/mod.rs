//! From the description of a mechanism to the constants the engine works with.

mod contact;
mod joints;
mod law;
mod planar;
mod rows;
mod validate;

use crate::LanesError;
use crate::model::{Cone, Integrator, JointKind, Model, Options};
use crate::pattern::Pattern;
use crate::rigid::{MassProperties, Mat3, Pose, Vec3, rotation};
use std::ops::Range;

pub(crate) use contact::{Bounds, ConeLaw, Contact, ContactLaw, CylinderShape, HalfSpace, Segment, Touch};
pub(crate) use joints::{
    ActivationPlan, ActuatorPlan, BallLimit, FreedomPlan, JointPlan, LimitPlan, Side, Spring,
};
pub(crate) use law::Impedance;
pub(crate) use planar::{PlanarContact, PlanarDrag, PlanarPlan};
pub(crate) use rows::{BodyPoint, PathPlan, Piece, Referred, RowKind, RowPlan, Scalar, TendonPlan};

/// With as many points every line search along parabolas ends at the minimum.
pub(crate) const MANY_POINTS: usize = 50;

/// A body that moves relative to its parent, with the bodies welded to it. The first is the world.
#[derive(Clone, Debug)]
pub(crate) struct MovingBody {
    pub(crate) parent: usize,
    /// The first body of its tree: its position is the reference point of the tree's spatial vectors.
    pub(crate) root: usize,
    pub(crate) position: Vec3,
    /// Absent for the identity.
    pub(crate) rotation: Option<Mat3>,
    pub(crate) mass: MassProperties,
    /// Mass of the body and its subtree.
    pub(crate) subtree_mass: f64,
    pub(crate) joints: Range<usize>,
    pub(crate) freedoms: Range<usize>,
    /// Bit `k` is set if degree of freedom `k` moves the body.
    pub(crate) chain: u64,
    pub(crate) drag: Option<Drag>,
    /// Mass that gravity does not pull at, and its centre.
    pub(crate) lifted: Option<(f64, Vec3)>,
}

/// Drag of the box that has the body's inertia: coefficients along and about its principal axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drag {
    pub(crate) linear_torque: f64,
    pub(crate) linear_force: f64,
    pub(crate) quadratic_torque: Vec3,
    pub(crate) quadratic_force: Vec3,
}

impl Drag {
    fn new(mass: &MassProperties, options: &Options) -> Option<Self> {
        if (options.density <= 0.0 && options.viscosity <= 0.0) || mass.mass < 1e-15 {
            return None;
        }
        let i = mass.moments;
        let edge = |a: usize, b: usize, c: usize| ((i[b] + i[c] - i[a]).max(1e-15) / mass.mass * 6.0).sqrt();
        let edges = [edge(0, 1, 2), edge(1, 0, 2), edge(2, 0, 1)];
        let diameter = (edges[0] + edges[1] + edges[2]) / 3.0;
        let fourth = edges.map(|b| b * b * b * b);
        let pi = std::f64::consts::PI;
        let (beta, rho) = (options.viscosity, options.density);
        let others = |k: usize| ((k + 1) % 3, (k + 2) % 3);
        Some(Self {
            linear_torque: pi * diameter * diameter * diameter * beta,
            linear_force: 3.0 * pi * diameter * beta,
            quadratic_torque: std::array::from_fn(|k| {
                let (a, b) = others(k);
                rho * edges[k] * (fourth[a] + fourth[b]) / 64.0
            }),
            quadratic_force: std::array::from_fn(|k| {
                let (a, b) = others(k);
                0.5 * rho * edges[a] * edges[b]
            }),
        })
    }
}

/// A validated model with everything derived from it; shared by all batches that simulate it.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub(crate) options: Options,
    pub(crate) coordinates: usize,
    pub(crate) bodies: Vec<MovingBody>,
    pub(crate) joints: Vec<JointPlan>,
    pub(crate) freedoms: Vec<FreedomPlan>,
    pub(crate) springs: Vec<Spring>,
    pub(crate) limits: Vec<LimitPlan>,
    pub(crate) ball_limits: Vec<BallLimit>,
    pub(crate) actuators: Vec<ActuatorPlan>,
    /// Whether every actuator is without activation and on a joint.
    pub(crate) plain_actuators: bool,
    pub(crate) activations: usize,
    pub(crate) tendons: Vec<TendonPlan>,
    /// Constraints beside limits of joints and contacts.
    pub(crate) rows: Vec<RowPlan>,
    /// Whether one of them couples two branches of a tree.
    pub(crate) rows_couple_branches: bool,
    /// Whether a contact has a cone of its own.
    pub(crate) cones: bool,
    extra: bool,
    /// Degree of freedom and bounds of its actuator force.
    pub(crate) force_clamps: Vec<(usize, [f64; 2])>,
    pub(crate) contacts: Vec<Contact>,
    /// Boxes around the geoms of contacts that the caller finds.
    pub(crate) outside: Vec<Bounds>,
    /// Entries of the inertia matrix.
    pub(crate) tree: Pattern,
    /// Whether all bodies hang on one free body: the first three degrees of freedom move them along x, y and z, the next
    /// three turn them about the reference point.
    pub(crate) free_root: bool,
    /// Entries of the solver's matrix when bodies of different branches touch.
    pub(crate) full: Pattern,
    pub(crate) planar: Option<PlanarPlan>,
    /// Degrees of freedom of every tree, and whether trees that nothing couples are solved apart.
    pub(crate) trees: Vec<u64>,
    pub(crate) islands: bool,
    /// Of every body of the model: the moving body it is welded to, its pose there, the first body of its tree.
    pub(crate) frames: Vec<Frame>,
    pub(crate) implicit_damping: bool,
}

/// Where a body of the model is.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) body: usize,
    pub(crate) pose: Pose,
    pub(crate) root: usize,
    pub(crate) mass: f64,
    pub(crate) center: Vec3,
    /// Mass of the tree whose first body this is.
    pub(crate) tree_mass: f64,
}

impl Compiled {
    /// Validates a model and derives the engine's constants.
    ///
    /// # Errors
    /// [`LanesError::Unsupported`] names a feature the engine does not have, [`LanesError::Invalid`] a
    /// contradiction.
    pub fn new(model: &Model) -> Result<Self, LanesError> {
        validate::validate(model)?;
        let (bodies, frames) = moving_bodies(model);
        let joints = joints::joint_plans(model);
        let freedoms = joints::freedom_plans(model, &bodies);
        let tree = Pattern::tree(&parent_freedoms(&bodies, freedoms.len()));
        let full = Pattern::full(freedoms.len());
        let free_root = tree.trunk() >= 6 && joints.first().is_some_and(|j| j.kind == JointKind::Free);
        let trees = trees(&bodies);
        let (contacts, outside) = contact::compile(model, &bodies, &frames)?;
        let parts = rows::Parts { model, joints: &joints, bodies: &bodies, frames: &frames };
        let tendons = parts.tendons();
        let rows = parts.rows(&tendons)?;
        let actuators = joints::actuator_plans(model, &joints);
        let mut compiled = Self {
            options: model.options.clone(),
            coordinates: model.joints.iter().map(|j| j.kind.coordinates()).sum(),
            springs: joints::springs(model, &joints),
            limits: joints::limits(model, &joints)?,
            ball_limits: joints::ball_limits(model, &joints)?,
            plain_actuators: actuators.iter().all(|a| a.tendon.is_none() && a.state.is_none()),
            activations: actuators.iter().filter(|a| a.state.is_some()).count(),
            actuators,
            rows_couple_branches: rows.iter().any(|row| !is_chain(&tree, row.touched)),
            cones: contacts.iter().any(|c| c.law.cone.is_some()),
            extra: !rows.is_empty() || contacts.iter().any(|c| c.law.cone.is_some()),
            tendons,
            rows,
            force_clamps: joints::force_clamps(model, &joints),
            contacts,
            outside,
            implicit_damping: model.options.integrator == Integrator::ImplicitFast
                || (model.options.integrator == Integrator::Euler { implicit_damping: true }
                    && model.freedoms.iter().any(|f| f.damping > 0.0)),
            islands: model.options.islands && trees.len() > 1,
            trees,
            bodies,
            joints,
            freedoms,
            tree,
            free_root,
            full,
            planar: None,
            frames,
        };
        compiled.planar = PlanarPlan::detect(&compiled);
        Ok(compiled)
    }

    /// The same model without the algebra specialised to mechanisms that move in a plane (for tests of one against
    /// the other).
    #[must_use]
    pub fn without_planar_algebra(mut self) -> Self {
        self.planar = None;
        self
    }

    /// Number of coordinates.
    pub fn coordinates(&self) -> usize {
        self.coordinates
    }

    /// Number of degrees of freedom.
    pub fn freedoms(&self) -> usize {
        self.freedoms.len()
    }

    /// Number of controls.
    pub fn controls(&self) -> usize {
        self.actuators.len()
    }

    /// Number of bodies of the model, the world included.
    pub fn bodies(&self) -> usize {
        self.frames.len()
    }

    /// Number of activations of actuators.
    pub fn activations(&self) -> usize {
        self.activations
    }

    /// Whether all motion is in one plane, which the engine exploits.
    pub fn is_planar(&self) -> bool {
        self.planar.is_some()
    }

    /// Whether contacts of some pairs must be found by a [`crate::Narrow`] phase.
    pub fn needs_narrow_phase(&self) -> bool {
        !self.outside.is_empty()
    }

    /// Whether a line search must go through libmujoco's points, because it may end before its minimum.
    pub(crate) fn line_search_in_points(&self) -> bool {
        let curved = self.cones && self.options.cone == Cone::Elliptic;
        curved || self.options.line_search_iterations < MANY_POINTS
    }

    /// Whether there are constraints beside limits of joints and contacts with a pyramid of three rows.
    #[inline(always)]
    pub(crate) fn has_extra(&self) -> bool {
        self.extra
    }

    /// The planar form; the engine asks for it only where there is one.
    pub(crate) fn plane(&self) -> &PlanarPlan {
        self.planar.as_ref().expect("planar space is used for planar models only")
    }

    /// The most contacts one world can have at a time.
    pub(crate) fn most_contacts(&self) -> usize {
        let outside = self.contacts.iter().filter(|c| matches!(c.touch, Touch::Outside { .. })).count();
        let outside = (outside * crate::narrow::MOST_OF_PAIR).min(crate::narrow::MOST_OF_WORLD);
        let known: usize = self.contacts.iter().map(|c| c.touch.most_contacts()).sum();
        known + outside + self.ball_limits.len()
    }
}

/// Whether degrees of freedom are all on one way from the root.
fn is_chain(tree: &Pattern, touched: u64) -> bool {
    highest_bit(touched).is_none_or(|last| {
        let ancestors = tree.columns(last).iter().fold(1 << last, |bits, k| bits | 1 << k);
        touched & !ancestors == 0
    })
}

/// Welds bodies without joints to their parents. With drag every body keeps its own box, so only what is fixed to
/// the world is welded.
fn moving_bodies(model: &Model) -> (Vec<MovingBody>, Vec<Frame>) {
    let drag = model.options.density > 0.0 || model.options.viscosity > 0.0;
    let mut bodies = vec![world()];
    let mut frames: Vec<Frame> = Vec::new();
    let (mut joint, mut freedom) = (0, 0);
    for (id, body) in model.bodies.iter().enumerate() {
        let pose = Pose::new(body.position, body.orientation);
        let own = MassProperties {
            mass: body.mass,
            center: body.center,
            axes: rotation(body.principal_axes),
            moments: body.inertia,
        };
        if id == 0 {
            frames.push(Frame {
                body: 0,
                pose: Pose::ORIGIN,
                root: 0,
                mass: 0.0,
                center: [0.0; 3],
                tree_mass: 0.0,
            });
            continue;
        }
        let parent = &frames[body.parent];
        let (parent_body, in_parent) = (parent.body, parent.pose.then(&pose));
        let root = if body.parent == 0 { id } else { parent.root };
        let count = model.joints[joint..].iter().take_while(|j| j.body == id).count();
        let (moving, pose) = if count == 0 && (parent_body == 0 || !drag) {
            if parent_body != 0 {
                let placed = in_frame(&own, &in_parent);
                bodies[parent_body].mass = bodies[parent_body].mass.join(&placed);
            }
            lift(&mut bodies[parent_body], body, &in_parent);
            (parent_body, in_parent)
        } else {
            let joints = joint..joint + count;
            let size: usize = model.joints[joints.clone()].iter().map(|j| j.kind.freedoms()).sum();
            let chain = bodies[parent_body].chain | (freedom..freedom + size).fold(0, |c, k| c | 1 << k);
            let index = bodies.len();
            bodies.push(MovingBody {
                parent: parent_body,
                root: if parent_body == 0 { index } else { bodies[parent_body].root },
                position: in_parent.position,
                rotation: (in_parent.rotation != crate::rigid::IDENTITY).then_some(in_parent.rotation),
                mass: own,
                subtree_mass: 0.0,
                joints,
                freedoms: freedom..freedom + size,
                chain,
                drag: Drag::new(&own, &model.options),
                lifted: None,
            });
            lift(&mut bodies[index], body, &Pose::ORIGIN);
            (joint, freedom) = (joint + count, freedom + size);
            (index, Pose::ORIGIN)
        };
        frames.push(Frame { body: moving, pose, root, mass: body.mass, center: body.center, tree_mass: 0.0 });
        frames[root].tree_mass += body.mass;
    }
    for b in (0..bodies.len()).rev() {
        bodies[b].subtree_mass += bodies[b].mass.mass;
        let (parent, mass) = (bodies[b].parent, bodies[b].subtree_mass);
        if b > 0 {
            bodies[parent].subtree_mass += mass;
        }
    }
    (bodies, frames)
}

/// Takes a share of a body's weight away; `pose` is where it is welded.
fn lift(moving: &mut MovingBody, body: &crate::model::Body, pose: &Pose) {
    let mass = body.mass * body.gravity_compensation;
    if mass != 0.0 {
        let (before, center) = moving.lifted.unwrap_or((0.0, [0.0; 3]));
        let (own, sum) = (pose.point(body.center), before + mass);
        let middle = std::array::from_fn(|i| (center[i] * before + own[i] * mass) / sum);
        moving.lifted = Some((sum, middle));
    }
}

fn in_frame(mass: &MassProperties, pose: &Pose) -> MassProperties {
    MassProperties {
        center: pose.point(mass.center),
        axes: crate::rigid::multiply(&pose.rotation, &mass.axes),
        ..*mass
    }
}

fn world() -> MovingBody {
    MovingBody {
        parent: 0,
        root: 0,
        position: [0.0; 3],
        rotation: None,
        mass: MassProperties { mass: 0.0, center: [0.0; 3], axes: crate::rigid::IDENTITY, moments: [0.0; 3] },
        subtree_mass: 0.0,
        joints: 0..0,
        freedoms: 0..0,
        chain: 0,
        drag: None,
        lifted: None,
    }
}

/// The degree of freedom before each in its chain.
fn parent_freedoms(bodies: &[MovingBody], size: usize) -> Vec<Option<usize>> {
    let mut parents = vec![None; size];
    for body in &bodies[1..] {
        let mut previous = highest_bit(bodies[body.parent].chain);
        for k in body.freedoms.clone() {
            parents[k] = previous;
            previous = Some(k);
        }
    }
    parents
}

/// The degrees of freedom of every tree.
fn trees(bodies: &[MovingBody]) -> Vec<u64> {
    let mut roots: Vec<(usize, u64)> = Vec::new();
    for body in &bodies[1..] {
        match roots.iter_mut().find(|(root, _)| *root == body.root) {
            Some((_, members)) => *members |= body.chain,
            None => roots.push((body.root, body.chain)),
        }
    }
    roots.into_iter().map(|(_, members)| members).collect()
}

fn highest_bit(chain: u64) -> Option<usize> {
    (chain != 0).then(|| 63 - chain.leading_zeros() as usize)
}
