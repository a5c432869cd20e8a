//! A user's own program: everything that `autoqd` can do, with a task, a descriptor and an emitter of its own.
//!
//! ```sh
//! cargo run --release -p own-parts -- run glider --method path --set emitter=climb --preset quick --out runs/gliders
//! cargo run --release -p own-parts -- explore runs/gliders
//! ```

#![forbid(unsafe_code)]

mod climb;
mod glider;
mod path;

use std::process::ExitCode;

/// Ends in one message when there is no memory left.
#[global_allocator]
static ALLOCATOR: autoqd_cli::Allocator = autoqd_cli::Allocator;

fn main() -> ExitCode {
    let mut registry = autoqd_cli::registry();
    glider::register(&mut registry);
    path::register(&mut registry);
    climb::register(&mut registry);
    autoqd_cli::main(registry)
}
