//! The constraint solver: Newton's method with an exact line search.
//!
//! Minimises 1/2 (a - a_s)' M (a - a_s) + sum 1/2 D_i min(0, z_i)^2 with z = J a - aref. The minimum is unique, so
//! the result agrees with libmujoco's to rounding as long as both stop after the same iteration: the stopping rules
//! are libmujoco 3.17's, with its scale 1 / trace(M).

mod coupled;
mod hessian;
mod islands;
mod line_search;

use crate::compile::{Compiled, MANY_POINTS};
use crate::constraint::{Contacts, Limits, times};
use crate::extra::Part;
use crate::kernels::Kernels;
use crate::packed;
use crate::simd::{Lane, Mask};
pub(crate) use hessian::Hessian;
use islands::Islands;

/// Quantities of the smooth dynamics the solver starts from.
pub(crate) struct Smooth<F> {
    /// Packed inertia matrix, its factors and the inverse of their diagonal.
    pub(crate) mass: Vec<F>,
    pub(crate) factors: Vec<F>,
    pub(crate) inverse_diagonal: Vec<F>,
    /// All forces but those of constraints, and the acceleration they cause.
    pub(crate) force: Vec<F>,
    pub(crate) acceleration: Vec<F>,
    pub(crate) scratch: Vec<F>,
    /// Force of every actuator before its gear.
    pub(crate) actuator: Vec<F>,
}

impl<F: Lane> Smooth<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let column = || vec![F::zero(); model.freedoms()];
        let matrix = || vec![F::zero(); model.tree.entries()];
        Self {
            mass: matrix(),
            factors: matrix(),
            inverse_diagonal: column(),
            force: column(),
            acceleration: column(),
            scratch: column(),
            actuator: vec![F::zero(); model.controls()],
        }
    }
}

/// Work space of the solver.
pub(crate) struct Newton<F> {
    pub(crate) islands: Islands<F>,
    /// Factors of the Hessian.
    hessian: Vec<F>,
    inverse_diagonal: Vec<F>,
    gradient: Vec<F>,
    direction: Vec<F>,
    /// M a and M p.
    pub(crate) mass_acceleration: Vec<F>,
    mass_direction: Vec<F>,
    mass_warm: Vec<F>,
    /// Force of the constraints on each degree of freedom.
    pub(crate) force: Vec<F>,
}

impl<F: Lane> Newton<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let column = || vec![F::zero(); model.freedoms()];
        Self {
            islands: Islands::new(model),
            hessian: vec![F::zero(); model.full.entries()],
            inverse_diagonal: column(),
            gradient: column(),
            direction: column(),
            mass_acceleration: column(),
            mass_direction: column(),
            mass_warm: column(),
            force: column(),
        }
    }
}

/// Everything the solver reads and writes.
pub(crate) struct Problem<'a, F: Lane, const D: usize> {
    pub(crate) model: &'a Compiled,
    pub(crate) smooth: &'a Smooth<F>,
    pub(crate) limits: &'a mut Limits<F>,
    pub(crate) contacts: &'a mut Contacts<F, D>,
    pub(crate) newton: &'a mut Newton<F>,
    /// Where to start if it is cheaper than the unconstrained acceleration.
    pub(crate) warm_start: &'a [F],
    /// The result.
    pub(crate) acceleration: &'a mut [F],
    /// Lanes to solve.
    pub(crate) live: u8,
}

impl<F: Kernels, const D: usize> Problem<'_, F, D> {
    #[inline(always)]
    pub(crate) fn solve(&mut self) {
        let model = self.model;
        let nothing = self.limits.rows().is_empty() && self.contacts.slots().is_empty();
        if nothing && (!model.has_extra() || self.contacts.extra.is_empty()) {
            self.acceleration.copy_from_slice(&self.smooth.acceleration);
            self.newton.force.fill(F::zero());
            return;
        }
        let mut constrained = self.limits.lanes | self.contacts.lanes();
        if model.has_extra() {
            constrained |= self.contacts.extra.lanes();
        }
        let running = self.start(constrained).and(F::Mask::from_bits(self.live & constrained));
        if model.islands {
            self.solve_islands(running);
        } else {
            self.iterate(running, packed::trace(&model.tree, &self.smooth.mass));
        }
    }

    /// Newton's iterations from the present point; the stopping tests are relative to `trace`.
    #[inline(always)]
    pub(crate) fn iterate(&mut self, mut running: F::Mask, trace: F) {
        let model = self.model;
        self.contacts.extra.fill.lanes = None;
        let scale = F::one() / trace;
        let tolerance = F::splat(model.options.tolerance);
        let half_scale = scale * F::splat(0.5);
        let mut improved = F::Mask::from_bits(u8::MAX);
        for iteration in 0.. {
            let norm = self.gradient();
            let small = (norm * scale).lt(tolerance);
            // A lane that diverged compares false everywhere and must not keep the others waiting.
            running = running.and(norm.lt(F::splat(f64::INFINITY)));
            if iteration > 0 {
                running = running.and(small.not()).and(improved);
            } else if small.and(running).any() {
                // No iteration at all needs a small gap as well as a small gradient.
                let gap = self.smooth_decrement() * half_scale;
                running = running.and(small.and(gap.lt(tolerance)).not());
            }
            if !running.any() || iteration >= model.options.iterations {
                return;
            }
            let decrement = self.newton_direction(running) * half_scale;
            let converged = decrement.lt(tolerance);
            let converged = if iteration == 0 { converged.and(small) } else { converged };
            running = running.and(converged.not());
            if !running.any() {
                return;
            }
            let decrease = self.line_search(running, trace) * scale;
            improved = decrease.lt(tolerance).not();
            if model.options.line_search_iterations < MANY_POINTS {
                // A search that ended early may have gone uphill, which is no reason to stop.
                improved = improved.or(decrease.lt(F::zero()));
            }
        }
    }

    /// Chooses the cheaper of the warm start and the unconstrained acceleration, which is the solution of lanes
    /// without constraints. Returns the lanes with a finite cost.
    #[inline(always)]
    fn start(&mut self, constrained: u8) -> F::Mask {
        let (smooth, newton) = (self.smooth, &mut *self.newton);
        let (warm, free) = (self.warm_start, &smooth.acceleration[..]);
        F::multiply(&self.model.tree, &smooth.mass, warm, &mut newton.mass_warm);
        let half = F::splat(0.5);
        let (mut warm_cost, mut free_cost) = (F::zero(), F::zero());
        for ((mw, f), (w, a)) in newton.mass_warm.iter().zip(&smooth.force).zip(warm.iter().zip(free)) {
            warm_cost = ((*mw - *f) * half).mul_add(*w - *a, warm_cost);
        }
        for row in self.limits.rows_mut() {
            row.at_warm = row.sign * warm[row.freedom] - row.reference;
            row.at_smooth = row.sign * free[row.freedom] - row.reference;
            warm_cost = add_cost(warm_cost, row.weight * half, row.at_warm);
            free_cost = add_cost(free_cost, row.weight * half, row.at_smooth);
        }
        let (slots, jacobians) = self.contacts.with_jacobians();
        for (slot, jacobian) in slots.iter_mut().zip(jacobians.chunks_exact(warm.len())) {
            let at_warm = times(slot, jacobian, warm);
            let at_smooth = times(slot, jacobian, free);
            let weight = slot.weight * half;
            for i in 0..Contacts::<F, D>::ROWS {
                let weight = Contacts::<F, D>::multiplied(i, weight);
                slot.at_warm[i] = at_warm[i] - slot.references[i];
                slot.at_smooth[i] = at_smooth[i] - slot.references[i];
                warm_cost = add_cost(warm_cost, weight, slot.at_warm[i]);
                free_cost = add_cost(free_cost, weight, slot.at_smooth[i]);
            }
        }
        if self.model.has_extra() {
            let costs = F::extra(&mut self.contacts.extra, Part::Start { warm, free });
            warm_cost = warm_cost + costs[0];
            free_cost = free_cost + costs[1];
        }
        let cold = free_cost.lt(warm_cost).or(F::Mask::from_bits(!constrained));
        for k in 0..warm.len() {
            self.acceleration[k] = F::select(cold, free[k], warm[k]);
            newton.mass_acceleration[k] = F::select(cold, smooth.force[k], newton.mass_warm[k]);
        }
        for row in self.limits.rows_mut() {
            row.residual = F::select(cold, row.at_smooth, row.at_warm);
        }
        for slot in self.contacts.slots_mut() {
            for i in 0..Contacts::<F, D>::ROWS {
                slot.residuals[i] = F::select(cold, slot.at_smooth[i], slot.at_warm[i]);
            }
        }
        if self.model.has_extra() {
            F::extra(&mut self.contacts.extra, Part::Choose { cold });
        }
        F::select(cold, free_cost, warm_cost).lt(F::splat(f64::INFINITY))
    }

    /// Constraint forces, gradient and contact curvatures at the current point; returns the gradient's norm.
    #[inline(always)]
    fn gradient(&mut self) -> F {
        let newton = &mut *self.newton;
        let zero = F::zero();
        let force = &mut newton.force[..];
        force.fill(zero);
        for row in self.limits.rows() {
            let f = -(row.weight * row.residual.min(zero));
            force[row.freedom] = row.sign.mul_add(f, force[row.freedom]);
        }
        let (slots, jacobians) = self.contacts.with_jacobians();
        for (slot, jacobian) in slots.iter_mut().zip(jacobians.chunks_exact(force.len())) {
            let (weight, mu) = (slot.weight, slot.friction);
            let mut f = [zero; 4];
            let mut active = [zero; 4];
            for i in 0..Contacts::<F, D>::ROWS {
                f[i] = -(weight * slot.residuals[i].min(zero));
                active[i] = weight.keep(slot.residuals[i].lt(zero));
            }
            if D == 2 {
                (f[3], active[3]) = (f[2], active[2]);
            }
            let normal = (f[0] + f[1]) + (f[2] + f[3]);
            let tangents = [mu * (f[0] - f[1]), mu * (f[2] - f[3])];
            let mut touched = slot.touched;
            while touched != 0 {
                let k = touched.trailing_zeros() as usize;
                touched &= touched - 1;
                let (j, x) = (&jacobian[k], &mut force[k]);
                let mut sum = *x;
                for i in (1..D).rev() {
                    sum = j[i].mul_add(tangents[i - 1], sum);
                }
                *x = j[0].mul_add(normal, sum);
            }
            let (first, second) = (active[0] + active[1], active[2] + active[3]);
            slot.curvature = [
                first + second,
                mu * (active[0] - active[1]),
                mu * mu * first,
                mu * (active[2] - active[3]),
                mu * mu * second,
            ];
        }
        if self.model.has_extra() {
            F::extra(&mut self.contacts.extra, Part::Forces { force: &mut newton.force });
        }
        let force = &newton.force[..];
        let mut squared = zero;
        let forces = self.smooth.force.iter().zip(force);
        for ((g, ma), (smooth, constraint)) in
            newton.gradient.iter_mut().zip(&newton.mass_acceleration).zip(forces)
        {
            *g = *ma - *smooth - *constraint;
            squared = g.mul_add(*g, squared);
        }
        squared.sqrt()
    }

    /// g' M^-1 g
    #[inline(always)]
    fn smooth_decrement(&mut self) -> F {
        let (smooth, newton) = (self.smooth, &mut *self.newton);
        newton.direction.copy_from_slice(&newton.gradient);
        F::solve(&self.model.tree, &smooth.factors, &smooth.inverse_diagonal, &mut newton.direction);
        packed::dot(&newton.direction, &newton.gradient)
    }

    /// The direction p = -H^-1 g in the running lanes; returns g' H^-1 g.
    #[inline(always)]
    fn newton_direction(&mut self, running: F::Mask) -> F {
        let model = self.model;
        if self.contacts.couples_branches || model.rows_couple_branches {
            return self.coupled_direction(running);
        }
        let pattern = &model.tree;
        let newton = &mut *self.newton;
        F::factor_hessian(Hessian {
            model: self.model,
            mass: &self.smooth.mass,
            limits: self.limits,
            contacts: self.contacts,
            running,
            factors: &mut newton.hessian,
            inverse_diagonal: &mut newton.inverse_diagonal,
        });
        newton.direction.copy_from_slice(&newton.gradient);
        let factors = &newton.hessian[..pattern.entries()];
        F::solve(pattern, factors, &newton.inverse_diagonal, &mut newton.direction);
        let decrement = packed::dot(&newton.direction, &newton.gradient);
        for p in &mut newton.direction {
            *p = -*p;
        }
        decrement
    }

    /// Moves along the direction to the minimum in the running lanes; returns the decrease of the cost.
    #[inline(always)]
    fn line_search(&mut self, running: F::Mask, trace: F) -> F {
        let newton = &mut *self.newton;
        let direction = &newton.direction[..];
        F::multiply(&self.model.tree, &self.smooth.mass, direction, &mut newton.mass_direction);
        for row in self.limits.rows_mut() {
            row.slope = row.sign * direction[row.freedom];
        }
        let (slots, jacobians) = self.contacts.with_jacobians();
        for (slot, jacobian) in slots.iter_mut().zip(jacobians.chunks_exact(direction.len())) {
            slot.slopes = times(slot, jacobian, direction);
        }
        let extra = self.model.has_extra();
        if extra {
            F::extra(&mut self.contacts.extra, Part::Slopes { direction });
        }
        let zero = F::zero();
        let (mut linear, mut quadratic, mut length) = (zero, zero, zero);
        let forces = newton.mass_acceleration.iter().zip(&self.smooth.force);
        for ((p, mp), (ma, f)) in direction.iter().zip(&newton.mass_direction).zip(forces) {
            linear = p.mul_add(*ma - *f, linear);
            quadratic = p.mul_add(*mp, quadratic);
            length = p.mul_add(*p, length);
        }
        let options = &self.model.options;
        let tolerance = length.sqrt() * F::splat(options.tolerance * options.line_search_tolerance) * trace;
        let most = options.line_search_iterations;
        let step = if self.model.line_search_in_points() {
            self.sequence_of_points([linear, quadratic], tolerance, running, most)
        } else {
            self.exact_step([linear, quadratic], tolerance, running, most)
        };
        let step = step.keep(running);
        let newton = &mut *self.newton;
        let (rows, slots) = (self.limits.rows_mut(), self.contacts.slots_mut());
        let half = F::splat(0.5);
        let mut change = (step * step).mul_add(quadratic * half, step * linear);
        for (k, p) in newton.direction.iter().enumerate() {
            self.acceleration[k] = step.mul_add(*p, self.acceleration[k]);
            newton.mass_acceleration[k] = step.mul_add(newton.mass_direction[k], newton.mass_acceleration[k]);
        }
        for row in rows {
            let old = row.residual;
            row.residual = step.mul_add(row.slope, old);
            change = add_change(change, row.weight * half, old, row.residual);
        }
        for slot in slots {
            for i in 0..Contacts::<F, D>::ROWS {
                let weight = Contacts::<F, D>::multiplied(i, slot.weight) * half;
                let old = slot.residuals[i];
                slot.residuals[i] = step.mul_add(slot.slopes[i], old);
                change = add_change(change, weight, old, slot.residuals[i]);
            }
        }
        if extra {
            change = change + F::extra(&mut self.contacts.extra, Part::Advance { step })[0];
        }
        -change
    }
}

/// cost + weight min(0, z)^2
#[inline(always)]
fn add_cost<F: Lane>(cost: F, weight: F, z: F) -> F {
    let z = z.min(F::zero());
    (weight * z).mul_add(z, cost)
}

/// change + weight (min(0, new)^2 - min(0, old)^2)
#[inline(always)]
fn add_change<F: Lane>(change: F, weight: F, old: F, new: F) -> F {
    let (old, new) = (old.min(F::zero()), new.min(F::zero()));
    weight.mul_add(new * new - old * old, change)
}
