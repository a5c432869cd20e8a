//! The same physics, to the bit, with less work: explicit contact pairs instead of a broad phase, no search for constraint
//! islands in a model that is one tree, and none for contacts or dry friction where there can be none.

use super::Model;
use super::scaling::scale_forces;
use crate::Perturbation;
use mujoco_rs::prelude::{MjSpec, MjtDisableBit, MjtEnableBit, SpecElement, SpecItem};

/// Beyond this many pairs MuJoCo's own broad phase is cheaper.
const MAX_PAIRS: usize = 64;

/// A tuned version of the model, or `None` where there is nothing to gain or the tuning is not known to be exact.
pub(crate) fn tuned(spec: &mut MjSpec, model: &Model, perturbation: &Perturbation) -> Option<Model> {
    let option = model.opt();
    let special = MjtEnableBit::mjENBL_OVERRIDE as i32 | MjtEnableBit::mjENBL_SLEEP as i32;
    if model.ffi().ntree != 1 || model.ffi().nflex > 0 || option.enableflags & special != 0 {
        return None;
    }
    spec.option_mut().disableflags |= MjtDisableBit::mjDSBL_ISLAND as i32;
    if model.dof_frictionloss().iter().chain(model.tendon_frictionloss()).all(|&loss| loss == 0.0) {
        spec.option_mut().disableflags |= MjtDisableBit::mjDSBL_FRICTIONLOSS as i32;
    }
    if model.ffi().npair == 0 && plain_contacts(model) {
        let pairs = colliding_pairs(model);
        if pairs.is_empty() {
            spec.option_mut().disableflags |= MjtDisableBit::mjDSBL_CONTACT as i32;
        } else if pairs.len() <= MAX_PAIRS {
            replace_broad_phase(spec, model, &pairs)?;
        }
    }
    let mut tuned = spec.compile().ok()?;
    scale_forces(&mut tuned, perturbation).ok()?;
    Some(tuned)
}

/// Contacts with properties that a pair does not carry over are left to MuJoCo.
fn plain_contacts(model: &Model) -> bool {
    model.geom_adhesion().iter().all(|&a| a == 0.0)
        && model.geom_surfacevel().iter().flatten().all(|&v| v == 0.0)
        && model.geom_priority().iter().all(|&p| p == 0)
}

/// The geom pairs that MuJoCo's filters let through, in the order in which it visits them.
pub(crate) fn colliding_pairs(model: &Model) -> Vec<(usize, usize)> {
    let geoms = model.geom_bodyid().len();
    let mut pairs: Vec<_> = (0..geoms)
        .flat_map(|a| (a + 1..geoms).map(move |b| (a, b)))
        .filter(|&(a, b)| can_collide(model, a, b))
        .collect();
    let body = model.geom_bodyid();
    pairs.sort_by_key(|&(a, b)| {
        let (low, high) = (body[a].min(body[b]), body[a].max(body[b]));
        (low, high, a, b)
    });
    pairs
}

fn can_collide(model: &Model, a: usize, b: usize) -> bool {
    let (contype, conaffinity) = (model.geom_contype(), model.geom_conaffinity());
    let masks = contype[a] & conaffinity[b] != 0 || contype[b] & conaffinity[a] != 0;
    masks && bodies_can_collide(model, model.geom_bodyid()[a] as usize, model.geom_bodyid()[b] as usize)
}

/// Not within a rigid group, not between parent and child unless one is the world, not where excluded.
fn bodies_can_collide(model: &Model, a: usize, b: usize) -> bool {
    let weld = model.body_weldid();
    let parent = |body: usize| weld[model.body_parentid()[weld[body] as usize] as usize];
    if weld[a] == weld[b] {
        return false;
    }
    let filter = model.opt().disableflags & MjtDisableBit::mjDSBL_FILTERPARENT as i32 == 0;
    if filter && weld[a] != 0 && weld[b] != 0 && (weld[a] == parent(b) || weld[b] == parent(a)) {
        return false;
    }
    let signature = ((a.min(b) as i32) << 16) + a.max(b) as i32;
    !model.exclude_signature().contains(&signature)
}

/// Puts the pairs into the model and takes all geoms out of the broad phase.
fn replace_broad_phase(spec: &mut MjSpec, model: &Model, pairs: &[(usize, usize)]) -> Option<()> {
    let mut names = vec![String::new(); model.geom_bodyid().len()];
    for geom in spec.geom_iter_mut() {
        let id = geom.id()?;
        if geom.name().is_empty() {
            geom.set_name(&format!("geom#{id}")).ok()?;
        }
        names[id] = geom.name().to_string();
        geom.set_contype(0);
        geom.set_conaffinity(0);
    }
    for &(a, b) in pairs {
        add_pair(spec, model, (a, b), &names);
    }
    Some(())
}

/// A pair with the parameters that MuJoCo would mix at run time for the two geoms.
fn add_pair(spec: &mut MjSpec, model: &Model, (a, b): (usize, usize), names: &[String]) {
    let pair = spec.add_pair();
    pair.set_geomname1(&names[a]);
    pair.set_geomname2(&names[b]);
    pair.set_condim(model.geom_condim()[a].max(model.geom_condim()[b]));
    pair.set_margin(model.geom_margin()[a] + model.geom_margin()[b]);
    pair.set_gap(model.geom_gap()[a] + model.geom_gap()[b]);
    let [slide, spin, roll]: [f64; 3] =
        std::array::from_fn(|i| model.geom_friction()[a][i].max(model.geom_friction()[b][i]));
    *pair.friction_mut() = [slide, slide, spin, roll, roll];
    let mix = mixing(model.geom_solmix()[a], model.geom_solmix()[b]);
    *pair.solref_mut() = mix_solref(&model.geom_solref()[a], &model.geom_solref()[b], mix);
    *pair.solimp_mut() = blend(&model.geom_solimp()[a], &model.geom_solimp()[b], mix);
}

/// Weight of the first geom's solver parameters.
pub(crate) fn mixing(a: f64, b: f64) -> f64 {
    const MIN: f64 = 1e-15;
    match (a >= MIN, b >= MIN) {
        (true, true) => a / (a + b),
        (false, false) => 0.5,
        (false, true) => 0.0,
        (true, false) => 1.0,
    }
}

/// Positive time constants are blended; direct stiffness (negative) takes the smaller.
pub(crate) fn mix_solref(a: &[f64; 2], b: &[f64; 2], mix: f64) -> [f64; 2] {
    if a[0] > 0.0 && b[0] > 0.0 { blend(a, b, mix) } else { std::array::from_fn(|i| a[i].min(b[i])) }
}

pub(crate) fn blend<const N: usize>(a: &[f64; N], b: &[f64; N], mix: f64) -> [f64; N] {
    std::array::from_fn(|i| mix * a[i] + (1.0 - mix) * b[i])
}
