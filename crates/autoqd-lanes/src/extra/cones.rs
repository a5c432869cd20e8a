//! Contacts with elliptic friction cones, or with pyramids that have torsional and rolling friction.
//!
//! As the other contacts they are compacted per lane.

use super::cone::{Basis, Cone6, DIRECTIONS, curved, times};
use crate::compile::{Compiled, ConeLaw, ContactLaw};
use crate::model::Cone;
use crate::pattern::{Pattern, bits, through};
use crate::respond::{impedance, lanes_of, put, row_weight};
use crate::simd::{LANES, Lane, Mask};
use crate::vector::*;

/// The contacts of this kind.
pub(crate) struct Cones<F> {
    slots: Vec<Cone6<F>>,
    count: usize,
    used: [usize; LANES],
    /// Slot by slot, one entry per degree of freedom.
    jacobian: Vec<Basis<F>>,
    freedoms: usize,
    cone: Cone,
    impedance_ratio: f64,
}

impl<F: Lane> Cones<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let slots = if model.cones { model.most_contacts() } else { 0 };
        let freedoms = model.freedoms();
        Self {
            slots: vec![Cone6::empty(); slots],
            count: 0,
            used: [0; LANES],
            jacobian: vec![[F::zero(); DIRECTIONS]; slots * freedoms],
            freedoms,
            cone: model.options.cone,
            impedance_ratio: model.options.impedance_ratio,
        }
    }

    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.used = [0; LANES];
    }

    /// Lanes that have a contact of this kind.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> u8 {
        (0..LANES).fold(0, |bits, lane| bits | (u8::from(self.used[lane] > 0) << lane))
    }

    #[inline(always)]
    pub(crate) fn slots(&self) -> &[Cone6<F>] {
        &self.slots[..self.count]
    }

    #[inline(always)]
    pub(crate) fn slots_mut(&mut self) -> &mut [Cone6<F>] {
        &mut self.slots[..self.count]
    }

    #[inline(always)]
    pub(crate) fn with_jacobians(&mut self) -> impl Iterator<Item = (&mut Cone6<F>, &mut [Basis<F>])> {
        self.slots[..self.count].iter_mut().zip(self.jacobian.chunks_exact_mut(self.freedoms))
    }

    /// Those that are solved for now.
    #[inline(always)]
    fn acting(&mut self) -> impl Iterator<Item = (&mut Cone6<F>, &mut [Basis<F>])> {
        self.with_jacobians().filter(|(slot, _)| slot.acting != 0)
    }

    /// Adds contact `id` in the lanes of `active`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn push(
        &mut self,
        id: usize,
        law: &ContactLaw,
        cone: &ConeLaw,
        active: F::Mask,
        distance: F,
        [point, normal, tangent]: [V3<F>; 3],
    ) {
        let beyond = distance - F::splat(law.margin);
        let d = impedance(&law.law.impedance, beyond);
        let first = row_weight(d, law.weight, law.pyramid);
        let (weights, mu) = self.weights(cone, first);
        let middle = first / F::splat(mu * mu * (1.0 + mu * mu));
        let restoring = d * beyond * F::splat(-law.law.stiffness);
        let mut pending = active.bits();
        while pending != 0 {
            let (s, group) = self.take_slot(&mut pending);
            let mask = F::Mask::from_bits(group);
            let slot = &mut self.slots[s];
            for i in 0..3 {
                put(mask, point[i], &mut slot.point[i]);
                put(mask, normal[i], &mut slot.normal[i]);
                put(mask, tangent[i], &mut slot.tangent[i]);
            }
            put(mask, F::splat(mu), &mut slot.friction[0]);
            put(mask, weights[0], &mut slot.weights[0]);
            for i in 1..cone.dimension {
                put(mask, F::splat(cone.friction[i - 1]), &mut slot.friction[i]);
                put(mask, weights[i], &mut slot.weights[i]);
            }
            put(mask, middle, &mut slot.middle);
            put(mask, restoring, &mut slot.restoring);
            put(mask, F::splat(law.law.damping), &mut slot.damping[0]);
            put(mask, F::splat(cone.friction_damping), &mut slot.damping[1]);
            slot.directions = slot.directions.max(cone.dimension);
            slot.touched |= law.forward | law.backward;
            slot.acting |= group;
            for lane in lanes_of(group) {
                slot.forward[lane] = law.forward;
                slot.backward[lane] = law.backward;
                slot.ids[lane] = id as u32;
            }
        }
    }

    /// The weights of the directions, and the friction of the regularised cone.
    #[inline(always)]
    fn weights(&self, law: &ConeLaw, first: F) -> (Basis<F>, f64) {
        let mut weights = [first; DIRECTIONS];
        if self.cone == Cone::Pyramidal {
            return (weights, law.friction[0]);
        }
        let sliding = law.friction[0];
        for i in 1..law.dimension {
            let ratio = law.friction[i - 1] / sliding;
            weights[i] = first * F::splat(self.impedance_ratio * ratio * ratio);
        }
        (weights, sliding * (1.0 / self.impedance_ratio).sqrt())
    }

    /// As for the other contacts: a slot is cleared when it is taken first.
    #[inline(always)]
    fn take_slot(&mut self, pending: &mut u8) -> (usize, u8) {
        let s = self.used[pending.trailing_zeros() as usize];
        let mut group = 0;
        for lane in lanes_of(*pending) {
            if self.used[lane] == s {
                group |= 1 << lane;
                self.used[lane] = s + 1;
            }
        }
        *pending &= !group;
        if s == self.count {
            self.count = s + 1;
            self.slots[s].clear();
        }
        (s, group)
    }

    /// Residuals at two points, and the costs there.
    #[inline(always)]
    pub(crate) fn start(&mut self, warm: &[F], free: &[F]) -> [F; 2] {
        let (cone, mut costs) = (self.cone, [F::zero(); 2]);
        for (slot, jacobian) in self.with_jacobians() {
            slot.at_warm = times(slot, jacobian, warm);
            slot.at_smooth = times(slot, jacobian, free);
            for i in 0..slot.directions {
                slot.at_warm[i] = slot.at_warm[i] - slot.references[i];
                slot.at_smooth[i] = slot.at_smooth[i] - slot.references[i];
            }
            costs[0] = costs[0] + slot.cost(cone, &slot.at_warm);
            costs[1] = costs[1] + slot.cost(cone, &slot.at_smooth);
        }
        costs
    }

    /// Writes the forces of every contact and its curvature.
    #[inline(always)]
    pub(crate) fn respond(&mut self) {
        let cone = self.cone;
        for slot in self.slots_mut() {
            slot.respond(cone);
        }
    }

    #[inline(always)]
    pub(crate) fn add_forces(&mut self, force: &mut [F]) {
        let cone = self.cone;
        for (slot, jacobian) in self.acting() {
            slot.respond(cone);
            for k in bits(slot.touched) {
                let (j, x) = (&jacobian[k], &mut force[k]);
                for i in 0..slot.directions {
                    *x = j[i].mul_add(slot.forces[i], *x);
                }
            }
        }
    }

    #[inline(always)]
    pub(crate) fn assemble(&mut self, pattern: &Pattern, hessian: &mut [F], running: F::Mask) {
        for (slot, jacobian) in self.acting() {
            let acting = F::zero().lt(slot.curvature[0]).and(running).bits();
            let touched = lanes_of(acting).fold(0, |all, lane| all | slot.touched_by(lane));
            for k in bits(touched) {
                let curved = curved(slot.directions, &slot.curvature, &jacobian[k]);
                let entries = &mut hessian[pattern.row(k)];
                if pattern.is_full() {
                    for i in bits(touched & through(k)) {
                        for d in 0..slot.directions {
                            entries[i] = curved[d].mul_add(jacobian[i][d], entries[i]);
                        }
                    }
                    continue;
                }
                let columns = pattern.columns(k);
                for (x, &i) in entries.iter_mut().zip(columns.iter().chain([&k])) {
                    // Two bodies of a branch have ancestors that move both.
                    if touched >> i & 1 == 0 {
                        continue;
                    }
                    for d in 0..slot.directions {
                        *x = curved[d].mul_add(jacobian[i][d], *x);
                    }
                }
            }
        }
    }

    #[inline(always)]
    pub(crate) fn slopes(&mut self, direction: &[F]) {
        for (slot, jacobian) in self.acting() {
            slot.slopes = times(slot, jacobian, direction);
        }
    }

    /// Cost, slope and curvature along the direction at a step.
    #[inline(always)]
    pub(crate) fn along(&self, step: F) -> [F; 3] {
        let mut sums = [F::zero(); 3];
        for slot in self.slots().iter().filter(|slot| slot.acting != 0) {
            let parts = slot.along(self.cone, step);
            for i in 0..3 {
                sums[i] = sums[i] + parts[i];
            }
        }
        sums
    }

    /// Moves to a step along the direction; returns the change of the cost.
    #[inline(always)]
    pub(crate) fn advance(&mut self, step: F) -> F {
        let (cone, mut change) = (self.cone, F::zero());
        for slot in self.slots_mut().iter_mut().filter(|slot| slot.acting != 0) {
            let before = slot.cost(cone, &slot.residuals);
            for i in 0..slot.directions {
                slot.residuals[i] = step.mul_add(slot.slopes[i], slot.residuals[i]);
            }
            change = change + (slot.cost(cone, &slot.residuals) - before);
        }
        change
    }
}
