//! One world of a locomotion task.

use super::look;
use super::measure::{Record, What};
use super::reward::Step;
use super::task::Recipe;
use super::task_file::Noise;
use crate::mujoco::{self, Data};
use crate::{Action, EnvError, EnvSpec, Environment, NumpyRng, Pose, Scene, Seed, Transition, checks};
use std::sync::Arc;

/// One world of a [`LocomotionTask`](crate::LocomotionTask).
pub struct Locomotion {
    recipe: Arc<Recipe>,
    data: Data,
    rng: NumpyRng,
    /// Whether there is an episode to step.
    alive: bool,
    steps: usize,
    /// Per reward term: what it remembers of the state before a step.
    before: Vec<[f64; 3]>,
    terms: Vec<f64>,
    /// Per measure: whether its foot touches the floor after the last step.
    touches: Vec<bool>,
    records: Vec<Record>,
}

impl Locomotion {
    pub(super) fn new(recipe: Arc<Recipe>) -> Result<Self, EnvError> {
        let data = mujoco::new_data(&recipe.model).ok_or_else(|| EnvError::World {
            task: recipe.spec.name.clone(),
            message: "MuJoCo could not allocate its state; free some memory".to_string(),
        })?;
        let records = recipe.measures.iter().map(|m| m.record(recipe.spec.max_episode_steps)).collect();
        Ok(Self {
            data,
            rng: NumpyRng::from_seed(&Seed::from(0_u64)),
            alive: false,
            steps: 0,
            before: vec![[0.0; 3]; recipe.rewards.len()],
            terms: vec![0.0; recipe.rewards.len()],
            touches: vec![false; recipe.measures.len()],
            records,
            recipe,
        })
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
        self.touches.iter().enumerate().filter_map(is_foot)
    }

    fn draw_start(&mut self) {
        let (rng, start) = (&mut self.rng, &self.recipe.start);
        let scale = start.position_noise;
        for (value, base) in self.data.qpos_mut().iter_mut().zip(&start.qpos) {
            *value = base + rng.uniform(-scale, scale);
        }
        let scale = start.velocity_noise;
        for (value, base) in self.data.qvel_mut().iter_mut().zip(&start.qvel) {
            *value = base
                + match start.velocity_noise_kind {
                    Noise::Uniform => rng.uniform(-scale, scale),
                    Noise::Normal => scale * rng.standard_normal(),
                };
        }
    }

    fn observe(&self, mut out: &mut [f64]) {
        for part in &self.recipe.observation {
            out = part.write(&self.data, out);
        }
    }

    fn find_touches(&mut self) {
        self.touches.fill(false);
        let Some(floor) = self.recipe.floor else { return };
        for contact in self.data.contact().iter().filter(|c| c.efc_address >= 0) {
            let other = match contact.geom {
                [a, b] if a == floor => b,
                [a, b] if b == floor => a,
                _ => continue,
            };
            // Flexible bodies have no geom.
            if let Some(Some(measure)) = usize::try_from(other).ok().map(|g| self.recipe.foot_of_geom[g]) {
                self.touches[measure] = true;
            }
        }
    }

    /// Gains minus costs; the terms are kept with their signs.
    fn reward(&mut self, step: &Step<'_>) -> f64 {
        let (mut gains, mut costs) = (None, None);
        for (i, term) in self.recipe.rewards.iter().enumerate() {
            let value = term.value(&self.data, self.before[i], step);
            let total: &mut Option<f64> = if term.is_cost() { &mut costs } else { &mut gains };
            *total = Some(total.map_or(value, |sum| sum + value));
            self.terms[i] = if term.is_cost() { -value } else { value };
        }
        match (gains, costs) {
            (Some(gains), Some(costs)) => gains - costs,
            (Some(gains), None) => gains,
            (None, costs) => -costs.unwrap_or(0.0),
        }
    }

    fn advance(&mut self, action: Action<'_>) {
        for (i, control) in self.data.ctrl_mut().iter_mut().enumerate() {
            *control = action.get(i);
        }
        for _ in 0..self.recipe.frame_skip {
            self.data.step();
        }
        if self.recipe.needs_contact_forces {
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
        if let Some(seed) = seed {
            self.rng = NumpyRng::from_seed(seed);
        }
        self.data.reset();
        self.draw_start();
        self.data.forward();
        self.alive = true;
        self.steps = 0;
        self.touches.fill(false);
        self.terms.fill(0.0);
        for (record, measure) in self.records.iter_mut().zip(&self.recipe.measures) {
            record.start(&measure.what, &self.data);
        }
        self.observe(observation);
        Ok(())
    }

    fn step(&mut self, action: Action<'_>, observation: &mut [f64]) -> Result<Transition, EnvError> {
        checks::action(&self.recipe.spec, action)?;
        checks::observation(&self.recipe.spec, observation)?;
        if !self.alive {
            return Err(EnvError::NotReset { task: self.recipe.spec.name.clone() });
        }
        for (before, term) in self.before.iter_mut().zip(&self.recipe.rewards) {
            *before = term.before(&self.data);
        }
        self.advance(action);
        self.steps += 1;
        self.find_touches();
        for ((record, measure), &touch) in
            self.records.iter_mut().zip(&self.recipe.measures).zip(&self.touches)
        {
            record.step(&measure.what, &self.data, touch);
        }
        self.observe(observation);
        let healthy = self.recipe.health.iter().all(|rule| rule.holds(&self.data));
        let reward = self.reward(&Step { action, healthy, seconds: self.recipe.seconds_per_step });
        let finite = reward.is_finite() && observation.iter().all(|value| value.is_finite());
        let diverged = !finite || mujoco::diverged(&self.data);
        self.alive = !diverged;
        Ok(Transition {
            reward,
            terminated: !healthy && self.recipe.terminate_when_unhealthy,
            truncated: self.steps >= self.recipe.spec.max_episode_steps,
            diverged,
        })
    }

    fn measures(&self, out: &mut [f64]) {
        for ((value, record), measure) in out.iter_mut().zip(&self.records).zip(&self.recipe.measures) {
            *value = record.value(&measure.what, self.steps);
        }
    }

    fn reward_terms(&self) -> &[f64] {
        &self.terms
    }

    fn scene(&self) -> Option<Scene> {
        Some(look::scene(&self.recipe))
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        look::poses(&self.data, out);
    }
}
