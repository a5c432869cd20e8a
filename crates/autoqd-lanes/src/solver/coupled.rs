//! Newton's direction where constraints couple branches of a tree.

use super::Problem;
use super::hessian::{add_product, curved};
use crate::extra::Part;
use crate::kernels::Kernels;
use crate::packed;
use crate::pattern::{bits, through};
use crate::respond::lanes_of;
use crate::simd::Mask;

impl<F: Kernels, const D: usize> Problem<'_, F, D> {
    /// The direction p = -H^-1 g in the running lanes; returns g' H^-1 g. A lane has the bits that it would have alone: what
    /// only other lanes have adds exact zeros.
    #[inline(always)]
    pub(super) fn coupled_direction(&mut self, running: F::Mask) -> F {
        if self.contacts.extra.fill.lanes != Some(running.bits()) {
            self.find_fill(running.bits());
        }
        self.assemble_coupled(running);
        let newton = &mut *self.newton;
        newton.direction.copy_from_slice(&newton.gradient);
        F::extra(
            &mut self.contacts.extra,
            Part::Solve {
                full: &self.model.full,
                matrix: &mut newton.hessian,
                inverse_diagonal: &mut newton.inverse_diagonal,
                x: &mut newton.direction,
            },
        );
        let decrement = packed::dot(&newton.direction, &newton.gradient);
        for p in &mut newton.direction {
            *p = -*p;
        }
        decrement
    }

    /// The entries of the constraints that act in some lanes.
    #[inline(always)]
    fn find_fill(&mut self, running: u8) {
        let (slots, extra) = self.contacts.with_extra();
        let zero = F::zero();
        extra.fill.begin(running);
        for slot in slots {
            let acting = zero.lt(slot.weight).bits() & running;
            lanes_of(acting).for_each(|lane| extra.fill.add(slot.touched_by(lane)));
        }
        for slot in extra.cones.slots() {
            let acting = zero.lt(slot.weights[1]).bits() & running;
            lanes_of(acting).for_each(|lane| extra.fill.add(slot.touched_by(lane)));
        }
        for row in extra.rows.rows() {
            if zero.lt(row.weight).bits() & running != 0 {
                extra.fill.add(row.touched);
            }
        }
        extra.fill.finish();
    }

    /// H = M + sum over acting rows of D J' J in the running lanes, as a full triangle.
    #[inline(always)]
    fn assemble_coupled(&mut self, running: F::Mask) {
        let (model, zero) = (self.model, F::zero());
        let full = &model.full;
        let hessian = &mut self.newton.hessian[..];
        self.contacts.extra.fill.spread(&model.tree, &self.smooth.mass, full, hessian);
        let (slots, jacobians) = self.contacts.with_jacobians();
        for (slot, jacobian) in slots.iter().zip(jacobians.chunks_exact(full.size())) {
            let acting = zero.lt(slot.curvature[0]).and(running).bits();
            let touched = lanes_of(acting).fold(0, |all, lane| all | slot.touched_by(lane));
            for k in bits(touched) {
                let column = curved(&slot.curvature, &jacobian[k]);
                let row = &mut hessian[full.row(k)];
                for i in bits(touched & through(k)) {
                    row[i] = add_product(row[i], &column, &jacobian[i]);
                }
            }
        }
        for row in self.limits.rows() {
            let diagonal = &mut hessian[full.diagonal(row.freedom)];
            *diagonal = *diagonal + row.weight.keep(row.residual.lt(zero));
        }
        if model.has_extra() {
            F::extra(
                &mut self.contacts.extra,
                Part::Assemble { pattern: full, hessian, running: running.bits() },
            );
        }
    }
}
