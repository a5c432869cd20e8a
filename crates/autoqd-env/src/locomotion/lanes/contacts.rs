//! Geoms that can touch, with the parameters MuJoCo mixes for a pair.

use super::convert::disabled;
use super::support::named;
use crate::mujoco::{Model, Object, blend, colliding_pairs, mix_solref, mixing};
use autoqd_lanes::LanesError;
use autoqd_lanes::model::{Around, ContactPair, Geom, Shape, Softness};
use mujoco_rs::prelude::{MjtDisableBit as Disable, MjtGeomBase};

/// The geoms of possible contacts, the contacts, and libmujoco's ids of their geoms.
pub(super) struct Contacts {
    pub geoms: Vec<Geom>,
    pub pairs: Vec<ContactPair>,
    pub pair_geoms: Vec<[usize; 2]>,
}

pub(super) fn convert(model: &Model) -> Result<Contacts, LanesError> {
    let off = disabled(model, Disable::mjDSBL_CONTACT) || disabled(model, Disable::mjDSBL_CONSTRAINT);
    let pairs = if off { Vec::new() } else { pairs(model)? };
    let mut ids: Vec<usize> = pairs.iter().flat_map(|p| p.geoms).collect();
    ids.sort_unstable();
    ids.dedup();
    let geoms = ids.iter().map(|&g| geom(model, g)).collect();
    let index = |g: usize| ids.binary_search(&g).expect("every geom of a pair is listed");
    let pair_geoms = pairs.iter().map(|p| p.geoms).collect();
    let pairs = pairs.into_iter().map(|p| ContactPair { geoms: p.geoms.map(index), ..p }).collect();
    Ok(Contacts { geoms, pairs, pair_geoms })
}

fn geom(model: &Model, g: usize) -> Geom {
    let size = model.geom_size()[g];
    let shape = match model.geom_type()[g] {
        MjtGeomBase::mjGEOM_PLANE => Shape::Plane,
        MjtGeomBase::mjGEOM_SPHERE => Shape::Sphere { radius: size[0] },
        MjtGeomBase::mjGEOM_CAPSULE => Shape::Capsule { radius: size[0], half_length: size[1] },
        MjtGeomBase::mjGEOM_BOX => Shape::Box { half_size: size },
        MjtGeomBase::mjGEOM_CYLINDER => Shape::Cylinder { radius: size[0], half_length: size[1] },
        _ => Shape::Other,
    };
    let [x, y, z, half_x, half_y, half_z] = model.geom_aabb()[g];
    let half_size = [half_x, half_y, half_z];
    let radius = half_size.iter().map(|h| h * h).sum::<f64>().sqrt();
    Geom {
        name: model.id_to_name(Object::mjOBJ_GEOM, g).unwrap_or_default().to_string(),
        body: model.geom_bodyid()[g] as usize,
        shape,
        position: model.geom_pos()[g],
        orientation: model.geom_quat()[g],
        around: Around { center: [x, y, z], half_size, radius },
    }
}

fn pairs(model: &Model) -> Result<Vec<ContactPair>, LanesError> {
    let explicit = model.pair_geom1().len();
    let mut pairs: Vec<_> = (0..explicit).map(|p| explicit_pair(model, p)).collect::<Result<_, _>>()?;
    // An explicit pair takes the place of one by the masks.
    let known: Vec<[usize; 2]> = pairs.iter().map(|p| p.geoms).collect();
    for (a, b) in colliding_pairs(model) {
        if !known.contains(&ordered(model, a, b)) {
            pairs.push(filtered_pair(model, a, b)?);
        }
    }
    Ok(pairs)
}

/// The order in which MuJoCo hands two geoms to its collision functions: by type, planes first.
fn ordered(model: &Model, a: usize, b: usize) -> [usize; 2] {
    if model.geom_type()[a] as i32 > model.geom_type()[b] as i32 { [b, a] } else { [a, b] }
}

fn explicit_pair(model: &Model, p: usize) -> Result<ContactPair, LanesError> {
    if model.pair_adhesion()[p] != 0.0 {
        let what = format!("adhesion of {}", named(model, Object::mjOBJ_PAIR, "pair", p));
        return Err(LanesError::Unsupported { what });
    }
    let (a, b) = (model.pair_geom1()[p] as usize, model.pair_geom2()[p] as usize);
    Ok(ContactPair {
        geoms: ordered(model, a, b),
        dimension: model.pair_dim()[p] as usize,
        friction: model.pair_friction()[p],
        friction_reference: Some(model.pair_solreffriction()[p]).filter(|r| *r != [0.0; 2]),
        margin: model.pair_margin()[p],
        softness: Softness { reference: model.pair_solref()[p], impedance: model.pair_solimp()[p] },
    })
}

/// Sliding, torsional and rolling friction of all five directions.
fn directions([slide, spin, roll]: [f64; 3]) -> [f64; 5] {
    [slide, slide, spin, roll, roll]
}

fn filtered_pair(model: &Model, a: usize, b: usize) -> Result<ContactPair, LanesError> {
    for g in [a, b] {
        let unusual = model.geom_adhesion()[g] != 0.0 || model.geom_surfacevel()[g] != [0.0; 6];
        if unusual {
            let what =
                format!("adhesion or surface velocity of {}", named(model, Object::mjOBJ_GEOM, "geom", g));
            return Err(LanesError::Unsupported { what });
        }
    }
    let (geoms, margin) = (ordered(model, a, b), model.geom_margin()[a] + model.geom_margin()[b]);
    let (first, second) = (model.geom_priority()[a], model.geom_priority()[b]);
    if first != second {
        // The geom of higher priority decides alone.
        let g = if first > second { a } else { b };
        return Ok(ContactPair {
            geoms,
            dimension: model.geom_condim()[g] as usize,
            friction: directions(model.geom_friction()[g]),
            friction_reference: None,
            margin,
            softness: Softness { reference: model.geom_solref()[g], impedance: model.geom_solimp()[g] },
        });
    }
    let mix = mixing(model.geom_solmix()[a], model.geom_solmix()[b]);
    Ok(ContactPair {
        geoms,
        dimension: model.geom_condim()[a].max(model.geom_condim()[b]) as usize,
        friction: directions(std::array::from_fn(|i| {
            model.geom_friction()[a][i].max(model.geom_friction()[b][i])
        })),
        friction_reference: None,
        margin,
        softness: Softness {
            reference: mix_solref(&model.geom_solref()[a], &model.geom_solref()[b], mix),
            impedance: blend(&model.geom_solimp()[a], &model.geom_solimp()[b], mix),
        },
    })
}
