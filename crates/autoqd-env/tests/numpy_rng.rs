//! `NumpyRng` draws what numpy draws, for stored vectors and for those of an installed numpy.

use std::path::{Path, PathBuf};
use std::process::Command;

use autoqd_env::{NumpyRng, Seed};
use serde_json::Value;
use sha2::{Digest, Sha256};

const BOUNDS: [(i64, i64); 7] = [
    (5, 10),
    (0, 1),
    (-3, 4),
    (0, 3_000_000_000),
    (0, 1 << 32),
    (-(1 << 62), (1 << 62) + 1),
    (0, (1 << 33) + 7),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn hex(value: u128) -> String {
    format!("{value:#x}")
}

fn check(vector: &Value) {
    let name = vector["seed"].as_str().unwrap();
    let seed: Seed = name.parse().unwrap();
    let mut rng = NumpyRng::from_seed(&seed);
    assert_eq!(
        (hex(rng.state()).as_str(), hex(rng.increment()).as_str()),
        (vector["state"].as_str().unwrap(), vector["inc"].as_str().unwrap())
    );
    for (row, mixed) in vector["mixed"].as_array().unwrap().iter().enumerate() {
        assert_eq!(rng.double(), mixed[0].as_f64().unwrap(), "seed {name}, row {row}");
        assert_eq!(rng.uniform(-5.0, 5.0), mixed[1].as_f64().unwrap(), "seed {name}, row {row}");
        for (i, (low, high)) in BOUNDS.into_iter().enumerate() {
            let drawn = rng.integers(low, high).to_string();
            assert_eq!(drawn, mixed[2 + i].as_str().unwrap(), "seed {name}, row {row}, bound {i}");
        }
    }
    check_normals(&mut rng, vector);
    assert_eq!(hex(rng.state()), vector["after"]["state"].as_str().unwrap());
    assert_eq!(rng.stored_half().map(u64::from), vector["after"]["half"].as_u64());
}

fn check_normals(rng: &mut NumpyRng, vector: &Value) {
    let normals: Vec<f64> = (0..20_000).map(|_| rng.standard_normal()).collect();
    for (ours, theirs) in normals.iter().zip(vector["normals"].as_array().unwrap()) {
        assert_eq!(*ours, theirs.as_f64().unwrap());
    }
    let mut hash = Sha256::new();
    normals.iter().for_each(|x| hash.update(x.to_le_bytes()));
    let digest: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, vector["normals_sha256"].as_str().unwrap());
}

fn check_all(json: &[u8]) -> usize {
    let file: Value = serde_json::from_slice(json).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    vectors.iter().for_each(check);
    vectors.len()
}

#[test]
fn stored_vectors() {
    assert_eq!(check_all(&std::fs::read(root().join("tests/golden/rng/numpy.json")).unwrap()), 8);
}

#[test]
fn an_installed_numpy() {
    let python = std::env::var("AUTOQD_PYTHON").unwrap_or_else(|_| "python3".into());
    // Seeds of every width up to 19 words of 32 bits.
    let seeds = (0..60).map(|i| "90125".repeat(1 + i * 2)[i..].to_string());
    let run = Command::new(python).arg(root().join("scripts/numpy_vectors.py")).args(seeds).output();
    match run {
        Ok(output) if output.status.success() => assert_eq!(check_all(&output.stdout), 60),
        _ if std::env::var("AUTOQD_REQUIRE_ALL").is_ok_and(|v| v == "1") => {
            panic!("no Python with numpy: install it or point AUTOQD_PYTHON to one")
        }
        _ => eprintln!("skipped: no Python with numpy (AUTOQD_PYTHON chooses another interpreter)"),
    }
}
