//! The compiled constants of a model against the recorded ones.

use super::recording::Recording;
use super::report::{Precision, Report};
use crate::mujoco::{Model, Object};
use crate::{EnvError, LocomotionTask, Perturbation, canonical_name};

/// Compares every recorded constant with the model as MuJoCo compiles it.
pub(super) fn compare(recording: &Recording, report: &mut Report) -> Result<(), EnvError> {
    let Some(name) = canonical_name(&recording.env).filter(|_| !recording.model.is_empty()) else {
        return Ok(());
    };
    let task = LocomotionTask::builtin(name, &Perturbation::default())?;
    for (constant, expected) in &recording.model {
        let place = || format!("{name} model");
        match value(&task, constant) {
            Some(got) => report.compare(&place, constant, expected.as_slice(), &got, Precision::Double),
            None => report.fail(|| format!("{}: unknown constant '{constant}'", place())),
        }
    }
    Ok(())
}

fn value(task: &LocomotionTask, constant: &str) -> Option<Vec<f64>> {
    let model = task.untuned_model().as_ref();
    body(model, constant)
        .or_else(|| joint(model, constant))
        .or_else(|| geom(model, constant))
        .or_else(|| actuator(model, constant))
        .or_else(|| scalar(task, model, constant).map(|value| vec![value]))
        .or_else(|| (constant == "feet_geoms").then(|| task.feet_geoms()))
}

fn ints(values: &[i32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

fn flat<const N: usize>(rows: &[[f64; N]]) -> Vec<f64> {
    rows.as_flattened().to_vec()
}

fn body(model: &Model, constant: &str) -> Option<Vec<f64>> {
    Some(match constant {
        "body_parentid" => ints(model.body_parentid()),
        "body_mass" => model.body_mass().to_vec(),
        "body_inertia" => flat(model.body_inertia()),
        "body_pos" => flat(model.body_pos()),
        "body_quat" => flat(model.body_quat()),
        "body_ipos" => flat(model.body_ipos()),
        "body_iquat" => flat(model.body_iquat()),
        _ => return None,
    })
}

fn joint(model: &Model, constant: &str) -> Option<Vec<f64>> {
    Some(match constant {
        "qpos0" => model.qpos0().to_vec(),
        "dof_armature" => model.dof_armature().to_vec(),
        "dof_damping" => model.dof_damping().to_vec(),
        "jnt_type" => model.jnt_type().iter().map(|&kind| f64::from(kind as u32)).collect(),
        "jnt_range" => flat(model.jnt_range()),
        "jnt_stiffness" => model.jnt_stiffness().to_vec(),
        "jnt_solimp" => flat(model.jnt_solimp()),
        "jnt_solref" => flat(model.jnt_solref()),
        "jnt_pos" => flat(model.jnt_pos()),
        "jnt_axis" => flat(model.jnt_axis()),
        _ => return None,
    })
}

fn geom(model: &Model, constant: &str) -> Option<Vec<f64>> {
    Some(match constant {
        "geom_bodyid" => ints(model.geom_bodyid()),
        "geom_type" => model.geom_type().iter().map(|&kind| f64::from(kind as u32)).collect(),
        "geom_size" => flat(model.geom_size()),
        "geom_pos" => flat(model.geom_pos()),
        "geom_quat" => flat(model.geom_quat()),
        "geom_friction" => flat(model.geom_friction()),
        "geom_margin" => model.geom_margin().to_vec(),
        "geom_solimp" => flat(model.geom_solimp()),
        "geom_solref" => flat(model.geom_solref()),
        "geom_condim" => ints(model.geom_condim()),
        "geom_contype" => ints(model.geom_contype()),
        "geom_conaffinity" => ints(model.geom_conaffinity()),
        _ => return None,
    })
}

fn actuator(model: &Model, constant: &str) -> Option<Vec<f64>> {
    Some(match constant {
        "actuator_ctrlrange" => flat(model.actuator_ctrlrange()),
        "actuator_joint" => model.actuator_trnid().iter().map(|target| f64::from(target[0])).collect(),
        "actuator_gear" => model.actuator_gear().iter().map(|gear| gear[0]).collect(),
        _ => return None,
    })
}

fn scalar(task: &LocomotionTask, model: &Model, constant: &str) -> Option<f64> {
    let option = model.opt();
    Some(match constant {
        "timestep" => option.timestep,
        "frame_skip" => task.frame_skip() as f64,
        "dt" => option.timestep * task.frame_skip() as f64,
        "integrator" => f64::from(option.integrator),
        "density" => option.density,
        "viscosity" => option.viscosity,
        "nq" => model.nq() as f64,
        "nv" => model.nv() as f64,
        "nu" => model.nu() as f64,
        "nbody" => model.nbody() as f64,
        "ngeom" => model.ngeom() as f64,
        // Where there is no floor, recordings have the first geom.
        "floor_geom" => model.name_to_id(Object::mjOBJ_GEOM, "floor").unwrap_or(0) as f64,
        _ => return None,
    })
}
