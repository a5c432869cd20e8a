//! Mechanisms that move in one plane: three numbers per spatial vector instead of six.

use super::{Compiled, MovingBody, PathPlan, RowKind, RowPlan, TendonPlan, Touch};
use crate::model::JointKind;
use crate::rigid::{Vec3, column};

/// A vector in the plane: along `u`, along `v`.
pub(crate) type Vec2 = [f64; 2];

/// The planar constants of a body.
#[derive(Clone, Debug)]
pub(crate) struct PlanarBody {
    pub(crate) position: Vec2,
    /// Angle in the parent's frame.
    pub(crate) angle: f64,
    pub(crate) center: Vec2,
    /// Moment of inertia about the normal of the plane.
    pub(crate) inertia: f64,
    pub(crate) drag: Option<PlanarDrag>,
}

/// Drag along two axes in the plane and about its normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanarDrag {
    /// Direction of the first axis in the body's frame.
    pub(crate) axis: Vec2,
    pub(crate) linear_force: f64,
    pub(crate) linear_torque: f64,
    pub(crate) quadratic_force: Vec2,
    pub(crate) quadratic_torque: f64,
}

/// The planar constants of a joint.
#[derive(Clone, Debug)]
pub(crate) struct PlanarJoint {
    pub(crate) position: Vec2,
    /// Direction of a slide.
    pub(crate) axis: Vec2,
    /// Sense of rotation of a hinge.
    pub(crate) sign: f64,
}

/// The planar geometry of a possible contact; same order as [`Compiled::contacts`].
#[derive(Clone, Debug)]
pub(crate) enum PlanarContact {
    /// A disc above a line: normal . x >= offset.
    Disc { body: usize, center: Vec2, radius: f64, normal: Vec2, offset: f64 },
    /// Two rounded segments.
    Segments {
        bodies: [usize; 2],
        centers: [Vec2; 2],
        half_axes: [Vec2; 2],
        /// Sum of both.
        half_lengths: f64,
        radii: [f64; 2],
    },
}

/// The planar form of a model.
#[derive(Clone, Debug)]
pub(crate) struct PlanarPlan {
    /// The coordinate axis normal to the plane; `u` and `v` are the next two.
    pub(crate) normal: usize,
    pub(crate) bodies: Vec<PlanarBody>,
    pub(crate) joints: Vec<PlanarJoint>,
    pub(crate) contacts: Vec<PlanarContact>,
    pub(crate) gravity: Vec2,
}

impl PlanarPlan {
    /// A vector of the plane in three dimensions.
    pub(crate) fn embed(&self, v: Vec2) -> Vec3 {
        let mut out = [0.0; 3];
        (out[(self.normal + 1) % 3], out[(self.normal + 2) % 3]) = (v[0], v[1]);
        out
    }

    /// The planar form, if every joint moves in one coordinate plane and every contact force lies in it.
    pub(super) fn detect(model: &Compiled) -> Option<Self> {
        // What needs the motion of points is there in three dimensions only.
        let points = |row: &RowPlan| matches!(row.kind, RowKind::Points { .. } | RowKind::Frames { .. });
        let spatial = |tendon: &TendonPlan| !matches!(tendon.path, PathPlan::Fixed(_));
        let lifted = model.bodies.iter().any(|b| b.lifted.is_some());
        if model.cones || lifted || model.rows.iter().any(points) || model.tendons.iter().any(spatial) {
            return None;
        }
        (0..3).find_map(|normal| Self::in_plane(model, normal))
    }

    fn in_plane(model: &Compiled, n: usize) -> Option<Self> {
        let flat = |x: Vec3| [x[(n + 1) % 3], x[(n + 2) % 3]];
        let mut joints = Vec::new();
        for joint in &model.joints {
            let fits = match joint.kind {
                JointKind::Hinge => joint.axis[n].abs() == 1.0,
                JointKind::Slide => joint.axis[n] == 0.0,
                JointKind::Free | JointKind::Ball => false,
            };
            if !fits {
                return None;
            }
            let (position, axis) = (flat(joint.position), flat(joint.axis));
            joints.push(PlanarJoint { position, axis, sign: joint.axis[n] });
        }
        let bodies = model.bodies.iter().map(|b| planar_body(b, n)).collect::<Option<_>>()?;
        let contacts = model.contacts.iter().map(|c| planar_contact(&c.touch, n)).collect::<Option<_>>()?;
        Some(Self { normal: n, bodies, joints, contacts, gravity: flat(model.options.gravity) })
    }
}

fn planar_body(body: &MovingBody, n: usize) -> Option<PlanarBody> {
    let (u, v) = ((n + 1) % 3, (n + 2) % 3);
    let flat = |x: Vec3| [x[u], x[v]];
    let rotation = body.rotation.unwrap_or(crate::rigid::IDENTITY);
    let tilted = rotation[3 * n + u] != 0.0 || rotation[3 * n + v] != 0.0;
    if body.position[n] != 0.0 || tilted || rotation[4 * n] < 0.0 {
        return None;
    }
    let mass = &body.mass;
    let inertia = (0..3).map(|k| mass.axes[3 * n + k] * mass.axes[3 * n + k] * mass.moments[k]).sum();
    let drag = match &body.drag {
        None => None,
        Some(drag) => {
            // The principal axis along the normal; the other two then lie in the plane.
            let k = (0..3).find(|&k| mass.axes[3 * n + k].abs() > 1.0 - 1e-12)?;
            let (e, f) = ((k + 1) % 3, (k + 2) % 3);
            Some(PlanarDrag {
                axis: flat(column(&mass.axes, e)),
                linear_force: drag.linear_force,
                linear_torque: drag.linear_torque,
                quadratic_force: [drag.quadratic_force[e], drag.quadratic_force[f]],
                quadratic_torque: drag.quadratic_torque[k],
            })
        }
    };
    let angle = rotation[3 * v + u].atan2(rotation[4 * u]);
    Some(PlanarBody { position: flat(body.position), angle, center: flat(mass.center), inertia, drag })
}

fn planar_contact(touch: &Touch, n: usize) -> Option<PlanarContact> {
    let flat = |x: Vec3| [x[(n + 1) % 3], x[(n + 2) % 3]];
    match touch {
        Touch::Ball { body, center, axis, radius, plane } => {
            let in_plane = plane.normal[n] == 0.0 && axis.is_none_or(|a| a[n] == 0.0);
            in_plane.then(|| PlanarContact::Disc {
                body: *body,
                center: flat(*center),
                radius: *radius,
                normal: flat(plane.normal),
                offset: plane.offset,
            })
        }
        Touch::Segments { first, second } => {
            let in_plane = [first, second].iter().all(|s| s.center[n] == 0.0 && s.half_axis[n] == 0.0);
            in_plane.then(|| PlanarContact::Segments {
                bodies: [first.body, second.body],
                centers: [flat(first.center), flat(second.center)],
                half_axes: [flat(first.half_axis), flat(second.half_axis)],
                half_lengths: first.half_length + second.half_length,
                radii: [first.radius, second.radius],
            })
        }
        Touch::Box { .. } | Touch::Cylinder { .. } | Touch::Outside { .. } => None,
    }
}
