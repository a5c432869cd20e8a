//! Eight worlds of a locomotion task in lockstep.

use super::super::{Episode, Recipe, State};
use super::choice::Prepared;
use crate::{Action, EnvError, EnvSpec, NumpyRng, Seed, Transition, Worlds, checks};
use autoqd_lanes::{Batch, LANES, LanesError};
use std::sync::Arc;

/// What the task reads from one world after a step. The batch holds only the last evaluation of all worlds, so each
/// world keeps its own copy.
struct LaneState {
    qpos: Vec<f64>,
    qvel: Vec<f64>,
    xpos: Vec<[f64; 3]>,
    xmat: Vec<[f64; 9]>,
    site_xpos: Vec<[f64; 3]>,
    cfrc_ext: Vec<[f64; 6]>,
}

impl State for LaneState {
    fn qpos(&self) -> &[f64] {
        &self.qpos
    }
    fn qvel(&self) -> &[f64] {
        &self.qvel
    }
    fn xpos(&self) -> &[[f64; 3]] {
        &self.xpos
    }
    fn xmat(&self) -> &[[f64; 9]] {
        &self.xmat
    }
    fn site_xpos(&self) -> &[[f64; 3]] {
        &self.site_xpos
    }
    fn cfrc_ext(&self) -> &[[f64; 6]] {
        &self.cfrc_ext
    }
    fn sensordata(&self) -> &[f64] {
        &[]
    }
}

impl LaneState {
    fn new(recipe: &Recipe) -> Self {
        let model = &recipe.model;
        let bodies = model.body_mass().len();
        Self {
            qpos: vec![0.0; recipe.start.qpos.len()],
            qvel: vec![0.0; recipe.start.qvel.len()],
            xpos: vec![[0.0; 3]; bodies],
            xmat: vec![[0.0; 9]; bodies],
            site_xpos: vec![[0.0; 3]; model.site_bodyid().len()],
            cfrc_ext: vec![[0.0; 6]; bodies],
        }
    }

    fn read_poses(&mut self, recipe: &Recipe, batch: &Batch, lane: usize) {
        for (body, (position, rotation)) in self.xpos.iter_mut().zip(&mut self.xmat).enumerate() {
            (*position, *rotation) = batch.body_pose(body, lane);
        }
        let model = &recipe.model;
        for (site, position) in self.site_xpos.iter_mut().enumerate() {
            let body = model.site_bodyid()[site] as usize;
            let (x, r, p) = (self.xpos[body], &self.xmat[body], model.site_pos()[site]);
            *position =
                std::array::from_fn(|i| x[i] + r[3 * i] * p[0] + r[3 * i + 1] * p[1] + r[3 * i + 2] * p[2]);
        }
    }
}

/// A batch of worlds of a locomotion task on the lanes engine.
pub(super) struct LaneWorlds {
    recipe: Arc<Recipe>,
    prepared: Arc<Prepared>,
    batch: Batch,
    states: Vec<LaneState>,
    episodes: Vec<Episode>,
    control: Vec<f64>,
    needs_poses: bool,
}

impl LaneWorlds {
    pub(super) fn new(recipe: Arc<Recipe>, prepared: &Arc<Prepared>) -> Result<Self, LanesError> {
        Ok(Self {
            batch: Batch::new(Arc::clone(&prepared.compiled), prepared.backend)?,
            states: (0..LANES).map(|_| LaneState::new(&recipe)).collect(),
            episodes: (0..LANES).map(|_| Episode::new(&recipe)).collect(),
            control: vec![0.0; recipe.spec.action_size],
            needs_poses: recipe.needs_poses(),
            prepared: Arc::clone(prepared),
            recipe,
        })
    }

    fn read(&mut self, lane: usize) {
        let state = &mut self.states[lane];
        self.batch.qpos(lane, &mut state.qpos);
        self.batch.qvel(lane, &mut state.qvel);
        if self.needs_poses {
            state.read_poses(&self.recipe, &self.batch, lane);
        }
        if self.recipe.needs_contact_forces {
            self.batch.contact_wrenches(lane, &mut state.cfrc_ext);
        }
        let touches = &mut self.episodes[lane].touches;
        touches.fill(false);
        self.batch.contact_pairs(lane, |pair| {
            if let Some(measure) = self.prepared.foot_of_pair[pair] {
                touches[measure] = true;
            }
        });
    }
}

impl Worlds for LaneWorlds {
    fn spec(&self) -> &EnvSpec {
        &self.recipe.spec
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn reset(&mut self, lane: usize, seed: &Seed, observation: &mut [f64]) -> Result<(), EnvError> {
        checks::observation(&self.recipe.spec, observation)?;
        let mut rng = NumpyRng::from_seed(seed);
        let state = &mut self.states[lane];
        self.recipe.start.draw_positions(&mut rng, &mut state.qpos);
        self.recipe.start.draw_velocities(&mut rng, &mut state.qvel);
        self.batch.set_state(lane, &state.qpos, &state.qvel);
        if self.needs_poses {
            self.batch.forward_kinematics();
            state.read_poses(&self.recipe, &self.batch, lane);
        }
        // Contact forces are computed after a step only.
        state.cfrc_ext.fill([0.0; 6]);
        self.episodes[lane].start(&self.recipe, &self.states[lane], observation);
        Ok(())
    }

    fn step(
        &mut self,
        active: &[bool],
        actions: &[f32],
        observations: &mut [f64],
        transitions: &mut [Transition],
    ) -> Result<(), EnvError> {
        let (width, length) = (self.recipe.spec.action_size, self.recipe.spec.observation_size);
        let mut mask = 0;
        for lane in (0..LANES).filter(|&lane| active[lane]) {
            let action = Action::F32(&actions[lane * width..(lane + 1) * width]);
            checks::action(&self.recipe.spec, action)?;
            if !self.episodes[lane].alive {
                return Err(EnvError::NotReset { task: self.recipe.spec.name.clone() });
            }
            (0..width).for_each(|i| self.control[i] = action.get(i));
            self.batch.set_control(lane, &self.control);
            self.episodes[lane].remember(&self.recipe, &self.states[lane]);
            mask |= 1 << lane;
        }
        self.batch.step(mask, self.recipe.frame_skip);
        let diverged = self.batch.diverged();
        for lane in (0..LANES).filter(|&lane| active[lane]) {
            self.read(lane);
            let action = Action::F32(&actions[lane * width..(lane + 1) * width]);
            let bad = diverged >> lane & 1 == 1;
            let observation = &mut observations[lane * length..(lane + 1) * length];
            let state = &self.states[lane];
            transitions[lane] = self.episodes[lane].finish(&self.recipe, state, action, bad, observation);
        }
        Ok(())
    }

    fn measures(&self, lane: usize, out: &mut [f64]) {
        self.episodes[lane].measures(&self.recipe, out);
    }
}
