//! Where MuJoCo's messages go.

use mujoco_rs::prelude::{MjLogMessage, MjtLogLevel, set_log_handler};
use std::sync::Once;

/// Redirects MuJoCo's messages, once. Every path into this module calls it before anything else.
pub(super) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: nothing in this crate uses MuJoCo before this returns, and `Once` keeps other threads waiting.
        unsafe { set_log_handler(handle) }
    });
}

/// Warnings are read from the state's counters, compiler messages from the returned error. An error ends the
/// process when this returns, so it is printed.
fn handle(message: &MjLogMessage) {
    if message.level() == MjtLogLevel::mjLOG_ERROR {
        eprintln!("error: MuJoCo: {}", message.subject());
    }
}
