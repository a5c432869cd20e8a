//! The parts that this program knows.

use autoqd::registry::Registry;

/// What `autoqd` has, and, unless they were left out of the program, the learned descriptors of `autoqd-learn`.
pub fn registry() -> Registry {
    #[allow(unused_mut)]
    let mut registry = Registry::default();
    #[cfg(feature = "learned")]
    autoqd_learn::register(&mut registry);
    registry
}
