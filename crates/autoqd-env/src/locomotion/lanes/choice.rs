//! Which simulator runs the worlds of a task.

use super::super::{Locomotion, Recipe};
use super::convert::convert;
use super::sensors::Sensors;
use super::side_by_side::{SideBySide, stream};
use super::worlds::LaneWorlds;
use crate::mujoco::{CollisionFunctions, Model};
use crate::{EnvError, LocomotionTask, Physics, SingleWorld, Worlds};
use autoqd_lanes::{Backend, Batch, Compiled, LANES, LanesError};
use std::sync::{Arc, OnceLock};

/// The largest deviation of a single step from libmujoco's that the self-check accepts.
pub const SELF_CHECK_LIMIT: f64 = 1e-9;

/// A task's model on the lanes engine.
pub(crate) struct Prepared {
    pub compiled: Arc<Compiled>,
    pub backend: Backend,
    /// Per contact pair: the measure whose foot touches the floor with it.
    pub foot_of_pair: Vec<Option<usize>>,
    /// Per contact pair: the contacts that episodes follow.
    pub followed_of_pair: Vec<Vec<usize>>,
    /// libmujoco's geoms of each contact pair.
    pub pair_geoms: Vec<[usize; 2]>,
    /// Whether libmujoco finds the contacts of a pair by an iteration.
    pub iterated_contacts: bool,
    /// The sensors, if the task reads any.
    pub sensors: Option<Sensors>,
}

/// Eight worlds whose contacts libmujoco finds where the engine has no formula.
pub(super) fn new_batch(
    model: &Arc<Model>,
    compiled: &Arc<Compiled>,
    pair_geoms: &[[usize; 2]],
    backend: Backend,
) -> Result<Batch, LanesError> {
    let mut batch = Batch::new(Arc::clone(compiled), backend)?;
    if compiled.needs_narrow_phase() {
        let functions = CollisionFunctions::new(model, pair_geoms);
        let functions = functions
            .ok_or_else(|| LanesError::Invalid { what: "libmujoco could not make a world".into() })?;
        batch.set_narrow_phase(Box::new(functions));
    }
    Ok(batch)
}

/// The lanes form of a task, made and checked once, when it is first asked for.
#[derive(Default)]
pub(crate) struct Choice {
    prepared: OnceLock<Result<Arc<Prepared>, String>>,
    deviation: OnceLock<f64>,
}

impl Clone for Choice {
    /// A copied recipe may be given another model, so its lanes form is built again.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Choice {
    /// The lanes form, or why there is none.
    fn prepared(&self, recipe: &Recipe) -> &Result<Arc<Prepared>, String> {
        self.prepared.get_or_init(|| prepare(recipe).map(Arc::new))
    }

    /// The lanes form if single steps agree with libmujoco's.
    fn checked(&self, recipe: &Recipe) -> Result<(&Arc<Prepared>, f64), String> {
        let prepared = self.prepared(recipe).as_ref().map_err(String::clone)?;
        let deviation = *self.deviation.get_or_init(|| self_check(&recipe.model, prepared));
        if deviation <= SELF_CHECK_LIMIT {
            Ok((prepared, deviation))
        } else {
            Err(format!("the lanes engine differs from libmujoco by {deviation:.1e} in a step of this model"))
        }
    }
}

fn prepare(recipe: &Recipe) -> Result<Prepared, String> {
    let backend = Backend::best().ok_or_else(Backend::why_none)?;
    if recipe.physics.is_some() {
        let what = "physics that are drawn for every episode ([randomisation])";
        return Err(format!("{what} is not supported by the lanes engine yet"));
    }
    let sensors = match recipe.needs.sensors {
        true => Some(Sensors::new(&recipe.model).map_err(|e| e.to_string())?),
        false => None,
    };
    let converted = convert(&recipe.model).map_err(|e| e.to_string())?;
    let compiled = Compiled::new(&converted.model).map_err(|e| e.to_string())?;
    let foot = |geoms: &[usize; 2]| {
        let floor = recipe.floor? as usize;
        match *geoms {
            [a, b] if a == floor => recipe.foot_of_geom[b],
            [a, b] if b == floor => recipe.foot_of_geom[a],
            _ => None,
        }
    };
    let foot_of_pair = converted.pair_geoms.iter().map(foot).collect();
    let followed = |geoms: &[usize; 2]| {
        let mut found = Vec::new();
        recipe.followed.match_contact(*geoms, |contact| found.push(contact));
        found
    };
    let followed_of_pair = converted.pair_geoms.iter().map(followed).collect();
    let pair_geoms = converted.pair_geoms;
    let iterated_contacts = pair_geoms.iter().any(|&pair| is_iterated(&recipe.model, pair));
    Ok(Prepared {
        compiled: Arc::new(compiled),
        backend,
        foot_of_pair,
        followed_of_pair,
        pair_geoms,
        iterated_contacts,
        sensors,
    })
}

/// Planes, spheres, capsules and boxes have formulas among themselves, and planes and spheres with cylinders.
fn is_iterated(model: &Model, pair: [usize; 2]) -> bool {
    use mujoco_rs::prelude::MjtGeomBase as G;
    let kinds = pair.map(|g| model.geom_type()[g]);
    let has = |kind: G| kinds.contains(&kind);
    if has(G::mjGEOM_PLANE) {
        return false;
    }
    let curved = has(G::mjGEOM_CYLINDER) && !has(G::mjGEOM_SPHERE);
    curved || has(G::mjGEOM_ELLIPSOID) || has(G::mjGEOM_MESH) || has(G::mjGEOM_HFIELD)
}

/// The largest deviation over a few hundred steps of worlds that fall and come to rest. libmujoco finds some contacts by
/// an iteration whose end depends on the last bit of the poses; with such contacts a tenth of the steps is left out.
fn self_check(model: &Arc<Model>, prepared: &Prepared) -> f64 {
    const STEPS: usize = 60;
    let compiled = Compiled::clone(&prepared.compiled);
    let Ok(mut pair) = SideBySide::with(model, compiled, &prepared.pair_geoms, prepared.backend) else {
        return f64::INFINITY;
    };
    let mut rng = stream(0);
    let mut deviations = Vec::with_capacity(2 * STEPS * LANES);
    for amplitude in [0.1, 1.0] {
        (0..LANES).for_each(|lane| pair.reset(lane, 0.1, &mut rng));
        for _ in 0..STEPS {
            pair.random_controls(amplitude, &mut rng);
            deviations.extend(pair.step().map(|d| d.state));
        }
    }
    deviations.sort_by(f64::total_cmp);
    let counted = if prepared.iterated_contacts { deviations.len() * 9 / 10 } else { deviations.len() };
    deviations.get(counted.saturating_sub(1)).copied().unwrap_or(f64::INFINITY)
}

pub(crate) fn make_worlds(recipe: &Arc<Recipe>, physics: Physics) -> Result<Box<dyn Worlds>, EnvError> {
    let lanes = match physics {
        Physics::Reference => None,
        Physics::Auto => recipe.lanes.checked(recipe).ok().map(|(prepared, _)| prepared),
        Physics::Lanes => {
            Some(recipe.lanes.prepared(recipe).as_ref().map_err(|reason| refused(recipe, reason))?)
        }
    };
    Ok(match lanes {
        Some(prepared) => {
            let worlds = LaneWorlds::new(Arc::clone(recipe), prepared);
            Box::new(worlds.map_err(|e: LanesError| refused(recipe, &e.to_string()))?)
        }
        None => Box::new(SingleWorld::new(Box::new(Locomotion::new(Arc::clone(recipe))?))),
    })
}

/// Worlds on libmujoco.
pub(super) fn reference_worlds(task: &LocomotionTask) -> Result<Box<dyn Worlds>, EnvError> {
    make_worlds(task.recipe(), Physics::Reference)
}

/// Worlds on the lanes engine with a given back end.
pub(super) fn worlds_with(task: &LocomotionTask, backend: Backend) -> Result<Box<dyn Worlds>, EnvError> {
    let recipe = task.recipe();
    let prepared = prepare(recipe).map_err(|reason| refused(recipe, &reason))?;
    let prepared = Arc::new(Prepared { backend, ..prepared });
    let worlds = LaneWorlds::new(Arc::clone(recipe), &prepared);
    Ok(Box::new(worlds.map_err(|e| refused(recipe, &e.to_string()))?))
}

fn refused(recipe: &Recipe, reason: &str) -> EnvError {
    EnvError::World {
        task: recipe.spec.name.clone(),
        message: format!("{reason}; use physics = \"auto\" or \"reference\""),
    }
}

/// Which simulator [`make_worlds`] uses and why.
pub(crate) fn physics_note(recipe: &Recipe, physics: Physics) -> String {
    let solver = super::convert::other_solver(&recipe.model).map(|other| {
        format!(
            "; constraints by Newton's method in place of {other}, so that steps differ from libmujoco's by what {other} \
             leaves"
        )
    });
    let solver = solver.unwrap_or_default();
    let lanes = |prepared: &Prepared| {
        format!("lanes engine ({}, {LANES} worlds at a time){solver}", prepared.backend)
    };
    match physics {
        Physics::Reference => "libmujoco".to_string(),
        Physics::Lanes => match recipe.lanes.prepared(recipe) {
            Ok(prepared) => lanes(prepared),
            Err(reason) => format!("none: {reason}"),
        },
        Physics::Auto => match recipe.lanes.checked(recipe) {
            Ok((prepared, deviation)) if prepared.iterated_contacts => format!(
                "{}; nine of ten steps differ from libmujoco's by at most {deviation:.0e}, others by what libmujoco \
                 finds contacts to",
                lanes(prepared)
            ),
            Ok((prepared, deviation)) => {
                format!("{}; a step differs from libmujoco's by at most {deviation:.0e}", lanes(prepared))
            }
            Err(reason) => format!("libmujoco, because {reason}"),
        },
    }
}
