//! Eight worlds of one model: the public face of the engine.

use crate::compile::Compiled;
use crate::kernels::Kernels;
use crate::kinematics_planar::Planar;
use crate::kinematics_spatial::Spatial;
use crate::sim::{ALL, Engine, Sim};
#[cfg(lanes_portable)]
use crate::simd::Array;
#[cfg(lanes_avx2)]
use crate::simd::Avx2;
#[cfg(lanes_avx512)]
use crate::simd::Avx512;
use crate::{Backend, LANES, LanesError, Narrow};
use std::sync::Arc;

/// Eight worlds that advance together. What happens in a lane depends neither on its number nor on its neighbours,
/// and is the same to the bit for every back end.
///
/// ```
/// use autoqd_lanes::{Backend, Batch, Compiled, LanesError, model::*};
/// use std::sync::Arc;
///
/// // A pendulum of 1 kg on a rod of 0.5 m.
/// let world = Body {
///     parent: 0, position: [0.0; 3], orientation: [1.0, 0.0, 0.0, 0.0], center: [0.0; 3],
///     principal_axes: [1.0, 0.0, 0.0, 0.0], mass: 0.0, inertia: [0.0; 3], inverse_weight: 0.0,
///     inverse_weight_of_rotation: 0.0, gravity_compensation: 0.0,
/// };
/// let bob = Body { center: [0.0, 0.0, -0.5], mass: 1.0, inertia: [0.01; 3], ..world.clone() };
/// let hinge = Joint {
///     body: 1, kind: JointKind::Hinge, position: [0.0; 3], axis: [0.0, 1.0, 0.0], reference: 0.0,
///     stiffness: 0.0, spring_reference: vec![0.0], limit: None, actuator_force_range: None,
/// };
/// let model = Model {
///     options: Options {
///         cone: Cone::Pyramidal, timestep: 0.001, integrator: Integrator::RungeKutta4,
///         gravity: [0.0, 0.0, -9.81], density: 0.0,
///         viscosity: 0.0, impedance_ratio: 1.0, tolerance: 1e-8, line_search_tolerance: 0.01,
///         iterations: 100, line_search_iterations: 50, islands: true,
///     },
///     bodies: vec![world, bob],
///     joints: vec![hinge],
///     freedoms: vec![Freedom {
///         damping: 0.0, armature: 0.0, inverse_weight: 1.0, friction_loss: 0.0,
///         friction_softness: Softness { reference: [0.02, 1.0], impedance: [0.9, 0.95, 0.001, 0.5, 2.0] },
///     }],
///     tendons: vec![], equalities: vec![], actuators: vec![], geoms: vec![], pairs: vec![],
/// };
/// let Some(backend) = Backend::best() else { return Ok(()) };
/// let mut worlds = Batch::new(Arc::new(Compiled::new(&model)?), backend)?;
/// worlds.set_state(3, &[0.1], &[0.0]);
/// worlds.step(1 << 3, 1000);
/// let mut q = [0.0];
/// worlds.qpos(3, &mut q);
/// let omega = (9.81_f64 * 0.5 / 0.26).sqrt();
/// assert!((q[0] - 0.1 * omega.cos()).abs() < 1e-3);
/// # Ok::<(), LanesError>(())
/// ```
pub struct Batch {
    model: Arc<Compiled>,
    backend: Backend,
    engine: Box<dyn Engine>,
}

fn engine<F: Kernels>(model: &Arc<Compiled>) -> Box<dyn Engine> {
    let model = Arc::clone(model);
    if model.is_planar() {
        Box::new(Sim::<F, Planar<F>, 2>::new(model))
    } else {
        Box::new(Sim::<F, Spatial<F>, 3>::new(model))
    }
}

impl Batch {
    /// Eight worlds at rest with all coordinates zero.
    ///
    /// # Errors
    /// If the CPU lacks the instructions of the back end, or it was not compiled.
    pub fn new(model: Arc<Compiled>, backend: Backend) -> Result<Self, LanesError> {
        if !backend.is_available() {
            return Err(LanesError::Backend { backend });
        }
        let engine = match backend {
            #[cfg(lanes_avx512)]
            Backend::Avx512 => engine::<Avx512>(&model),
            #[cfg(lanes_avx2)]
            Backend::Avx2 => engine::<Avx2>(&model),
            #[cfg(lanes_portable)]
            Backend::Portable => engine::<Array>(&model),
            #[cfg(not(all(lanes_avx512, lanes_avx2, lanes_portable)))]
            _ => return Err(LanesError::Backend { backend }),
        };
        Ok(Self { model, backend, engine })
    }

    /// The model.
    pub fn model(&self) -> &Arc<Compiled> {
        &self.model
    }

    /// The back end.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Sets what finds the contacts of pairs that the engine has no formulas for; without it they do not touch.
    pub fn set_narrow_phase(&mut self, narrow: Box<dyn Narrow>) {
        self.engine.set_narrow_phase(narrow);
    }

    /// Puts one world into a state, as a fresh simulation: the solver starts cold and divergence is forgotten.
    pub fn set_state(&mut self, lane: usize, qpos: &[f64], qvel: &[f64]) {
        self.engine.set_state(lane, qpos, qvel);
    }

    /// Changes the velocities of one world, which otherwise goes on as it was.
    pub fn set_velocities(&mut self, lane: usize, qvel: &[f64]) {
        self.engine.set_velocities(lane, qvel);
    }

    /// Sets where the solver starts: MuJoCo's `qacc_warmstart`.
    pub fn set_warm_start(&mut self, lane: usize, acceleration: &[f64]) {
        self.engine.set_warm_start(lane, acceleration);
    }

    /// Sets the activations of the actuators of one world; [`Self::set_state`] makes them zero.
    pub fn set_activations(&mut self, lane: usize, activations: &[f64]) {
        self.engine.set_activations(lane, activations);
    }

    /// Sets the controls of one world.
    pub fn set_control(&mut self, lane: usize, control: &[f64]) {
        self.engine.set_control(lane, control);
    }

    /// Advances the worlds whose bit is set in `active` by a number of time steps; the others keep their state.
    pub fn step(&mut self, active: u8, steps: usize) {
        self.engine.step(active & ALL, steps);
    }

    /// The worlds whose coordinates, velocities or accelerations were not finite or beyond 1e10, as bits. They
    /// stand still until [`Self::set_state`].
    pub fn diverged(&self) -> u8 {
        self.engine.diverged()
    }

    /// Reads the coordinates of one world.
    pub fn qpos(&self, lane: usize, out: &mut [f64]) {
        self.engine.qpos(lane, out);
    }

    /// Reads the activations of the actuators of one world.
    pub fn activations(&self, lane: usize, out: &mut [f64]) {
        self.engine.activations(lane, out);
    }

    /// Reads the velocities of one world.
    pub fn qvel(&self, lane: usize, out: &mut [f64]) {
        self.engine.qvel(lane, out);
    }

    /// Reads the accelerations of the last evaluation.
    pub fn acceleration(&self, lane: usize, out: &mut [f64]) {
        self.engine.acceleration(lane, out);
    }

    /// Reads where the solver would start.
    pub fn warm_start(&self, lane: usize, out: &mut [f64]) {
        self.engine.warm_start(lane, out);
    }

    /// Position and rotation matrix (by rows) of a body of the model at the last evaluation (for Runge-Kutta its
    /// fourth stage), which is what MuJoCo's `xpos` and `xmat` hold after a step. Meaningful only for worlds that
    /// advanced in the last step, or after [`Self::forward_kinematics`].
    pub fn body_pose(&self, body: usize, lane: usize) -> ([f64; 3], [f64; 9]) {
        let pose = self.engine.body_pose(body, lane);
        (pose.position, pose.rotation)
    }

    /// Angular velocity of a body of the model at the last evaluation, and the velocity of the point of the body that is at
    /// `point` (given in world axes), both in world axes.
    pub fn body_velocity(&self, body: usize, point: [f64; 3], lane: usize) -> [[f64; 3]; 2] {
        self.engine.body_velocity(body, point, lane)
    }

    /// Acceleration of the point of a body that is at `point`, with that of free fall taken away: what an accelerometer
    /// there feels, in world axes, at the last evaluation.
    pub fn body_acceleration(&self, body: usize, point: [f64; 3], lane: usize) -> [f64; 3] {
        self.engine.body_acceleration(body, point, lane)
    }

    /// Reads the state that the last evaluation of an Euler step belongs to: the one before the step.
    pub fn state_before(&self, lane: usize, qpos: &mut [f64], qvel: &mut [f64]) {
        self.engine.state_before(lane, qpos, qvel);
    }

    /// Puts the bodies of all worlds where their coordinates say, without advancing time.
    pub fn forward_kinematics(&mut self) {
        self.engine.forward_kinematics();
    }

    /// Evaluates all forces and accelerations of all worlds at their present states, without advancing time.
    pub fn forward_dynamics(&mut self) {
        self.engine.forward_dynamics();
    }

    /// Calls `report` with the index, in [`crate::model::Model::pairs`], of every contact of a world at the last
    /// evaluation. A pair can touch at several points.
    pub fn contact_pairs(&self, lane: usize, mut report: impl FnMut(usize)) {
        self.engine.contact_pairs(lane, &mut report);
    }

    /// Contact torque about the centre of mass of the tree, and contact force, on every body at the last
    /// evaluation: MuJoCo's `cfrc_ext` where nothing else acts from outside.
    pub fn contact_wrenches(&self, lane: usize, out: &mut [[f64; 6]]) {
        self.engine.contact_wrenches(lane, out);
    }

    /// Force of limits and contacts on every degree of freedom at the last evaluation: MuJoCo's `qfrc_constraint`.
    pub fn constraint_forces(&self, lane: usize, out: &mut [f64]) {
        self.engine.constraint_forces(lane, out);
    }

    /// Force of the actuators on every degree of freedom at the last evaluation: MuJoCo's `qfrc_actuator`.
    pub fn actuator_forces(&self, lane: usize, out: &mut [f64]) {
        self.engine.actuator_forces(lane, out);
    }

    /// Number of worlds.
    pub const fn lanes(&self) -> usize {
        LANES
    }
}
