//! The parts of a step that all walkers make together, compiled once per back end with its instruction set enabled.

use super::crowd::{Aftermath, Constraints, Edge, Point};
use super::solver::{self, Batch, Velocity, WideContact, WideJoint};
#[cfg(lanes_avx2)]
use super::wide::Avx2;
#[cfg(lanes_avx512)]
use super::wide::Avx512;
#[cfg(walkers_portable)]
use super::wide::{Array, LANES};
use super::wide::{One, Wide};

/// The parts of a step for one lane type.
pub trait Kernels: Wide {
    /// The velocity iterations of a step.
    fn iterate(batch: &mut Batch<Self>);
    /// One velocity iteration of a joint, and of the contacts of a body.
    fn solve_joint(joint: &mut WideJoint<Self>, parent: &mut Velocity<Self>, leg: &mut Velocity<Self>);
    fn solve_contacts(contacts: &mut [WideContact<Self>], velocity: &mut Velocity<Self>);
    /// A step of all lanes.
    fn step(constraints: &mut Constraints<Self>);
    /// The rest of a step after an impact.
    fn finish(aftermath: &mut Aftermath<Self>);
    /// How far rays reach before they meet one of the edges.
    fn cast(edges: &[Edge], eye: Point, rays: &[Self; 2], reach: &mut Self);
}

macro_rules! kernels {
    ($lane:ty, inline($inline:ident) $(, $features:literal)?) => {
        // Lane types with an instruction set exist only in what is made for a back end that this CPU has.
        #[allow(unused_unsafe)]
        impl Kernels for $lane {
            #[inline]
            fn iterate(batch: &mut Batch<Self>) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn enabled(batch: &mut Batch<$lane>) {
                    batch.iterate();
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(batch) }
            }
            #[inline($inline)]
            fn solve_joint(
                joint: &mut WideJoint<Self>,
                parent: &mut Velocity<Self>,
                leg: &mut Velocity<Self>,
            ) {
                joint.solve(parent, leg);
            }
            #[inline($inline)]
            fn solve_contacts(contacts: &mut [WideContact<Self>], velocity: &mut Velocity<Self>) {
                solver::solve_contacts(contacts, velocity);
            }
            #[inline]
            fn step(constraints: &mut Constraints<Self>) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn enabled(constraints: &mut Constraints<$lane>) {
                    constraints.step();
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(constraints) }
            }
            #[inline]
            fn finish(aftermath: &mut Aftermath<Self>) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn enabled(aftermath: &mut Aftermath<$lane>) {
                    aftermath.finish();
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(aftermath) }
            }
            #[inline]
            fn cast(edges: &[Edge], eye: Point, rays: &[Self; 2], reach: &mut Self) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn enabled(edges: &[Edge], eye: Point, rays: &[$lane; 2], reach: &mut $lane) {
                    *reach = super::crowd::cast(edges, eye, rays);
                }
                // SAFETY: the CPU has the instruction set of the lane type.
                unsafe { enabled(edges, eye, rays, reach) }
            }
        }
    };
}

#[cfg(lanes_avx512)]
kernels!(Avx512, inline(always), "avx512f,avx512dq,avx512vl,avx512bw");
#[cfg(lanes_avx2)]
kernels!(Avx2, inline(always), "avx2");
// Copies of this code, which is long because the compiler has to find the vectors in it, would take minutes to build.
#[cfg(walkers_portable)]
kernels!(Array<LANES>, inline(never));
kernels!(One, inline(always));
