//! Constraints beside limits of joints and sliding contacts with a pyramid: what some models have and others pay nothing
//! for.

pub(crate) mod clearance;
pub(crate) mod cone;
pub(crate) mod cones;
pub(crate) mod fill;
pub(crate) mod outside;
pub(crate) mod rows;

use crate::compile::Compiled;
use crate::pattern::Pattern;
use crate::simd::{Lane, Mask};
use cones::Cones;
use fill::Fill;
use rows::Rows;

/// Rows of any shape, and contacts with cones.
pub(crate) struct Extra<F> {
    pub(crate) rows: Rows<F>,
    pub(crate) cones: Cones<F>,
    /// The entries of the solver's matrix where constraints couple branches.
    pub(crate) fill: Fill,
}

/// A part of the solver's work over these constraints.
pub(crate) enum Part<'a, F: Lane> {
    /// Residuals and costs at two accelerations: the warm start, and the unconstrained one.
    Start { warm: &'a [F], free: &'a [F] },
    /// Start where it is cheaper.
    Choose { cold: F::Mask },
    /// Write the forces of the contacts at the solver's point.
    Respond,
    /// Add the forces at the solver's point.
    Forces { force: &'a mut [F] },
    /// Add the curvature there, at least that of the running lanes.
    Assemble { pattern: &'a Pattern, hessian: &'a mut [F], running: u8 },
    /// Factor a matrix that has its rows where the full triangle has them, and solve with it.
    Solve { full: &'a Pattern, matrix: &'a mut [F], inverse_diagonal: &'a mut [F], x: &'a mut [F] },
    /// Look along a direction.
    Slopes { direction: &'a [F] },
    /// Cost, slope and curvature at a step along it.
    Along { step: F },
    /// Go there; gives the change of the cost.
    Advance { step: F },
}

impl<F: Lane> Extra<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        Self { rows: Rows::new(model), cones: Cones::new(model), fill: Fill::new(model) }
    }

    /// Whether there is anything at the present state.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.rows().is_empty() && self.cones.slots().is_empty()
    }

    /// Lanes in which anything acts.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> u8 {
        self.rows.lanes | self.cones.lanes()
    }

    /// Does a part of the solver's work.
    #[inline(always)]
    pub(crate) fn run(&mut self, part: Part<'_, F>) -> [F; 3] {
        let zero = F::zero();
        match part {
            Part::Start { warm, free } => {
                let (a, b) = (self.rows.start(warm, free), self.cones.start(warm, free));
                return [a[0] + b[0], a[1] + b[1], zero];
            }
            Part::Choose { cold } => self.choose(cold),
            Part::Respond => self.cones.respond(),
            Part::Forces { force } => {
                self.rows.add_forces(force);
                self.cones.add_forces(force);
            }
            Part::Assemble { pattern, hessian, running } => {
                self.rows.assemble(pattern, hessian);
                self.cones.assemble(pattern, hessian, F::Mask::from_bits(running));
            }
            Part::Solve { full, matrix, inverse_diagonal, x } => {
                self.fill.factor(full, matrix, inverse_diagonal);
                self.fill.solve(full, matrix, inverse_diagonal, x);
            }
            Part::Slopes { direction } => {
                self.rows.slopes(direction);
                self.cones.slopes(direction);
            }
            Part::Along { step } => return self.along(step),
            Part::Advance { step } => {
                return [self.rows.advance(step) + self.cones.advance(step), zero, zero];
            }
        }
        [zero; 3]
    }

    #[inline(always)]
    fn choose(&mut self, cold: F::Mask) {
        for row in self.rows.rows_mut() {
            row.residual = F::select(cold, row.at_smooth, row.at_warm);
        }
        for slot in self.cones.slots_mut() {
            for i in 0..slot.directions {
                slot.residuals[i] = F::select(cold, slot.at_smooth[i], slot.at_warm[i]);
            }
        }
    }

    #[inline(always)]
    fn along(&self, step: F) -> [F; 3] {
        let mut sums = self.cones.along(step);
        for row in self.rows.rows() {
            let parts = row.along(step);
            for i in 0..3 {
                sums[i] = sums[i] + parts[i];
            }
        }
        sums
    }
}
