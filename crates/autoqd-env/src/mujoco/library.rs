//! Is the libmujoco that was loaded the one that this program was built for?

use std::sync::OnceLock;

/// The version that the bindings are of; the layout of its structures changes between versions.
const VERSION: &str = "3.17.0";

/// BLAKE3 of the library in the official package for this platform, where its bits are compared with Gymnasium's.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const OFFICIAL: Option<&str> = Some("e5611a62d8cb6d2a84892f3f9f12428212d766db14352a0b0da3a95c96dc3246");
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
const OFFICIAL: Option<&str> = None;

/// Version of the library that is loaded.
pub(crate) fn version() -> &'static str {
    mujoco_rs::mujoco_version()
}

/// Rejects a library of another version.
pub(super) fn check_version() -> Result<(), String> {
    match version() {
        VERSION => Ok(()),
        other => Err(format!(
            "libmujoco {other} was loaded, but this program needs {VERSION}; check LD_LIBRARY_PATH and MUJOCO_DIR, or \
             run `make native` and build again"
        )),
    }
}

/// What a user should know about a library that is not the official one.
pub(crate) fn notice() -> Option<&'static str> {
    static NOTICE: OnceLock<Option<String>> = OnceLock::new();
    NOTICE.get_or_init(look).as_deref()
}

fn look() -> Option<String> {
    let path = loaded_from()?;
    let found = blake3::hash(&std::fs::read(&path).ok()?).to_hex();
    (OFFICIAL? != found.as_str()).then(|| {
        format!(
            "{path} is not the library of the official package of MuJoCo {VERSION}: results may differ from those of others"
        )
    })
}

/// The file that the library was loaded from, where the system tells.
fn loaded_from() -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps
        .lines()
        .find_map(|line| line.contains("libmujoco").then(|| line.find('/')).flatten().map(|at| &line[at..]));
    path.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_that_is_loaded_is_looked_at() {
        check_version().unwrap();
        if cfg!(target_os = "linux") {
            let path = loaded_from().unwrap();
            assert!(std::path::Path::new(&path).is_file(), "{path}");
        }
    }
}
