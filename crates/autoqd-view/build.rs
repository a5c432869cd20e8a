//! Tells the tests of this package where libmujoco is at run time, and cargo when the page was rebuilt.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../web/dist");
    if let Ok(folder) = std::env::var("DEP_AUTOQD_ENV_MUJOCO") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder},-rpath,$ORIGIN/../lib");
    }
}
