//! A batch of worlds for one lane type and one kind of space.

use crate::actuators::Driven;
use crate::compile::{BodyPoint, Compiled};
use crate::constraint::{Contacts, Limits};
use crate::extra::outside::Outside;
use crate::integrate::{Integration, Stage};
use crate::kernels::Kernels;
use crate::kinematics_planar::Planar;
use crate::kinematics_spatial::Spatial;
use crate::model::Integrator;
use crate::narrow::Narrow;
use crate::points::Points;
use crate::respond::NO_CONTACT;
use crate::rigid::{self, Pose, Vec3, cross};
use crate::simd::{LANES, Lane, Mask};
use crate::solver::{Newton, Problem, Smooth};
use crate::tendons::Tendons;
use std::sync::Arc;

/// A coordinate, velocity or acceleration beyond this is divergence, as in MuJoCo.
const LARGEST: f64 = 1e10;

/// What is compared with the range of a simulation: MuJoCo does so before a step and after its first evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Checked {
    State,
    Acceleration,
}

/// Coordinates, velocities and what the next step starts from.
pub(crate) struct State<F> {
    pub(crate) qpos: Vec<F>,
    pub(crate) qvel: Vec<F>,
    pub(crate) control: Vec<F>,
    /// Activations of actuators, and how fast they change at the last evaluation.
    pub(crate) activation: Vec<F>,
    pub(crate) activation_rate: Vec<F>,
    /// Of the last evaluation.
    pub(crate) acceleration: Vec<F>,
    pub(crate) warm_start: Vec<F>,
}

/// The bodies of a mechanism in a space of `D` dimensions.
pub(crate) trait Space<F: Lane, const D: usize>: Points<F> + Send {
    fn new(model: &Compiled) -> Self;
    /// Positions, the packed inertia matrix, and drag minus bias forces.
    fn dynamics(&mut self, model: &Compiled, qpos: &[F], qvel: &[F], mass: &mut [F], force: &mut [F]);
    fn collide(
        &self,
        model: &Compiled,
        qpos: &[F],
        qvel: &[F],
        outside: &mut Outside<F>,
        contacts: &mut Contacts<F, D>,
    );
    /// Prepares the poses of the last evaluation for being read.
    fn place_frames(&mut self, model: &Compiled);
    /// The pose of a body of the model in one lane.
    fn pose(&self, model: &Compiled, body: usize, lane: usize) -> Pose;
    /// The centre of mass of a tree, named by its first body.
    fn tree_center(&self, model: &Compiled, root: usize, lane: usize) -> Vec3;
    /// Angular velocity of a moving body, and the velocity it gives a point, in one lane at the last evaluation.
    fn velocity(&self, model: &Compiled, body: usize, point: Vec3, lane: usize) -> [Vec3; 2];
    /// Acceleration of a point of a moving body, with that of free fall taken away, in one lane.
    fn acceleration(&self, model: &Compiled, body: usize, point: Vec3, qacc: &[F], lane: usize) -> Vec3;
    /// A vector of the space in three dimensions.
    fn embed(model: &Compiled, v: [f64; D]) -> Vec3;
    /// The tangents of a contact with this normal, in three dimensions.
    fn tangents(model: &Compiled, normal: [f64; D], tangent: [f64; D]) -> [Vec3; 2];
}

// A model that needs these is not compiled to a plane.
impl<F: Kernels> Points<F> for Planar<F> {
    #[inline(always)]
    fn point(&self, _point: &BodyPoint) -> [F; 3] {
        [F::zero(); 3]
    }
    #[inline(always)]
    fn rotation(&self, _body: usize) -> [F; 9] {
        [F::zero(); 9]
    }
    #[inline(always)]
    fn motion(&self, _model: &Compiled, _k: usize, _point: [F; 3]) -> ([F; 3], [F; 3]) {
        ([F::zero(); 3], [F::zero(); 3])
    }
    #[inline(always)]
    fn drift(&self, _model: &Compiled, _body: usize, _point: [F; 3]) -> [[F; 3]; 3] {
        [[F::zero(); 3]; 3]
    }
}

impl<F: Kernels> Points<F> for Spatial<F> {
    #[inline(always)]
    fn point(&self, point: &BodyPoint) -> [F; 3] {
        crate::vector::place(&self.rotations[point.body], &point.position, self.positions[point.body])
    }
    #[inline(always)]
    fn rotation(&self, body: usize) -> [F; 9] {
        self.rotations[body]
    }
    #[inline(always)]
    fn motion(&self, model: &Compiled, k: usize, point: [F; 3]) -> ([F; 3], [F; 3]) {
        self.motion_at(model, k, point)
    }
    #[inline(always)]
    fn drift(&self, model: &Compiled, body: usize, point: [F; 3]) -> [[F; 3]; 3] {
        self.drift_of(model, body, point)
    }
}

impl<F: Kernels> Space<F, 2> for Planar<F> {
    fn new(model: &Compiled) -> Self {
        Planar::new(model)
    }
    #[inline(always)]
    fn dynamics(&mut self, model: &Compiled, qpos: &[F], qvel: &[F], mass: &mut [F], force: &mut [F]) {
        let plan = model.plane();
        self.kinematics(model, plan, qpos);
        self.inertia(model, plan, mass);
        self.bias(model, plan, qvel, force);
    }
    #[inline(always)]
    fn collide(
        &self,
        model: &Compiled,
        _qpos: &[F],
        qvel: &[F],
        _outside: &mut Outside<F>,
        contacts: &mut Contacts<F, 2>,
    ) {
        self.collide(model, model.plane(), qvel, contacts);
    }
    // Few tasks in a plane read poses, and then of few bodies.
    #[inline(always)]
    fn place_frames(&mut self, _model: &Compiled) {}
    fn pose(&self, model: &Compiled, body: usize, lane: usize) -> Pose {
        let frame = &model.frames[body];
        let position = <Self as Space<F, 2>>::embed(model, self.positions[frame.body].map(|x| x.get(lane)));
        let [c, s] = self.rotations[frame.body].map(|x| x.get(lane));
        let n = model.plane().normal;
        let (u, v) = ((n + 1) % 3, (n + 2) % 3);
        let mut rotation = rigid::IDENTITY;
        (rotation[4 * u], rotation[4 * v], rotation[3 * v + u], rotation[3 * u + v]) = (c, c, s, -s);
        Pose { position, rotation }.then(&frame.pose)
    }
    fn tree_center(&self, model: &Compiled, root: usize, lane: usize) -> Vec3 {
        let mut moment = [0.0; 3];
        for (body, frame) in model.frames.iter().enumerate().filter(|(_, f)| f.root == root) {
            let center = <Self as Space<F, 2>>::pose(self, model, body, lane).point(frame.center);
            moment = rigid::add(moment, rigid::scale(center, frame.mass));
        }
        rigid::scale(moment, 1.0 / model.frames[root].tree_mass)
    }
    fn velocity(&self, model: &Compiled, body: usize, point: Vec3, lane: usize) -> [Vec3; 2] {
        self.velocity_at(model, body, point, lane)
    }
    fn acceleration(&self, model: &Compiled, body: usize, point: Vec3, qacc: &[F], lane: usize) -> Vec3 {
        self.acceleration_at(model, body, point, qacc, lane)
    }
    fn embed(model: &Compiled, v: [f64; 2]) -> Vec3 {
        model.plane().embed(v)
    }
    fn tangents(model: &Compiled, normal: [f64; 2], _tangent: [f64; 2]) -> [Vec3; 2] {
        let mut out_of_plane = [0.0; 3];
        out_of_plane[model.plane().normal] = 1.0;
        [<Self as Space<F, 2>>::embed(model, [-normal[1], normal[0]]), out_of_plane]
    }
}

impl<F: Kernels> Space<F, 3> for Spatial<F> {
    fn new(model: &Compiled) -> Self {
        Spatial::new(model)
    }
    #[inline(always)]
    fn dynamics(&mut self, model: &Compiled, qpos: &[F], qvel: &[F], mass: &mut [F], force: &mut [F]) {
        self.kinematics(model, qpos);
        self.inertia(model, mass);
        self.bias(model, qvel, force);
    }
    #[inline(always)]
    fn collide(
        &self,
        model: &Compiled,
        qpos: &[F],
        qvel: &[F],
        outside: &mut Outside<F>,
        contacts: &mut Contacts<F, 3>,
    ) {
        self.collide(model, qpos, qvel, outside, contacts);
    }
    #[inline(always)]
    fn place_frames(&mut self, model: &Compiled) {
        self.frames.place(model, &self.positions, &self.rotations);
    }
    fn pose(&self, _model: &Compiled, body: usize, lane: usize) -> Pose {
        self.frames.pose(body, lane)
    }
    fn tree_center(&self, _model: &Compiled, root: usize, lane: usize) -> Vec3 {
        self.frames.center(root, lane)
    }
    fn velocity(&self, model: &Compiled, body: usize, point: Vec3, lane: usize) -> [Vec3; 2] {
        self.velocity_at(model, body, point, lane)
    }
    fn acceleration(&self, model: &Compiled, body: usize, point: Vec3, qacc: &[F], lane: usize) -> Vec3 {
        self.acceleration_at(model, body, point, qacc, lane)
    }
    fn embed(_model: &Compiled, v: [f64; 3]) -> Vec3 {
        v
    }
    fn tangents(_model: &Compiled, n: [f64; 3], t: [f64; 3]) -> [Vec3; 2] {
        [t, cross(n, t)]
    }
}

/// Eight worlds.
pub(crate) struct Sim<F: Kernels, S, const D: usize> {
    pub(crate) model: Arc<Compiled>,
    pub(crate) state: State<F>,
    pub(crate) space: S,
    pub(crate) tendons: Tendons<F>,
    pub(crate) smooth: Smooth<F>,
    pub(crate) limits: Limits<F>,
    pub(crate) contacts: Contacts<F, D>,
    pub(crate) outside: Outside<F>,
    pub(crate) newton: Newton<F>,
    pub(crate) integration: Integration<F>,
    /// Lanes that advance in this step, and lanes whose state left the range of a simulation.
    pub(crate) active: u8,
    pub(crate) diverged: u8,
}

impl<F: Kernels, S: Space<F, D>, const D: usize> Sim<F, S, D> {
    pub(crate) fn new(model: Arc<Compiled>) -> Self {
        let column = |n: usize| vec![F::zero(); n];
        let freedoms = model.freedoms();
        Self {
            state: State {
                qpos: column(model.coordinates),
                qvel: column(freedoms),
                control: column(model.controls()),
                activation: column(model.activations),
                activation_rate: column(model.activations),
                acceleration: column(freedoms),
                warm_start: column(freedoms),
            },
            space: S::new(&model),
            tendons: Tendons::new(&model),
            smooth: Smooth::new(&model),
            limits: Limits::new(&model),
            contacts: Contacts::new(&model),
            outside: Outside::new(&model),
            newton: Newton::new(&model),
            integration: Integration::new(&model),
            active: 0,
            diverged: 0,
            model,
        }
    }

    #[inline(always)]
    pub(crate) fn smooth_dynamics(&mut self) {
        let (model, state, smooth) = (&*self.model, &mut self.state, &mut self.smooth);
        self.space.dynamics(model, &state.qpos, &state.qvel, &mut smooth.mass, &mut smooth.force);
        F::factors_of(&model.tree, &smooth.mass, &mut smooth.factors, &mut smooth.inverse_diagonal);
        crate::forces::add_joint_forces(model, &state.qpos, &state.qvel, &mut smooth.force);
        if !model.tendons.is_empty() {
            self.tendons.update(model, &self.space, &state.qpos, &state.qvel);
            self.tendons.add_forces(model, &mut smooth.force);
        }
        let (qpos, qvel, control) = (&state.qpos, &state.qvel, &state.control);
        if model.plain_actuators {
            let (force, scratch, kept) = (&mut smooth.force, &mut smooth.scratch, &mut smooth.actuator);
            crate::forces::add_joint_actuators(model, qpos, qvel, control, force, scratch, kept);
        } else {
            crate::actuators::add_actuators(
                model,
                &self.tendons,
                Driven {
                    qpos,
                    qvel,
                    control,
                    activation: &state.activation,
                    activation_rate: &mut state.activation_rate,
                    force: &mut smooth.force,
                    scratch: &mut smooth.scratch,
                    kept: &mut smooth.actuator,
                },
            );
        }
        smooth.acceleration.copy_from_slice(&smooth.force);
        F::solve(&model.tree, &smooth.factors, &smooth.inverse_diagonal, &mut smooth.acceleration);
    }

    #[inline(always)]
    pub(crate) fn find_constraints(&mut self) {
        let (model, state) = (&*self.model, &self.state);
        self.limits.find(model, &state.qpos, &state.qvel);
        self.space.collide(model, &state.qpos, &state.qvel, &mut self.outside, &mut self.contacts);
        if !model.rows.is_empty() {
            let rows = &mut self.contacts.extra.rows;
            rows.find(model, &self.space, &self.tendons, &state.qpos, &state.qvel);
        }
    }

    #[inline(always)]
    pub(crate) fn problem(&mut self) -> Problem<'_, F, D> {
        Problem {
            model: &self.model,
            smooth: &self.smooth,
            limits: &mut self.limits,
            contacts: &mut self.contacts,
            newton: &mut self.newton,
            warm_start: &self.state.warm_start,
            acceleration: &mut self.state.acceleration,
            live: self.active,
        }
    }

    #[inline(always)]
    pub(crate) fn check_range(&mut self, what: Checked) {
        let state = &self.state;
        let largest = F::splat(LARGEST);
        let mut good = F::Mask::from_bits(u8::MAX);
        match what {
            Checked::State => {
                for x in &state.qpos {
                    good = good.and(x.abs().le(largest));
                }
                for x in &state.qvel {
                    good = good.and(x.abs().le(largest));
                }
            }
            Checked::Acceleration => {
                for x in &state.acceleration {
                    good = good.and(x.abs().le(largest));
                }
            }
        }
        self.diverged |= !good.bits() & self.active;
        self.active &= !self.diverged;
    }

    fn forward(&mut self) {
        F::smooth(self);
        F::constrain(self);
        F::resolve(self);
    }

    fn one_step(&mut self) {
        self.forward();
        F::check(self, Checked::Acceleration);
        match self.model.options.integrator {
            Integrator::Euler { .. } | Integrator::ImplicitFast => F::integrate(self, Stage::Euler),
            Integrator::RungeKutta4 => {
                for n in 1..4 {
                    F::integrate(self, Stage::Next(n));
                    self.forward();
                }
                F::integrate(self, Stage::Finish);
            }
        }
    }
}

/// What a batch needs from its simulation, whatever the lane type.
pub(crate) trait Engine: Send {
    fn set_narrow_phase(&mut self, narrow: Box<dyn Narrow>);
    fn set_state(&mut self, lane: usize, qpos: &[f64], qvel: &[f64]);
    fn set_velocities(&mut self, lane: usize, qvel: &[f64]);
    fn set_warm_start(&mut self, lane: usize, acceleration: &[f64]);
    fn set_activations(&mut self, lane: usize, activations: &[f64]);
    fn activations(&self, lane: usize, out: &mut [f64]);
    fn set_control(&mut self, lane: usize, control: &[f64]);
    fn step(&mut self, active: u8, steps: usize);
    fn diverged(&self) -> u8;
    fn qpos(&self, lane: usize, out: &mut [f64]);
    fn qvel(&self, lane: usize, out: &mut [f64]);
    fn acceleration(&self, lane: usize, out: &mut [f64]);
    fn warm_start(&self, lane: usize, out: &mut [f64]);
    fn body_pose(&self, body: usize, lane: usize) -> Pose;
    fn body_velocity(&self, body: usize, point: Vec3, lane: usize) -> [Vec3; 2];
    fn body_acceleration(&self, body: usize, point: Vec3, lane: usize) -> Vec3;
    fn state_before(&self, lane: usize, qpos: &mut [f64], qvel: &mut [f64]);
    fn contact_pairs(&self, lane: usize, report: &mut dyn FnMut(usize));
    fn forward_kinematics(&mut self);
    fn forward_dynamics(&mut self);
    fn contact_wrenches(&self, lane: usize, out: &mut [[f64; 6]]);
    fn constraint_forces(&self, lane: usize, out: &mut [f64]);
    fn actuator_forces(&self, lane: usize, out: &mut [f64]);
}

fn write<F: Lane>(column: &mut [F], lane: usize, values: &[f64]) {
    column.iter_mut().zip(values).for_each(|(x, &value)| x.set(lane, value));
}

fn read<F: Lane>(column: &[F], lane: usize, out: &mut [f64]) {
    out.iter_mut().zip(column).for_each(|(out, x)| *out = x.get(lane));
}

impl<F: Kernels, S: Space<F, D>, const D: usize> Engine for Sim<F, S, D> {
    fn set_narrow_phase(&mut self, narrow: Box<dyn Narrow>) {
        self.outside.set(&self.model, narrow);
    }

    fn set_state(&mut self, lane: usize, qpos: &[f64], qvel: &[f64]) {
        write(&mut self.state.qpos, lane, qpos);
        write(&mut self.state.qvel, lane, qvel);
        self.state.warm_start.iter_mut().for_each(|x| x.set(lane, 0.0));
        self.state.activation.iter_mut().for_each(|x| x.set(lane, 0.0));
        self.diverged &= !(1 << lane);
    }

    fn set_velocities(&mut self, lane: usize, qvel: &[f64]) {
        write(&mut self.state.qvel, lane, qvel);
    }

    fn set_warm_start(&mut self, lane: usize, acceleration: &[f64]) {
        write(&mut self.state.warm_start, lane, acceleration);
    }

    fn set_activations(&mut self, lane: usize, activations: &[f64]) {
        write(&mut self.state.activation, lane, activations);
    }

    fn activations(&self, lane: usize, out: &mut [f64]) {
        read(&self.state.activation, lane, out);
    }

    fn set_control(&mut self, lane: usize, control: &[f64]) {
        write(&mut self.state.control, lane, control);
    }

    fn step(&mut self, active: u8, steps: usize) {
        for _ in 0..steps {
            self.active = active & !self.diverged;
            F::check(self, Checked::State);
            if self.active == 0 {
                break;
            }
            self.one_step();
        }
        F::check(self, Checked::State);
        F::place_frames(self);
    }

    fn diverged(&self) -> u8 {
        self.diverged
    }

    fn qpos(&self, lane: usize, out: &mut [f64]) {
        read(&self.state.qpos, lane, out);
    }

    fn qvel(&self, lane: usize, out: &mut [f64]) {
        read(&self.state.qvel, lane, out);
    }

    fn acceleration(&self, lane: usize, out: &mut [f64]) {
        read(&self.state.acceleration, lane, out);
    }

    fn warm_start(&self, lane: usize, out: &mut [f64]) {
        read(&self.state.warm_start, lane, out);
    }

    fn body_pose(&self, body: usize, lane: usize) -> Pose {
        self.space.pose(&self.model, body, lane)
    }

    fn body_velocity(&self, body: usize, point: Vec3, lane: usize) -> [Vec3; 2] {
        match self.model.frames[body].body {
            0 => [[0.0; 3]; 2],
            moving => self.space.velocity(&self.model, moving, point, lane),
        }
    }

    fn body_acceleration(&self, body: usize, point: Vec3, lane: usize) -> Vec3 {
        let moving = self.model.frames[body].body;
        self.space.acceleration(&self.model, moving, point, &self.state.acceleration, lane)
    }

    fn state_before(&self, lane: usize, qpos: &mut [f64], qvel: &mut [f64]) {
        self.integration.before(&self.model, lane, &self.state, qpos, qvel);
    }

    fn contact_pairs(&self, lane: usize, report: &mut dyn FnMut(usize)) {
        let cones = self.contacts.extra.cones.slots().iter().map(|slot| slot.ids[lane]);
        let ids = self.contacts.slots().iter().map(|slot| slot.ids[lane]).chain(cones);
        ids.filter(|&id| id != NO_CONTACT).for_each(|id| report(self.model.contacts[id as usize].law.pair));
    }

    fn constraint_forces(&self, lane: usize, out: &mut [f64]) {
        read(&self.newton.force, lane, out);
    }

    fn actuator_forces(&self, lane: usize, out: &mut [f64]) {
        out.fill(0.0);
        for (actuator, force) in self.model.actuators.iter().zip(&self.smooth.actuator) {
            let force = force.get(lane) * actuator.gear;
            match actuator.tendon {
                None => out[actuator.freedom] += force,
                Some(t) => {
                    let entries = out.iter_mut().zip(self.tendons.jacobian(t));
                    entries.for_each(|(x, j)| *x += force * j.get(lane));
                }
            }
        }
        for &(k, [low, high]) in &self.model.force_clamps {
            out[k] = out[k].max(low).min(high);
        }
    }

    fn forward_kinematics(&mut self) {
        F::smooth(self);
        F::place_frames(self);
    }

    fn forward_dynamics(&mut self) {
        self.active = ALL & !self.diverged;
        self.forward();
        F::place_frames(self);
    }

    fn contact_wrenches(&self, lane: usize, out: &mut [[f64; 6]]) {
        self.sum_wrenches(lane, out);
    }
}

/// All lanes.
pub(crate) const ALL: u8 = ((1_u16 << LANES) - 1) as u8;
