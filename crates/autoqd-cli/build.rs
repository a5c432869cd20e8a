//! Tells the programs and tests of this package where libmujoco is at run time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=AUTOQD_RPATH");
    let Ok(folder) = std::env::var("DEP_AUTOQD_ENV_MUJOCO") else { return };
    // A program that is packed with its library must not look for it in the folders of this machine.
    match std::env::var("AUTOQD_RPATH") {
        Ok(path) => println!("cargo::rustc-link-arg=-Wl,-rpath,{path}"),
        Err(_) => println!("cargo::rustc-link-arg=-Wl,-rpath,{folder},-rpath,$ORIGIN/../lib"),
    }
}
