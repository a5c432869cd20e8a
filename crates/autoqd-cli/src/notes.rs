//! Lines on standard error. What nobody reads must not end a search, so errors of writing are ignored.

use std::fmt::Arguments;
use std::io::Write;

/// Writes a line to standard error, as `eprintln!` does, but never panics: a pipe may be closed or a disk full.
macro_rules! note {
    ($($text:tt)*) => { $crate::notes::write(format_args!($($text)*)) };
}
pub(crate) use note;

/// Writes one line, whole, if it can be written.
pub fn write(line: Arguments<'_>) {
    let _ = std::io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
