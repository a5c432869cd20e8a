//! Which geoms can touch, and what their contacts are like.

use super::law::Law;
use super::{Frame, MovingBody};
use crate::LanesError;
use crate::model::{Cone, ContactPair, Geom, Model, Shape, Softness};
use crate::rigid::{Pose, Vec3, column, dot, scale};

/// Smallest coefficient of friction.
const LEAST_FRICTION: f64 = 1e-5;

/// Everything above a fixed plane: points with normal . x >= offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfSpace {
    pub(crate) normal: Vec3,
    pub(crate) offset: f64,
}

/// A line segment on a body; a point if the half axis is zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) body: usize,
    pub(crate) center: Vec3,
    pub(crate) half_axis: Vec3,
    pub(crate) half_length: f64,
    pub(crate) radius: f64,
}

/// A cylinder on a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CylinderShape {
    pub(crate) body: usize,
    pub(crate) pose: Pose,
    pub(crate) radius: f64,
    pub(crate) half_length: f64,
}

/// The geometry of a possible contact.
#[derive(Clone, Debug)]
pub(crate) enum Touch {
    /// A sphere, or one end of a capsule with its axis, above a plane.
    Ball { body: usize, center: Vec3, axis: Option<Vec3>, radius: f64, plane: HalfSpace },
    /// A box above a plane.
    Box { body: usize, pose: Pose, half_size: Vec3, plane: HalfSpace },
    /// A cylinder above a plane.
    Cylinder { shape: CylinderShape, plane: HalfSpace },
    /// Two spheres or capsules.
    Segments { first: Segment, second: Segment },
    /// Shapes of the caller's, by the numbers of their bounds.
    Outside { pair: [usize; 2] },
}

/// A box around a geom of a contact that the engine has no formula for.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    pub(crate) geom: usize,
    pub(crate) body: usize,
    /// The geom in the frame of its body.
    pub(crate) pose: Pose,
    /// Centre of the box in the frame of the body.
    pub(crate) center: Vec3,
    pub(crate) half_size: Vec3,
    pub(crate) radius: f64,
    /// The normal of a plane, in the frame of its body.
    pub(crate) plane: Option<Vec3>,
}

impl Bounds {
    fn new(index: usize, geom: &Geom, frames: &[Frame]) -> Self {
        let pose = frames[geom.body].pose.then(&Pose::new(geom.position, geom.orientation));
        let plane = (geom.shape == Shape::Plane).then(|| column(&pose.rotation, 2));
        let around = &geom.around;
        let center = if plane.is_some() { pose.position } else { pose.point(around.center) };
        let (half_size, radius) = (around.half_size, around.radius);
        Self { geom: index, body: frames[geom.body].body, pose, center, half_size, radius, plane }
    }
}

impl Touch {
    pub(crate) fn most_contacts(&self) -> usize {
        match self {
            Self::Ball { .. } => 1,
            Self::Box { .. } | Self::Cylinder { .. } => 4,
            // Parallel capsules can touch at two points.
            Self::Segments { .. } => 2,
            // They have slots of their own.
            Self::Outside { .. } => 0,
        }
    }
}

/// The forces of a contact.
#[derive(Clone, Debug)]
pub(crate) struct ContactLaw {
    pub(crate) margin: f64,
    /// Zero without friction.
    pub(crate) friction: f64,
    /// The approximate inverse inertia the impedance is relative to.
    pub(crate) weight: f64,
    /// Factor from the regularisation of a single row to that of the pyramid's rows.
    pub(crate) pyramid: f64,
    pub(crate) law: Law,
    /// Its cone, if the three rows of a sliding contact or the one of a frictionless contact are not enough.
    pub(crate) cone: Option<ConeLaw>,
    /// Which pair of the model it is, and the bodies that touch.
    pub(crate) pair: usize,
    pub(crate) bodies: [usize; 2],
    /// Degrees of freedom that move only the second body, and only the first.
    pub(crate) forward: u64,
    pub(crate) backward: u64,
}

impl ContactLaw {
    /// Whether it couples two branches, so that the solver's matrix gets entries the inertia matrix lacks.
    pub(crate) fn couples_branches(&self) -> bool {
        self.forward != 0 && self.backward != 0
    }
}

/// An elliptic friction cone, or a pyramid with torsional or rolling friction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConeLaw {
    /// Directions, the normal included.
    pub(crate) dimension: usize,
    /// Coefficients of friction of the directions after the normal.
    pub(crate) friction: [f64; 5],
    /// Damping of the directions of friction.
    pub(crate) friction_damping: f64,
}

/// A possible contact.
#[derive(Clone, Debug)]
pub(crate) struct Contact {
    pub(crate) touch: Touch,
    pub(crate) law: ContactLaw,
}

pub(super) fn compile(
    model: &Model,
    bodies: &[MovingBody],
    frames: &[Frame],
) -> Result<(Vec<Contact>, Vec<Bounds>), LanesError> {
    let (mut contacts, mut bounds) = (Vec::new(), Vec::<Bounds>::new());
    let mut bounds_of = |index: usize| match bounds.iter().position(|b| b.geom == index) {
        Some(known) => known,
        None => {
            bounds.push(Bounds::new(index, &model.geoms[index], frames));
            bounds.len() - 1
        }
    };
    for (index, pair) in model.pairs.iter().enumerate() {
        let geoms = pair.geoms.map(|g| &model.geoms[g]);
        if geoms.iter().all(|g| frames[g.body].body == 0) {
            continue;
        }
        let law = ContactLaw { pair: index, ..contact_law(model, pair, geoms, bodies, frames)? };
        let touches = touches(geoms, frames)
            .unwrap_or_else(|| vec![Touch::Outside { pair: pair.geoms.map(&mut bounds_of) }]);
        for touch in touches {
            contacts.push(Contact { touch, law: law.clone() });
        }
    }
    Ok((contacts, bounds))
}

fn contact_law(
    model: &Model,
    pair: &ContactPair,
    geoms: [&Geom; 2],
    bodies: &[MovingBody],
    frames: &[Frame],
) -> Result<ContactLaw, LanesError> {
    let ids = geoms.map(|g| g.body);
    let chains = ids.map(|b| bodies[frames[b].body].chain);
    let weight: f64 = ids.iter().map(|&b| model.bodies[b].inverse_weight).sum();
    let friction = pair.friction[0].max(LEAST_FRICTION);
    let squared = friction * friction;
    let elliptic = model.options.cone == Cone::Elliptic;
    let frictional = pair.dimension > 1;
    let law = Law::new(&pair.softness, &model.options)?;
    let uneven = pair.friction[0] != pair.friction[1];
    let cone = (pair.dimension > 3 || (frictional && (elliptic || uneven))).then(|| {
        let own = pair
            .friction_reference
            .filter(|_| elliptic)
            .map(|reference| Softness { reference, ..pair.softness });
        let friction_law = own.map_or(Ok(law), |own| Law::new(&own, &model.options))?;
        Ok(ConeLaw {
            dimension: pair.dimension,
            friction: pair.friction.map(|f| f.max(LEAST_FRICTION)),
            friction_damping: friction_law.damping,
        })
    });
    let cone = cone.transpose()?;
    if cone.is_some() && elliptic {
        return Ok(ContactLaw {
            margin: pair.margin,
            friction,
            weight,
            pyramid: 1.0,
            law,
            cone,
            pair: 0,
            bodies: ids,
            forward: chains[1] & !chains[0],
            backward: chains[0] & !chains[1],
        });
    }
    Ok(ContactLaw {
        margin: pair.margin,
        friction: if frictional { friction } else { 0.0 },
        weight: if frictional { weight * (1.0 + squared) } else { weight },
        // Without friction the pyramid's four rows coincide and share the weight.
        pyramid: if frictional { 2.0 * squared / model.options.impedance_ratio } else { 4.0 },
        law,
        cone,
        pair: 0,
        bodies: ids,
        forward: chains[1] & !chains[0],
        backward: chains[0] & !chains[1],
    })
}

/// The formulas for a pair, or nothing if the engine has none.
fn touches(geoms: [&Geom; 2], frames: &[Frame]) -> Option<Vec<Touch>> {
    let pose = |g: &Geom| frames[g.body].pose.then(&Pose::new(g.position, g.orientation));
    let [first, second] = geoms;
    let body = frames[second.body].body;
    if first.shape != Shape::Plane {
        let (first, second) = (segment(first, frames)?, segment(second, frames)?);
        return Some(vec![Touch::Segments { first, second }]);
    }
    if frames[first.body].body != 0 {
        return None;
    }
    let frame = pose(first);
    let normal = column(&frame.rotation, 2);
    let plane = HalfSpace { normal, offset: dot(normal, frame.position) };
    let pose = pose(second);
    let axis = column(&pose.rotation, 2);
    Some(match second.shape {
        Shape::Plane | Shape::Other => return None,
        Shape::Sphere { radius } => {
            vec![Touch::Ball { body, center: pose.position, axis: None, radius, plane }]
        }
        Shape::Capsule { radius, half_length } => [1.0, -1.0]
            .map(|end| Touch::Ball {
                body,
                center: crate::rigid::add(pose.position, scale(axis, end * half_length)),
                axis: Some(axis),
                radius,
                plane,
            })
            .to_vec(),
        Shape::Box { half_size } => vec![Touch::Box { body, pose, half_size, plane }],
        Shape::Cylinder { radius, half_length } => {
            vec![Touch::Cylinder { shape: CylinderShape { body, pose, radius, half_length }, plane }]
        }
    })
}

fn segment(geom: &Geom, frames: &[Frame]) -> Option<Segment> {
    let pose = frames[geom.body].pose.then(&Pose::new(geom.position, geom.orientation));
    let (radius, half_length) = match geom.shape {
        Shape::Sphere { radius } => (radius, 0.0),
        Shape::Capsule { radius, half_length } => (radius, half_length),
        _ => return None,
    };
    let half_axis = scale(column(&pose.rotation, 2), half_length);
    Some(Segment { body: frames[geom.body].body, center: pose.position, half_axis, half_length, radius })
}
