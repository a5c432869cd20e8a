//! Loops over flat buffers with the widest vectors that the CPU has.
//!
//! The crate is compiled for every CPU, so that a plain loop has vectors of four numbers. Each number goes through the
//! same roundings in the same order whatever the width: the bits are the same.

/// Runs a loop compiled for the instruction set of this CPU.
#[inline(always)]
pub fn wide<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}
