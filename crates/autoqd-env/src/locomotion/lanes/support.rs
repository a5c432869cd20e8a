//! Features of MuJoCo that the lanes engine lacks, found when a model is loaded.

use crate::mujoco::{Model, Object};
use autoqd_lanes::LanesError;
use mujoco_rs::prelude::{
    MjtBias, MjtDisableBit as Disable, MjtDyn, MjtEnableBit as Enable, MjtEq, MjtGain, MjtJoint, MjtTrn,
    MjtWrap,
};

/// An element of the model by its name, or by its number if it has none.
pub(super) fn named(model: &Model, object: Object, kind: &str, id: usize) -> String {
    match model.id_to_name(object, id) {
        Some(name) if !name.is_empty() => format!("{kind} '{name}'"),
        _ => format!("{kind} {id}"),
    }
}

fn unsupported(what: impl Into<String>) -> Result<(), LanesError> {
    Err(LanesError::Unsupported { what: what.into() })
}

/// Names the first feature of the model that the engine lacks.
pub(super) fn check(model: &Model) -> Result<(), LanesError> {
    options(model)?;
    things(model)?;
    bodies(model)?;
    joints(model)?;
    (0..model.actuator_trnid().len()).try_for_each(|i| actuator(model, i))
}

/// Switches that change nothing the engine computes; the engine honours a few more.
const HARMLESS: i32 = Disable::mjDSBL_EQUALITY as i32
    | Disable::mjDSBL_CONSTRAINT as i32
    | Disable::mjDSBL_FRICTIONLOSS as i32
    | Disable::mjDSBL_LIMIT as i32
    | Disable::mjDSBL_CONTACT as i32
    | Disable::mjDSBL_SPRING as i32
    | Disable::mjDSBL_DAMPER as i32
    | Disable::mjDSBL_GRAVITY as i32
    | Disable::mjDSBL_CLAMPCTRL as i32
    | Disable::mjDSBL_FILTERPARENT as i32
    | Disable::mjDSBL_SENSOR as i32
    | Disable::mjDSBL_MIDPHASE as i32
    | Disable::mjDSBL_EULERDAMP as i32
    | Disable::mjDSBL_AUTORESET as i32
    | Disable::mjDSBL_NATIVECCD as i32
    | Disable::mjDSBL_ISLAND as i32
    | Disable::mjDSBL_MULTICCD as i32;

fn options(model: &Model) -> Result<(), LanesError> {
    let opt = model.opt();
    match opt.integrator {
        0 | 1 => {}
        // Derivatives of drag by the velocity are not there.
        3 if opt.density <= 0.0 && opt.viscosity <= 0.0 => {}
        3 => return unsupported("the integrator implicitfast in a medium"),
        _ => return unsupported("the integrator implicit"),
    }
    if opt.noslip_iterations > 0 {
        return unsupported("the noslip solver");
    }
    if opt.wind != [0.0; 3] {
        return unsupported("wind");
    }
    let off = |flag: Disable| opt.disableflags & flag as i32 != 0;
    for (flag, what) in [
        (Disable::mjDSBL_WARMSTART, "a solver without warm start (flag warmstart=\"disable\")"),
        (Disable::mjDSBL_ACTUATION, "a model without actuation (flag actuation=\"disable\")"),
        (Disable::mjDSBL_REFSAFE, "a solref below two time steps (flag refsafe=\"disable\")"),
    ] {
        if off(flag) {
            return unsupported(what);
        }
    }
    if opt.disableflags & !HARMLESS != 0 {
        return unsupported("one of the model's disabled features");
    }
    let on = |flag: Enable| opt.enableflags & flag as i32 != 0;
    for (flag, what) in [
        (Enable::mjENBL_OVERRIDE, "an override of contact parameters (flag override=\"enable\")"),
        (Enable::mjENBL_FWDINV, "the comparison of forward and inverse dynamics (flag fwdinv=\"enable\")"),
        (Enable::mjENBL_INVDISCRETE, "discrete inverse dynamics (flag invdiscrete=\"enable\")"),
        (Enable::mjENBL_SLEEP, "sleeping islands (flag sleep=\"enable\")"),
    ] {
        if on(flag) {
            return unsupported(what);
        }
    }
    if opt.enableflags & !(Enable::mjENBL_ENERGY as i32) != 0 {
        return unsupported("one of the model's optional features");
    }
    if opt.disableactuator != 0 {
        return unsupported("a disabled actuator group");
    }
    Ok(())
}

/// Whole kinds of elements.
fn things(model: &Model) -> Result<(), LanesError> {
    let ffi = model.ffi();
    let kinds = [(ffi.nflex, Object::mjOBJ_FLEX, "flex"), (ffi.nplugin, Object::mjOBJ_PLUGIN, "plugin")];
    for (count, object, kind) in kinds {
        if count > 0 {
            return unsupported(named(model, object, kind, 0));
        }
    }
    (0..ffi.ntendon as usize).try_for_each(|t| tendon(model, t))?;
    for e in 0..ffi.neq as usize {
        let what = model.eq_type()[e];
        if !matches!(what, MjtEq::mjEQ_CONNECT | MjtEq::mjEQ_WELD | MjtEq::mjEQ_JOINT | MjtEq::mjEQ_TENDON) {
            return unsupported(named(model, Object::mjOBJ_EQUALITY, "equality constraint", e));
        }
    }
    if ffi.nmocap > 0 {
        return unsupported("a mocap body");
    }
    if ffi.nhistory > 0 {
        return unsupported("a delay of an actuator or sensor");
    }
    Ok(())
}

fn tendon(model: &Model, t: usize) -> Result<(), LanesError> {
    let name = || named(model, Object::mjOBJ_TENDON, "tendon", t);
    if model.tendon_armature()[t] != 0.0 {
        return unsupported(format!("armature of {}", name()));
    }
    if model.tendon_actfrclimited()[t] {
        return unsupported(format!("an actuator force range of {}", name()));
    }
    let curved = model.tendon_stiffnesspoly()[t].iter().chain(&model.tendon_dampingpoly()[t]);
    if curved.into_iter().any(|&c| c != 0.0) {
        return unsupported(format!("the nonlinear spring or damper of {}", name()));
    }
    let start = model.tendon_adr()[t] as usize;
    let wraps = &model.wrap_type()[start..start + model.tendon_num()[t] as usize];
    if wraps.iter().any(|w| matches!(w, MjtWrap::mjWRAP_SPHERE | MjtWrap::mjWRAP_CYLINDER)) {
        return unsupported(format!("the way of {} around a geom", name()));
    }
    Ok(())
}

fn bodies(model: &Model) -> Result<(), LanesError> {
    let medium = model.opt().density > 0.0 || model.opt().viscosity > 0.0;
    if let Some(g) = model.geom_fluid().iter().position(|f| medium && f[0] > 0.0) {
        return unsupported(format!(
            "the ellipsoid fluid model of {}",
            named(model, Object::mjOBJ_GEOM, "geom", g)
        ));
    }
    // An explicit pair of contacts names its gap, a geom its own; both enter the same way.
    let gaps = model.geom_gap().iter().chain(model.pair_gap());
    if gaps.into_iter().any(|&g| g != 0.0) {
        return unsupported("a contact gap");
    }
    Ok(())
}

fn joints(model: &Model) -> Result<(), LanesError> {
    for j in 0..model.jnt_type().len() {
        let name = || named(model, Object::mjOBJ_JOINT, "joint", j);
        if model.jnt_stiffnesspoly()[j].iter().any(|&c| c != 0.0) {
            return unsupported(format!("the nonlinear spring of {}", name()));
        }
        if model.jnt_actgravcomp()[j] {
            return unsupported(format!("gravity compensation by the actuators of {}", name()));
        }
        let scalar = matches!(model.jnt_type()[j], MjtJoint::mjJNT_HINGE | MjtJoint::mjJNT_SLIDE);
        if model.jnt_actfrclimited()[j] && !scalar {
            return unsupported(format!("an actuator force range of {}", name()));
        }
    }
    for k in 0..model.dof_frictionloss().len() {
        let name = || named(model, Object::mjOBJ_JOINT, "joint", model.dof_jntid()[k] as usize);
        if model.dof_dampingpoly()[k].iter().any(|&c| c != 0.0) {
            return unsupported(format!("the nonlinear damping of {}", name()));
        }
    }
    Ok(())
}

fn actuator(model: &Model, i: usize) -> Result<(), LanesError> {
    let name = || named(model, Object::mjOBJ_ACTUATOR, "actuator", i);
    let joint = model.actuator_trnid()[i][0] as usize;
    let scalar = |j: usize| matches!(model.jnt_type()[j], MjtJoint::mjJNT_HINGE | MjtJoint::mjJNT_SLIDE);
    let to = match model.actuator_trntype()[i] {
        MjtTrn::mjTRN_JOINT if scalar(joint) => None,
        MjtTrn::mjTRN_JOINT => Some("a ball or free joint"),
        MjtTrn::mjTRN_TENDON => None,
        MjtTrn::mjTRN_SITE if model.actuator_trnid()[i][1] < 0 => None,
        MjtTrn::mjTRN_SITE => Some("a site relative to another"),
        MjtTrn::mjTRN_BODY => Some("a body (adhesion)"),
        _ => Some("something else than a hinge or slide"),
    };
    if let Some(to) = to {
        return unsupported(format!("the transmission of {} to {to}", name()));
    }
    let gain = model.actuator_gaintype()[i] == MjtGain::mjGAIN_FIXED;
    let bias = matches!(model.actuator_biastype()[i], MjtBias::mjBIAS_NONE | MjtBias::mjBIAS_AFFINE);
    let dynamics = model.actuator_dyntype()[i];
    let known = matches!(
        dynamics,
        MjtDyn::mjDYN_NONE | MjtDyn::mjDYN_INTEGRATOR | MjtDyn::mjDYN_FILTER | MjtDyn::mjDYN_FILTEREXACT
    );
    if !known {
        return unsupported(format!("the activation dynamics of {}", name()));
    }
    if !gain || !bias {
        return unsupported(format!(
            "the gain or bias of {} (a muscle, or one that depends on the state)",
            name()
        ));
    }
    if model.actuator_ctrlnum()[i] != 1 || model.actuator_ctrladr()[i] as usize != i {
        return unsupported(format!("the controls of {}", name()));
    }
    let extra = model.actuator_damping()[i] != 0.0
        || model.actuator_armature()[i] != 0.0
        || model.actuator_dampingpoly()[i].iter().any(|&c| c != 0.0);
    if extra {
        return unsupported(format!("damping or armature of {}", name()));
    }
    Ok(())
}
