//! Damaged bytes for every reader of files and messages, in this process: an error or a value, never a panic.

use crate::corruption::damage;
use crate::program::undisturbed;
use crate::{Random, attack};
use autoqd::config::RunConfig;
use autoqd::evaluator::{Candidates, wire};
use autoqd::run_folder::{ArchiveTable, Checkpoint, KeptTask, Manifest, TensorFile, read_metrics};
use autoqd_measure::{Reference, Selection, Sweep};
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

const TASK: &str = include_str!("../../examples/quadruped/quadruped.toml");
const MODEL: &str = include_str!("../../examples/quadruped/quadruped.xml");
const SWEEP: &str = "tasks = [\"point-maze\"]\nseeds = [0, 1]\nscale = 0.5\n[grid]\nepisodes = [1, 2]\n";
const SELECTION: &str = "{\"run\": \".\", \"policies\": [1, 2, 3]}\n";

type Read = fn(&Path);

/// What is read, its sound bytes, and its reader.
fn readers(folder: &Path) -> Vec<(&'static str, Vec<u8>, Read)> {
    let run = undisturbed();
    let of = |name: &str| fs::read(run.join(name)).unwrap();
    let candidates = Candidates { parameters: &[0.5, 1.0], dimension: 1, seeds: &[7, 8], episodes: 1 };
    let request = wire::Request::new(candidates, &[]).to_bytes().unwrap();
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/runs/v1/reference.json");
    fs::write(folder.join("quadruped.xml"), MODEL).unwrap();
    vec![
        ("config.toml", of("config.toml"), |path| {
            if let Ok(text) = fs::read_to_string(path) {
                let _ = RunConfig::from_toml(&text, "config.toml");
            }
        }),
        ("metrics.csv", of("metrics.csv"), |path| drop(read_metrics(path.parent().unwrap()))),
        ("archive.parquet", of("archive.parquet"), |path| drop(ArchiveTable::read_parquet(path))),
        ("descriptor.safetensors", of("descriptor.safetensors"), |path| drop(TensorFile::read(path))),
        ("checkpoint.aqd", of("checkpoint.aqd"), |path| drop(Checkpoint::read(path))),
        ("manifest.json", of("manifest.json"), |path| drop(Manifest::read(path.parent().unwrap()))),
        ("task/task.json", of("task/task.json"), |path| {
            let run = path.parent().and_then(Path::parent).unwrap();
            if let Ok(Some(kept)) = KeptTask::read(run) {
                let _ = kept.location();
            }
        }),
        ("reference.json", fs::read(reference).unwrap(), |path| drop(Reference::read(path))),
        ("selected.json", SELECTION.into(), |path| drop(Selection::read(path))),
        ("sweep.toml", SWEEP.into(), |path| drop(Sweep::read(path))),
        ("request.bin", request, |path| drop(wire::Request::from_bytes(&fs::read(path).unwrap()))),
        ("response.bin", b"AQDRSP01".to_vec(), |path| {
            drop(wire::Response::from_bytes(&fs::read(path).unwrap()))
        }),
        #[cfg(feature = "mujoco")]
        ("task.toml", TASK.into(), |path| {
            let name = path.to_str().unwrap();
            let _ = autoqd_env::load_task(name, &Default::default());
            let _ = autoqd_env::task_files(name);
        }),
    ]
}

#[test]
fn damaged_bytes_are_an_error_for_every_reader_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("task")).unwrap();
    let readers = readers(folder.path());
    attack("readers", 600, |number| {
        let mut random = Random::new(number);
        let (name, sound, read) = &readers[number as usize % readers.len()];
        let mut bytes = sound.clone();
        for _ in 0..1 + random.below(3) {
            damage(&mut bytes, &mut random);
        }
        let path: PathBuf = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let outcome = catch_unwind(|| read(&path));
        outcome.map_err(|_| format!("{name}: the reader panicked"))
    });
}
