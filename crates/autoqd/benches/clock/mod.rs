//! Processor time, which other programs on the machine disturb less than the clock.

use std::sync::OnceLock;
use std::time::Instant;

/// Linux counts in hundredths of a second towards programs, whatever the kernel's own clock.
const TICKS_PER_SECOND: f64 = 100.0;

/// Seconds of processor time of this thread; of the clock where the system does not tell.
pub fn of_thread() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(seconds, |n| n * 1e-9)
}

/// Seconds of processor time of all threads of this program, those that have ended included; of the clock times `threads`
/// where the system does not tell.
pub fn of_program(threads: usize) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in brackets, may hold spaces; user and system time are the 12th and 13th word after it.
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks: Vec<f64> = after.split_whitespace().skip(11).take(2).filter_map(|w| w.parse().ok()).collect();
    match ticks[..] {
        [user, system] => (user + system) / TICKS_PER_SECOND,
        _ => seconds() * threads as f64,
    }
}

fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}
