//! The parts of a step, compiled once per back end with its instruction set enabled.
//!
//! Engine code is generic and `#[inline(always)]`; it becomes vector code where it is inlined into one of the
//! functions below. Keeping their number small keeps the build short. It has no closures over lanes: a closure
//! cannot be marked so, and would stay a call of baseline code.

use crate::compile::ContactLaw;
use crate::constraint::{Contacts, Found};
use crate::extra::{Extra, Part};
use crate::integrate::Stage;
use crate::packed;
use crate::pattern::Pattern;
use crate::sim::{Checked, Sim, Space};
#[cfg(lanes_portable)]
use crate::simd::Array;
#[cfg(lanes_avx2)]
use crate::simd::Avx2;
#[cfg(lanes_avx512)]
use crate::simd::Avx512;
use crate::simd::Lane;
use crate::solver::Hessian;

/// The parts of a step for one lane type.
pub(crate) trait Kernels: Lane {
    fn factor(pattern: &Pattern, a: &mut [Self], inverse_diagonal: &mut [Self]);
    /// The factors of `matrix`, which stays as it is; the diagonal of `factors` is undefined.
    fn factors_of(pattern: &Pattern, matrix: &[Self], factors: &mut [Self], inverse_diagonal: &mut [Self]);
    /// The factors of the solver's Hessian.
    fn factor_hessian<const D: usize>(hessian: Hessian<'_, Self, D>);
    fn solve(pattern: &Pattern, factors: &[Self], inverse_diagonal: &[Self], x: &mut [Self]);
    fn multiply(pattern: &Pattern, a: &[Self], x: &[Self], y: &mut [Self]);
    /// Adds a contact.
    fn push<const D: usize>(
        contacts: &mut Contacts<Self, D>,
        id: usize,
        law: &ContactLaw,
        active: Self::Mask,
        found: &Found<Self, D>,
    );
    /// A part of the solver's work over constraints that few models have.
    fn extra(extra: &mut Extra<Self>, part: Part<'_, Self>) -> [Self; 3];
    /// Kinematics, inertia, and all forces but those of constraints.
    fn smooth<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>);
    /// Limits and contacts.
    fn constrain<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>);
    /// Constraint forces and accelerations.
    fn resolve<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>);
    /// One stage of the integrator.
    fn integrate<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>, stage: Stage);
    /// Prepares poses for being read.
    fn place_frames<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>);
    /// Marks the lanes whose state, or whose acceleration, left the range of a simulation.
    fn check<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>, what: Checked);
}

macro_rules! kernels {
    ($lane:ty $(, $features:literal)?) => {
        // Lane types with an instruction set exist only inside a `Batch` whose back end was checked against the CPU.
        #[allow(unused_unsafe)]
        impl Kernels for $lane {
            #[inline]
            fn factor(pattern: &Pattern, a: &mut [Self], inverse_diagonal: &mut [Self]) {
                $(#[target_feature(enable = $features)])?
                fn enabled(pattern: &Pattern, a: &mut [$lane], inverse_diagonal: &mut [$lane]) {
                    packed::factor(pattern, a, inverse_diagonal);
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(pattern, a, inverse_diagonal) }
            }
            #[inline]
            fn factors_of(
                pattern: &Pattern,
                matrix: &[Self],
                factors: &mut [Self],
                inverse_diagonal: &mut [Self],
            ) {
                $(#[target_feature(enable = $features)])?
                fn enabled(
                    pattern: &Pattern,
                    matrix: &[$lane],
                    factors: &mut [$lane],
                    inverse_diagonal: &mut [$lane],
                ) {
                    packed::factors_of(pattern, matrix, factors, inverse_diagonal);
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(pattern, matrix, factors, inverse_diagonal) }
            }
            #[inline]
            fn factor_hessian<const D: usize>(hessian: Hessian<'_, Self, D>) {
                $(#[target_feature(enable = $features)])?
                fn enabled<const D: usize>(hessian: Hessian<'_, $lane, D>) {
                    hessian.factor();
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(hessian) }
            }
            #[inline]
            fn solve(pattern: &Pattern, factors: &[Self], inverse_diagonal: &[Self], x: &mut [Self]) {
                $(#[target_feature(enable = $features)])?
                fn enabled(pattern: &Pattern, factors: &[$lane], inverse_diagonal: &[$lane], x: &mut [$lane]) {
                    packed::solve(pattern, factors, inverse_diagonal, x);
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(pattern, factors, inverse_diagonal, x) }
            }
            #[inline]
            fn multiply(pattern: &Pattern, a: &[Self], x: &[Self], y: &mut [Self]) {
                $(#[target_feature(enable = $features)])?
                fn enabled(pattern: &Pattern, a: &[$lane], x: &[$lane], y: &mut [$lane]) {
                    packed::multiply(pattern, a, x, y);
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(pattern, a, x, y) }
            }
            #[inline]
            fn push<const D: usize>(
                contacts: &mut Contacts<Self, D>,
                id: usize,
                law: &ContactLaw,
                active: Self::Mask,
                found: &Found<Self, D>,
            ) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn enabled<const D: usize>(
                    contacts: &mut Contacts<$lane, D>,
                    id: usize,
                    law: &ContactLaw,
                    active: <$lane as Lane>::Mask,
                    found: &Found<$lane, D>,
                ) {
                    contacts.push(id, law, active, found);
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(contacts, id, law, active, found) }
            }
            #[inline]
            fn extra(extra: &mut Extra<Self>, part: Part<'_, Self>) -> [Self; 3] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn enabled(extra: &mut Extra<$lane>, part: Part<'_, $lane>) -> [$lane; 3] {
                    extra.run(part)
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(extra, part) }
            }
            #[inline]
            fn smooth<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>) {
                $(#[target_feature(enable = $features)])?
                fn enabled<S: Space<$lane, D>, const D: usize>(sim: &mut Sim<$lane, S, D>) {
                    sim.smooth_dynamics();
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(sim) }
            }
            #[inline]
            fn constrain<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>) {
                $(#[target_feature(enable = $features)])?
                fn enabled<S: Space<$lane, D>, const D: usize>(sim: &mut Sim<$lane, S, D>) {
                    sim.find_constraints();
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(sim) }
            }
            #[inline]
            fn resolve<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>) {
                $(#[target_feature(enable = $features)])?
                fn enabled<S: Space<$lane, D>, const D: usize>(sim: &mut Sim<$lane, S, D>) {
                    sim.problem().solve();
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(sim) }
            }
            #[inline]
            fn integrate<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>, stage: Stage) {
                $(#[target_feature(enable = $features)])?
                fn enabled<S: Space<$lane, D>, const D: usize>(sim: &mut Sim<$lane, S, D>, stage: Stage) {
                    sim.integrate(stage);
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(sim, stage) }
            }
            #[inline]
            fn place_frames<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>) {
                $(#[target_feature(enable = $features)])?
                fn enabled<S: Space<$lane, D>, const D: usize>(sim: &mut Sim<$lane, S, D>) {
                    sim.space.place_frames(&sim.model);
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(sim) }
            }
            #[inline]
            fn check<S: Space<Self, D>, const D: usize>(sim: &mut Sim<Self, S, D>, what: Checked) {
                $(#[target_feature(enable = $features)])?
                fn enabled<S: Space<$lane, D>, const D: usize>(sim: &mut Sim<$lane, S, D>, what: Checked) {
                    sim.check_range(what);
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(sim, what) }
            }
        }
    };
}

#[cfg(lanes_avx512)]
kernels!(Avx512, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma");
#[cfg(lanes_avx2)]
kernels!(Avx2, "avx2,fma");
// On x86-64 a fused multiply-add is an instruction only where it is enabled, and a slow library call elsewhere.
#[cfg(all(lanes_portable, target_arch = "x86_64"))]
kernels!(Array, "avx2,fma");
#[cfg(all(lanes_portable, not(target_arch = "x86_64")))]
kernels!(Array);
