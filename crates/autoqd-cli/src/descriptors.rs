//! The descriptors that this program knows.

use autoqd::descriptor::Registry;

/// AutoQD, hand-made measures, Aurora and LSTM-Aurora.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    autoqd_learn::register(&mut registry);
    registry
}
