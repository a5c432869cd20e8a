//! Compiles Box2D, and locates libmujoco for the programs and tests of this package and of those that depend on it.

use std::path::PathBuf;

#[cfg(feature = "box2d")]
mod build_box2d;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_MUJOCO").is_some() {
        mujoco();
    }
    #[cfg(feature = "box2d")]
    build_box2d::compile();
}

/// The run-time search path: the folder linked against, and `../lib` of an installed program. Link arguments reach
/// only this package, so the dependents' build scripts repeat them from the metadata.
fn mujoco() {
    println!("cargo::rerun-if-env-changed=MUJOCO_DYNAMIC_LINK_DIR");
    let Some(folder) = std::env::var_os("MUJOCO_DYNAMIC_LINK_DIR").map(PathBuf::from) else { return };
    if !folder.exists() {
        println!("cargo::warning=libmujoco is not in {}: run `make native` once", folder.display());
    }
    println!("cargo::metadata=MUJOCO={}", folder.display());
    println!("cargo::rustc-link-arg=-Wl,-rpath,{},-rpath,$ORIGIN/../lib", folder.display());
}
