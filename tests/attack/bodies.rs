//! What reads bytes that somebody else may have written, one function each, shared by the tests and `fuzz/`.
//!
//! A body may find the bytes unreadable or readable; it must not panic, hang or take memory that the bytes do not have.
//! Where a checksum would keep every damaged input out, a second body puts the right one around the bytes.

use autoqd::config::RunConfig;
use autoqd::evaluator::wire;
use autoqd::parts::Parts;
use autoqd::policy::PolicySpec;
use autoqd::registry::Registry;
use autoqd::remote::Job;
use autoqd::run_folder::{
    ArchiveTable, Checkpoint, KeptTask, Manifest, TensorFile, read_figures, read_machines, read_metrics,
    read_timing, read_training,
};
use autoqd_measure::{Reference, Run, Selection, Sweep};
use std::fs;
use std::path::Path;

/// A body and its name, which is that of its target in `fuzz/`.
pub type Body = (&'static str, fn(&[u8]));

/// All of them that need no server.
pub const BODIES: &[Body] = &[
    ("config", config),
    ("sweep", sweep),
    ("checkpoint", checkpoint),
    ("checkpoint_parts", checkpoint_parts),
    ("archive", archive),
    ("archive_pages", archive_pages),
    ("descriptor", descriptor),
    ("policy_shape", policy_shape),
    ("reference", reference),
    ("selection", selection),
    ("run_logs", run_logs),
    ("records", records),
    ("chunk", chunk),
    ("chunk_payload", chunk_payload),
    #[cfg(feature = "mujoco")]
    ("task_file", task_file),
];

/// Calls a function with the path of a file that has the bytes.
fn with_file(name: &str, bytes: &[u8], read: impl FnOnce(&Path)) {
    // In memory, where there is such a place: a fuzzer makes thousands of files a second.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let folder = folder.expect("a folder for temporary files");
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, bytes).expect("a temporary file");
    read(&path);
}

pub fn config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(config) = RunConfig::from_toml(text, "config.toml") {
        let again = RunConfig::from_toml(&config.to_toml(), "config.toml").expect("what was written is read");
        assert_eq!(again.to_toml(), config.to_toml());
    }
}

pub fn sweep(bytes: &[u8]) {
    with_file("sweep.toml", bytes, |path| drop(Sweep::read(path)));
}

pub fn checkpoint(bytes: &[u8]) {
    with_file("checkpoint.aqd", bytes, |path| {
        let header = Checkpoint::read_header(path);
        if Checkpoint::read(path).is_ok() {
            header.expect("a sound checkpoint has a header");
        }
    });
}

/// A checkpoint with the right checksum around any packed bytes.
pub fn checkpoint_parts(bytes: &[u8]) {
    let packed = zstd::encode_all(bytes, 1).expect("bytes can be packed");
    // Version 2, and a header of three bytes: iteration 1, and an empty configuration.
    let mut file = [&b"\x89AQD\r\n\x1a\n"[..], &[2, 0, 0, 0], &[2, 0, 0, 0], &[1, 0], &packed].concat();
    file.extend(blake3::hash(&file).as_bytes());
    with_file("checkpoint.aqd", &file, |path| {
        if let Ok(checkpoint) = Checkpoint::read(path) {
            take_all(checkpoint.parts);
        }
    });
}

fn take_all(mut parts: Parts) {
    let names: Vec<String> = parts.names().map(str::to_owned).collect();
    for name in names {
        if let Ok(part) = parts.require(&name, u32::MAX) {
            let _ = part.value::<Vec<f64>>();
            let _ = part.value::<Vec<Vec<String>>>();
            let _ = part.value::<autoqd_env::Perturbation>();
        }
    }
}

pub fn archive(bytes: &[u8]) {
    with_file("archive.parquet", bytes, |path| {
        let _ = ArchiveTable::read_policy(path);
        let _ = ArchiveTable::read_parquet(path);
        let _ = Run::open(path);
    });
}

/// An archive with the right checksum between its pages and its footer.
pub fn archive_pages(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    let length = bytes.len();
    if let Some(tail) = length.checked_sub(8).and_then(|at| bytes[at..].first_chunk::<4>()) {
        let footer = 8 + u32::from_le_bytes(*tail) as usize;
        if let Some(at) = length.checked_sub(footer).and_then(|at| at.checked_sub(32)) {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&bytes[..at]).update(&bytes[at + 32..]);
            bytes[at..at + 32].copy_from_slice(hasher.finalize().as_bytes());
        }
    }
    archive(&bytes);
}

pub fn descriptor(bytes: &[u8]) {
    with_file("descriptor.safetensors", bytes, |path| drop(TensorFile::read(path)));
}

pub fn policy_shape(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(policy) = PolicySpec::from_json(text) else { return };
    let again = PolicySpec::from_json(&policy.to_json().to_string()).expect("what was written is read");
    assert_eq!(again.parameter_count(), policy.parameter_count());
}

pub fn reference(bytes: &[u8]) {
    with_file("reference.json", bytes, |path| drop(Reference::read(path)));
}

pub fn selection(bytes: &[u8]) {
    with_file("selected.json", bytes, |path| {
        let _ = Selection::read(path);
        let _ = Run::open(path);
    });
}

/// The bytes as every log of a run.
pub fn run_logs(bytes: &[u8]) {
    for name in ["metrics.csv", "timing.csv", "training.csv", "figures.csv"] {
        with_file(name, bytes, |path| {
            let run = path.parent().expect("a folder");
            let _ = (read_metrics(run), read_timing(run), read_training(run), read_figures(run));
        });
    }
}

/// The bytes as every file in which a run tells about itself.
pub fn records(bytes: &[u8]) {
    for name in ["manifest.json", "machine.json", "logs.json", "task/task.json"] {
        with_file(&format!("run/{name}"), bytes, |path| {
            let run = path.ancestors().find(|folder| folder.ends_with("run")).expect("the run");
            let _ = (Manifest::read(run), read_machines(run), read_metrics(run));
            if let Ok(Some(kept)) = KeptTask::read(run) {
                let _ = kept.location();
            }
        });
    }
}

/// What an evaluator on another machine sends and gets.
pub fn chunk(bytes: &[u8]) {
    if let Ok(request) = wire::Request::from_bytes(bytes) {
        let _ = request.candidates();
        request.to_bytes().expect("what was read can be written");
    }
    let _ = wire::Response::from_bytes(bytes);
    let _ = Job::from_bytes(bytes);
}

/// The same with the right checksum.
pub fn chunk_payload(bytes: &[u8]) {
    for magic in [b"AQDREQ01", b"AQDRSP01", b"AQDJOB01"] {
        chunk(&[&magic[..], blake3::hash(bytes).as_bytes(), bytes].concat());
    }
}

#[cfg(feature = "mujoco")]
pub fn task_file(bytes: &[u8]) {
    const MODEL: &str = include_str!("../../examples/quadruped/quadruped.xml");
    with_file("task.toml", bytes, |path| {
        fs::write(path.with_file_name("quadruped.xml"), MODEL).expect("a temporary file");
        let name = path.to_str().expect("a name in UTF-8");
        let _ = autoqd_env::task_files(name);
        let _ = Registry::default().task(name, &Default::default());
    });
}
