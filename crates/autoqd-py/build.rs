//! Tells the module where libmujoco is at run time: beside us in site-packages, where the wheel `mujoco` has it.
//! (`python/autoqd/_library.py` loads it from wherever that wheel is, so this is only the second way.)

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg=-Wl,-rpath,$ORIGIN/../mujoco");
}
