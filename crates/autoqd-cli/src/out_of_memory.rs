//! An end in one message when there is no memory left.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator, for the `#[global_allocator]` of a program: where Rust would abort the process because an
/// allocation failed, it ends in an orderly way and says what can be done.
///
/// Nothing is lost by that: every file of a run is complete under its name or has not been renamed to it yet.
pub struct Allocator;

// SAFETY: every call is passed on to the system's allocator as it is; what it answers is, too, unless it is null.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the system allocator's.
        or_end(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the system allocator's.
        or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is the system allocator's.
        or_end(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[inline]
fn or_end(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() { end(bytes) } else { pointer }
}

/// Says what happened, without allocating, and ends the process.
#[cold]
fn end(bytes: usize) -> ! {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        let mut text = [0; 400];
        let mut rest = &mut text[..];
        // What does not fit is left out; a reader that is gone is no reason for anything else.
        let _ = writeln!(
            rest,
            "error: there is no memory for {bytes} more bytes. Close other programs, raise the limit of this one, or lower \
             batch_size, emitters, policy.hidden or threads; a run goes on from its last checkpoint with `autoqd resume`"
        );
        let left = rest.len();
        let said = &text[..text.len() - left];
        // SAFETY: the bytes are there for the length that is given. Rust's own stream takes a lock, which a thread that
        // ran out of memory while printing would wait for.
        unsafe { libc::write(2, said.as_ptr().cast(), said.len()) };
    }
    // SAFETY: _exit has no precondition.
    unsafe { libc::_exit(2) }
}
