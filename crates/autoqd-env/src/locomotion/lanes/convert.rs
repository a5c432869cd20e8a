//! From the model that libmujoco compiled to the constants of the lanes engine.

use super::contacts;
use super::support;
use crate::mujoco::Model;
use autoqd_lanes::LanesError;
use autoqd_lanes::model as lanes;
use mujoco_rs::prelude::{MjtDisableBit as Disable, MjtJoint};

/// A model for the engine, and libmujoco's geoms of each of its contact pairs.
pub(crate) struct Converted {
    pub model: lanes::Model,
    pub pair_geoms: Vec<[usize; 2]>,
}

/// Reads every constant of the engine from a compiled model, or names what the engine lacks.
pub(crate) fn convert(model: &Model) -> Result<Converted, LanesError> {
    support::check(model)?;
    let contacts = contacts::convert(model)?;
    let converted = lanes::Model {
        options: options(model),
        bodies: bodies(model),
        joints: joints(model),
        freedoms: freedoms(model),
        actuators: actuators(model),
        geoms: contacts.geoms,
        pairs: contacts.pairs,
    };
    Ok(Converted { model: converted, pair_geoms: contacts.pair_geoms })
}

/// Whether a standard feature is switched off.
pub(super) fn disabled(model: &Model, bit: Disable) -> bool {
    model.opt().disableflags & bit as i32 != 0
}

fn options(model: &Model) -> lanes::Options {
    let opt = model.opt();
    // support::check lets only these pass.
    let integrator = match opt.integrator {
        1 => lanes::Integrator::RungeKutta4,
        3 => lanes::Integrator::ImplicitFast,
        _ => {
            let implicit_damping =
                !disabled(model, Disable::mjDSBL_EULERDAMP) && !disabled(model, Disable::mjDSBL_DAMPER);
            lanes::Integrator::Euler { implicit_damping }
        }
    };
    lanes::Options {
        timestep: opt.timestep,
        integrator,
        gravity: if disabled(model, Disable::mjDSBL_GRAVITY) { [0.0; 3] } else { opt.gravity },
        density: opt.density,
        viscosity: opt.viscosity,
        impedance_ratio: opt.impratio,
        tolerance: opt.tolerance,
        line_search_tolerance: opt.ls_tolerance,
        iterations: opt.iterations.max(0) as usize,
        line_search_iterations: opt.ls_iterations.max(0) as usize,
        islands: !disabled(model, Disable::mjDSBL_ISLAND),
    }
}

fn bodies(model: &Model) -> Vec<lanes::Body> {
    let body = |i: usize| lanes::Body {
        parent: model.body_parentid()[i] as usize,
        position: model.body_pos()[i],
        orientation: model.body_quat()[i],
        center: model.body_ipos()[i],
        principal_axes: model.body_iquat()[i],
        mass: model.body_mass()[i],
        inertia: model.body_inertia()[i],
        inverse_weight: model.body_invweight0()[i][0],
    };
    (0..model.body_mass().len()).map(body).collect()
}

fn joints(model: &Model) -> Vec<lanes::Joint> {
    (0..model.jnt_type().len()).map(|j| joint(model, j)).collect()
}

fn joint(model: &Model, j: usize) -> lanes::Joint {
    let kind = match model.jnt_type()[j] {
        MjtJoint::mjJNT_FREE => lanes::JointKind::Free,
        MjtJoint::mjJNT_BALL => lanes::JointKind::Ball,
        MjtJoint::mjJNT_SLIDE => lanes::JointKind::Slide,
        MjtJoint::mjJNT_HINGE => lanes::JointKind::Hinge,
    };
    let q = model.jnt_qposadr()[j] as usize;
    let off = disabled(model, Disable::mjDSBL_LIMIT) || disabled(model, Disable::mjDSBL_CONSTRAINT);
    let limited = model.jnt_limited()[j] && !off;
    let stiffness = if disabled(model, Disable::mjDSBL_SPRING) { 0.0 } else { model.jnt_stiffness()[j] };
    lanes::Joint {
        body: model.jnt_bodyid()[j] as usize,
        kind,
        position: model.jnt_pos()[j],
        axis: model.jnt_axis()[j],
        reference: model.qpos0()[q],
        stiffness,
        spring_reference: model.qpos_spring()[q..q + kind.coordinates()].to_vec(),
        limit: limited.then(|| lanes::Limit {
            range: model.jnt_range()[j],
            margin: model.jnt_margin()[j],
            softness: lanes::Softness { reference: model.jnt_solref()[j], impedance: model.jnt_solimp()[j] },
        }),
        actuator_force_range: model.jnt_actfrclimited()[j].then(|| model.jnt_actfrcrange()[j]),
    }
}

fn freedoms(model: &Model) -> Vec<lanes::Freedom> {
    let damped = !disabled(model, Disable::mjDSBL_DAMPER);
    let freedom = |k: usize| lanes::Freedom {
        damping: if damped { model.dof_damping()[k] } else { 0.0 },
        armature: model.dof_armature()[k],
        inverse_weight: model.dof_invweight0()[k],
    };
    (0..model.dof_damping().len()).map(freedom).collect()
}

fn actuators(model: &Model) -> Vec<lanes::Actuator> {
    let clamped = !disabled(model, Disable::mjDSBL_CLAMPCTRL);
    let actuator = |i: usize| {
        let bias = &model.actuator_biasprm()[i];
        let affine = model.actuator_biastype()[i] == mujoco_rs::prelude::MjtBias::mjBIAS_AFFINE;
        lanes::Actuator {
            joint: model.actuator_trnid()[i][0] as usize,
            gear: model.actuator_gear()[i][0],
            gain: model.actuator_gainprm()[i][0],
            bias: if affine { [bias[0], bias[1], bias[2]] } else { [0.0; 3] },
            control_range: (clamped && model.actuator_ctrllimited()[i])
                .then(|| model.actuator_ctrlrange()[i]),
            force_range: model.actuator_forcelimited()[i].then(|| model.actuator_forcerange()[i]),
        }
    };
    (0..model.actuator_trnid().len()).map(actuator).collect()
}
