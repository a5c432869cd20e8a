//! Rows of any shape: friction loss, equality constraints, limits of tendons.
//!
//! The cost of a row is quadratic in z = J a - aref between two bounds, and goes on straight beyond them: an equality has
//! no bounds, a limit acts below zero only, and dry friction has the same bound on both sides.

use crate::compile::{BodyPoint, Compiled, Referred, RowKind, RowPlan, Scalar};
use crate::pattern::{Pattern, bits, through};
use crate::points::Points;
use crate::respond::{impedance, row_weight};
use crate::simd::{LANES, Lane, Mask};
use crate::tendons::Tendons;
use crate::vector::*;

/// One row.
#[derive(Clone)]
pub(crate) struct Row<F> {
    pub(crate) touched: u64,
    /// Zero in lanes where the row does not act.
    pub(crate) weight: F,
    pub(crate) reference: F,
    /// Between these values of z the cost is quadratic.
    pub(crate) low: F,
    pub(crate) high: F,
    /// J a - aref at the solver's point, and J p along its direction.
    pub(crate) residual: F,
    pub(crate) slope: F,
    /// J a - aref at the warm start and at the unconstrained acceleration.
    pub(crate) at_warm: F,
    pub(crate) at_smooth: F,
    /// The weight where the cost is quadratic.
    pub(crate) curvature: F,
}

impl<F: Lane> Row<F> {
    #[inline(always)]
    fn clamped(&self, z: F) -> F {
        z.max(self.low).min(self.high)
    }

    /// The cost at z.
    #[inline(always)]
    pub(crate) fn cost(&self, z: F) -> F {
        let c = self.clamped(z);
        self.weight * c * (c * F::splat(-0.5) + z)
    }

    #[inline(always)]
    fn is_quadratic(&self, z: F) -> F::Mask {
        self.low.lt(z).and(z.lt(self.high))
    }

    /// Cost, slope and curvature along the direction at a step.
    #[inline(always)]
    pub(crate) fn along(&self, step: F) -> [F; 3] {
        let z = step.mul_add(self.slope, self.residual);
        let weighted = self.weight * self.slope;
        let curvature = (weighted * self.slope).keep(self.is_quadratic(z));
        [self.cost(z), weighted * self.clamped(z), curvature]
    }
}

/// The rows that act in any lane.
pub(crate) struct Rows<F> {
    rows: Vec<Row<F>>,
    count: usize,
    /// Row by row, one entry per degree of freedom.
    jacobian: Vec<F>,
    freedoms: usize,
    /// Lanes in which any row acts.
    pub(crate) lanes: u8,
}

/// J x
#[inline(always)]
fn product<F: Lane>(touched: u64, jacobian: &[F], x: &[F]) -> F {
    let mut sum = F::zero();
    for k in bits(touched) {
        sum = jacobian[k].mul_add(x[k], sum);
    }
    sum
}

impl<F: Lane> Rows<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let (zero, rows) = (F::zero(), model.rows.iter().map(|row| row.kind.rows()).sum());
        let row = Row {
            touched: 0,
            weight: zero,
            reference: zero,
            low: zero,
            high: zero,
            residual: zero,
            slope: zero,
            at_warm: zero,
            at_smooth: zero,
            curvature: zero,
        };
        let freedoms = model.freedoms();
        Self { rows: vec![row; rows], count: 0, jacobian: vec![zero; rows * freedoms], freedoms, lanes: 0 }
    }

    #[inline(always)]
    pub(crate) fn rows(&self) -> &[Row<F>] {
        &self.rows[..self.count]
    }

    #[inline(always)]
    pub(crate) fn rows_mut(&mut self) -> &mut [Row<F>] {
        &mut self.rows[..self.count]
    }

    #[inline(always)]
    fn with_jacobians(&mut self) -> impl Iterator<Item = (&mut Row<F>, &[F])> {
        self.rows[..self.count].iter_mut().zip(self.jacobian.chunks_exact(self.freedoms))
    }

    /// Finds the rows that act in any lane.
    #[inline(always)]
    pub(crate) fn find<S: Points<F>>(
        &mut self,
        model: &Compiled,
        space: &S,
        tendons: &Tendons<F>,
        qpos: &[F],
        qvel: &[F],
    ) {
        self.count = 0;
        self.lanes = 0;
        let zero = F::zero();
        let far = F::splat(f64::INFINITY);
        for plan in &model.rows {
            match &plan.kind {
                RowKind::Friction { scalar, loss } => {
                    self.clear_next(plan);
                    self.add_scalar(*scalar, F::one(), tendons);
                    let weight = self.finish(plan, 0, zero, None, qvel);
                    let bound = F::splat(*loss) / weight;
                    let row = &mut self.rows[self.count];
                    (row.low, row.high) = (-bound, bound);
                    self.accept(u8::MAX);
                }
                RowKind::Limit { tendon, bound, sign, margin } => {
                    let sign = F::splat(*sign);
                    let distance = (tendons.lengths[*tendon] - F::splat(*bound)) * sign;
                    let active = distance.lt(F::splat(*margin));
                    if !active.any() {
                        continue;
                    }
                    self.clear_next(plan);
                    self.add_scalar(Scalar::Tendon(*tendon), sign, tendons);
                    let beyond = distance - F::splat(*margin);
                    self.finish(plan, 0, beyond, Some(beyond), qvel);
                    let row = &mut self.rows[self.count];
                    (row.low, row.high) = (-far, zero);
                    // Where it does not act nothing may remain, not even a NaN.
                    row.weight = row.weight.keep(active);
                    row.reference = row.reference.keep(active);
                    self.accept(active.bits());
                }
                RowKind::Polynomial { first, second, coefficients } => {
                    self.clear_next(plan);
                    self.add_scalar(first.scalar, F::one(), tendons);
                    let mut error = value(first, tendons, qpos) - F::splat(coefficients[0]);
                    if let Some(second) = second {
                        let (shape, rate) = polynomial(coefficients, value(second, tendons, qpos));
                        error = error - shape;
                        self.add_scalar(second.scalar, -rate, tendons);
                    }
                    self.finish(plan, 0, error, Some(error), qvel);
                    self.equal(zero);
                }
                RowKind::Points { points } => self.points(model, space, plan, points, qvel),
                RowKind::Frames { points, rotations, torque_scale } => {
                    self.frames(model, space, plan, points, rotations, *torque_scale, qvel);
                }
            }
        }
    }

    #[inline(always)]
    fn points<S: Points<F>>(
        &mut self,
        model: &Compiled,
        space: &S,
        plan: &RowPlan,
        points: &[BodyPoint; 2],
        qvel: &[F],
    ) {
        let at = [space.point(&points[0]), space.point(&points[1])];
        let error = sub3(at[0], at[1]);
        let size = dot3(error, error).sqrt();
        let first = self.count;
        for i in 0..3 {
            self.count = first + i;
            self.clear_next(plan);
        }
        self.count = first;
        self.add_motions(model, space, points, &at, None);
        let drifts = [space.drift(model, points[0].body, at[0]), space.drift(model, points[1].body, at[1])];
        let drift = sub3(drifts[0][0], drifts[1][0]);
        for i in 0..3 {
            self.finish(plan, 0, size, Some(error[i]), qvel);
            self.equal(drift[i]);
        }
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn frames<S: Points<F>>(
        &mut self,
        model: &Compiled,
        space: &S,
        plan: &RowPlan,
        points: &[BodyPoint; 2],
        rotations: &[[f64; 9]; 2],
        torque_scale: f64,
        qvel: &[F],
    ) {
        let at = [space.point(&points[0]), space.point(&points[1])];
        let frames = [
            turn_matrix(&space.rotation(points[0].body), &rotations[0]),
            turn_matrix(&space.rotation(points[1].body), &rotations[1]),
        ];
        // The first frame seen from the second.
        let mut relative = [F::zero(); 9];
        for j in 0..3 {
            let column = transposed_vector(&frames[1], column(&frames[0], j));
            for i in 0..3 {
                relative[3 * i + j] = column[i];
            }
        }
        let turned = quaternion_of(&relative);
        let scale = F::splat(torque_scale);
        let (place, turn) = (sub3(at[0], at[1]), scale3([turned[1], turned[2], turned[3]], scale));
        let size = (dot3(place, place) + dot3(turn, turn)).sqrt();
        let first = self.count;
        for i in 0..6 {
            self.count = first + i;
            self.clear_next(plan);
        }
        self.count = first;
        self.add_motions(model, space, points, &at, Some((&frames[1], turned, scale)));
        let drifts = [space.drift(model, points[0].body, at[0]), space.drift(model, points[1].body, at[1])];
        let drift = [
            sub3(drifts[0][0], drifts[1][0]),
            turning_drift(
                &frames[1],
                turned,
                scale,
                [drifts[0][1], drifts[1][1]],
                [drifts[0][2], drifts[1][2]],
            ),
        ];
        for (i, error) in place.into_iter().chain(turn).enumerate() {
            self.finish(plan, i / 3, size, Some(error), qvel);
            self.equal(drift[i / 3][i % 3]);
        }
    }

    /// Writes the Jacobians of three rows for the difference of two points, and of three more for that of two frames.
    #[inline(always)]
    fn add_motions<S: Points<F>>(
        &mut self,
        model: &Compiled,
        space: &S,
        points: &[BodyPoint; 2],
        at: &[V3<F>; 2],
        frame: Option<(&M3<F>, [F; 4], F)>,
    ) {
        let n = self.freedoms;
        let start = self.count * n;
        for k in 0..n {
            for (side, sign) in [(0, F::one()), (1, -F::one())] {
                if points[side].chain >> k & 1 == 0 {
                    continue;
                }
                let (motion, spin) = space.motion(model, k, at[side]);
                for i in 0..3 {
                    let entry = &mut self.jacobian[start + i * n + k];
                    *entry = motion[i].mul_add(sign, *entry);
                }
                let Some((second, q, scale)) = frame else { continue };
                // The rate of the quaternion's axis part.
                let w = transposed_vector(second, spin);
                let half = scale * F::splat(0.5) * sign;
                let rate = cross_add(w, [q[1], q[2], q[3]], scale3(w, q[0]));
                for i in 0..3 {
                    let entry = &mut self.jacobian[start + (3 + i) * n + k];
                    *entry = rate[i].mul_add(half, *entry);
                }
            }
        }
    }

    /// Prepares the next row.
    #[inline(always)]
    fn clear_next(&mut self, plan: &RowPlan) {
        let n = self.freedoms;
        self.jacobian[self.count * n..(self.count + 1) * n].fill(F::zero());
        self.rows[self.count].touched = plan.touched;
    }

    /// Adds the derivative of a scalar, times a factor, to the next row.
    #[inline(always)]
    fn add_scalar(&mut self, scalar: Scalar, factor: F, tendons: &Tendons<F>) {
        let n = self.freedoms;
        let jacobian = &mut self.jacobian[self.count * n..(self.count + 1) * n];
        match scalar {
            Scalar::Joint(_, k) => jacobian[k] = jacobian[k] + factor,
            Scalar::Tendon(t) => tendons.add_pull(t, factor, jacobian),
        }
    }

    /// Weight and reference of the next row; `size` decides the impedance, `error` is what it corrects, if anything.
    #[inline(always)]
    fn finish(&mut self, plan: &RowPlan, part: usize, size: F, error: Option<F>, qvel: &[F]) -> F {
        let n = self.freedoms;
        let velocity = product(plan.touched, &self.jacobian[self.count * n..(self.count + 1) * n], qvel);
        let d = impedance(&plan.law.impedance, size);
        let row = &mut self.rows[self.count];
        row.weight = row_weight(d, plan.weights[part], 1.0);
        row.reference = -(velocity * F::splat(plan.law.damping));
        if let Some(error) = error {
            row.reference = (d * error).neg_mul_add(F::splat(plan.law.stiffness), row.reference);
        }
        row.weight
    }

    /// Takes the next row as an equality; `drift` is how its rate changes if all coordinates go on at their velocities.
    #[inline(always)]
    fn equal(&mut self, drift: F) {
        let far = F::splat(f64::INFINITY);
        let row = &mut self.rows[self.count];
        row.reference = row.reference - drift;
        (row.low, row.high) = (-far, far);
        self.accept(u8::MAX);
    }

    #[inline(always)]
    fn accept(&mut self, lanes: u8) {
        self.count += 1;
        self.lanes |= lanes;
    }

    /// Residuals at two points, and the costs there.
    #[inline(always)]
    pub(crate) fn start(&mut self, warm: &[F], free: &[F]) -> [F; 2] {
        let mut costs = [F::zero(); 2];
        for (row, jacobian) in self.with_jacobians() {
            row.at_warm = product(row.touched, jacobian, warm) - row.reference;
            row.at_smooth = product(row.touched, jacobian, free) - row.reference;
            costs[0] = costs[0] + row.cost(row.at_warm);
            costs[1] = costs[1] + row.cost(row.at_smooth);
        }
        costs
    }

    #[inline(always)]
    pub(crate) fn add_forces(&mut self, force: &mut [F]) {
        for (row, jacobian) in self.with_jacobians() {
            let f = -(row.weight * row.clamped(row.residual));
            row.curvature = row.weight.keep(row.is_quadratic(row.residual));
            for k in bits(row.touched) {
                force[k] = jacobian[k].mul_add(f, force[k]);
            }
        }
    }

    #[inline(always)]
    pub(crate) fn assemble(&mut self, pattern: &Pattern, hessian: &mut [F]) {
        for (row, jacobian) in self.with_jacobians() {
            for k in bits(row.touched) {
                let weighted = row.curvature * jacobian[k];
                let entries = &mut hessian[pattern.row(k)];
                if pattern.is_full() {
                    for i in bits(row.touched & through(k)) {
                        entries[i] = weighted.mul_add(jacobian[i], entries[i]);
                    }
                    continue;
                }
                let columns = pattern.columns(k);
                if row.touched & ((1 << k) - 1) != 0 {
                    for (x, &i) in entries.iter_mut().zip(columns) {
                        *x = weighted.mul_add(jacobian[i], *x);
                    }
                }
                entries[columns.len()] = weighted.mul_add(jacobian[k], entries[columns.len()]);
            }
        }
    }

    #[inline(always)]
    pub(crate) fn slopes(&mut self, direction: &[F]) {
        for (row, jacobian) in self.with_jacobians() {
            row.slope = product(row.touched, jacobian, direction);
        }
    }

    /// Moves to a step along the direction; returns the change of the cost.
    #[inline(always)]
    pub(crate) fn advance(&mut self, step: F) -> F {
        let mut change = F::zero();
        for row in self.rows_mut() {
            let before = row.cost(row.residual);
            row.residual = step.mul_add(row.slope, row.residual);
            change = change + (row.cost(row.residual) - before);
        }
        change
    }
}

/// How the rate of a relative orientation changes if all coordinates go on at their velocities: `second` and `q` are the
/// second frame and the orientation of the first seen from it.
#[inline(always)]
fn turning_drift<F: Lane>(second: &M3<F>, q: [F; 4], scale: F, alpha: [V3<F>; 2], w: [V3<F>; 2]) -> V3<F> {
    let relative = sub3(w[0], w[1]);
    let rate = transposed_vector(second, relative);
    let change = transposed_vector(second, sub3(sub3(alpha[0], alpha[1]), cross(w[1], relative)));
    let (half, axis) = (F::splat(0.5), [q[1], q[2], q[3]]);
    let axis_rate = scale3(cross_add(rate, axis, scale3(rate, q[0])), half);
    let real_rate = -(dot3(rate, axis) * half);
    let sum = cross_add(change, axis, scale3(change, q[0]));
    let sum = add3(sum, cross_add(rate, axis_rate, scale3(rate, real_rate)));
    scale3(sum, scale * half)
}

/// A scalar relative to its reference.
#[inline(always)]
fn value<F: Lane>(referred: &Referred, tendons: &Tendons<F>, qpos: &[F]) -> F {
    let value = match referred.scalar {
        Scalar::Joint(q, _) => qpos[q],
        Scalar::Tendon(t) => tendons.lengths[t],
    };
    value - F::splat(referred.reference)
}

/// A polynomial without its constant, and its derivative.
#[inline(always)]
fn polynomial<F: Lane>(coefficients: &[f64; 5], x: F) -> (F, F) {
    let c = |i: usize| F::splat(coefficients[i]);
    let value = c(4).mul_add(x, c(3)).mul_add(x, c(2)).mul_add(x, c(1)) * x;
    let rate = (c(4) * F::splat(4.0)).mul_add(x, c(3) * F::splat(3.0));
    (value, rate.mul_add(x, c(2) * F::splat(2.0)).mul_add(x, c(1)))
}

/// The unit quaternion of a rotation matrix, lane by lane: only welded frames need it.
#[inline(always)]
fn quaternion_of<F: Lane>(r: &M3<F>) -> [F; 4] {
    let mut out = [[0.0; LANES]; 4];
    for lane in 0..LANES {
        let mut m = [0.0; 9];
        for i in 0..9 {
            m[i] = r[i].get(lane);
        }
        let q = scalar_quaternion(&m);
        for i in 0..4 {
            out[i][lane] = q[i];
        }
    }
    [F::from_array(out[0]), F::from_array(out[1]), F::from_array(out[2]), F::from_array(out[3])]
}

/// From the largest of the four squares, which is never small.
fn scalar_quaternion(m: &[f64; 9]) -> [f64; 4] {
    let squares = [
        1.0 + m[0] + m[4] + m[8],
        1.0 + m[0] - m[4] - m[8],
        1.0 - m[0] + m[4] - m[8],
        1.0 - m[0] - m[4] + m[8],
    ];
    let largest = (0..4).fold(0, |best, i| if squares[i] > squares[best] { i } else { best });
    let differences = [m[7] - m[5], m[2] - m[6], m[3] - m[1]];
    let sums = [m[7] + m[5], m[2] + m[6], m[3] + m[1]];
    let mut q = [0.0; 4];
    q[largest] = squares[largest];
    for i in (0..4).filter(|&i| i != largest) {
        q[i] = match (largest, i) {
            (0, i) => differences[i - 1],
            (j, 0) => differences[j - 1],
            // The axis that is neither of the two.
            (j, i) => sums[(6 - i - j) - 1],
        };
    }
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|x| x / length)
}
