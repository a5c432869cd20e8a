//! Files with the right checksums and absurd content: no command panics, hangs or runs out of memory on them.

use crate::program::{autoqd, copy, is_orderly, output, undisturbed};
use crate::{Random, attack};
use autoqd::parts::Part;
use autoqd::run_folder::{ArchiveTable, Checkpoint, RunFolder, TensorFile, read_config};
use std::path::Path;

const NUMBERS: [f64; 12] =
    [0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 5e-324, 1e9, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
const COUNTS: [u64; 7] = [0, 1, 2, 1 << 32, 1 << 62, u64::MAX - 1, u64::MAX];

/// Changes some numbers of a list, or all.
fn spoil(values: &mut [f64], random: &mut Random) {
    let number = *random.pick(&NUMBERS);
    if values.is_empty() {
        return;
    }
    match random.below(3) {
        0 => values.fill(number),
        _ => (0..1 + random.below(4)).for_each(|_| values[random.below(values.len())] = number),
    }
}

fn spoil_counts(values: &mut [u64], random: &mut Random) {
    if !values.is_empty() {
        let at = random.below(values.len());
        values[at] = *random.pick(&COUNTS);
    }
}

/// Writes an archive that its own checksum confirms.
fn forge_archive(run: &Path, random: &mut Random) -> Result<String, String> {
    let mut table = ArchiveTable::read(run).map_err(|e| e.to_string())?;
    let what = random.below(9);
    match what {
        0 => spoil(&mut table.objective, random),
        1 => spoil(&mut table.measures.values, random),
        2 => spoil(&mut table.features.values, random),
        3 => spoil(&mut table.parameters.values, random),
        4 => spoil_counts(&mut table.cell, random),
        5 => spoil_counts(&mut table.id, random),
        6 => spoil_counts(&mut table.iteration, random),
        7 => spoil_counts(&mut table.seeds.values, random),
        _ => {
            let rows: Vec<usize> = (0..random.below(3)).collect();
            table = table.select(&rows);
        }
    }
    // The writer may refuse what does not fit together.
    let _ = table.write_parquet(&run.join("archive.parquet"));
    Ok(format!("archive, {what}"))
}

/// Writes a checkpoint that its own checksum confirms.
fn forge_checkpoint(run: &Path, random: &mut Random) -> Result<String, String> {
    let checkpoint = Checkpoint::read(&run.join("checkpoint.aqd")).map_err(|e| e.to_string())?;
    let mut parts = checkpoint.parts;
    let names: Vec<String> = parts.names().map(str::to_owned).collect();
    let mut all: Vec<Part> =
        names.iter().filter_map(|name| parts.optional(name, u32::MAX).ok().flatten()).collect();
    let forged = random.below(all.len());
    let part = &mut all[forged];
    for _ in 0..1 + random.below(3) {
        match random.below(8) {
            0 => part.version = *random.pick(&[0, 2, u32::MAX]),
            1 => part.bytes.clear(),
            _ => crate::corruption::damage(&mut part.bytes, random),
        }
    }
    let said = format!("part {}", part.name);
    let folder = RunFolder::open(run).map_err(|e| e.to_string())?;
    let config = read_config(run).map_err(|e| e.to_string())?;
    let saved = folder.save_checkpoint(&config, checkpoint.header.iteration, |out| {
        all.iter().try_for_each(|part| out.bytes(&part.name, part.version, &part.bytes))
    });
    saved.map_err(|e| e.to_string()).map(|()| said)
}

/// Writes a descriptor that its own checksum confirms.
fn forge_descriptor(run: &Path, random: &mut Random) -> Result<String, String> {
    let path = run.join("descriptor.safetensors");
    let mut file = TensorFile::read(&path).map_err(|e| e.to_string())?;
    let at = random.below(file.tensors.len());
    let tensor = &mut file.tensors[at];
    match random.below(3) {
        0 => drop(file.tensors.remove(at)),
        1 => tensor.data.chunks_exact_mut(8).for_each(|number| {
            number.copy_from_slice(&NUMBERS[random.below(NUMBERS.len())].to_le_bytes());
        }),
        _ => drop(file.metadata.remove("policy")),
    }
    file.write(&path).map_err(|e| e.to_string()).map(|()| format!("tensor {at}"))
}

#[test]
fn forged_files_with_right_checksums_are_refused_or_taken_in_an_orderly_way() {
    let folder = tempfile::tempdir().unwrap();
    attack("forged", 20, |number| {
        let mut random = Random::new(number);
        // Named alike every time, so that a try can be repeated.
        let run = folder.path().join("run");
        copy(undisturbed(), &run);
        let forge = *random.pick(&[forge_archive, forge_checkpoint, forge_checkpoint, forge_descriptor]);
        let forged = forge(&run, &mut random)?;
        let id = ArchiveTable::read(&run).ok().and_then(|table| table.id.first().copied()).unwrap_or(0);
        let out = folder.path().join("out");
        let (id, out) = (format!("--policy={id}"), format!("--out={}", out.display()));
        let commands: [&[&str]; 13] = [
            &["status"],
            &["verify"],
            &["describe", &id],
            &["export", "--format=npz", &out],
            &["export", "--format=onnx", &id, &out],
            &["eval", "--episodes=1", "--threads=1"],
            &["compare", "--episodes=1", "--threads=1"],
            &["stability", "--count=2", "--episodes=2", "--threads=1"],
            &["select", "--count=3", "--out=/dev/null"],
            &["cluster", "--count=2", "--space=measures", "--out=/dev/null"],
            &["render", "--count=1", "--frames=2"],
            &["report", "--count=1", "--seconds=0.1"],
            &["resume", "--iterations=6", "--threads=1"],
        ];
        let chosen: Vec<&[&str]> = (0..3).map(|_| *random.pick(&commands)).chain([commands[12]]).collect();
        for arguments in chosen {
            let mut command = autoqd();
            command.args(arguments).arg(&run);
            is_orderly(&output(command)).map_err(|reason| format!("{forged}, {arguments:?}: {reason}"))?;
        }
        std::fs::remove_dir_all(run).map_err(|e| e.to_string())
    });
}
