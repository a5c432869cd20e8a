//! From MJCF to a compiled model, with perturbed physics.

use super::scaling::scale_forces;
use super::{Model, library, log};
use crate::{EnvError, Margin, Perturbation};
use mujoco_rs::prelude::MjSpec;
use mujoco_rs::wrappers::mj_editing::MjsBody;
use std::path::{Path, PathBuf};

/// Where a model comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// An MJCF file; meshes and includes are found relative to it.
    File(PathBuf),
    /// MJCF text of this crate, with the name that errors show.
    Text { name: &'static str, xml: &'static str },
}

impl Source {
    fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Text { name, .. } => (*name).to_string(),
        }
    }

    fn error(&self, message: impl ToString) -> EnvError {
        // MuJoCo breaks its messages over lines; ours are one line.
        let message = message.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        EnvError::Model { path: self.name(), message }
    }

    fn parse(&self) -> Result<MjSpec, EnvError> {
        match self {
            Source::File(path) => parse_file(path).map_err(|message| self.error(message)),
            Source::Text { xml, .. } => MjSpec::from_xml_string(xml).map_err(|e| self.error(e)),
        }
    }
}

fn parse_file(path: &Path) -> Result<MjSpec, String> {
    // MuJoCo says only "could not open"; the system knows why.
    std::fs::File::open(path).map_err(|e| format!("cannot be read: {e}"))?;
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err("the path holds a zero byte".to_string());
    }
    MjSpec::from_xml(path).map_err(|e| e.to_string())
}

/// The editable form of a model with friction, mass and margin of the perturbation applied to the values of its MJCF,
/// and its compiled form with all of the perturbation.
pub(crate) fn load(
    source: &Source,
    perturbation: &Perturbation,
    floor: Option<&str>,
) -> Result<(MjSpec, Model), EnvError> {
    log::install();
    library::check_version().map_err(|message| source.error(message))?;
    let mut spec = source.parse()?;
    // A model's own memory size can be too small, and running out of it ends the process.
    spec.set_memory(-1);
    perturb(&mut spec, perturbation, floor).map_err(|message| source.error(message))?;
    let mut model = spec.compile().map_err(|e| source.error(e))?;
    scale_forces(&mut model, perturbation).map_err(|message| source.error(message))?;
    check(&model).map_err(|message| source.error(message))?;
    Ok((spec, model))
}

fn check(model: &Model) -> Result<(), String> {
    let timestep = model.opt().timestep;
    if !(timestep.is_finite() && timestep > 0.0) {
        return Err(format!("timestep {timestep} is not a positive number"));
    }
    if model.nu() == 0 {
        return Err("the model has no actuators; a task needs at least one".to_string());
    }
    if model.nv() == 0 {
        return Err("the model has no joints; nothing can move".to_string());
    }
    Ok(())
}

fn perturb(spec: &mut MjSpec, perturbation: &Perturbation, floor: Option<&str>) -> Result<(), String> {
    if perturbation.friction_scale != 1.0 {
        scale_friction(spec, perturbation.friction_scale);
    }
    if perturbation.mass_scale != 1.0 {
        scale_mass(spec, perturbation.mass_scale);
    }
    if perturbation.margin == Margin::PaperEra {
        let name = floor.ok_or("margin = \"paper-era\" needs `floor` in the task file")?;
        spec.geom_mut(name).ok_or_else(|| format!("no geom '{name}' for the floor"))?.set_margin(0.0);
    }
    Ok(())
}

fn scale_friction(spec: &mut MjSpec, scale: f64) {
    for geom in spec.geom_iter_mut() {
        geom.friction_mut()[0] *= scale;
    }
    for pair in spec.pair_iter_mut() {
        // Unset values are NaN and stay so; they come from the geoms.
        pair.friction_mut()[0] *= scale;
        pair.friction_mut()[1] *= scale;
    }
}

/// A total mass in the model overrides all densities, so it is the only value to scale where it is given.
fn scale_mass(spec: &mut MjSpec, scale: f64) {
    let total = spec.compiler().settotalmass();
    if total > 0.0 {
        spec.compiler_mut().set_settotalmass(total * scale);
        return;
    }
    for geom in spec.geom_iter_mut() {
        let (mass, density) = (geom.mass(), geom.density());
        geom.set_mass(mass * scale);
        geom.set_density(density * scale);
    }
    scale_inertial(spec.world_body_mut(), scale);
}

fn scale_inertial(body: &mut MjsBody, scale: f64) {
    let mass = body.mass();
    body.set_mass(mass * scale);
    body.inertia_mut().iter_mut().for_each(|value| *value *= scale);
    body.fullinertia_mut().iter_mut().for_each(|value| *value *= scale);
    for child in body.body_iter_mut() {
        scale_inertial(child, scale);
    }
}
