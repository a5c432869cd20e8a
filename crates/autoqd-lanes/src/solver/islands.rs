//! Constraint islands: trees that constraints couple are solved together, others apart, each with its own stopping test.
//!
//! In pass p every lane solves the island whose first tree is the p-th, if it has one. The rows of its other islands have no weight in that pass, and the
//! degrees of freedom outside keep the acceleration of the smooth dynamics, so they add exact zeros.

use super::Problem;
use crate::compile::Compiled;
use crate::extra::Part;
use crate::extra::cone::{Basis, DIRECTIONS};
use crate::kernels::Kernels;
use crate::respond::lanes_of;
use crate::simd::{LANES, Lane, Mask};

/// Work space for models of several trees.
pub(crate) struct Islands<F> {
    /// Per lane and pass: the degrees of freedom of its island.
    members: [Vec<u64>; LANES],
    /// Where every pass starts, and what all passes found.
    start: Vec<F>,
    mass_start: Vec<F>,
    acceleration: Vec<F>,
    force: Vec<F>,
    /// Weights and final residuals of the rows.
    limit_weights: Vec<F>,
    limit_residuals: Vec<[F; 2]>,
    slot_weights: Vec<F>,
    slot_residuals: Vec<[[F; 4]; 2]>,
    row_weights: Vec<F>,
    row_residuals: Vec<[F; 2]>,
    cones: Vec<ConeStart<F>>,
}

/// Weights, and residuals at the start and at the end, of a contact with a cone.
#[derive(Clone, Copy)]
struct ConeStart<F> {
    weights: Basis<F>,
    middle: F,
    acting: u8,
    residuals: [Basis<F>; 2],
}

impl<F: Lane> Islands<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let (freedoms, limits, slots) = match model.islands {
            true => (model.freedoms(), model.limits.len(), model.most_contacts()),
            false => (0, 0, 0),
        };
        let rows = match model.islands {
            true => model.rows.iter().map(|row| row.kind.rows()).sum(),
            false => 0,
        };
        let (zero, zeros) = (F::zero(), [F::zero(); DIRECTIONS]);
        let cone = ConeStart { weights: zeros, middle: zero, acting: 0, residuals: [zeros; 2] };
        let column = |n: usize| vec![F::zero(); n];
        Self {
            members: std::array::from_fn(|_| Vec::with_capacity(model.trees.len())),
            start: column(freedoms),
            mass_start: column(freedoms),
            acceleration: column(freedoms),
            force: column(freedoms),
            limit_weights: column(limits),
            limit_residuals: vec![[F::zero(); 2]; limits],
            slot_weights: column(slots),
            slot_residuals: vec![[[F::zero(); 4]; 2]; slots],
            row_weights: column(rows),
            row_residuals: vec![[zero; 2]; rows],
            cones: vec![cone; if model.cones { slots } else { 0 }],
        }
    }

    /// Adds a row over some degrees of freedom: the islands of the trees it touches become one.
    fn couple(&mut self, lane: usize, trees: &[u64], touched: u64) {
        let mut joined = trees.iter().filter(|&&tree| tree & touched != 0).fold(0, |all, tree| all | tree);
        self.members[lane].retain(|&island| {
            let apart = island & joined == 0;
            if !apart {
                joined |= island;
            }
            apart
        });
        self.members[lane].push(joined);
    }

    /// Puts the island whose first tree is the `t`-th at place `t`, so that lanes solve the same islands in the same pass as
    /// far as they have them.
    fn align(&mut self, trees: &[u64]) {
        for members in &mut self.members {
            let mut places = [0; u64::BITS as usize];
            for &island in members.iter() {
                let first = trees.iter().position(|tree| tree & island != 0);
                places[first.unwrap_or(0)] = island;
            }
            members.clear();
            members.extend(&places[..trees.len()]);
        }
    }

    /// Lanes whose island of a pass has degree of freedom `k`.
    #[inline(always)]
    fn lanes_with(&self, pass: usize, k: usize) -> u8 {
        (0..LANES).fold(0, |bits, lane| {
            let inside = self.members[lane].get(pass).is_some_and(|island| island >> k & 1 == 1);
            bits | (u8::from(inside) << lane)
        })
    }
}

impl<F: Kernels, const D: usize> Problem<'_, F, D> {
    /// Solves the islands of the running lanes one after the other.
    #[inline(always)]
    pub(crate) fn solve_islands(&mut self, running: F::Mask) {
        self.find_islands();
        let freedoms = self.acceleration.len();
        {
            let (islands, smooth) = (&mut self.newton.islands, self.smooth);
            islands.start.copy_from_slice(self.acceleration);
            islands.mass_start.copy_from_slice(&self.newton.mass_acceleration);
            islands.acceleration.copy_from_slice(&smooth.acceleration);
            islands.force.fill(F::zero());
            for (i, row) in self.limits.rows().iter().enumerate() {
                islands.limit_weights[i] = row.weight;
                islands.limit_residuals[i] = [row.residual; 2];
            }
            for (i, slot) in self.contacts.slots().iter().enumerate() {
                islands.slot_weights[i] = slot.weight;
                islands.slot_residuals[i] = [slot.residuals; 2];
            }
            let extra = &self.contacts.extra;
            for (i, row) in extra.rows.rows().iter().enumerate() {
                islands.row_weights[i] = row.weight;
                islands.row_residuals[i] = [row.residual; 2];
            }
            for (i, slot) in extra.cones.slots().iter().enumerate() {
                let residuals = [slot.residuals; 2];
                islands.cones[i] =
                    ConeStart { weights: slot.weights, middle: slot.middle, acting: slot.acting, residuals };
            }
        }
        for pass in 0..self.model.trees.len() {
            if self.newton.islands.members.iter().all(|members| members[pass] == 0) {
                continue;
            }
            let mut trace = F::zero();
            let mut anywhere = 0;
            for k in 0..freedoms {
                let bits = self.newton.islands.lanes_with(pass, k);
                anywhere |= bits;
                let inside = F::Mask::from_bits(bits);
                let (islands, smooth) = (&self.newton.islands, self.smooth);
                let (start, mass_start) = (islands.start[k], islands.mass_start[k]);
                self.acceleration[k] = F::select(inside, start, smooth.acceleration[k]);
                self.newton.mass_acceleration[k] = F::select(inside, mass_start, smooth.force[k]);
                trace = trace + smooth.mass[self.model.tree.diagonal(k)].keep(inside);
            }
            self.only_rows_of(pass);
            let lanes = F::Mask::from_bits(anywhere);
            let trace = F::select(lanes, trace, F::one());
            self.iterate(running.and(lanes), trace);
            self.keep_results_of(pass);
        }
        let islands = &self.newton.islands;
        self.acceleration.copy_from_slice(&islands.acceleration);
        self.newton.force.copy_from_slice(&islands.force);
        for (i, row) in self.limits.rows_mut().iter_mut().enumerate() {
            row.weight = islands.limit_weights[i];
            row.residual = islands.limit_residuals[i][1];
        }
        for (i, slot) in self.contacts.slots_mut().iter_mut().enumerate() {
            slot.weight = islands.slot_weights[i];
            slot.residuals = islands.slot_residuals[i][1];
        }
        if self.model.has_extra() {
            self.restore_extra();
        }
    }

    /// Gives the other constraints their weights and final residuals back, and the forces that belong to them.
    #[inline(always)]
    fn restore_extra(&mut self) {
        let (islands, extra) = (&self.newton.islands, &mut self.contacts.extra);
        for (i, row) in extra.rows.rows_mut().iter_mut().enumerate() {
            row.weight = islands.row_weights[i];
            row.residual = islands.row_residuals[i][1];
        }
        for (i, slot) in extra.cones.slots_mut().iter_mut().enumerate() {
            (slot.weights, slot.middle) = (islands.cones[i].weights, islands.cones[i].middle);
            (slot.residuals, slot.acting) = (islands.cones[i].residuals[1], islands.cones[i].acting);
        }
        F::extra(extra, Part::Respond);
    }

    #[inline(always)]
    fn find_islands(&mut self) {
        let islands = &mut self.newton.islands;
        islands.members.iter_mut().for_each(Vec::clear);
        let trees = &self.model.trees;
        for row in self.limits.rows() {
            let acting = F::zero().lt(row.weight).bits();
            lanes_of(acting).for_each(|lane| islands.couple(lane, trees, 1 << row.freedom));
        }
        for slot in self.contacts.slots() {
            let acting = F::zero().lt(slot.weight).bits();
            lanes_of(acting).for_each(|lane| islands.couple(lane, trees, slot.touched_by(lane)));
        }
        for row in self.contacts.extra.rows.rows() {
            let acting = F::zero().lt(row.weight).bits();
            lanes_of(acting).for_each(|lane| islands.couple(lane, trees, row.touched));
        }
        for slot in self.contacts.extra.cones.slots() {
            let acting = F::zero().lt(slot.weights[1]).bits();
            lanes_of(acting).for_each(|lane| islands.couple(lane, trees, slot.touched_by(lane)));
        }
        islands.align(trees);
    }

    /// Gives weight to the rows of one island per lane only, and puts all rows at their start.
    #[inline(always)]
    fn only_rows_of(&mut self, pass: usize) {
        let islands = &self.newton.islands;
        for (i, row) in self.limits.rows_mut().iter_mut().enumerate() {
            let inside = F::Mask::from_bits(islands.lanes_with(pass, row.freedom));
            row.weight = islands.limit_weights[i].keep(inside);
            row.residual = islands.limit_residuals[i][0];
        }
        for (i, slot) in self.contacts.slots_mut().iter_mut().enumerate() {
            let mut inside = 0;
            for lane in 0..LANES {
                let touched = slot.touched_by(lane);
                let member = islands.members[lane].get(pass).is_some_and(|island| island & touched != 0);
                inside |= u8::from(member) << lane;
            }
            slot.weight = islands.slot_weights[i].keep(F::Mask::from_bits(inside));
            slot.residuals = islands.slot_residuals[i][0];
        }
        let extra = &mut self.contacts.extra;
        for (i, row) in extra.rows.rows_mut().iter_mut().enumerate() {
            // Any of its degrees of freedom will do: all are in one island.
            let inside = islands.lanes_with(pass, row.touched.trailing_zeros() as usize);
            row.weight = islands.row_weights[i].keep(F::Mask::from_bits(inside));
            row.residual = islands.row_residuals[i][0];
        }
        for (i, slot) in extra.cones.slots_mut().iter_mut().enumerate() {
            let mut inside = 0;
            for lane in 0..LANES {
                let touched = slot.touched_by(lane);
                let member = islands.members[lane].get(pass).is_some_and(|island| island & touched != 0);
                inside |= u8::from(member) << lane;
            }
            let (mask, start) = (F::Mask::from_bits(inside), &islands.cones[i]);
            for d in 0..DIRECTIONS {
                slot.weights[d] = start.weights[d].keep(mask);
            }
            slot.middle = start.middle.keep(mask);
            slot.acting = start.acting & inside;
            slot.residuals = start.residuals[0];
        }
    }

    #[inline(always)]
    fn keep_results_of(&mut self, pass: usize) {
        for k in 0..self.acceleration.len() {
            let inside = F::Mask::from_bits(self.newton.islands.lanes_with(pass, k));
            let force = self.newton.force[k];
            let islands = &mut self.newton.islands;
            islands.acceleration[k] = F::select(inside, self.acceleration[k], islands.acceleration[k]);
            islands.force[k] = F::select(inside, force, islands.force[k]);
        }
        let islands = &mut self.newton.islands;
        for (i, row) in self.limits.rows().iter().enumerate() {
            let inside = F::zero().lt(row.weight);
            let kept = &mut islands.limit_residuals[i][1];
            *kept = F::select(inside, row.residual, *kept);
        }
        for (i, slot) in self.contacts.slots().iter().enumerate() {
            let inside = F::zero().lt(slot.weight);
            for (kept, &residual) in islands.slot_residuals[i][1].iter_mut().zip(&slot.residuals) {
                *kept = F::select(inside, residual, *kept);
            }
        }
        for (i, row) in self.contacts.extra.rows.rows().iter().enumerate() {
            let kept = &mut islands.row_residuals[i][1];
            *kept = F::select(F::zero().lt(row.weight), row.residual, *kept);
        }
        for (i, slot) in self.contacts.extra.cones.slots().iter().enumerate() {
            let inside = F::zero().lt(slot.weights[1]);
            for (kept, &residual) in islands.cones[i].residuals[1].iter_mut().zip(&slot.residuals) {
                *kept = F::select(inside, residual, *kept);
            }
        }
    }
}
