//! The `autoqd` program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: autoqd_cli::Allocator = autoqd_cli::Allocator;

fn main() -> ExitCode {
    autoqd_cli::main(autoqd_cli::registry())
}
