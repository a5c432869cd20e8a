//! Tells the programs and tests of this package where libmujoco is at run time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(folder) = std::env::var("DEP_AUTOQD_ENV_MUJOCO") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder},-rpath,$ORIGIN/../lib");
    }
}
