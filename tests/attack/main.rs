//! Attacks on the program: faults of the file system, allocations that fail, kills, damaged and forged files, bad
//! settings, damaged bytes for every reader and damaged requests.
//!
//! Small with every `make test`; `make attack` goes on for AUTOQD_ATTACK_SECONDS per attack and prints what was tried.
//! Every attack is a list of numbered tries made from seeds, so that a failure names the try that repeats it:
//! AUTOQD_ATTACK_FIRST starts there.

mod allocations;
mod bodies;
mod corruption;
mod exchange;
mod faults;
mod forged;
mod http;
mod program;
mod readers;
mod settings;
mod signals;

use std::time::{Duration, Instant};

/// Numbers from a seed (SplitMix64): every try can be repeated.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Makes numbered tries: `few` of them, or as many as AUTOQD_ATTACK_SECONDS allow.
fn attack(name: &str, few: u64, mut try_one: impl FnMut(u64) -> Result<(), String>) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("AUTOQD_ATTACK_FIRST").unwrap_or(0);
    let seconds = number("AUTOQD_ATTACK_SECONDS").map(Duration::from_secs);
    let (start, mut tried, mut failed) = (Instant::now(), 0, Vec::new());
    while seconds.map_or(tried < few, |limit| start.elapsed() < limit) && failed.len() < 20 {
        if let Err(reason) = try_one(first + tried) {
            failed.push(format!("try {}: {reason}", first + tried));
        }
        tried += 1;
    }
    eprintln!("attack {name}: {tried} tried, {} failed", failed.len());
    assert!(failed.is_empty(), "{name}:\n{}", failed.join("\n"));
}
