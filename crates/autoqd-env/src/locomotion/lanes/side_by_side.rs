//! Single steps of the lanes engine against single steps of libmujoco.

use super::choice::new_batch;
use super::convert::{comparable, convert};
use crate::mujoco::{Data, Model, Source, load, new_data};
use crate::{NumpyRng, Seed};
use autoqd_lanes::{Backend, Batch, Compiled, LANES, LanesError};
use std::sync::Arc;

/// Eight worlds of libmujoco, and a batch of lanes that repeats each of their steps from the same state.
#[doc(hidden)]
pub struct SideBySide {
    /// The reference worlds; their states may be set freely.
    pub worlds: Vec<Data>,
    batch: Batch,
    qpos: Vec<f64>,
    qvel: Vec<f64>,
    activations: Vec<f64>,
}

/// The difference of one step in one world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deviation {
    /// Largest difference of a coordinate, or of a velocity relative to 1 + its size.
    pub state: f64,
    /// Largest difference of a contact force or torque on a body, relative to 1 + its size.
    pub contact_forces: f64,
}

impl SideBySide {
    /// Builds both for a compiled model.
    ///
    /// # Errors
    /// If the engine does not support the model or the CPU the back end.
    pub fn new(model: &Arc<Model>, backend: Backend) -> Result<Self, LanesError> {
        let converted = convert(model)?;
        let compiled = Compiled::new(&converted.model)?;
        Self::with(model, compiled, &converted.pair_geoms, backend)
    }

    /// Builds both for MJCF text.
    ///
    /// # Errors
    /// If libmujoco rejects the model or the engine does not support it.
    pub fn from_mjcf(xml: &str, backend: Backend) -> Result<Self, LanesError> {
        // Sources inside the program are static; models of this path are few and small.
        let source = Source::Text { name: "model", xml: String::leak(xml.to_string()) };
        let (_, model) = load(&source, &crate::Perturbation::default(), None)
            .map_err(|e| LanesError::Invalid { what: e.to_string() })?;
        Self::new(&Arc::new(model), backend)
    }

    /// The same with a model already compiled.
    ///
    /// # Errors
    /// If the CPU cannot run the back end, or libmujoco cannot make a world.
    pub fn with(
        model: &Arc<Model>,
        compiled: Compiled,
        pair_geoms: &[[usize; 2]],
        backend: Backend,
    ) -> Result<Self, LanesError> {
        let (nq, nv, na) = (compiled.coordinates(), compiled.freedoms(), compiled.activations());
        let model = &comparable(model);
        let worlds = (0..LANES).map(|_| new_data(model)).collect::<Option<Vec<_>>>();
        let worlds =
            worlds.ok_or_else(|| LanesError::Invalid { what: "libmujoco could not make a world".into() })?;
        let batch = new_batch(model, &Arc::new(compiled), pair_geoms, backend)?;
        Ok(Self { worlds, batch, qpos: vec![0.0; nq], qvel: vec![0.0; nv], activations: vec![0.0; na] })
    }

    /// Puts world `lane` at its initial pose with noise of this scale on coordinates and velocities.
    pub fn reset(&mut self, lane: usize, noise: f64, rng: &mut NumpyRng) {
        let world = &mut self.worlds[lane];
        world.reset();
        world.qpos_mut().iter_mut().for_each(|q| *q += rng.uniform(-noise, noise));
        world.qvel_mut().iter_mut().for_each(|v| *v += rng.uniform(-noise, noise));
    }

    /// Random controls of this amplitude, relative to the control range where there is one.
    pub fn random_controls(&mut self, amplitude: f64, rng: &mut NumpyRng) {
        for world in &mut self.worlds {
            world.ctrl_mut().iter_mut().for_each(|u| *u = rng.uniform(-amplitude, amplitude));
        }
    }

    /// Advances the reference one step, repeats it in lanes from the same state, and measures the difference.
    pub fn step(&mut self) -> [Deviation; LANES] {
        for (lane, world) in self.worlds.iter().enumerate() {
            self.batch.set_state(lane, world.qpos(), world.qvel());
            self.batch.set_warm_start(lane, world.qacc_warmstart());
            self.batch.set_control(lane, world.ctrl());
            self.batch.set_activations(lane, world.act());
        }
        self.batch.step(u8::MAX, 1);
        std::array::from_fn(|lane| {
            let world = &mut self.worlds[lane];
            world.step();
            world.rne_post_constraint();
            self.deviation(lane)
        })
    }

    fn deviation(&mut self, lane: usize) -> Deviation {
        let world = &self.worlds[lane];
        self.batch.qpos(lane, &mut self.qpos);
        self.batch.qvel(lane, &mut self.qvel);
        let mut wrenches = vec![[0.0; 6]; world.cfrc_ext().len()];
        self.batch.contact_wrenches(lane, &mut wrenches);
        let relative = |(a, b): (&f64, &f64)| worst(a - b, 1.0 + b.abs());
        let position = self.qpos.iter().zip(world.qpos()).map(|(a, b)| worst(a - b, 1.0));
        let velocity = self.qvel.iter().zip(world.qvel()).map(relative);
        self.batch.activations(lane, &mut self.activations);
        let activation = self.activations.iter().zip(world.act()).map(|(a, b)| worst(a - b, 1.0));
        let forces = wrenches.as_flattened().iter().zip(world.cfrc_ext().as_flattened()).map(relative);
        Deviation {
            state: position.chain(velocity).chain(activation).fold(0.0, f64::max),
            contact_forces: forces.fold(0.0, f64::max),
        }
    }

    /// Whether libmujoco, and whether the engine, gave up on the last step of a world: its state is no longer finite.
    pub fn gave_up(&self, lane: usize) -> [bool; 2] {
        [crate::mujoco::diverged(&self.worlds[lane]), self.batch.diverged() >> lane & 1 == 1]
    }

    /// The batch of lanes.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }
}

/// |difference| / scale, and infinity for NaN, which `max` would swallow.
fn worst(difference: f64, scale: f64) -> f64 {
    let x = difference.abs() / scale;
    if x.is_nan() { f64::INFINITY } else { x }
}

/// A generator for a numbered stream of states.
#[doc(hidden)]
pub fn stream(seed: u64) -> NumpyRng {
    NumpyRng::from_seed(&Seed::from(seed))
}
