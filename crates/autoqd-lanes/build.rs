//! Chooses the instruction sets that the engine is compiled for.
//!
//! On x86-64 every one of them costs a third of the time that this crate takes to build, and one is used. `AUTOQD_CPUS` is
//! `all` (the default: AVX-512 and AVX2, for programs that are taken to other machines), `host` (the best one of the machine
//! that builds) or `test` (the portable back end as well, so that tests can compare all of them). Crates that depend on this
//! one read the choice as `DEP_AUTOQD_LANES_SETS`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=AUTOQD_CPUS");
    println!("cargo::rustc-check-cfg=cfg(lanes_avx512, lanes_avx2, lanes_portable)");
    let sets = match std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => chosen(),
        _ => vec!["portable"],
    };
    for set in &sets {
        println!("cargo::rustc-cfg=lanes_{set}");
    }
    println!("cargo::metadata=SETS={}", sets.join(","));
}

fn chosen() -> Vec<&'static str> {
    match std::env::var("AUTOQD_CPUS").as_deref() {
        Ok("host") if std::env::var("HOST") == std::env::var("TARGET") => vec![best_here()],
        Ok("test") => vec!["avx512", "avx2", "portable"],
        Ok("all" | "host" | "") | Err(_) => vec!["avx512", "avx2"],
        Ok(other) => {
            println!("cargo::error=AUTOQD_CPUS is '{other}', expected 'all', 'host' or 'test'");
            vec!["avx2"]
        }
    }
}

/// What `Backend::best` would choose here; AVX2 where there is neither.
fn best_here() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
    {
        return "avx512";
    }
    "avx2"
}
