//! A program of one's own: everything that `autoqd` can do, with a task, a descriptor and an emitter that it brings.
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

fn main() -> ExitCode {
    let mut registry = autoqd_cli::registry();
    glider::register(&mut registry);
    path::register(&mut registry);
    climb::register(&mut registry);
    autoqd_cli::main(registry)
}
