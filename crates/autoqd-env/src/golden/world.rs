//! An environment whose inner state can be compared with a recording.

use super::recording::Rollout;
use crate::{EnvError, Environment, NumpyRng, canonical_name};

/// The kind of machine a recording was made on, as far as it shows in the numbers.
#[cfg(feature = "mujoco")]
pub(super) type Machine = crate::Blas;
#[cfg(not(feature = "mujoco"))]
pub(super) type Machine = ();

/// All kinds of machines, ours first.
#[cfg(feature = "mujoco")]
pub(super) const MACHINES: &[Machine] = &[Machine::Plain, Machine::Fused];
#[cfg(not(feature = "mujoco"))]
pub(super) const MACHINES: &[Machine] = &[()];

/// An environment whose inner state can be compared with a recording.
pub(super) enum World {
    #[cfg(feature = "mujoco")]
    Locomotion(Box<crate::Locomotion>),
    #[cfg(feature = "box2d")]
    Walker(Box<crate::BipedalWalker>),
}

impl World {
    /// A new world for a rollout, as Gymnasium would build it.
    pub fn new(env: &str, rollout: &Rollout, machine: Machine) -> Result<Self, EnvError> {
        match canonical_name(env) {
            #[cfg(feature = "box2d")]
            Some("bipedal-walker") => {
                let _ = machine;
                walker(rollout)
            }
            #[cfg(feature = "mujoco")]
            Some(name) if crate::gymnasium_id(name).is_some() => {
                let task = crate::LocomotionTask::builtin(name, &rollout.perturbation())?.with_blas(machine);
                Ok(World::Locomotion(Box::new(task.world()?)))
            }
            Some(name) => Err(EnvError::TaskValue {
                task: name.to_string(),
                message: "Gymnasium has no such task, so there is nothing to compare".to_string(),
            }),
            None => Err(crate::load_task(env, &rollout.perturbation()).err().unwrap_or_else(|| {
                let message = "only built-in tasks can be compared".to_string();
                EnvError::TaskValue { task: env.to_string(), message }
            })),
        }
    }

    pub fn environment(&mut self) -> &mut dyn Environment {
        match self {
            #[cfg(feature = "mujoco")]
            World::Locomotion(world) => world.as_mut(),
            #[cfg(feature = "box2d")]
            World::Walker(world) => world.as_mut(),
        }
    }

    pub fn rng(&self) -> &NumpyRng {
        match self {
            #[cfg(feature = "mujoco")]
            World::Locomotion(world) => world.rng(),
            #[cfg(feature = "box2d")]
            World::Walker(world) => world.rng(),
        }
    }

    /// Writes the foot contacts, 0 or 1.
    pub fn feet(&self, out: &mut Vec<f64>) {
        out.clear();
        let number = |touch: bool| f64::from(u8::from(touch));
        match self {
            #[cfg(feature = "mujoco")]
            World::Locomotion(world) => out.extend(world.feet().map(number)),
            #[cfg(feature = "box2d")]
            World::Walker(world) => out.extend(world.feet().map(number)),
        }
    }

    pub fn qpos(&self) -> &[f64] {
        match self {
            #[cfg(feature = "mujoco")]
            World::Locomotion(world) => world.qpos(),
            #[cfg(feature = "box2d")]
            World::Walker(_) => &[],
        }
    }

    pub fn qvel(&self) -> &[f64] {
        match self {
            #[cfg(feature = "mujoco")]
            World::Locomotion(world) => world.qvel(),
            #[cfg(feature = "box2d")]
            World::Walker(_) => &[],
        }
    }

    pub fn hull(&self) -> Vec<f64> {
        match self {
            #[cfg(feature = "mujoco")]
            World::Locomotion(_) => Vec::new(),
            #[cfg(feature = "box2d")]
            World::Walker(world) => world.hull().map(f64::from).to_vec(),
        }
    }

    pub fn terrain(&self) -> &[f64] {
        match self {
            #[cfg(feature = "mujoco")]
            World::Locomotion(_) => &[],
            #[cfg(feature = "box2d")]
            World::Walker(world) => world.terrain_heights(),
        }
    }

    /// Whether observations were recorded in single precision.
    pub fn is_single(&self) -> bool {
        match self {
            #[cfg(feature = "mujoco")]
            World::Locomotion(_) => false,
            #[cfg(feature = "box2d")]
            World::Walker(_) => true,
        }
    }
}

/// Gymnasium keeps one Box2D world over the episodes of a rollout; with one episode there is no difference.
#[cfg(feature = "box2d")]
fn walker(rollout: &Rollout) -> Result<World, EnvError> {
    use crate::{BipedalWalkerTask, WorldReuse};
    let reuse = if rollout.episodes.len() > 1 { WorldReuse::Always } else { WorldReuse::Never };
    let friction =
        rollout.friction.unwrap_or(BipedalWalkerTask::FRICTION) * rollout.friction_scale.unwrap_or(1.0);
    let task = BipedalWalkerTask::new(friction, rollout.mass.unwrap_or(1.0))?;
    Ok(World::Walker(Box::new(task.walker(reuse)?)))
}
