//! What a MuJoCo world looks like.

use super::memory::Memory;
use super::mesh;
use super::task::Recipe;
use crate::mujoco::{Model, Object, OwnData};
use crate::{Pose, Scene, Shape, ShapeKind};
use mujoco_rs::prelude::MjtGeomBase;

/// Groups from this one on are hidden, as in MuJoCo's viewer: by custom the shapes that only collide.
const FIRST_HIDDEN_GROUP: i32 = 3;

/// The geoms that are drawn: those of a visible group, or all if nothing that moves is in one.
fn visible(model: &Model) -> impl Iterator<Item = usize> + '_ {
    let shown = |geom: usize| model.geom_group()[geom] < FIRST_HIDDEN_GROUP;
    let geoms = 0..model.geom_bodyid().len();
    let any = geoms.clone().any(|geom| shown(geom) && model.geom_bodyid()[geom] > 0);
    geoms.filter(move |&geom| !any || shown(geom))
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

fn colour(model: &Model, geom: usize) -> [f32; 4] {
    match usize::try_from(model.geom_matid()[geom]) {
        Ok(material) => model.mat_rgba()[material],
        Err(_) => model.geom_rgba()[geom],
    }
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
