//! Ctrl-C and SIGTERM: the first finishes the iteration, the second stops at once.

use anyhow::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::notes::note;

/// Exit code of a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Whether the user has asked to stop.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Watches Ctrl-C, SIGTERM and SIGHUP from now on. Once per process.
    pub fn install() -> anyhow::Result<Self> {
        let signal = Self::default();
        let seen = signal.clone();
        ctrlc::set_handler(move || seen.receive()).context("cannot watch for Ctrl-C")?;
        Ok(signal)
    }

    /// Whether to stop after this iteration.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn receive(&self) {
        if self.0.swap(true, Ordering::Relaxed) {
            // Worker threads are inside the simulator, so destructors must not run under them. Nothing is lost:
            // every file is complete under its name or has not been renamed to it yet.
            // SAFETY: _exit has no precondition.
            unsafe { libc::_exit(INTERRUPTED) }
        }
        note!("\nstopping after this iteration, with a checkpoint; Ctrl-C again stops at once");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_only_asks() {
        let signal = StopSignal::default();
        assert!(!signal.requested());
        signal.receive();
        assert!(signal.requested());
    }
}
