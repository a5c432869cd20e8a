//! The Hessian of the solver's cost, H = M + sum over acting rows of D J' J, and its factors, where no constraint couples
//! branches of a tree.

use crate::compile::Compiled;
use crate::constraint::{Contacts, LimitRow, Limits, Slot};
use crate::extra::Part;
use crate::kernels::Kernels;
use crate::packed::branches::{self, Terms};
use crate::pattern::Pattern;
use crate::simd::{Lane, Mask};

/// What the Hessian is made of.
pub(crate) struct Hessian<'a, F: Lane, const D: usize> {
    pub(crate) model: &'a Compiled,
    pub(crate) mass: &'a [F],
    pub(crate) limits: &'a Limits<F>,
    pub(crate) contacts: &'a mut Contacts<F, D>,
    /// The matrix must be complete in these lanes, and positive definite in all.
    pub(crate) running: F::Mask,
    /// The factors: rows without their unit diagonal, and the inverse diagonal.
    pub(crate) factors: &'a mut [F],
    pub(crate) inverse_diagonal: &'a mut [F],
}

impl<'a, F: Kernels, const D: usize> Hessian<'a, F, D> {
    /// Sums the matrix, which has the entries of the inertia matrix, and factors it.
    #[inline(always)]
    pub(crate) fn factor(self) {
        let pattern = &self.model.tree;
        // Patterns of the usual mechanisms: a free body or one in a plane with legs, and chains.
        match (pattern.trunk(), pattern.branch()) {
            _ if self.model.has_extra() => self.factor_any(pattern),
            (6, Some(2)) if D == 3 => self.factor_branches::<6, 2>(pattern),
            (6, Some(3)) if D == 3 => self.factor_branches::<6, 3>(pattern),
            (3, Some(3)) if D == 2 => self.factor_branches::<3, 3>(pattern),
            (6, Some(0)) if D == 2 => self.factor_branches::<6, 0>(pattern),
            (5, Some(0)) if D == 2 => self.factor_branches::<5, 0>(pattern),
            _ => self.factor_any(pattern),
        }
    }

    #[inline(always)]
    fn factor_branches<const T: usize, const B: usize>(self, pattern: &Pattern) {
        let (slots, jacobians) = self.contacts.with_jacobians();
        let (freedoms, running) = (pattern.size(), self.running);
        let terms = Rows { slots, jacobians, limits: self.limits.rows(), freedoms, running };
        branches::factor::<F, T, B>(pattern, self.mass, &terms, self.factors, self.inverse_diagonal);
    }

    #[inline(always)]
    fn factor_any(self, pattern: &Pattern) {
        let zero = F::zero();
        let hessian = &mut self.factors[..pattern.entries()];
        hessian.copy_from_slice(self.mass);
        let (slots, jacobians) = self.contacts.with_jacobians();
        for (slot, jacobian) in slots.iter().zip(jacobians.chunks_exact(pattern.size())) {
            if !acts(slot, self.running) {
                continue;
            }
            let mut touched = slot.touched;
            while touched != 0 {
                let k = touched.trailing_zeros() as usize;
                touched &= touched - 1;
                let column = curved(&slot.curvature, &jacobian[k]);
                let row = &mut hessian[pattern.row(k)];
                let columns = pattern.columns(k);
                for (x, &i) in row.iter_mut().zip(columns) {
                    *x = add_product(*x, &column, &jacobian[i]);
                }
                row[columns.len()] = add_product(row[columns.len()], &column, &jacobian[k]);
            }
        }
        for row in self.limits.rows() {
            let diagonal = &mut hessian[pattern.diagonal(row.freedom)];
            *diagonal = *diagonal + row.weight.keep(row.residual.lt(zero));
        }
        if self.model.has_extra() {
            F::extra(
                &mut self.contacts.extra,
                Part::Assemble { pattern, hessian, running: self.running.bits() },
            );
        }
        F::factor(pattern, hessian, self.inverse_diagonal);
    }
}

/// Whether a contact has curvature in any of the lanes.
#[inline(always)]
fn acts<F: Lane, const D: usize>(slot: &Slot<F, D>, lanes: F::Mask) -> bool {
    F::zero().lt(slot.curvature[0]).and(lanes).any()
}

/// Contacts and limits of a matrix with branches.
struct Rows<'a, F: Lane, const D: usize> {
    slots: &'a [Slot<F, D>],
    jacobians: &'a [[F; D]],
    limits: &'a [LimitRow<F>],
    freedoms: usize,
    running: F::Mask,
}

impl<F: Lane, const D: usize> Rows<'_, F, D> {
    /// Adds the limits of the degrees of freedom from `first` on to their diagonal.
    #[inline(always)]
    fn add_limits<const N: usize>(&self, first: usize, matrix: &mut [[F; N]; N]) {
        for row in self.limits {
            for k in 0..N {
                if row.freedom == first + k {
                    matrix[k][k] = matrix[k][k] + row.weight.keep(row.residual.lt(F::zero()));
                }
            }
        }
    }
}

impl<F: Lane, const D: usize, const T: usize, const B: usize> Terms<F, T, B> for Rows<'_, F, D> {
    #[inline(always)]
    fn add_to_trunk(&self, trunk: &mut [[F; T]; T]) {
        for (slot, jacobian) in self.slots.iter().zip(self.jacobians.chunks_exact(self.freedoms)) {
            if !acts(slot, self.running) {
                continue;
            }
            let jacobian = &jacobian[..T];
            for k in 0..T {
                let column = curved(&slot.curvature, &jacobian[k]);
                for i in 0..T {
                    if i <= k {
                        trunk[k][i] = add_product(trunk[k][i], &column, &jacobian[i]);
                    }
                }
            }
        }
        self.add_limits(0, trunk);
    }

    #[inline(always)]
    fn add_to_branch(&self, first: usize, head: &mut [[F; T]; B], own: &mut [[F; B]; B]) {
        for (slot, jacobian) in self.slots.iter().zip(self.jacobians.chunks_exact(self.freedoms)) {
            let touches = slot.touched >> first & ((1 << B) - 1) != 0;
            if !touches || !acts(slot, self.running) {
                continue;
            }
            let (trunk, branch) = (&jacobian[..T], &jacobian[first..first + B]);
            for r in 0..B {
                let column = curved(&slot.curvature, &branch[r]);
                for i in 0..T {
                    head[r][i] = add_product(head[r][i], &column, &trunk[i]);
                }
                for q in 0..B {
                    if q <= r {
                        own[r][q] = add_product(own[r][q], &column, &branch[q]);
                    }
                }
            }
        }
        self.add_limits(first, own);
    }
}

/// x + a . b
#[inline(always)]
pub(super) fn add_product<F: Lane, const D: usize>(x: F, a: &[F; 3], b: &[F; D]) -> F {
    let mut sum = x;
    for i in (0..D).rev() {
        sum = a[i].mul_add(b[i], sum);
    }
    sum
}

/// The curvature matrix of a contact times one column of its Jacobian.
#[inline(always)]
pub(super) fn curved<F: Lane, const D: usize>(w: &[F; 5], j: &[F; D]) -> [F; 3] {
    let normal = w[1].mul_add(j[1], w[0] * j[0]);
    let first = w[2].mul_add(j[1], w[1] * j[0]);
    if D == 2 {
        [normal, first, F::zero()]
    } else {
        [w[3].mul_add(j[D - 1], normal), first, w[4].mul_add(j[D - 1], w[3] * j[0])]
    }
}
