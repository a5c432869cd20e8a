//! Joints, degrees of freedom, springs, limits and actuators.

use super::MovingBody;
use super::law::Law;
use crate::LanesError;
use crate::model::{Activation, Joint, JointKind, Model, Transmission};
use crate::rigid::Vec3;

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
    /// The tendon it pulls at instead of a joint.
    pub(crate) tendon: Option<usize>,
    pub(crate) state: Option<ActivationPlan>,
}

/// The activation of an actuator.
#[derive(Clone, Debug)]
pub(crate) struct ActivationPlan {
    /// Which of the activations it is.
    pub(crate) index: usize,
    pub(crate) kind: Activation,
    pub(crate) range: Option<[f64; 2]>,
    pub(crate) early: bool,
}

pub(super) fn joint_plans(model: &Model) -> Vec<JointPlan> {
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

pub(super) fn freedom_plans(model: &Model, bodies: &[MovingBody]) -> Vec<FreedomPlan> {
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

pub(super) fn springs(model: &Model, plans: &[JointPlan]) -> Vec<Spring> {
    let spring = |(joint, plan): (&Joint, &JointPlan)| Spring {
        kind: joint.kind,
        coordinate: plan.coordinate,
        freedom: plan.freedom,
        stiffness: joint.stiffness,
        relaxed: joint.spring_reference.clone(),
    };
    model.joints.iter().zip(plans).filter(|(j, _)| j.stiffness != 0.0).map(spring).collect()
}

pub(super) fn limits(model: &Model, plans: &[JointPlan]) -> Result<Vec<LimitPlan>, LanesError> {
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

pub(super) fn ball_limits(model: &Model, plans: &[JointPlan]) -> Result<Vec<BallLimit>, LanesError> {
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

pub(super) fn actuator_plans(model: &Model, plans: &[JointPlan]) -> Vec<ActuatorPlan> {
    let mut activations = 0;
    let mut plan = |a: &crate::model::Actuator| {
        let (joint, tendon) = match a.transmission {
            Transmission::Joint(joint) => (Some(&plans[joint]), None),
            Transmission::Tendon(tendon) => (None, Some(tendon)),
        };
        let state = (a.activation != Activation::Immediate).then(|| {
            let (kind, range, early) = (a.activation, a.activation_range, a.early);
            activations += 1;
            ActivationPlan { index: activations - 1, kind, range, early }
        });
        ActuatorPlan {
            coordinate: joint.map_or(0, |j| j.coordinate),
            freedom: joint.map_or(0, |j| j.freedom),
            gear: a.gear,
            gain: a.gain,
            bias: (a.bias != [0.0; 3]).then_some(a.bias),
            control_range: a.control_range,
            force_range: a.force_range,
            tendon,
            state,
        }
    };
    model.actuators.iter().map(&mut plan).collect()
}

pub(super) fn force_clamps(model: &Model, plans: &[JointPlan]) -> Vec<(usize, [f64; 2])> {
    let clamp = |(joint, plan): (&Joint, &JointPlan)| Some((plan.freedom, joint.actuator_force_range?));
    model.joints.iter().zip(plans).filter_map(clamp).collect()
}
