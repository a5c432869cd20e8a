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
    /// Watches Ctrl-C, SIGTERM and, unless it is ignored, SIGHUP from now on. Once per process.
    pub fn install() -> anyhow::Result<Self> {
        let signal = Self::default();
        let seen = signal.clone();
        #[cfg(unix)]
        let survives_hang_up = ignores_hang_up();
        ctrlc::set_handler(move || seen.receive()).context("cannot watch for Ctrl-C")?;
        #[cfg(unix)]
        if survives_hang_up {
            // SAFETY: no handler of ours is replaced but the one that was just set.
            unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        }
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

/// Whether whoever started the program wants it to live on when the terminal goes, as `nohup` does.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    // SAFETY: a zeroed sigaction is one, and is only read after the system has filled it in.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGHUP, std::ptr::null(), &mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
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
