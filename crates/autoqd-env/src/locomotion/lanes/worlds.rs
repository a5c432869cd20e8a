//! Eight worlds of a locomotion task in lockstep.

use super::super::{Episode, Recipe, State};
use super::choice::{Prepared, new_batch};
use super::sensors::Evaluated;
use crate::{Action, EnvError, EnvSpec, InfoSpec, NumpyRng, Seed, Transition, Worlds, checks};
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
    geom_xpos: Vec<[f64; 3]>,
    xipos: Vec<[f64; 3]>,
    cinert: Vec<[f64; 10]>,
    cvel: Vec<[f64; 6]>,
    qfrc_actuator: Vec<f64>,
    qfrc_constraint: Vec<f64>,
    ctrl: Vec<f64>,
    sensordata: Vec<f64>,
    /// The state that sensors belong to.
    before: [Vec<f64>; 2],
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
        &self.sensordata
    }
    fn geom_xpos(&self) -> &[[f64; 3]] {
        &self.geom_xpos
    }
    fn xipos(&self) -> &[[f64; 3]] {
        &self.xipos
    }
    fn cinert(&self) -> &[[f64; 10]] {
        &self.cinert
    }
    fn cvel(&self) -> &[[f64; 6]] {
        &self.cvel
    }
    fn qfrc_actuator(&self) -> &[f64] {
        &self.qfrc_actuator
    }
    fn qfrc_constraint(&self) -> &[f64] {
        &self.qfrc_constraint
    }
    fn ctrl(&self) -> &[f64] {
        &self.ctrl
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
            geom_xpos: vec![[0.0; 3]; model.geom_bodyid().len()],
            xipos: vec![[0.0; 3]; bodies],
            cinert: vec![[0.0; 10]; bodies],
            cvel: vec![[0.0; 6]; bodies],
            qfrc_actuator: vec![0.0; recipe.start.qvel.len()],
            qfrc_constraint: vec![0.0; recipe.start.qvel.len()],
            ctrl: vec![0.0; recipe.spec.action_size],
            sensordata: vec![0.0; model.ffi().nsensordata as usize],
            before: [vec![0.0; recipe.start.qpos.len()], vec![0.0; recipe.start.qvel.len()]],
        }
    }

    fn read_poses(&mut self, recipe: &Recipe, batch: &Batch, lane: usize) {
        for (body, (position, rotation)) in self.xpos.iter_mut().zip(&mut self.xmat).enumerate() {
            (*position, *rotation) = batch.body_pose(body, lane);
        }
        let model = &recipe.model;
        let point = |body: usize, p: [f64; 3]| {
            let (x, r) = (self.xpos[body], &self.xmat[body]);
            std::array::from_fn(|i| x[i] + r[3 * i] * p[0] + r[3 * i + 1] * p[1] + r[3 * i + 2] * p[2])
        };
        if recipe.needs.sites {
            for (site, position) in self.site_xpos.iter_mut().enumerate() {
                *position = point(model.site_bodyid()[site] as usize, model.site_pos()[site]);
            }
        }
        if !recipe.needs.points {
            return;
        }
        for (geom, position) in self.geom_xpos.iter_mut().enumerate() {
            *position = point(model.geom_bodyid()[geom] as usize, model.geom_pos()[geom]);
        }
        for (body, position) in self.xipos.iter_mut().enumerate() {
            *position = point(body, model.body_ipos()[body]);
        }
    }
}

/// Writes the inertia and the velocity of every body about the centre of mass of its tree: libmujoco's `cinert`, `cvel`.
fn read_motion(state: &mut LaneState, recipe: &Recipe, batch: &Batch, lane: usize) {
    let model = &recipe.model;
    let bodies = model.body_mass().len();
    let center = |state: &LaneState, b: usize| -> [f64; 3] {
        let (x, r, p) = (state.xpos[b], &state.xmat[b], model.body_ipos()[b]);
        std::array::from_fn(|i| x[i] + r[3 * i] * p[0] + r[3 * i + 1] * p[1] + r[3 * i + 2] * p[2])
    };
    let (mut root, mut about) = (0, [0.0; 3]);
    for b in 1..bodies {
        if model.body_rootid()[b] as usize != root {
            root = model.body_rootid()[b] as usize;
            let tree = (b..bodies).filter(|&c| model.body_rootid()[c] as usize == root);
            let (mut mass, mut sum) = (0.0, [0.0; 3]);
            for c in tree {
                let (m, at) = (model.body_mass()[c], center(state, c));
                mass += m;
                (0..3).for_each(|i| sum[i] += m * at[i]);
            }
            about = sum.map(|x| x / mass.max(1e-15));
        }
        let at = center(state, b);
        let axes = multiply(&state.xmat[b], &rotation(model.body_iquat()[b]));
        let from = std::array::from_fn(|i| at[i] - about[i]);
        state.cinert[b] = inertia_about(&axes, model.body_inertia()[b], model.body_mass()[b], from);
        let [angular, linear] = batch.body_velocity(b, about, lane);
        state.cvel[b][..3].copy_from_slice(&angular);
        state.cvel[b][3..].copy_from_slice(&linear);
    }
}

/// Moments xx, yy, zz, xy, xz, yz, first moment and mass about a point from which the centre is `d` away.
fn inertia_about(axes: &[f64; 9], moments: [f64; 3], mass: f64, d: [f64; 3]) -> [f64; 10] {
    let own =
        |i: usize, j: usize| -> f64 { (0..3).map(|k| axes[3 * i + k] * moments[k] * axes[3 * j + k]).sum() };
    let far: f64 = d.iter().map(|x| x * x).sum();
    let entry = |i: usize, j: usize| own(i, j) + mass * (if i == j { far } else { 0.0 } - d[i] * d[j]);
    let [x, y, z] = d.map(|x| x * mass);
    [entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2), x, y, z, mass]
}

/// The rotation matrix of a unit quaternion.
pub(super) fn rotation([w, x, y, z]: [f64; 4]) -> [f64; 9] {
    [
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    ]
}

pub(super) fn multiply(a: &[f64; 9], b: &[f64; 9]) -> [f64; 9] {
    std::array::from_fn(|i| (0..3).map(|k| a[i / 3 * 3 + k] * b[3 * k + i % 3]).sum())
}

/// A batch of worlds of a locomotion task on the lanes engine.
pub(super) struct LaneWorlds {
    recipe: Arc<Recipe>,
    prepared: Arc<Prepared>,
    batch: Batch,
    states: Vec<LaneState>,
    episodes: Vec<Episode>,
    /// Per lane: the stream that starts are drawn from; until the first seed that of seed 0.
    streams: Vec<NumpyRng>,
}

impl LaneWorlds {
    pub(super) fn new(recipe: Arc<Recipe>, prepared: &Arc<Prepared>) -> Result<Self, LanesError> {
        Ok(Self {
            batch: new_batch(&recipe.model, &prepared.compiled, &prepared.pair_geoms, prepared.backend)?,
            states: (0..LANES).map(|_| LaneState::new(&recipe)).collect(),
            episodes: (0..LANES).map(|_| Episode::new(&recipe)).collect(),
            streams: vec![NumpyRng::from_seed(&Seed::from(0_u64)); LANES],
            prepared: Arc::clone(prepared),
            recipe,
        })
    }

    /// Reads the sensors, at the state before the last step or, where none was made, at the present one.
    fn read_sensors(&mut self, lane: usize, stepped: bool) {
        let Some(sensors) = &self.prepared.sensors else { return };
        let LaneState { qpos, qvel, sensordata, before: [old_qpos, old_qvel], .. } = &mut self.states[lane];
        if stepped {
            self.batch.state_before(lane, old_qpos, old_qvel);
        } else {
            old_qpos.copy_from_slice(qpos);
            old_qvel.copy_from_slice(qvel);
        }
        let (model, batch) = (&self.recipe.model, &self.batch);
        sensors.read(&Evaluated { model, batch, lane, qpos: old_qpos, qvel: old_qvel }, sensordata);
    }

    fn read(&mut self, lane: usize) {
        self.read_sensors(lane, true);
        let state = &mut self.states[lane];
        self.batch.qpos(lane, &mut state.qpos);
        self.batch.qvel(lane, &mut state.qvel);
        let needs = self.recipe.needs;
        if needs.poses || needs.body_inertias || needs.body_velocities {
            state.read_poses(&self.recipe, &self.batch, lane);
        }
        if needs.body_inertias || needs.body_velocities {
            read_motion(state, &self.recipe, &self.batch, lane);
        }
        if self.recipe.needs.contact_forces {
            self.batch.contact_wrenches(lane, &mut state.cfrc_ext);
        }
        if self.recipe.needs.constraint_forces {
            self.batch.constraint_forces(lane, &mut state.qfrc_constraint);
        }
        if self.recipe.needs.actuator_forces {
            self.batch.actuator_forces(lane, &mut state.qfrc_actuator);
        }
        let episode = &mut self.episodes[lane];
        let (touches, touching) = (&mut episode.touches, &mut episode.memory.touching);
        touches.fill(false);
        touching.fill(false);
        self.batch.contact_pairs(lane, |pair| {
            if let Some(measure) = self.prepared.foot_of_pair[pair] {
                touches[measure] = true;
            }
            self.prepared.followed_of_pair[pair].iter().for_each(|&contact| touching[contact] = true);
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

    fn reset(&mut self, lane: usize, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        checks::observation(&self.recipe.spec, observation)?;
        let rng = &mut self.streams[lane];
        if let Some(seed) = seed {
            *rng = NumpyRng::from_seed(seed);
        }
        let state = &mut self.states[lane];
        let start = &self.recipe.start;
        let which = start.draw_positions(rng, &mut state.qpos);
        start.draw_velocities(which, rng, &mut state.qvel);
        let control = self.episodes[lane].prepare(&self.recipe, rng);
        self.batch.set_state(lane, &state.qpos, &state.qvel);
        state.ctrl.fill(0.0);
        if start.settle_steps > 0 {
            state.ctrl.copy_from_slice(control);
            self.batch.set_control(lane, &state.ctrl);
            self.batch.step(1 << lane, start.settle_steps);
            self.batch.qpos(lane, &mut state.qpos);
            self.batch.qvel(lane, &mut state.qvel);
            self.batch.set_state(lane, &state.qpos, &state.qvel);
        }
        let needs = self.recipe.needs;
        if needs.constraint_forces || needs.actuator_forces || needs.sensors {
            self.batch.set_control(lane, &state.ctrl);
            self.batch.forward_dynamics();
            self.batch.constraint_forces(lane, &mut state.qfrc_constraint);
            self.batch.actuator_forces(lane, &mut state.qfrc_actuator);
        } else if needs.poses || needs.body_inertias || needs.body_velocities {
            self.batch.forward_kinematics();
        }
        if needs.poses || needs.body_inertias || needs.body_velocities {
            state.read_poses(&self.recipe, &self.batch, lane);
        }
        if needs.body_inertias || needs.body_velocities {
            read_motion(state, &self.recipe, &self.batch, lane);
        }
        self.read_sensors(lane, false);
        let state = &mut self.states[lane];
        // Contact forces are computed after a step only.
        state.cfrc_ext.fill([0.0; 6]);
        let rng = &mut self.streams[lane];
        self.episodes[lane].start(&self.recipe, &self.states[lane], rng, observation);
        Ok(())
    }

    fn step(
        &mut self,
        active: &[bool],
        actions: Action<'_>,
        observations: &mut [f64],
        transitions: &mut [Transition],
    ) -> Result<(), EnvError> {
        let (width, length) = (self.recipe.spec.action_size, self.recipe.spec.observation_size);
        let mut mask = 0;
        for lane in (0..LANES).filter(|&lane| active[lane]) {
            let action = actions.row(lane, width);
            checks::action(&self.recipe.spec, action)?;
            if !self.episodes[lane].alive {
                return Err(EnvError::NotReset { task: self.recipe.spec.name.clone() });
            }
            let state = &mut self.states[lane];
            state.ctrl.copy_from_slice(self.episodes[lane].act(&self.recipe, action));
            self.batch.set_control(lane, &state.ctrl);
            self.episodes[lane].remember(&self.recipe, &self.states[lane]);
            if self.episodes[lane].is_pushed(&self.recipe) {
                let state = &mut self.states[lane];
                self.recipe.disturbance.push(&mut self.streams[lane], &mut state.qvel);
                self.batch.set_velocities(lane, &state.qvel);
            }
            mask |= 1 << lane;
        }
        self.batch.step(mask, self.recipe.frame_skip);
        let diverged = self.batch.diverged();
        for lane in (0..LANES).filter(|&lane| active[lane]) {
            self.read(lane);
            let action = actions.row(lane, width);
            let bad = diverged >> lane & 1 == 1;
            let observation = &mut observations[lane * length..(lane + 1) * length];
            let (state, rng) = (&self.states[lane], &mut self.streams[lane]);
            transitions[lane] =
                self.episodes[lane].finish(&self.recipe, state, action, bad, rng, observation);
        }
        Ok(())
    }

    fn measures(&self, lane: usize, out: &mut [f64]) {
        self.episodes[lane].measures(&self.recipe, out);
    }

    fn reward_terms(&self, lane: usize) -> &[f64] {
        &self.episodes[lane].terms
    }

    fn infos(&self) -> &[InfoSpec] {
        self.recipe.infos
    }

    fn info(&self, lane: usize, out: &mut [f64]) {
        self.episodes[lane].info(&self.recipe, &self.states[lane], out);
    }
}
