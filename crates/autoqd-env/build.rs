//! Compiles Box2D, chooses instruction sets, and locates libmujoco for the programs and tests of this package and of those that depend on it.

use std::path::PathBuf;

#[cfg(feature = "box2d")]
mod build_box2d;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_MUJOCO").is_some() {
        mujoco();
    }
    instruction_sets();
    #[cfg(feature = "box2d")]
    build_box2d::compile();
}

/// Those that `autoqd-lanes` is compiled for, for the walkers. They run without vectors as well, which takes as long to compile
/// as all of them and is left out where the only set is one that the machine that builds has.
fn instruction_sets() {
    println!("cargo::rustc-check-cfg=cfg(lanes_avx512, lanes_avx2, lanes_portable, walkers_portable)");
    let sets = std::env::var("DEP_AUTOQD_LANES_SETS").unwrap_or_default();
    for set in sets.split(',').filter(|set| !set.is_empty()) {
        println!("cargo::rustc-cfg=lanes_{set}");
    }
    if !(matches!(sets.as_str(), "avx512" | "avx2") && has_vectors()) {
        println!("cargo::rustc-cfg=walkers_portable");
    }
}

fn has_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
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
