//! From the description of a mechanism to the constants the engine works with.

mod contact;
mod law;
mod planar;
mod validate;

use crate::LanesError;
use crate::model::{Integrator, Joint, JointKind, Model, Options};
use crate::pattern::Pattern;
use crate::rigid::{MassProperties, Mat3, Pose, Vec3, rotation};
use std::ops::Range;

pub(crate) use contact::{Bounds, Contact, ContactLaw, CylinderShape, HalfSpace, Segment, Touch};
pub(crate) use law::{Impedance, Law};
pub(crate) use planar::{PlanarContact, PlanarDrag, PlanarPlan};

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

/// A joint and where its coordinates and velocities are.
#[derive(Clone, Debug)]
pub(crate) struct JointPlan {
    pub(crate) kind: JointKind,
    pub(crate) coordinate: usize,
    pub(crate) freedom: usize,
    pub(crate) position: Vec3,
    pub(crate) axis: Vec3,
    /// Index and sign of the coordinate axis it is along.
    pub(crate) aligned: Option<(usize, f64)>,
    pub(crate) reference: f64,
}

/// A spring on a joint.
#[derive(Clone, Debug)]
pub(crate) struct Spring {
    pub(crate) kind: JointKind,
    pub(crate) coordinate: usize,
    pub(crate) freedom: usize,
    pub(crate) stiffness: f64,
    pub(crate) relaxed: Vec<f64>,
}

/// One degree of freedom.
#[derive(Clone, Debug)]
pub(crate) struct FreedomPlan {
    pub(crate) body: usize,
    pub(crate) damping: f64,
    pub(crate) armature: f64,
}

/// Which end of a range a limit row watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The nearer one: the range is wider than both margins, so both are never active.
    Nearer,
    Lower,
    Upper,
}

/// A limit of a hinge or a slide.
#[derive(Clone, Debug)]
pub(crate) struct LimitPlan {
    pub(crate) coordinate: usize,
    pub(crate) freedom: usize,
    pub(crate) side: Side,
    pub(crate) range: [f64; 2],
    pub(crate) margin: f64,
    pub(crate) weight: f64,
    pub(crate) law: Law,
}

/// The largest angle of a ball joint.
#[derive(Clone, Debug)]
pub(crate) struct BallLimit {
    pub(crate) coordinate: usize,
    pub(crate) freedom: usize,
    pub(crate) angle: f64,
    pub(crate) margin: f64,
    pub(crate) weight: f64,
    pub(crate) law: Law,
}

/// An actuator and where it acts.
#[derive(Clone, Debug)]
pub(crate) struct ActuatorPlan {
    pub(crate) coordinate: usize,
    pub(crate) freedom: usize,
    pub(crate) gear: f64,
    pub(crate) gain: f64,
    /// Absent for a motor.
    pub(crate) bias: Option<[f64; 3]>,
    pub(crate) control_range: Option<[f64; 2]>,
    pub(crate) force_range: Option<[f64; 2]>,
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
    /// Degree of freedom and bounds of its actuator force.
    pub(crate) force_clamps: Vec<(usize, [f64; 2])>,
    pub(crate) contacts: Vec<Contact>,
    /// Boxes around the geoms of contacts that the caller finds.
    pub(crate) outside: Vec<Bounds>,
    /// Entries of the inertia matrix.
    pub(crate) tree: Pattern,
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
        let joints = joint_plans(model);
        let freedoms = freedom_plans(model, &bodies);
        let tree = Pattern::tree(&parent_freedoms(&bodies, freedoms.len()));
        let full = Pattern::full(freedoms.len());
        let trees = trees(&bodies);
        let (contacts, outside) = contact::compile(model, &bodies, &frames)?;
        let mut compiled = Self {
            options: model.options.clone(),
            coordinates: model.joints.iter().map(|j| j.kind.coordinates()).sum(),
            springs: springs(model, &joints),
            limits: limits(model, &joints)?,
            ball_limits: ball_limits(model, &joints)?,
            actuators: actuator_plans(model, &joints),
            force_clamps: force_clamps(model, &joints),
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

    /// Whether all motion is in one plane, which the engine exploits.
    pub fn is_planar(&self) -> bool {
        self.planar.is_some()
    }

    /// Whether contacts of some pairs must be found by a [`crate::Narrow`] phase.
    pub fn needs_narrow_phase(&self) -> bool {
        !self.outside.is_empty()
    }

    /// The most contacts one world can have at a time.
    pub(crate) fn most_contacts(&self) -> usize {
        let outside = self.contacts.iter().filter(|c| matches!(c.touch, Touch::Outside { .. })).count();
        let outside = (outside * crate::narrow::MOST_OF_PAIR).min(crate::narrow::MOST_OF_WORLD);
        let known: usize = self.contacts.iter().map(|c| c.touch.most_contacts()).sum();
        known + outside + self.ball_limits.len()
    }
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
            frames.push(Frame { body: 0, pose: Pose::ORIGIN, root: 0, mass: 0.0, center: [0.0; 3] });
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
            });
            (joint, freedom) = (joint + count, freedom + size);
            (index, Pose::ORIGIN)
        };
        frames.push(Frame { body: moving, pose, root, mass: body.mass, center: body.center });
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

fn joint_plans(model: &Model) -> Vec<JointPlan> {
    let (mut coordinate, mut freedom) = (0, 0);
    let mut plans = Vec::new();
    for joint in &model.joints {
        let axis = joint.axis.map(|x| if x.abs() < 1e-15 { 0.0 } else { x });
        plans.push(JointPlan {
            kind: joint.kind,
            coordinate,
            freedom,
            position: joint.position,
            axis,
            aligned: (0..3).find(|&k| axis[k].abs() == 1.0).map(|k| (k, axis[k])),
            reference: joint.reference,
        });
        coordinate += joint.kind.coordinates();
        freedom += joint.kind.freedoms();
    }
    plans
}

fn freedom_plans(model: &Model, bodies: &[MovingBody]) -> Vec<FreedomPlan> {
    let mut body_of = vec![0; model.freedoms.len()];
    for (b, body) in bodies.iter().enumerate() {
        body.freedoms.clone().for_each(|k| body_of[k] = b);
    }
    let plan = |(f, body): (&crate::model::Freedom, usize)| FreedomPlan {
        body,
        damping: f.damping,
        armature: f.armature,
    };
    model.freedoms.iter().zip(body_of).map(plan).collect()
}

fn springs(model: &Model, plans: &[JointPlan]) -> Vec<Spring> {
    let spring = |(joint, plan): (&Joint, &JointPlan)| Spring {
        kind: joint.kind,
        coordinate: plan.coordinate,
        freedom: plan.freedom,
        stiffness: joint.stiffness,
        relaxed: joint.spring_reference.clone(),
    };
    model.joints.iter().zip(plans).filter(|(j, _)| j.stiffness != 0.0).map(spring).collect()
}

fn limits(model: &Model, plans: &[JointPlan]) -> Result<Vec<LimitPlan>, LanesError> {
    let mut rows = Vec::new();
    for (joint, plan) in model.joints.iter().zip(plans) {
        let (Some(limit), JointKind::Hinge | JointKind::Slide) = (&joint.limit, joint.kind) else { continue };
        let wide = limit.range[1] - limit.range[0] >= 2.0 * limit.margin;
        let sides: &[Side] = if wide { &[Side::Nearer] } else { &[Side::Lower, Side::Upper] };
        for &side in sides {
            rows.push(LimitPlan {
                coordinate: plan.coordinate,
                freedom: plan.freedom,
                side,
                range: limit.range,
                margin: limit.margin,
                weight: model.freedoms[plan.freedom].inverse_weight,
                law: Law::new(&limit.softness, &model.options)?,
            });
        }
    }
    Ok(rows)
}

fn ball_limits(model: &Model, plans: &[JointPlan]) -> Result<Vec<BallLimit>, LanesError> {
    let mut rows = Vec::new();
    for (joint, plan) in model.joints.iter().zip(plans) {
        let (Some(limit), JointKind::Ball) = (&joint.limit, joint.kind) else { continue };
        rows.push(BallLimit {
            coordinate: plan.coordinate,
            freedom: plan.freedom,
            angle: limit.range[0].max(limit.range[1]),
            margin: limit.margin,
            weight: model.freedoms[plan.freedom].inverse_weight,
            law: Law::new(&limit.softness, &model.options)?,
        });
    }
    Ok(rows)
}

fn actuator_plans(model: &Model, plans: &[JointPlan]) -> Vec<ActuatorPlan> {
    let plan = |a: &crate::model::Actuator| ActuatorPlan {
        coordinate: plans[a.joint].coordinate,
        freedom: plans[a.joint].freedom,
        gear: a.gear,
        gain: a.gain,
        bias: (a.bias != [0.0; 3]).then_some(a.bias),
        control_range: a.control_range,
        force_range: a.force_range,
    };
    model.actuators.iter().map(plan).collect()
}

fn force_clamps(model: &Model, plans: &[JointPlan]) -> Vec<(usize, [f64; 2])> {
    let clamp = |(joint, plan): (&Joint, &JointPlan)| Some((plan.freedom, joint.actuator_force_range?));
    model.joints.iter().zip(plans).filter_map(clamp).collect()
}
