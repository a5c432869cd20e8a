//! The `autoqd` program.

fn main() {}
