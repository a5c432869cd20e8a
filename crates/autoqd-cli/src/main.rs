//! The `autoqd` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    autoqd_cli::main(autoqd_cli::registry())
}
