//! From the model that libmujoco compiled to the constants of the lanes engine.

use super::contacts;
use super::support;
use crate::mujoco::{Model, Object};
use autoqd_lanes::LanesError;
use autoqd_lanes::model as lanes;
use mujoco_rs::prelude::{MjtDisableBit as Disable, MjtDyn, MjtEq, MjtJoint, MjtTrn, MjtWrap};
use std::sync::Arc;

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
        tendons: tendons(model),
        equalities: equalities(model),
        actuators: actuators(model),
        geoms: contacts.geoms,
        pairs: contacts.pairs,
    };
    Ok(Converted { model: converted, pair_geoms: contacts.pair_geoms })
}

/// The model that libmujoco must simulate to agree with the lanes engine, which has Newton's method only.
pub(super) fn comparable(model: &Arc<Model>) -> Arc<Model> {
    if other_solver(model).is_none() {
        return Arc::clone(model);
    }
    let mut other = Model::clone(model);
    other.opt_mut().solver = NEWTON;
    Arc::new(other)
}

/// The name of another solver that the engine's takes the place of.
pub(super) fn other_solver(model: &Model) -> Option<&'static str> {
    match model.opt().solver {
        NEWTON => None,
        1 => Some("CG"),
        _ => Some("PGS"),
    }
}

/// The number of Newton's method among libmujoco's solvers.
const NEWTON: i32 = 2;

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
        cone: if opt.cone == 0 { lanes::Cone::Pyramidal } else { lanes::Cone::Elliptic },
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
        inverse_weight_of_rotation: model.body_invweight0()[i][1],
        gravity_compensation: model.body_gravcomp()[i],
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
    let rubs = has_friction_loss(model);
    let freedom = |k: usize| lanes::Freedom {
        damping: if damped { model.dof_damping()[k] } else { 0.0 },
        armature: model.dof_armature()[k],
        inverse_weight: model.dof_invweight0()[k],
        friction_loss: if rubs { model.dof_frictionloss()[k] } else { 0.0 },
        friction_softness: softness(model.dof_solref()[k], model.dof_solimp()[k]),
    };
    (0..model.dof_damping().len()).map(freedom).collect()
}

fn softness(reference: [f64; 2], impedance: [f64; 5]) -> lanes::Softness {
    lanes::Softness { reference, impedance }
}

fn has_friction_loss(model: &Model) -> bool {
    !disabled(model, Disable::mjDSBL_FRICTIONLOSS) && !disabled(model, Disable::mjDSBL_CONSTRAINT)
}

fn tendons(model: &Model) -> Vec<lanes::Tendon> {
    let off = |bit: Disable| disabled(model, bit);
    let limits = !off(Disable::mjDSBL_LIMIT) && !off(Disable::mjDSBL_CONSTRAINT);
    let tendon = |t: usize| lanes::Tendon {
        path: path(model, t),
        stiffness: if off(Disable::mjDSBL_SPRING) { 0.0 } else { model.tendon_stiffness()[t] },
        relaxed: model.tendon_lengthspring()[t],
        damping: if off(Disable::mjDSBL_DAMPER) { 0.0 } else { model.tendon_damping()[t] },
        limit: (limits && model.tendon_limited()[t]).then(|| lanes::Limit {
            range: model.tendon_range()[t],
            margin: model.tendon_margin()[t],
            softness: softness(model.tendon_solref_lim()[t], model.tendon_solimp_lim()[t]),
        }),
        friction_loss: if has_friction_loss(model) { model.tendon_frictionloss()[t] } else { 0.0 },
        friction_softness: softness(model.tendon_solref_fri()[t], model.tendon_solimp_fri()[t]),
        inverse_weight: model.tendon_invweight0()[t],
        reference_length: model.tendon_length0()[t],
    };
    let at_sites = (0..model.actuator_trnid().len()).filter(|&i| is_at_site(model, i));
    (0..model.tendon_adr().len()).map(tendon).chain(at_sites.map(|i| wrench(model, i))).collect()
}

/// Whether an actuator pulls at a site.
fn is_at_site(model: &Model, actuator: usize) -> bool {
    model.actuator_trntype()[actuator] == MjtTrn::mjTRN_SITE
}

/// What an actuator at a site does, with its gear: a tendon without length.
fn wrench(model: &Model, actuator: usize) -> lanes::Tendon {
    let site = model.actuator_trnid()[actuator][0] as usize;
    let [x, y, z, a, b, c] = model.actuator_gear()[actuator];
    lanes::Tendon {
        path: lanes::Path::Wrench {
            body: model.site_bodyid()[site] as usize,
            position: model.site_pos()[site],
            orientation: model.site_quat()[site],
            force: [x, y, z],
            torque: [a, b, c],
        },
        stiffness: 0.0,
        relaxed: [0.0; 2],
        damping: 0.0,
        limit: None,
        friction_loss: 0.0,
        friction_softness: softness([0.02, 1.0], [0.9, 0.95, 0.001, 0.5, 2.0]),
        inverse_weight: 0.0,
        reference_length: 0.0,
    }
}

fn path(model: &Model, tendon: usize) -> lanes::Path {
    let start = model.tendon_adr()[tendon] as usize;
    let wraps = start..start + model.tendon_num()[tendon] as usize;
    let object = |w: usize| model.wrap_objid()[w] as usize;
    if model.wrap_type()[start] == MjtWrap::mjWRAP_JOINT {
        return lanes::Path::Fixed(wraps.map(|w| (object(w), model.wrap_prm()[w])).collect());
    }
    let waypoint = |w: usize| match model.wrap_type()[w] {
        MjtWrap::mjWRAP_PULLEY => lanes::Waypoint::Pulley(model.wrap_prm()[w]),
        _ => lanes::Waypoint::Point {
            body: model.site_bodyid()[object(w)] as usize,
            position: model.site_pos()[object(w)],
        },
    };
    lanes::Path::Spatial(wraps.map(waypoint).collect())
}

fn equalities(model: &Model) -> Vec<lanes::Equality> {
    let off = disabled(model, Disable::mjDSBL_EQUALITY) || disabled(model, Disable::mjDSBL_CONSTRAINT);
    let count = if off { 0 } else { model.eq_type().len() };
    let equality = |e: usize| lanes::Equality {
        coupling: coupling(model, e),
        softness: softness(model.eq_solref()[e], model.eq_solimp()[e]),
    };
    (0..count).filter(|&e| model.eq_active0()[e]).map(equality).collect()
}

fn coupling(model: &Model, e: usize) -> lanes::Coupling {
    let data = model.eq_data()[e];
    let ids = [model.eq_obj1id()[e], model.eq_obj2id()[e]];
    let (first, second) = (ids[0] as usize, usize::try_from(ids[1]).ok());
    let polynomial = std::array::from_fn(|i| data[i]);
    let three = |from: usize| std::array::from_fn(|i| data[from + i]);
    let sites = model.eq_objtype()[e] == Object::mjOBJ_SITE;
    let on_sites = ids.map(|s| s as usize);
    let body = |s: usize| model.site_bodyid()[s] as usize;
    match model.eq_type()[e] {
        MjtEq::mjEQ_JOINT => lanes::Coupling::Joints { first, second, polynomial },
        MjtEq::mjEQ_TENDON => lanes::Coupling::Tendons { first, second, polynomial },
        MjtEq::mjEQ_CONNECT if sites => lanes::Coupling::Points {
            bodies: on_sites.map(body),
            points: on_sites.map(|s| model.site_pos()[s]),
        },
        MjtEq::mjEQ_CONNECT => {
            lanes::Coupling::Points { bodies: [first, second.unwrap_or(0)], points: [three(0), three(3)] }
        }
        _ if sites => lanes::Coupling::Frames {
            bodies: on_sites.map(body),
            points: on_sites.map(|s| model.site_pos()[s]),
            orientations: on_sites.map(|s| model.site_quat()[s]),
            torque_scale: data[10],
        },
        _ => lanes::Coupling::Frames {
            bodies: [first, second.unwrap_or(0)],
            points: [three(3), three(0)],
            orientations: [std::array::from_fn(|i| data[6 + i]), [1.0, 0.0, 0.0, 0.0]],
            torque_scale: data[10],
        },
    }
}

fn activation(model: &Model, i: usize) -> lanes::Activation {
    let time = model.actuator_dynprm()[i][0];
    match model.actuator_dyntype()[i] {
        MjtDyn::mjDYN_INTEGRATOR => lanes::Activation::Integrator,
        MjtDyn::mjDYN_FILTER => lanes::Activation::Filter(time),
        MjtDyn::mjDYN_FILTEREXACT => lanes::Activation::ExactFilter(time),
        _ => lanes::Activation::Immediate,
    }
}

fn actuators(model: &Model) -> Vec<lanes::Actuator> {
    let clamped = !disabled(model, Disable::mjDSBL_CLAMPCTRL);
    let actuator = |i: usize| {
        let bias = &model.actuator_biasprm()[i];
        let affine = model.actuator_biastype()[i] == mujoco_rs::prelude::MjtBias::mjBIAS_AFFINE;
        lanes::Actuator {
            transmission: match (model.actuator_trntype()[i], model.actuator_trnid()[i][0] as usize) {
                (MjtTrn::mjTRN_TENDON, tendon) => lanes::Transmission::Tendon(tendon),
                (MjtTrn::mjTRN_SITE, _) => {
                    let before = (0..i).filter(|&other| is_at_site(model, other)).count();
                    lanes::Transmission::Tendon(model.tendon_adr().len() + before)
                }
                (_, joint) => lanes::Transmission::Joint(joint),
            },
            activation: activation(model, i),
            activation_range: model.actuator_actlimited()[i].then(|| model.actuator_actrange()[i]),
            early: model.actuator_actearly()[i],
            // That of an actuator at a site is in what it does to the site.
            gear: if is_at_site(model, i) { 1.0 } else { model.actuator_gear()[i][0] },
            gain: model.actuator_gainprm()[i][0],
            bias: if affine { [bias[0], bias[1], bias[2]] } else { [0.0; 3] },
            control_range: (clamped && model.actuator_ctrllimited()[i])
                .then(|| model.actuator_ctrlrange()[i]),
            force_range: model.actuator_forcelimited()[i].then(|| model.actuator_forcerange()[i]),
        }
    };
    (0..model.actuator_trnid().len()).map(actuator).collect()
}
