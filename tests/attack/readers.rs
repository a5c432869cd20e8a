//! Damaged bytes for every reader of files and messages, in this process: an error or a value, never a panic.

use crate::bodies::BODIES;
use crate::corruption::damage;
use crate::program::undisturbed;
use crate::{Random, attack};
use autoqd::evaluator::{Candidates, wire};
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

const TASK: &str = include_str!("../../examples/quadruped/quadruped.toml");
/// Every kind of thing that a task file may hold.
const TASK_OF_ALL: &str = concat!(
    "name = \"all\"\nmodel = \"quadruped.xml\"\nframe_skip = 5\nmax_episode_steps = 100\nfloor = \"ground\"\n",
    "[randomisation]\nobservation_noise = 0.1\naction_delay = [0, 2]\nfriction_scale = [0.5, 1.5]\nmass_scale = [0.8, 1.2]\n",
    "motor_scale = [0.7, 1.0]\ndamping_scale = [0.5, 2.0]\ngravity_scale = [0.9, 1.1]\n",
    "push = { body = \"trunk\", every = 0.1, speed = 0.5 }\n",
    include_str!("../../crates/autoqd-env/tests/common/every_kind.toml"),
);
const SWEEP: &str = "tasks = [\"point-maze\"]\nseeds = [0, 1]\nscale = 0.5\n[grid]\nepisodes = [1, 2]\n";
const SELECTION: &str = "{\"run\": \".\", \"policies\": [1, 2, 3]}\n";

/// Two parts as they are packed in a checkpoint.
fn parts() -> Vec<u8> {
    let part = |name: &str, content: &[u8]| {
        let length = (name.len() as u16).to_le_bytes();
        let head = [&[4], &length[..], name.as_bytes(), &[1, 0, 0, 0]].concat();
        [&head[..], &(content.len() as u64).to_le_bytes(), content].concat()
    };
    [part("numbers", &[2; 17]), part("words", b"\x02\x01\x03abc\x00"), vec![0]].concat()
}

/// Sound bytes for a body.
fn sound(body: &str) -> Vec<Vec<u8>> {
    let run = |name: &str| fs::read(undisturbed().join(name)).unwrap();
    let golden = |name: &str| {
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/runs/v1").join(name)).unwrap()
    };
    let request = || {
        let candidates = Candidates { parameters: &[0.5, 1.0], dimension: 1, seeds: &[7, 8], episodes: 1 };
        wire::Request::new(candidates, &[]).to_bytes().unwrap()
    };
    match body {
        "config" => vec![run("config.toml")],
        "sweep" => vec![SWEEP.into()],
        "checkpoint" => vec![run("checkpoint.aqd")],
        "checkpoint_parts" => vec![parts()],
        "archive" | "archive_pages" => vec![run("archive.parquet")],
        "descriptor" => vec![run("descriptor.safetensors")],
        "policy_shape" => {
            let table =
                autoqd::run_folder::ArchiveTable::read_parquet(&undisturbed().join("archive.parquet"));
            vec![table.unwrap().policy_text().unwrap().as_bytes().to_vec()]
        }
        "reference" => vec![golden("reference.json")],
        "selection" => vec![SELECTION.into()],
        "run_logs" => vec![run("metrics.csv"), run("timing.csv")],
        "records" => ["manifest.json", "machine.json", "logs.json", "task/task.json"].map(run).to_vec(),
        "chunk" => vec![request(), b"AQDRSP01".to_vec()],
        "chunk_payload" => vec![request()[40..].to_vec()],
        "task_file" => vec![TASK.into(), TASK_OF_ALL.into()],
        other => panic!("no sound bytes for {other}"),
    }
}

#[test]
fn damaged_bytes_are_an_error_for_every_reader_and_never_a_panic() {
    let sound: Vec<Vec<Vec<u8>>> = BODIES.iter().map(|(name, _)| sound(name)).collect();
    attack("readers", 750, |number| {
        let mut random = Random::new(number);
        let at = number as usize % BODIES.len();
        let (name, body) = BODIES[at];
        let mut bytes = random.pick(&sound[at]).clone();
        for _ in 0..random.below(4) {
            damage(&mut bytes, &mut random);
        }
        catch_unwind(|| body(&bytes)).map_err(|_| format!("{name}: the reader panicked"))
    });
}

/// Every target of `fuzz/` has a body here, and every body a target.
#[test]
fn every_body_has_a_fuzz_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/targets");
    let mut targets: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    targets.sort();
    let mut bodies: Vec<&str> = BODIES.iter().map(|(name, _)| *name).collect();
    if cfg!(not(feature = "mujoco")) {
        bodies.push("task_file");
    }
    bodies.push("http_request");
    bodies.sort_unstable();
    assert_eq!(targets, bodies);
}
