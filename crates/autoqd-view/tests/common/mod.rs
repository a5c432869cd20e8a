//! Golden files: compared when they exist, written with `AUTOQD_BLESS=1` after a change that was reviewed.
#![allow(dead_code)]

pub mod mujoco;
pub mod run;

use std::path::{Path, PathBuf};

/// A file under this crate's `tests/golden`.
pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Whether golden files are to be rewritten.
pub fn bless() -> bool {
    std::env::var_os("AUTOQD_BLESS").is_some()
}

/// Writes a golden file.
pub fn write_golden(name: &str, bytes: &[u8]) {
    let path = golden(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Puts a picture where a person can look at it, if `AUTOQD_PICTURES` names a folder.
pub fn show(name: &str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("AUTOQD_PICTURES") {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(Path::new(&folder).join(name), bytes).unwrap();
    }
}

/// Numbers from 0 to 1 that look random and are the same everywhere.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / 9007199254740992.0
    }

    /// About normal: the sum of twelve.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}
