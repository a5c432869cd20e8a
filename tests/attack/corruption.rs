//! Damaged run folders: nothing panics, and no damage to a result is called sound.

use crate::program::{autoqd, copy, files, is_orderly, output, undisturbed, verified};
use crate::{Random, attack};
use std::fs;

/// Damages bytes: flips, cuts, overwrites, repeats or appends.
pub fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return bytes.push(random.next() as u8);
    }
    let at = random.below(bytes.len());
    let length = 1 + random.below(64.min(bytes.len() - at).max(1));
    match random.below(5) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes.truncate(at),
        2 => bytes[at..at + length].fill(*random.pick(&[0, 0xff, b'9', b'-'])),
        3 => {
            let part = bytes[at..at + length].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, part);
        }
        _ => bytes.extend((0..length).map(|_| random.next() as u8)),
    }
}

#[test]
fn damage_to_any_file_is_noticed_and_nothing_panics() {
    let folder = tempfile::tempdir().unwrap();
    attack("corruption", 16, |number| {
        let mut random = Random::new(number);
        let run = folder.path().join(format!("run-{number}"));
        copy(undisturbed(), &run);
        let all = files(&run);
        let file = random.pick(&all).clone();
        let name = file.strip_prefix(&run).unwrap().display().to_string();
        let mut bytes = fs::read(&file).unwrap();
        let before = bytes.clone();
        damage(&mut bytes, &mut random);
        fs::write(&file, &bytes).unwrap();
        let said = |reason: String| format!("{name}: {reason}");
        // These two have no checksum: times, and what only TensorBoard reads.
        let unchecked = ["timing.csv", "events.out.tfevents.autoqd", "run.lock"];
        let found = verified(&run);
        if bytes != before
            && !unchecked.contains(&name.as_str())
            && found.as_ref().is_ok_and(|v| v["ok"] == true)
        {
            return Err(said("the damage was called sound".to_owned()));
        }
        for arguments in [&["status"][..], &["resume", "--iterations=5"], &["export", "--out=/dev/null"]] {
            let mut command = autoqd();
            command.args(arguments).arg(&run);
            is_orderly(&output(command)).map_err(said)?;
        }
        fs::remove_dir_all(run).map_err(|e| e.to_string())
    });
}
