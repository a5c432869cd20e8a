//! One world of a locomotion task.

use super::episode::Episode;
use super::look;
use super::measure::What;
use super::task::Recipe;
use crate::mujoco::{self, OwnData, Unscaled};
use crate::{
    Action, EnvError, EnvSpec, Environment, InfoSpec, NumpyRng, Pose, Scene, Seed, Transition, checks,
};
use std::sync::Arc;

/// One world of a [`LocomotionTask`](crate::LocomotionTask).
pub struct Locomotion {
    recipe: Arc<Recipe>,
    data: OwnData,
    /// What the physics of an episode are multiples of, where they are drawn.
    unscaled: Option<Unscaled>,
    rng: NumpyRng,
    episode: Episode,
}

impl Locomotion {
    pub(crate) fn new(recipe: Arc<Recipe>) -> Result<Self, EnvError> {
        let own = recipe.physics.is_some();
        let data = mujoco::new_own_data(&recipe.model, own).ok_or_else(|| EnvError::World {
            task: recipe.spec.name.clone(),
            message: "MuJoCo could not allocate its state; free some memory".to_string(),
        })?;
        let episode = Episode::new(&recipe);
        let unscaled = recipe.physics.as_ref().map(|_| Unscaled::of(&recipe.model));
        Ok(Self { data, unscaled, rng: NumpyRng::from_seed(&Seed::from(0_u64)), episode, recipe })
    }

    /// Generalised positions.
    pub fn qpos(&self) -> &[f64] {
        self.data.qpos()
    }

    /// Generalised velocities.
    pub fn qvel(&self) -> &[f64] {
        self.data.qvel()
    }

    /// The random generator; until the first seed it is that of seed 0.
    pub fn rng(&self) -> &NumpyRng {
        &self.rng
    }

    /// Whether each foot of the foot-contact measures touches the floor after the last step, in their order.
    pub fn feet(&self) -> impl Iterator<Item = bool> + '_ {
        let is_foot = |(i, touch): (usize, &bool)| {
            matches!(self.recipe.measures[i].what, What::Foot { .. }).then_some(*touch)
        };
        self.episode.touches.iter().enumerate().filter_map(is_foot)
    }

    fn find_touches(&mut self) {
        self.episode.touches.fill(false);
        self.find_followed();
        let Some(floor) = self.recipe.floor else { return };
        for contact in self.data.contact().iter().filter(|c| c.efc_address >= 0) {
            let other = match contact.geom {
                [a, b] if a == floor => b,
                [a, b] if b == floor => a,
                _ => continue,
            };
            // Flexible bodies have no geom.
            if let Some(Some(measure)) = usize::try_from(other).ok().map(|g| self.recipe.foot_of_geom[g]) {
                self.episode.touches[measure] = true;
            }
        }
    }

    /// Finds the contacts that the episode follows.
    fn find_followed(&mut self) {
        let (followed, touching) = (&self.recipe.followed, &mut self.episode.memory.touching);
        touching.fill(false);
        if followed.contacts.is_empty() {
            return;
        }
        for contact in self.data.contact().iter().filter(|c| c.efc_address >= 0) {
            // Flexible bodies have no geom.
            if let [Ok(a), Ok(b)] = contact.geom.map(usize::try_from) {
                followed.match_contact([a, b], |i| touching[i] = true);
            }
        }
    }

    /// Lets the world settle under the controls of action zero.
    fn settle(&mut self) {
        let steps = self.recipe.start.settle_steps;
        if steps > 0 {
            (0..steps).for_each(|_| self.data.step());
            self.data.forward();
        }
    }

    fn advance(&mut self, action: Action<'_>) {
        let _untimed = mujoco::Untimed::new();
        let controls = self.episode.act(&self.recipe, action);
        self.data.ctrl_mut().copy_from_slice(controls);
        for _ in 0..self.recipe.frame_skip {
            self.data.step();
        }
        if self.recipe.needs.contact_forces {
            self.data.rne_post_constraint();
        }
    }
}

impl Environment for Locomotion {
    fn spec(&self) -> &EnvSpec {
        &self.recipe.spec
    }

    fn reset(&mut self, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        checks::observation(&self.recipe.spec, observation)?;
        let _untimed = mujoco::Untimed::new();
        if let Some(seed) = seed {
            self.rng = NumpyRng::from_seed(seed);
        }
        if let Some((physics, unscaled)) = self.recipe.physics.as_ref().zip(self.unscaled.as_ref()) {
            unscaled.apply(&physics.draw(&mut self.rng), &mut self.data);
        }
        self.data.reset();
        let start = &self.recipe.start;
        let which = start.draw_positions(&mut self.rng, self.data.qpos_mut());
        start.draw_velocities(which, &mut self.rng, self.data.qvel_mut());
        let control = self.episode.prepare(&self.recipe, &mut self.rng);
        if start.settle_steps > 0 {
            self.data.ctrl_mut().copy_from_slice(control);
        }
        for &(mocap, first) in &start.mocaps {
            self.data.mocap_pos_mut()[mocap].copy_from_slice(&self.episode.memory.goals[first..first + 3]);
        }
        self.data.forward();
        self.settle();
        self.episode.start(&self.recipe, &self.data, &mut self.rng, observation);
        Ok(())
    }

    fn step(&mut self, action: Action<'_>, observation: &mut [f64]) -> Result<Transition, EnvError> {
        checks::action(&self.recipe.spec, action)?;
        checks::observation(&self.recipe.spec, observation)?;
        if !self.episode.alive {
            return Err(EnvError::NotReset { task: self.recipe.spec.name.clone() });
        }
        self.episode.remember(&self.recipe, &self.data);
        if self.episode.is_pushed(&self.recipe) {
            self.recipe.disturbance.push(&mut self.rng, self.data.qvel_mut());
        }
        self.advance(action);
        self.find_touches();
        let bad = mujoco::diverged(&self.data);
        let rng = &mut self.rng;
        Ok(self.episode.finish(&self.recipe, &self.data, action, bad, rng, observation))
    }

    fn prefetch(&self) {
        mujoco::prefetch(&self.data);
    }

    fn measures(&self, out: &mut [f64]) {
        self.episode.measures(&self.recipe, out);
    }

    fn reward_terms(&self) -> &[f64] {
        &self.episode.terms
    }

    fn infos(&self) -> &[InfoSpec] {
        self.recipe.infos
    }

    fn info(&self, out: &mut [f64]) {
        self.episode.info(&self.recipe, &self.data, out);
    }

    fn scene(&self) -> Option<Scene> {
        Some(look::scene(&self.recipe))
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        look::poses(&self.recipe, &self.data, &self.episode.memory, out);
    }
}
