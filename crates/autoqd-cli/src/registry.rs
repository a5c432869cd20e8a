//! The parts that this program knows.

use autoqd::registry::Registry;

/// What `autoqd` has, and the learned descriptors of `autoqd-learn`.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    autoqd_learn::register(&mut registry);
    registry
}
