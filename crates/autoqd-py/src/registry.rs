//! The parts that the package knows.

use autoqd::registry::Registry;

/// What the program has.
pub fn registry() -> Registry {
    autoqd_cli::registry()
}
