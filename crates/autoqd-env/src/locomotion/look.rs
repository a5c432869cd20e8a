//! What a MuJoCo world looks like.

use super::memory::Memory;
use super::mesh;
use super::task::Recipe;
use crate::mujoco::{Model, Object, OwnData};
use crate::{Pose, Scene, Shape, ShapeKind};
use mujoco_rs::prelude::{MjtGeomBase, MjtTextureRole};

/// Groups from this one on are hidden, as in MuJoCo's viewer: by custom the shapes that only collide.
const FIRST_HIDDEN_GROUP: i32 = 3;

/// The geoms that are drawn: those of a visible group. Where most bodies have none, because a skin would cover them, these show
/// what they touch with, and all show everything if nothing that moves is visible.
fn visible(model: &Model) -> impl Iterator<Item = usize> + '_ {
    let body = |geom: usize| model.geom_bodyid()[geom] as usize;
    let shown = |geom: usize| model.geom_group()[geom] < FIRST_HIDDEN_GROUP;
    let touches = |geom: usize| model.geom_contype()[geom] != 0 || model.geom_conaffinity()[geom] != 0;
    let geoms = 0..model.geom_bodyid().len();
    // Of every body but the world: whether it has geoms, and visible ones.
    let mut bodies = vec![(false, false); model.body_mass().len()];
    for geom in geoms.clone().filter(|&geom| body(geom) > 0) {
        let (any, seen) = &mut bodies[body(geom)];
        (*any, *seen) = (true, *seen || shown(geom));
    }
    let count = |is: fn(&(bool, bool)) -> bool| bodies.iter().filter(|body| is(body)).count();
    let (all, seen) = (count(|(any, _)| *any), count(|(_, seen)| *seen));
    geoms.filter(move |&geom| {
        shown(geom) || seen == 0 || (2 * seen < all && !bodies[body(geom)].1 && touches(geom))
    })
}

/// One shape per visible geom, and one per goal that is a place.
pub(super) fn scene(recipe: &Recipe) -> Scene {
    let model = &recipe.model;
    let mut shapes: Vec<_> = visible(model).map(|geom| shape(model, geom)).collect();
    shapes.extend(recipe.start.goal_places.iter().map(|(name, _)| goal(name)));
    // The first geom that is not part of the world.
    let follow = visible(model).position(|geom| model.geom_bodyid()[geom] > 0).unwrap_or(0);
    Scene { shapes, flat: false, follow, seconds_per_step: recipe.seconds_per_step }
}

fn shape(model: &Model, geom: usize) -> Shape {
    let kind = match model.geom_type()[geom] {
        MjtGeomBase::mjGEOM_PLANE => ShapeKind::Plane,
        MjtGeomBase::mjGEOM_SPHERE => ShapeKind::Sphere,
        MjtGeomBase::mjGEOM_CAPSULE => ShapeKind::Capsule,
        MjtGeomBase::mjGEOM_ELLIPSOID => ShapeKind::Ellipsoid,
        MjtGeomBase::mjGEOM_CYLINDER => ShapeKind::Cylinder,
        MjtGeomBase::mjGEOM_MESH | MjtGeomBase::mjGEOM_HFIELD => ShapeKind::Mesh,
        _ => ShapeKind::Box,
    };
    let data = usize::try_from(model.geom_dataid()[geom]);
    let mesh = match (model.geom_type()[geom], data) {
        (MjtGeomBase::mjGEOM_MESH, Ok(id)) => Some(mesh::of_mesh(model, id)),
        (MjtGeomBase::mjGEOM_HFIELD, Ok(id)) => Some(mesh::of_height_field(model, id)),
        _ => None,
    };
    let name = |object, id| model.id_to_name(object, id).unwrap_or_default().to_string();
    Shape {
        kind,
        size: model.geom_size()[geom],
        points: Vec::new(),
        mesh,
        rgba: colour(model, geom),
        name: name(Object::mjOBJ_GEOM, geom),
        body: name(Object::mjOBJ_BODY, model.geom_bodyid()[geom] as usize),
    }
}

/// A goal is a ball that touches nothing.
fn goal(name: &str) -> Shape {
    Shape {
        kind: ShapeKind::Sphere,
        size: [0.03, 0.0, 0.0],
        points: Vec::new(),
        mesh: None,
        rgba: [0.95, 0.4, 0.15, 0.8],
        name: name.to_string(),
        body: String::new(),
    }
}

/// The colour a geom has when it is given none.
const NO_COLOUR: [f32; 4] = [0.5, 0.5, 0.5, 1.0];

/// A geom's own colour goes before that of its material, and both are tinted by the material's texture.
fn colour(model: &Model, geom: usize) -> [f32; 4] {
    let own = model.geom_rgba()[geom];
    let Ok(material) = usize::try_from(model.geom_matid()[geom]) else { return own };
    let plain = if own == NO_COLOUR { model.mat_rgba()[material] } else { own };
    let roles = [MjtTextureRole::mjTEXROLE_RGB, MjtTextureRole::mjTEXROLE_RGBA];
    let textures = roles.map(|role| model.mat_texid()[material][role as usize]);
    match textures.into_iter().find_map(|id| texture_colour(model, usize::try_from(id).ok()?)) {
        Some([r, g, b]) => [plain[0] * r, plain[1] * g, plain[2] * b, plain[3]],
        None => plain,
    }
}

/// The mean of a texture, of numbers from 0 to 1.
fn texture_colour(model: &Model, id: usize) -> Option<[f32; 3]> {
    let channels = usize::try_from(model.tex_nchannel()[id]).ok().filter(|channels| *channels >= 3)?;
    let pixels =
        usize::try_from(model.tex_width()[id]).ok()? * usize::try_from(model.tex_height()[id]).ok()?;
    let from = usize::try_from(model.tex_adr()[id]).ok()?;
    let data = model.tex_data().get(from..from + pixels * channels)?;
    // A few thousand pixels say what a large picture looks like.
    let every = (pixels / 4096).max(1);
    let (mut sum, mut count) = ([0_u64; 3], 0);
    for pixel in data.chunks_exact(channels).step_by(every) {
        sum.iter_mut().zip(pixel).for_each(|(sum, byte)| *sum += u64::from(*byte));
        count += 1;
    }
    (count > 0).then(|| sum.map(|sum| sum as f32 / (255.0 * count as f32)))
}

/// Where the shapes of the scene are.
pub(super) fn poses(recipe: &Recipe, data: &OwnData, memory: &Memory, out: &mut Vec<Pose>) {
    out.clear();
    let (positions, rotations) = (data.geom_xpos(), data.geom_xmat());
    let pose = |geom: usize| Pose { position: positions[geom], rotation: rotations[geom] };
    out.extend(visible(&recipe.model).map(pose));
    let point = |first: usize| std::array::from_fn(|i| memory.goals[first + i]);
    let goals = recipe.start.goal_places.iter();
    out.extend(goals.map(|(_, first)| Pose { position: point(*first), ..Pose::IDENTITY }));
}
