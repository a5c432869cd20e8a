//! What a MuJoCo world looks like.

use super::task::Recipe;
use crate::mujoco::{Data, Model, Object};
use crate::{Pose, Scene, Shape, ShapeKind};
use mujoco_rs::prelude::MjtGeomBase;

/// One shape per geom; a mesh or height field is shown by its bounding box.
pub(super) fn scene(recipe: &Recipe) -> Scene {
    let model = &recipe.model;
    let shapes: Vec<_> = (0..model.geom_bodyid().len()).map(|geom| shape(model, geom)).collect();
    // The first geom that is not part of the world.
    let follow = model.geom_bodyid().iter().position(|&body| body > 0).unwrap_or(0);
    Scene { shapes, flat: false, follow, seconds_per_step: recipe.seconds_per_step }
}

fn shape(model: &Model, geom: usize) -> Shape {
    let kind = match model.geom_type()[geom] {
        MjtGeomBase::mjGEOM_PLANE => ShapeKind::Plane,
        MjtGeomBase::mjGEOM_SPHERE => ShapeKind::Sphere,
        MjtGeomBase::mjGEOM_CAPSULE => ShapeKind::Capsule,
        MjtGeomBase::mjGEOM_ELLIPSOID => ShapeKind::Ellipsoid,
        MjtGeomBase::mjGEOM_CYLINDER => ShapeKind::Cylinder,
        _ => ShapeKind::Box,
    };
    let name = |object, id| model.id_to_name(object, id).unwrap_or_default().to_string();
    Shape {
        kind,
        size: model.geom_size()[geom],
        points: Vec::new(),
        rgba: colour(model, geom),
        name: name(Object::mjOBJ_GEOM, geom),
        body: name(Object::mjOBJ_BODY, model.geom_bodyid()[geom] as usize),
    }
}

fn colour(model: &Model, geom: usize) -> [f32; 4] {
    match usize::try_from(model.geom_matid()[geom]) {
        Ok(material) => model.mat_rgba()[material],
        Err(_) => model.geom_rgba()[geom],
    }
}

pub(super) fn poses(data: &Data, out: &mut Vec<Pose>) {
    out.clear();
    let geoms = data.geom_xpos().iter().zip(data.geom_xmat());
    out.extend(geoms.map(|(&position, &rotation)| Pose { position, rotation }));
}
