//! Integration of one step: Euler with implicit damping, Runge-Kutta of fourth order.

use crate::compile::Compiled;
use crate::kernels::Kernels;
use crate::model::{Integrator, JointKind};
use crate::sim::{Sim, Space, State};
use crate::simd::{Lane, Mask, sin_cos};
use crate::tendons::Tendons;
use crate::vector::*;

/// A part of the integration, after an evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// The whole Euler step.
    Euler,
    /// Prepare evaluation 2, 3 or 4 (numbered 1, 2, 3) of a Runge-Kutta step.
    Next(usize),
    /// The end of a Runge-Kutta step.
    Finish,
}

/// Coordinates at the start of a step, and weighted sums over its stages.
pub(crate) struct Integration<F> {
    start: Vec<F>,
    start_velocity: Vec<F>,
    velocity_sum: Vec<F>,
    acceleration_sum: Vec<F>,
    start_activation: Vec<F>,
    activation_sum: Vec<F>,
    implicit: Vec<F>,
    inverse_diagonal: Vec<F>,
}

impl<F: Lane> Integration<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let column = || vec![F::zero(); model.freedoms()];
        Self {
            start: vec![F::zero(); model.coordinates],
            start_velocity: column(),
            velocity_sum: column(),
            acceleration_sum: column(),
            start_activation: vec![F::zero(); model.activations],
            activation_sum: vec![F::zero(); model.activations],
            implicit: vec![F::zero(); model.tree.entries()],
            inverse_diagonal: column(),
        }
    }
}

impl<F: Lane> Integration<F> {
    /// The state before an Euler step.
    pub(crate) fn before(
        &self,
        model: &Compiled,
        lane: usize,
        state: &State<F>,
        qpos: &mut [f64],
        qvel: &mut [f64],
    ) {
        for (out, q) in qpos.iter_mut().zip(&self.start) {
            *out = q.get(lane);
        }
        let h = model.options.timestep;
        for (out, (v, a)) in qvel.iter_mut().zip(state.qvel.iter().zip(&self.acceleration_sum)) {
            *out = v.get(lane) - h * a.get(lane);
        }
    }
}

impl<F: Kernels, S: Space<F, D>, const D: usize> Sim<F, S, D> {
    #[inline(always)]
    pub(crate) fn integrate(&mut self, stage: Stage) {
        match stage {
            Stage::Euler => self.euler(),
            Stage::Next(n) => self.next_stage(n),
            Stage::Finish => self.finish(),
        }
    }

    #[inline(always)]
    fn euler(&mut self) {
        let model = &*self.model;
        let h = model.options.timestep;
        let active = F::Mask::from_bits(self.active);
        let acceleration = &mut self.integration.acceleration_sum;
        acceleration.copy_from_slice(&self.state.acceleration);
        if model.implicit_damping {
            // (M + h diag(damping)) a = all forces
            let (implicit, diagonal) =
                (&mut self.integration.implicit, &mut self.integration.inverse_diagonal);
            implicit.copy_from_slice(&self.smooth.mass);
            for (k, freedom) in model.freedoms.iter().enumerate() {
                let entry = &mut implicit[model.tree.diagonal(k)];
                *entry = *entry + F::splat(h * freedom.damping);
            }
            if model.options.integrator == Integrator::ImplicitFast {
                add_actuator_damping(model, &self.smooth.actuator, &self.tendons, h, implicit);
            }
            F::factor(&model.tree, implicit, diagonal);
            for (k, a) in acceleration.iter_mut().enumerate() {
                *a = self.smooth.force[k] + self.newton.force[k];
            }
            F::solve(&model.tree, implicit, diagonal, acceleration);
        }
        let state = &mut self.state;
        self.integration.start.copy_from_slice(&state.qpos);
        for (v, a) in state.qvel.iter_mut().zip(acceleration) {
            *v = F::select(active, a.mul_add(F::splat(h), *v), *v);
        }
        move_along(model, &mut state.qpos, &state.qvel, h);
        keep_where(active, &mut state.qpos, &self.integration.start);
        if model.activations > 0 {
            move_activations(model, active, &mut state.activation, &state.activation_rate, h);
        }
        keep_new(active, &state.acceleration, &mut state.warm_start);
    }

    /// State of evaluation `n + 1`: q0 moved along the velocity of the evaluation before, v0 along its acceleration.
    #[inline(always)]
    fn next_stage(&mut self, n: usize) {
        let h = self.model.options.timestep;
        let fraction = F::splat(if n == 3 { h } else { 0.5 * h });
        let (state, work) = (&mut self.state, &mut self.integration);
        if n == 1 {
            work.start.copy_from_slice(&state.qpos);
            work.start_velocity.copy_from_slice(&state.qvel);
        }
        if self.model.activations > 0 {
            if n == 1 {
                work.start_activation.copy_from_slice(&state.activation);
            }
            accumulate(n, &state.activation_rate, &mut work.activation_sum);
            for (i, x) in state.activation.iter_mut().enumerate() {
                *x = state.activation_rate[i].mul_add(fraction, work.start_activation[i]);
            }
        }
        accumulate(n, &state.qvel, &mut work.velocity_sum);
        accumulate(n, &state.acceleration, &mut work.acceleration_sum);
        state.qpos.copy_from_slice(&work.start);
        move_along(&self.model, &mut state.qpos, &state.qvel, if n == 3 { h } else { 0.5 * h });
        for (k, v) in state.qvel.iter_mut().enumerate() {
            *v = state.acceleration[k].mul_add(fraction, work.start_velocity[k]);
        }
    }

    #[inline(always)]
    fn finish(&mut self) {
        let h = self.model.options.timestep;
        let active = F::Mask::from_bits(self.active);
        let (state, work) = (&mut self.state, &mut self.integration);
        accumulate(4, &state.qvel, &mut work.velocity_sum);
        accumulate(4, &state.acceleration, &mut work.acceleration_sum);
        state.qpos.copy_from_slice(&work.start);
        move_along(&self.model, &mut state.qpos, &work.velocity_sum, h);
        keep_where(active, &mut state.qpos, &work.start);
        if self.model.activations > 0 {
            accumulate(4, &state.activation_rate, &mut work.activation_sum);
            state.activation.copy_from_slice(&work.start_activation);
            move_activations(&self.model, active, &mut state.activation, &work.activation_sum, h);
        }
        for (k, v) in state.qvel.iter_mut().enumerate() {
            let start = work.start_velocity[k];
            *v = F::select(active, work.acceleration_sum[k].mul_add(F::splat(h), start), start);
        }
        keep_new(active, &state.acceleration, &mut state.warm_start);
    }
}

/// Moves activations at a rate for a time.
#[inline(always)]
fn move_activations<F: Lane>(model: &Compiled, active: F::Mask, activations: &mut [F], rates: &[F], h: f64) {
    for plan in model.actuators.iter().filter_map(|a| a.state.as_ref()) {
        let old = activations[plan.index];
        let new = crate::actuators::next(plan, old, rates[plan.index], h);
        activations[plan.index] = F::select(active, new, old);
    }
}

/// Adds the derivatives of actuator and tendon forces by the velocity; a force at its bound does not depend on it.
#[inline(always)]
fn add_actuator_damping<F: Lane>(
    model: &Compiled,
    forces: &[F],
    tendons: &Tendons<F>,
    h: f64,
    implicit: &mut [F],
) {
    for (actuator, &force) in model.actuators.iter().zip(forces) {
        let Some([_, _, per_velocity]) = actuator.bias else { continue };
        let mut damping = F::splat(-h * per_velocity * actuator.gear * actuator.gear);
        if let Some([low, high]) = actuator.force_range {
            damping = damping.keep(F::splat(low).lt(force).and(force.lt(F::splat(high))));
        }
        if let Some(tendon) = actuator.tendon {
            add_square(model, tendons.jacobian(tendon), damping, implicit);
            continue;
        }
        let entry = &mut implicit[model.tree.diagonal(actuator.freedom)];
        *entry = *entry + damping;
    }
    for (t, tendon) in model.tendons.iter().enumerate() {
        if tendon.damping != 0.0 {
            add_square(model, tendons.jacobian(t), F::splat(h * tendon.damping), implicit);
        }
    }
}

/// Adds J' w J where the inertia matrix has entries.
#[inline(always)]
fn add_square<F: Lane>(model: &Compiled, jacobian: &[F], weight: F, matrix: &mut [F]) {
    for (k, j) in jacobian.iter().enumerate() {
        let (weighted, row) = (*j * weight, &mut matrix[model.tree.row(k)]);
        let columns = model.tree.columns(k);
        for (x, &i) in row.iter_mut().zip(columns.iter().chain([&k])) {
            *x = weighted.mul_add(jacobian[i], *x);
        }
    }
}

/// sum += weight x, with the Runge-Kutta weight of evaluation `n` (1 to 4).
#[inline(always)]
fn accumulate<F: Lane>(n: usize, x: &[F], sum: &mut [F]) {
    let weight = F::splat(if n == 1 || n == 4 { 1.0 / 6.0 } else { 1.0 / 3.0 });
    for (sum, x) in sum.iter_mut().zip(x) {
        *sum = if n == 1 { *x * weight } else { x.mul_add(weight, *sum) };
    }
}

/// Restores the old values outside the mask.
#[inline(always)]
fn keep_where<F: Lane>(mask: F::Mask, values: &mut [F], old: &[F]) {
    for (x, old) in values.iter_mut().zip(old) {
        *x = F::select(mask, *x, *old);
    }
}

/// Takes the new values inside the mask.
#[inline(always)]
fn keep_new<F: Lane>(mask: F::Mask, new: &[F], values: &mut [F]) {
    for (x, new) in values.iter_mut().zip(new) {
        *x = F::select(mask, *new, *x);
    }
}

/// Moves the coordinates with the velocity for a time h; orientations stay unit quaternions.
#[inline(always)]
fn move_along<F: Lane>(model: &Compiled, qpos: &mut [F], velocity: &[F], h: f64) {
    let step = F::splat(h);
    for joint in &model.joints {
        let (q, d) = (joint.coordinate, joint.freedom);
        let straight = match joint.kind {
            JointKind::Free => 3,
            JointKind::Ball => 0,
            JointKind::Slide | JointKind::Hinge => 1,
        };
        for i in 0..straight {
            qpos[q + i] = velocity[d + i].mul_add(step, qpos[q + i]);
        }
        if matches!(joint.kind, JointKind::Free | JointKind::Ball) {
            let (q, d) = (q + straight, d + straight);
            let old = [qpos[q], qpos[q + 1], qpos[q + 2], qpos[q + 3]];
            let new = turned(old, [velocity[d], velocity[d + 1], velocity[d + 2]], h);
            qpos[q..q + 4].copy_from_slice(&new);
        }
    }
}

/// q exp(h w / 2), with w in the body's frame.
#[inline(always)]
fn turned<F: Lane>(q: [F; 4], w: V3<F>, h: f64) -> [F; 4] {
    let speed = dot3(w, w).sqrt();
    let turning = F::splat(1e-15).lt(speed);
    let (s, c) = sin_cos(speed * F::splat(0.5 * h));
    let factor = (s / speed).keep(turning);
    let c = F::select(turning, c, F::one());
    normalized(quaternion_product(q, [c, w[0] * factor, w[1] * factor, w[2] * factor]))
}
