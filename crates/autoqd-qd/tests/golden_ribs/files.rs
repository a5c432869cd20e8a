//! Finding and reading golden files, and comparing numbers with them.

use std::io::Read;
use std::path::PathBuf;

use autoqd_qd::NormalSource;
use serde_json::Value;

const PREFIXES: [&str; 10] = [
    "archive",
    "grid_lookup",
    "cma_es_",
    "constants",
    "eigen_and_stop",
    "bounds",
    "other_es",
    "restart_rules",
    "trace_",
    "stats_",
];

fn folder() -> PathBuf {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden");
    std::env::var_os("AUTOQD_GOLDEN").map_or(PathBuf::from(committed), PathBuf::from).join("ribs")
}

fn names(prefix: &str) -> Vec<PathBuf> {
    let folder = folder();
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let matches = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        name.starts_with(prefix) && (name.ends_with(".json.gz") || name.ends_with(".json"))
    };
    let mut paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).filter(matches).collect();
    paths.sort();
    paths
}

/// All golden files of a kind, with their names; a kind may be absent, which is reported.
pub fn load(prefix: &str) -> Vec<(String, Value)> {
    assert!(PREFIXES.contains(&prefix));
    let files: Vec<_> = names(prefix).into_iter().map(|p| (p.display().to_string(), read(&p))).collect();
    println!("{prefix}*: {} files", files.len());
    files
}

fn read(path: &PathBuf) -> Value {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    if path.extension().is_some_and(|e| e == "gz") {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn golden_files_are_found() {
    let counts = PREFIXES.map(|prefix| (prefix, names(prefix).len()));
    println!("{}: {counts:?}", folder().display());
    assert!(counts.iter().any(|(_, n)| *n > 0), "no golden files in {}", folder().display());
}

/// A number; non-finite ones are stored as strings.
pub fn number(v: &Value) -> f64 {
    match v.as_str() {
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        Some("nan") => f64::NAN,
        _ => v.as_f64().unwrap_or_else(|| panic!("not a number: {v}")),
    }
}

/// A finite number, or nothing for minus infinity and null.
pub fn finite(v: &Value) -> Option<f64> {
    Some(v).filter(|v| !v.is_null()).map(number).filter(|x| x.is_finite())
}

pub fn integer(v: &Value) -> usize {
    v.as_u64().unwrap_or_else(|| panic!("not a count: {v}")) as usize
}

pub fn list(v: &Value) -> &[Value] {
    v.as_array().unwrap_or_else(|| panic!("not a list: {v}"))
}

pub fn numbers(v: &Value) -> Vec<f64> {
    list(v).iter().map(number).collect()
}

pub fn integers(v: &Value) -> Vec<usize> {
    list(v).iter().map(integer).collect()
}

/// Rows of a matrix, flat.
pub fn matrix(v: &Value) -> Vec<f64> {
    list(v).iter().flat_map(numbers).collect()
}

pub fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Vectors agree to 1e-9 of their norm.
#[track_caller]
pub fn assert_state(what: &str, got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len(), "{what}: size");
    let difference: Vec<f64> = got.iter().zip(expected).map(|(a, b)| a - b).collect();
    let (difference, scale) = (norm(&difference), norm(expected));
    assert!(difference <= 1e-9 * scale, "{what}: differs by {difference:e}, norm {scale:e}");
}

/// Numbers agree relative to the larger of 1 and `scale`.
#[track_caller]
pub fn assert_close(what: &str, got: f64, expected: f64, tolerance: f64, scale: f64) {
    let same = got == expected || (got - expected).abs() <= tolerance * scale.abs().max(1.0);
    assert!(same, "{what}: {got} instead of {expected}");
}

/// Recorded normal numbers.
pub struct Recorded {
    numbers: std::vec::IntoIter<f64>,
}

impl Recorded {
    pub fn new(numbers: Vec<f64>) -> Self {
        Self { numbers: numbers.into_iter() }
    }

    pub fn is_used_up(&self) -> bool {
        self.numbers.len() == 0
    }
}

impl NormalSource for Recorded {
    fn fill_normal(&mut self, out: &mut [f64]) {
        out.iter_mut()
            .for_each(|x| *x = self.numbers.next().expect("more numbers are drawn than were recorded"));
    }
}
