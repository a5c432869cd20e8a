//! How far an evaluation is, for whoever watches it from another thread.

use std::sync::atomic::{AtomicU64, Ordering};

/// Episodes of the evaluation in progress. For display alone: nothing in a search depends on it.
#[derive(Debug, Default)]
pub struct Work {
    done: AtomicU64,
    total: AtomicU64,
}

impl Work {
    /// Episodes that are over, and how many there are.
    pub fn episodes(&self) -> (u64, u64) {
        let total = self.total.load(Ordering::Relaxed);
        (self.done.load(Ordering::Relaxed).min(total), total)
    }

    pub(super) fn begin(&self, episodes: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(episodes as u64, Ordering::Relaxed);
    }

    pub(super) fn one_done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}
