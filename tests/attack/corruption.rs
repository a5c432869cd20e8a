//! Damaged run folders: nothing panics, no damage is called sound, and no command says something else than it would
//! without the damage, unless it refuses to say anything.

use crate::program::{autoqd, copy, files, is_orderly, output, undisturbed, verified};
use crate::{Random, attack};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

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

/// Commands that read a run, each with `{out}` for a file to write.
const READERS: [&[&str]; 7] = [
    &["status", "--json"],
    &["export", "--out={out}", "--format=npz"],
    &["export", "--out={out}", "--format=csv"],
    // Before anything is measured, which it would show.
    &["plot", "--out={out}", "--resolution=0.2"],
    &["select", "--count=3", "--json"],
    &["cluster", "--count=2", "--space=measures", "--json"],
    &["eval", "--episodes=1", "--threads=1", "--json"],
];

/// What a command says and writes about a run; an error if it refuses.
fn answer(run: &Path, arguments: &[&str]) -> Result<Option<Vec<u8>>, String> {
    let out = run.with_extension("out");
    let mut command = autoqd();
    command.args(arguments.iter().map(|text| text.replace("{out}", &out.display().to_string()))).arg(run);
    let output = output(command);
    is_orderly(&output)?;
    let mut said =
        String::from_utf8_lossy(&output.stdout).replace(&run.display().to_string(), "RUN").into_bytes();
    if out.is_dir() {
        files(&out).iter().for_each(|file| said.extend(fs::read(file).unwrap()));
        fs::remove_dir_all(&out).map_err(|e| e.to_string())?;
    } else if out.is_file() {
        said.extend(fs::read(&out).unwrap());
        fs::remove_file(&out).map_err(|e| e.to_string())?;
    }
    Ok(output.status.success().then_some(said))
}

/// The log and the digest of the archive of a run that was resumed, if it was.
fn resumed(run: &Path) -> Result<Option<(Vec<u8>, serde_json::Value)>, String> {
    let Some(_) = answer(run, &["resume", "--iterations=5"])? else { return Ok(None) };
    let found = verified(run)?;
    let log = fs::read(run.join("metrics.csv")).map_err(|e| e.to_string())?;
    Ok((found["ok"] == true).then(|| (log, found["archive_digest"].clone())))
}

type Answers = (Vec<Option<Vec<u8>>>, (Vec<u8>, serde_json::Value));

/// What is said about a run without damage.
fn answers() -> &'static Answers {
    static ANSWERS: OnceLock<Answers> = OnceLock::new();
    ANSWERS.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        copy(undisturbed(), &run);
        let said: Vec<_> = READERS.iter().map(|arguments| answer(&run, arguments).unwrap()).collect();
        assert!(said.iter().all(Option::is_some), "a command refuses a sound run");
        (said, resumed(&run).unwrap().expect("a sound run is resumed"))
    })
}

#[test]
fn damage_to_any_file_is_noticed_and_nothing_panics() {
    let folder = tempfile::tempdir().unwrap();
    attack("corruption", 24, |number| {
        let mut random = Random::new(number);
        let run = folder.path().join(format!("run-{number}"));
        copy(undisturbed(), &run);
        let all = files(&run);
        let file = random.pick(&all).clone();
        let name = file.strip_prefix(&run).unwrap().display().to_string();
        let mut bytes = fs::read(&file).unwrap();
        let before = bytes.clone();
        let gone = random.below(8) == 0;
        match gone {
            true => fs::remove_file(&file).unwrap(),
            false => {
                damage(&mut bytes, &mut random);
                fs::write(&file, &bytes).unwrap();
            }
        }
        let how = if gone { "removed" } else { "changed" };
        let said = |reason: String| format!("{name} {how}: {reason}");
        let called_sound = answer(&run, &["verify"]).map_err(said)?.is_some();
        // The lock says who works in the folder, nothing about the run; the manifest that it ended, and the checkpoint
        // before the last one is there in case that one is damaged.
        let needless = ["run.lock", "manifest.json", "checkpoint.prev.aqd"];
        let needed =
            if gone { !needless.contains(&name.as_str()) } else { name != "run.lock" && bytes != before };
        if needed && called_sound {
            return Err(said("the damage was called sound".to_owned()));
        }
        for (arguments, sound) in READERS.iter().zip(&answers().0) {
            let answer = answer(&run, arguments).map_err(said)?;
            // What it says of the checkpoint is that of the one before, if the last one is damaged.
            let tells_of_the_checkpoint = arguments[0] == "status" && name == "checkpoint.aqd";
            if answer.is_some() && answer != *sound && !tells_of_the_checkpoint {
                return Err(said(format!("{arguments:?} says something else")));
            }
        }
        if resumed(&run).map_err(said)?.is_some_and(|found| found != answers().1) {
            return Err(said("the run went on to something else".to_owned()));
        }
        fs::remove_dir_all(run).map_err(|e| e.to_string())
    });
}

#[test]
fn an_archive_that_was_removed_is_not_drawn_as_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    copy(undisturbed(), &run);
    fs::remove_file(run.join("archive.parquet")).unwrap();
    assert_eq!(answer(&run, &["plot", "--out={out}", "--resolution=0.2"]).unwrap(), None);
}
