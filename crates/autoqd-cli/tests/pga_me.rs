//! PGA-ME with the real program: runs, resumes, and what works on run folders.

use std::path::Path;
use std::process::{Command, Stdio};

use autoqd::run_folder::ArchiveTable;

const SMALL: [&str; 12] = [
    "run",
    "point-maze",
    "--method=pga-me",
    "--preset=quick",
    "--seed=3",
    "--set=checkpoint_every=2",
    "--set=iterations=6",
    "--set=pg.random_start=2",
    "--set=pg.critic_steps=20",
    "--set=pg.critic_hidden=[16]",
    "--set=policy.hidden=[8]",
    "--set=pg.buffer=3000",
];

fn autoqd(args: &[&str], paths: &[&Path]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_autoqd"));
    let output = command.args(args).args(paths).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout) + &text(&output.stderr))
    } else {
        Err(text(&output.stderr))
    }
}

#[test]
fn a_run_resumes_to_the_same_bytes_and_everything_after_it_works() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let shown = autoqd(&[&SMALL[..], &["--threads=1", "--out"]].concat(), &[&whole]).unwrap();
    assert!(shown.contains("the replay buffer of 3000 transitions takes up to"), "{shown}");
    autoqd(&[&SMALL[..], &["--threads=2", "--max-env-steps=1", "--out"]].concat(), &[&parts]).unwrap();
    autoqd(&["resume"], &[&parts]).unwrap();
    for name in ["archive.parquet", "metrics.csv", "figures.csv"] {
        let read = |run: &Path| std::fs::read(run.join(name)).unwrap();
        assert!(read(&whole) == read(&parts), "{name}");
    }
    let figures = std::fs::read_to_string(whole.join("figures.csv")).unwrap();
    assert!(figures.contains("greedy return") && figures.contains("critic loss"), "{figures}");
    assert!(!ArchiveTable::read(&whole).unwrap().is_empty());
    for command in [&["status"][..], &["verify"], &["eval"]] {
        autoqd(command, &[&whole]).unwrap();
    }
    autoqd(&["export", "--out"], &[&folder.path().join("table.csv"), &whole]).unwrap();
    let page = folder.path().join("report.html");
    autoqd(&["report", "--out"], &[&page, &whole]).unwrap();
    assert!(page.exists());
}
