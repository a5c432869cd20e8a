//! Steps that nobody times.
//!
//! libmujoco takes the time dozens of times in a step if a callback says what time it is. Importing MuJoCo's Python package
//! into the process sets that callback, and a step of a small model then takes a quarter to a third longer.

use mujoco_rs::mujoco_c::mjcb_time;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Threads that have taken the callback out.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The callback that was there, to be put back.
static KEPT: AtomicPtr<()> = AtomicPtr::new(null_mut());

fn callback() -> &'static AtomicPtr<()> {
    // SAFETY: an optional function pointer has the size and alignment of a pointer and is null for none; the variable lives
    // as long as the process. libmujoco reads it without a lock, and it is a number of one machine word either way.
    unsafe { AtomicPtr::from_ptr(std::ptr::addr_of_mut!(mjcb_time).cast()) }
}

/// While it lives, libmujoco does not take the time.
///
/// Threads may overlap in any order: what is put back is always a callback that somebody had set. One that comes while
/// another puts it back is timed, which changes no result.
pub(crate) struct Untimed(bool);

impl Untimed {
    pub(crate) fn new() -> Self {
        if callback().load(Ordering::Relaxed).is_null() && INSIDE.load(Ordering::Relaxed) == 0 {
            return Self(false);
        }
        INSIDE.fetch_add(1, Ordering::AcqRel);
        let found = callback().swap(null_mut(), Ordering::AcqRel);
        if !found.is_null() {
            KEPT.store(found, Ordering::Release);
        }
        Self(true)
    }
}

impl Drop for Untimed {
    fn drop(&mut self) {
        if self.0 && INSIDE.fetch_sub(1, Ordering::AcqRel) == 1 {
            callback().store(KEPT.load(Ordering::Acquire), Ordering::Release);
        }
    }
}
