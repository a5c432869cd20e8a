//! Threads of this process, also after a fork.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Runs something that uses rayon on threads that exist: those of the global pool in the process that loaded the module,
/// those of a new pool in a process that was forked from it, where the global pool has none.
pub fn install<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match forked_pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Remembers which process loads the module.
pub fn remember_process() {
    LOADED_BY.get_or_init(std::process::id);
}

static LOADED_BY: OnceLock<u32> = OnceLock::new();

fn forked_pool() -> Option<Arc<rayon::ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>> = Mutex::new(None);
    let process = std::process::id();
    if LOADED_BY.get() == Some(&process) {
        return None;
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if pool.as_ref().is_none_or(|(owner, _)| *owner != process) {
        let new = rayon::ThreadPoolBuilder::new().build().ok()?;
        // The pool of a parent that was forked itself has no threads here, and nothing to give back.
        std::mem::forget(pool.replace((process, Arc::new(new))));
    }
    pool.as_ref().map(|(_, pool)| Arc::clone(pool))
}
