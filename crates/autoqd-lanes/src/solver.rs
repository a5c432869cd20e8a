//! The constraint solver: Newton's method with an exact line search.
//!
//! Minimises 1/2 (a - a_s)' M (a - a_s) + sum 1/2 D_i min(0, z_i)^2 with z = J a - aref. The minimum is unique, so
//! the result agrees with libmujoco's to rounding as long as both stop after the same iteration: the stopping rules
//! are libmujoco 3.17's, with its scale 1 / trace(M).

use crate::compile::Compiled;
use crate::constraint::{Contacts, Limits};
use crate::kernels::Kernels;
use crate::packed;
use crate::pattern::Pattern;
use crate::simd::{Lane, Mask};

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
        }
    }
}

/// Work space of the solver.
pub(crate) struct Newton<F> {
    hessian: Vec<F>,
    inverse_diagonal: Vec<F>,
    gradient: Vec<F>,
    direction: Vec<F>,
    /// M a and M p.
    mass_acceleration: Vec<F>,
    mass_direction: Vec<F>,
    mass_warm: Vec<F>,
    /// Force of the constraints on each degree of freedom.
    pub(crate) force: Vec<F>,
    /// Slots that act, and their curvature times one column of the Jacobian.
    acting: Vec<usize>,
    columns: Vec<[F; 3]>,
    selected: Vec<usize>,
}

impl<F: Lane> Newton<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let column = || vec![F::zero(); model.freedoms()];
        let slots = model.most_contacts();
        Self {
            hessian: vec![F::zero(); model.full.entries()],
            inverse_diagonal: column(),
            gradient: column(),
            direction: column(),
            mass_acceleration: column(),
            mass_direction: column(),
            mass_warm: column(),
            force: column(),
            acting: Vec::with_capacity(slots),
            columns: vec![[F::zero(); 3]; slots],
            selected: vec![0; slots],
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
        if self.limits.count == 0 && self.contacts.count == 0 {
            self.acceleration.copy_from_slice(&self.smooth.acceleration);
            self.newton.force.fill(F::zero());
            return;
        }
        let trace = packed::trace(&model.tree, &self.smooth.mass);
        let scale = F::one() / trace;
        let tolerance = F::splat(model.options.tolerance);
        let half_scale = scale * F::splat(0.5);
        let constrained = self.limits.lanes | self.contacts.lanes();
        let mut running = self.start(constrained).and(F::Mask::from_bits(self.live & constrained));
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
            let decrement = self.newton_direction() * half_scale;
            let converged = decrement.lt(tolerance);
            let converged = if iteration == 0 { converged.and(small) } else { converged };
            running = running.and(converged.not());
            if !running.any() {
                return;
            }
            let decrease = self.line_search(running, trace) * scale;
            improved = decrease.lt(tolerance).not();
        }
    }

    /// Chooses the cheaper of the warm start and the unconstrained acceleration, which is the solution of lanes
    /// without constraints. Returns the lanes with a finite cost.
    #[inline(always)]
    fn start(&mut self, constrained: u8) -> F::Mask {
        let (model, smooth) = (self.model, self.smooth);
        let (limits, contacts, newton) = (&mut *self.limits, &mut *self.contacts, &mut *self.newton);
        let (nl, ns) = (limits.count, contacts.count);
        let (warm, free) = (self.warm_start, &smooth.acceleration[..]);
        Limits::apply(nl, &limits.signs, &limits.freedoms, warm, &mut limits.at_warm);
        Limits::apply(nl, &limits.signs, &limits.freedoms, free, &mut limits.at_smooth);
        Contacts::apply(ns, &contacts.jacobian, &contacts.frictions, warm, &mut contacts.at_warm);
        Contacts::apply(ns, &contacts.jacobian, &contacts.frictions, free, &mut contacts.at_smooth);
        packed::multiply(&model.tree, &smooth.mass, warm, &mut newton.mass_warm);
        let (zero, half) = (F::zero(), F::splat(0.5));
        let (mut warm_cost, mut free_cost) = (zero, zero);
        for k in 0..warm.len() {
            let half_force = (newton.mass_warm[k] - smooth.force[k]) * half;
            warm_cost = half_force.mul_add(warm[k] - free[k], warm_cost);
        }
        for n in 0..nl {
            let (weight, reference) = (limits.weights[n] * half, limits.references[n]);
            warm_cost = add_cost(warm_cost, weight, limits.at_warm[n] - reference);
            free_cost = add_cost(free_cost, weight, limits.at_smooth[n] - reference);
        }
        for s in 0..ns {
            let weight = contacts.weights[s] * half;
            for i in 0..Contacts::<F, D>::ROWS {
                let weight = Contacts::<F, D>::multiplied(i, weight);
                let reference = contacts.references[s][i];
                warm_cost = add_cost(warm_cost, weight, contacts.at_warm[s][i] - reference);
                free_cost = add_cost(free_cost, weight, contacts.at_smooth[s][i] - reference);
            }
        }
        let cold = free_cost.lt(warm_cost).or(F::Mask::from_bits(!constrained));
        for k in 0..warm.len() {
            self.acceleration[k] = F::select(cold, free[k], warm[k]);
            newton.mass_acceleration[k] = F::select(cold, smooth.force[k], newton.mass_warm[k]);
        }
        for n in 0..nl {
            limits.residuals[n] =
                F::select(cold, limits.at_smooth[n], limits.at_warm[n]) - limits.references[n];
        }
        for s in 0..ns {
            for i in 0..Contacts::<F, D>::ROWS {
                let at = F::select(cold, contacts.at_smooth[s][i], contacts.at_warm[s][i]);
                contacts.residuals[s][i] = at - contacts.references[s][i];
            }
        }
        F::select(cold, free_cost, warm_cost).lt(F::splat(f64::INFINITY))
    }

    /// Constraint forces, gradient and contact curvatures at the current point; returns the gradient's norm.
    #[inline(always)]
    fn gradient(&mut self) -> F {
        let (limits, contacts, newton) = (&mut *self.limits, &mut *self.contacts, &mut *self.newton);
        let zero = F::zero();
        newton.force.fill(zero);
        for n in 0..limits.count {
            let f = -(limits.weights[n] * limits.residuals[n].min(zero));
            let k = limits.freedoms[n];
            newton.force[k] = limits.signs[n].mul_add(f, newton.force[k]);
        }
        for s in 0..contacts.count {
            let (weight, mu) = (contacts.weights[s], contacts.frictions[s]);
            let z = contacts.residuals[s];
            let mut f = [zero; 4];
            let mut active = [zero; 4];
            for i in 0..Contacts::<F, D>::ROWS {
                f[i] = -(weight * z[i].min(zero));
                active[i] = weight.keep(z[i].lt(zero));
            }
            if D == 2 {
                (f[3], active[3]) = (f[2], active[2]);
            }
            let normal = (f[0] + f[1]) + (f[2] + f[3]);
            let tangents = [mu * (f[0] - f[1]), mu * (f[2] - f[3])];
            for (j, x) in contacts.rows_of(s).iter().zip(&mut newton.force) {
                let mut sum = *x;
                for i in (1..D).rev() {
                    sum = j[i].mul_add(tangents[i - 1], sum);
                }
                *x = j[0].mul_add(normal, sum);
            }
            let (first, second) = (active[0] + active[1], active[2] + active[3]);
            contacts.curvature[s] = [
                first + second,
                mu * (active[0] - active[1]),
                mu * mu * first,
                mu * (active[2] - active[3]),
                mu * mu * second,
            ];
        }
        let mut squared = zero;
        for k in 0..newton.gradient.len() {
            let g = newton.mass_acceleration[k] - self.smooth.force[k] - newton.force[k];
            newton.gradient[k] = g;
            squared = g.mul_add(g, squared);
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

    /// The direction p = -H^-1 g; returns g' H^-1 g.
    #[inline(always)]
    fn newton_direction(&mut self) -> F {
        let model = self.model;
        // A full matrix gives the same bits where it has the tree's entries: the others add exact zeros.
        let pattern = if self.contacts.couples_branches { &model.full } else { &model.tree };
        self.assemble(pattern);
        let newton = &mut *self.newton;
        let entries = pattern.entries();
        F::factor(pattern, &mut newton.hessian[..entries], &mut newton.inverse_diagonal);
        newton.direction.copy_from_slice(&newton.gradient);
        F::solve(pattern, &newton.hessian[..entries], &newton.inverse_diagonal, &mut newton.direction);
        let decrement = packed::dot(&newton.direction, &newton.gradient);
        for p in &mut newton.direction {
            *p = -*p;
        }
        decrement
    }

    /// H = M + sum over acting rows of D J' J.
    #[inline(always)]
    fn assemble(&mut self, pattern: &Pattern) {
        let (limits, contacts, newton) = (&*self.limits, &*self.contacts, &mut *self.newton);
        let (tree, mass) = (&self.model.tree, &self.smooth.mass);
        let zero = F::zero();
        newton.acting.clear();
        for s in 0..contacts.count {
            if zero.lt(contacts.curvature[s][0]).any() {
                newton.acting.push(s);
            }
        }
        for k in 0..pattern.size() {
            let columns = pattern.columns(k);
            let row = &mut newton.hessian[pattern.row(k)];
            copy_row(tree, pattern, k, mass, row);
            let mut count = 0;
            for &s in &newton.acting {
                if contacts.touched[s] >> k & 1 == 0 {
                    continue;
                }
                newton.columns[count] = curved(&contacts.curvature[s], &contacts.rows_of(s)[k]);
                newton.selected[count] = s;
                count += 1;
            }
            if count == 0 {
                continue;
            }
            for (c, x) in row.iter_mut().enumerate() {
                let i = if c < columns.len() { columns[c] } else { k };
                let mut sum = *x;
                for (column, &s) in newton.columns[..count].iter().zip(&newton.selected) {
                    let j = &contacts.rows_of(s)[i];
                    for d in (0..D).rev() {
                        sum = column[d].mul_add(j[d], sum);
                    }
                }
                *x = sum;
            }
        }
        for n in 0..limits.count {
            let diagonal = pattern.diagonal(limits.freedoms[n]);
            let active = limits.weights[n].keep(limits.residuals[n].lt(zero));
            newton.hessian[diagonal] = newton.hessian[diagonal] + active;
        }
    }

    /// Moves along the direction to the minimum in the running lanes; returns the decrease of the cost.
    #[inline(always)]
    fn line_search(&mut self, running: F::Mask, trace: F) -> F {
        let (limits, contacts, newton) = (&mut *self.limits, &mut *self.contacts, &mut *self.newton);
        let (nl, ns) = (limits.count, contacts.count);
        let direction = &newton.direction[..];
        packed::multiply(&self.model.tree, &self.smooth.mass, direction, &mut newton.mass_direction);
        Limits::apply(nl, &limits.signs, &limits.freedoms, direction, &mut limits.slopes);
        Contacts::apply(ns, &contacts.jacobian, &contacts.frictions, direction, &mut contacts.slopes);
        let zero = F::zero();
        let (mut linear, mut quadratic, mut length) = (zero, zero, zero);
        for k in 0..direction.len() {
            let p = direction[k];
            linear = p.mul_add(newton.mass_acceleration[k] - self.smooth.force[k], linear);
            quadratic = p.mul_add(newton.mass_direction[k], quadratic);
            length = p.mul_add(p, length);
        }
        let options = &self.model.options;
        let tolerance = length.sqrt() * F::splat(options.tolerance * options.line_search_tolerance) * trace;
        let step =
            exact_step(limits, contacts, [linear, quadratic], tolerance, running, self.model).keep(running);
        let half = F::splat(0.5);
        let mut change = (step * step).mul_add(quadratic * half, step * linear);
        for k in 0..newton.direction.len() {
            self.acceleration[k] = step.mul_add(newton.direction[k], self.acceleration[k]);
            newton.mass_acceleration[k] = step.mul_add(newton.mass_direction[k], newton.mass_acceleration[k]);
        }
        for n in 0..nl {
            let old = limits.residuals[n];
            limits.residuals[n] = step.mul_add(limits.slopes[n], old);
            change = add_change(change, limits.weights[n] * half, old, limits.residuals[n]);
        }
        for s in 0..ns {
            for i in 0..Contacts::<F, D>::ROWS {
                let weight = Contacts::<F, D>::multiplied(i, contacts.weights[s]) * half;
                let old = contacts.residuals[s][i];
                contacts.residuals[s][i] = step.mul_add(contacts.slopes[s][i], old);
                change = add_change(change, weight, old, contacts.residuals[s][i]);
            }
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

/// Adds the slope and curvature along the direction of one row at a step.
#[inline(always)]
fn add_row<F: Lane>((slope, curvature): (F, F), step: F, (weight, row_slope, residual): (F, F, F)) -> (F, F) {
    let z = step.mul_add(row_slope, residual);
    let weighted = (weight * row_slope).keep(z.lt(F::zero()));
    (weighted.mul_add(z, slope), weighted.mul_add(row_slope, curvature))
}

/// Row `k` of the inertia matrix in a pattern that may have more columns.
#[inline(always)]
fn copy_row<F: Lane>(tree: &Pattern, pattern: &Pattern, k: usize, mass: &[F], row: &mut [F]) {
    let source = &mass[tree.row(k)];
    if source.len() == row.len() {
        row.copy_from_slice(source);
        return;
    }
    row.fill(F::zero());
    let columns = pattern.columns(k);
    for (x, i) in source.iter().zip(tree.columns(k)) {
        let c = columns.binary_search(i).expect("the full pattern has every column");
        row[c] = *x;
    }
    row[columns.len()] = source[source.len() - 1];
}

/// The curvature matrix of a contact times one column of its Jacobian.
#[inline(always)]
fn curved<F: Lane, const D: usize>(w: &[F; 5], j: &[F; D]) -> [F; 3] {
    let normal = w[1].mul_add(j[1], w[0] * j[0]);
    let first = w[2].mul_add(j[1], w[1] * j[0]);
    if D == 2 {
        [normal, first, F::zero()]
    } else {
        [w[3].mul_add(j[D - 1], normal), first, w[4].mul_add(j[D - 1], w[3] * j[0])]
    }
}

/// The step at which the derivative along the direction vanishes: Newton's method, kept inside a bracket.
#[inline(always)]
fn exact_step<F: Lane, const D: usize>(
    limits: &Limits<F>,
    contacts: &Contacts<F, D>,
    [linear, quadratic]: [F; 2],
    tolerance: F,
    running: F::Mask,
    model: &Compiled,
) -> F {
    let zero = F::zero();
    let far = F::splat(1e30);
    // The quadratic model at the start is exact, so its minimum is the first point.
    let (mut step, mut low, mut high) = (F::one(), zero, far);
    let mut searching = running;
    for _ in 0..model.options.line_search_iterations {
        let (mut slope, mut curvature) = (step.mul_add(quadratic, linear), quadratic);
        for n in 0..limits.count {
            let row = (limits.weights[n], limits.slopes[n], limits.residuals[n]);
            (slope, curvature) = add_row((slope, curvature), step, row);
        }
        for s in 0..contacts.count {
            for i in 0..Contacts::<F, D>::ROWS {
                let weight = Contacts::<F, D>::multiplied(i, contacts.weights[s]);
                let row = (weight, contacts.slopes[s][i], contacts.residuals[s][i]);
                (slope, curvature) = add_row((slope, curvature), step, row);
            }
        }
        searching = searching.and(tolerance.le(slope.abs()));
        if !searching.any() {
            break;
        }
        let downhill = slope.lt(zero);
        low = F::select(downhill, step, low);
        high = F::select(downhill, high, step);
        let next = step - slope / curvature;
        let inside = low.lt(next).and(next.lt(high));
        searching = searching.and(inside.or(high.lt(far)));
        let next = F::select(inside, next, (low + high) * F::splat(0.5));
        step = F::select(searching, next, step);
    }
    step
}
