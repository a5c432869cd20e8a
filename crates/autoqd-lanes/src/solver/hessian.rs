//! The Hessian of the solver's cost.

use super::Problem;
use crate::constraint::Slot;
use crate::kernels::Kernels;
use crate::packed::triangle;
use crate::pattern::Pattern;
use crate::simd::{Lane, Mask};

impl<F: Kernels, const D: usize> Problem<'_, F, D> {
    /// H = M + sum over acting rows of D J' J, complete in the running lanes and positive definite in all.
    #[inline(always)]
    pub(super) fn assemble(&mut self, pattern: &Pattern, running: F::Mask) {
        let hessian = &mut self.newton.hessian[..pattern.entries()];
        let zero = F::zero();
        copy_into(&self.model.tree, &self.smooth.mass, pattern, hessian);
        let (slots, jacobians) = self.contacts.with_jacobians();
        for (slot, jacobian) in slots.iter().zip(jacobians.chunks_exact(pattern.size())) {
            if !zero.lt(slot.curvature[0]).and(running).any() {
                continue;
            }
            // The trunks of usual models: a free body, a chain, a body in a plane.
            match pattern.trunk() {
                6 => add_contact::<F, D, 6>(pattern, slot, jacobian, hessian),
                5 => add_contact::<F, D, 5>(pattern, slot, jacobian, hessian),
                3 => add_contact::<F, D, 3>(pattern, slot, jacobian, hessian),
                _ => add_contact::<F, D, 0>(pattern, slot, jacobian, hessian),
            }
        }
        for row in self.limits.rows() {
            let diagonal = &mut hessian[pattern.diagonal(row.freedom)];
            *diagonal = *diagonal + row.weight.keep(row.residual.lt(zero));
        }
    }
}

/// Adds the curvature of one contact; the columns of a trunk of `T` rows stay in registers.
#[inline(always)]
fn add_contact<F: Lane, const D: usize, const T: usize>(
    pattern: &Pattern,
    slot: &Slot<F, D>,
    jacobian: &[[F; D]],
    hessian: &mut [F],
) {
    let mut head = [[F::zero(); D]; T];
    head.copy_from_slice(&jacobian[..T]);
    for k in 0..T {
        if slot.touched >> k & 1 == 1 {
            let column = curved(&slot.curvature, &head[k]);
            for i in 0..T {
                if i <= k {
                    let entry = &mut hessian[triangle(k) + i];
                    *entry = add_product(*entry, &column, &head[i]);
                }
            }
        }
    }
    let mut touched = slot.touched >> T << T;
    while touched != 0 {
        let k = touched.trailing_zeros() as usize;
        touched &= touched - 1;
        let column = curved(&slot.curvature, &jacobian[k]);
        let (first, rest) = hessian[pattern.row(k)].split_at_mut(T);
        for i in 0..T {
            first[i] = add_product(first[i], &column, &head[i]);
        }
        let columns = &pattern.columns(k)[T..];
        for (x, &i) in rest.iter_mut().zip(columns) {
            *x = add_product(*x, &column, &jacobian[i]);
        }
        rest[columns.len()] = add_product(rest[columns.len()], &column, &jacobian[k]);
    }
}

/// x + a . b
#[inline(always)]
fn add_product<F: Lane, const D: usize>(x: F, a: &[F; 3], b: &[F; D]) -> F {
    let mut sum = x;
    for i in (0..D).rev() {
        sum = a[i].mul_add(b[i], sum);
    }
    sum
}

/// The inertia matrix in a pattern that may have more entries.
#[inline(always)]
fn copy_into<F: Lane>(tree: &Pattern, mass: &[F], pattern: &Pattern, out: &mut [F]) {
    if out.len() == mass.len() {
        out.copy_from_slice(mass);
        return;
    }
    out.fill(F::zero());
    for k in 0..tree.size() {
        let (start, source) = (pattern.start(k), tree.start(k));
        for (c, &i) in tree.columns(k).iter().enumerate() {
            // The full pattern has column i at place i.
            out[start + i] = mass[source + c];
        }
        out[pattern.diagonal(k)] = mass[tree.diagonal(k)];
    }
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
