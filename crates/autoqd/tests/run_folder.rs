//! A run folder through its life: made, logged, checkpointed, killed, damaged, resumed, verified.

use autoqd::config::{Layers, RunConfig, TaskFacts};
use autoqd::observer::{IterationReport, Observer};
use autoqd::parts::put_value;
use autoqd::registry::Registry;
use autoqd::run_folder::{
    ArchiveTable, Block, CHECKPOINT_FILE, CONFIG_FILE, Checkpoint, EVENTS_FILE, IterationRow,
    LoadedCheckpoint, MANIFEST_FILE, METRICS_FILE, PREVIOUS_CHECKPOINT_FILE, REJECTED_CHECKPOINT_FILE, Row,
    RunFolder, RunFolderError, RunState, TIMING_FILE, Tensor, TensorFile, TimingRow, read_config,
    read_metrics, status, verify, write_atomic,
};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn config(sets: &[&str]) -> RunConfig {
    let facts =
        TaskFacts { observation_size: 8, action_size: 2, objective_min: 0.0, measures: vec![[0.0, 1.0]; 3] };
    let registry = Registry::default();
    let layers = Layers::new(&registry).set("task=swimmer").unwrap().set("iterations=30").unwrap();
    let layers = sets.iter().fold(layers, |layers, set| layers.set(set).unwrap());
    layers.build().unwrap().resolve(&facts, &registry).unwrap()
}

fn metrics(iteration: u64) -> IterationRow {
    IterationRow {
        iteration,
        evaluations: 10 * iteration,
        env_steps: 1000 * iteration,
        elites: iteration + 3,
        coverage: 0.1 * iteration as f64,
        qd_score: 1.0 / iteration as f64,
        best_objective: -1e-7,
        refit_angle: f64::NAN,
        ..IterationRow::default()
    }
}

fn timing(iteration: u64) -> TimingRow {
    TimingRow { iteration, seconds: 0.5 * iteration as f64, unix_time: 1e9, ..TimingRow::default() }
}

/// Works like a search: logs and checkpoints up to an iteration.
fn work(folder: &RunFolder, config: &RunConfig, from: u64, to: u64) {
    let mut logs = folder.logs(from).unwrap();
    for iteration in from + 1..=to {
        logs.append(&metrics(iteration), &[], &timing(iteration)).unwrap();
        if iteration % 5 == 0 {
            logs.sync().unwrap();
            save(folder, config, iteration).unwrap();
        }
    }
}

fn save(folder: &RunFolder, config: &RunConfig, iteration: u64) -> Result<(), RunFolderError> {
    folder.save_checkpoint(config, iteration, |parts| {
        put_value(parts, "names", 1, &["a", "b"])?;
        parts.bytes("encoded", 3, b"any bytes")?;
        put_value(parts, "solutions", 1, &solutions(iteration))
    })
}

fn solutions(iteration: u64) -> Vec<f64> {
    (0..2000).map(|i| (i as f64 + iteration as f64).sin()).collect()
}

fn table() -> ArchiveTable {
    ArchiveTable {
        cell: vec![0, 7, u64::MAX],
        id: vec![12, 3, 4],
        iteration: vec![1, 2, 9],
        objective: vec![1.5, -0.25, 1e300],
        measures: Block { width: 2, values: vec![0.0, -0.0, 0.1, 0.2, 1.0, 5e-324] },
        statistics: vec![
            ("return_std".to_owned(), vec![0.0, f64::NAN, 2.0]),
            ("feet, left".to_owned(), vec![0.5; 3]),
        ],
        seeds: Block { width: 2, values: vec![1, 2, 3, 4, u64::MAX, 6] },
        features: Block { width: 4, values: (0..12).map(f64::from).collect() },
        parameters: Block { width: 1, values: vec![0.5, -0.5, 0.0] },
        metadata: [("task".to_owned(), "swimmer".to_owned()), ("method".to_owned(), "autoqd".to_owned())]
            .into(),
    }
}

#[test]
fn a_new_run_gets_the_documented_default_folder() {
    assert_eq!(RunFolder::default_path(&config(&["seed=7"])), Path::new("runs/swimmer-autoqd-7"));
    let own = config(&["task=models/robot.toml", "method=regular"]);
    assert_eq!(RunFolder::default_path(&own), Path::new("runs/robot-regular-0"));
}

#[test]
fn an_existing_run_or_any_used_folder_is_never_overwritten() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("deep/run");
    drop(RunFolder::create(&path, &config(&[])).unwrap());
    let before = fs::read(path.join(CONFIG_FILE)).unwrap();
    let message = RunFolder::create(&path, &config(&["seed=1"])).unwrap_err().to_string();
    assert!(message.contains("never overwritten") && message.contains("autoqd resume"), "{message}");
    assert_eq!(fs::read(path.join(CONFIG_FILE)).unwrap(), before);
    let other = parent.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("thesis.tex"), "x").unwrap();
    assert!(matches!(RunFolder::create(&other, &config(&[])), Err(RunFolderError::Exists { .. })));
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1, "nothing was added to a folder of someone else");
    let empty = parent.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert!(RunFolder::create(&empty, &config(&[])).is_ok());
}

#[test]
fn the_configuration_comes_back_equal() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let made = config(&["seed=5", "embedding.gamma=0.9"]);
    let folder = RunFolder::create(&path, &made).unwrap();
    assert_eq!(folder.config().unwrap(), made);
    assert_eq!(read_config(&path).unwrap(), made);
    let more = config(&["seed=5", "embedding.gamma=0.9", "iterations=90"]);
    folder.write_config(&more).unwrap();
    assert_eq!(read_config(&path).unwrap(), more);
    assert!(matches!(read_config(parent.path()), Err(RunFolderError::NotARun { .. })));
    assert!(matches!(RunFolder::open(parent.path()), Err(RunFolderError::NotARun { .. })));
}

#[test]
fn two_processes_cannot_work_in_one_folder() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let first = RunFolder::create(&path, &config(&[])).unwrap();
    let message = RunFolder::open(&path).unwrap_err().to_string();
    assert!(message.contains(&format!("process {}", std::process::id())), "{message}");
    assert_eq!(status(&path, &Registry::default()).unwrap().state, RunState::Running);
    assert_eq!(status(&path, &Registry::default()).unwrap().pid, Some(std::process::id()));
    drop(first);
    assert_eq!(status(&path, &Registry::default()).unwrap().state, RunState::Stopped);
    assert!(RunFolder::open(&path).is_ok());
}

/// Body of the child of the next test; does nothing in an ordinary test run.
#[test]
fn child_that_holds_a_folder() {
    if let Some(path) = std::env::var_os("AUTOQD_TEST_HOLD") {
        let _folder = RunFolder::open(Path::new(&path)).unwrap();
        println!("holding");
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

#[test]
fn a_killed_process_leaves_no_lock() {
    use std::io::{BufRead, BufReader};
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    drop(RunFolder::create(&path, &config(&[])).unwrap());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["child_that_holds_a_folder", "--exact", "--nocapture"])
        .env("AUTOQD_TEST_HOLD", &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("holding")));
    let message = RunFolder::open(&path).unwrap_err().to_string();
    assert!(message.contains(&format!("process {}", child.id())), "{message}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(RunFolder::open(&path).is_ok());
}

#[test]
fn a_resumed_run_continues_from_the_latest_checkpoint_and_cuts_its_logs_back() {
    let parent = tempfile::tempdir().unwrap();
    let config = config(&[]);
    let straight = parent.path().join("straight");
    work(&RunFolder::create(&straight, &config).unwrap(), &config, 0, 20);
    let path = parent.path().join("killed");
    work(&RunFolder::create(&path, &config).unwrap(), &config, 0, 13);
    // A kill in the middle of a row and of an event.
    for name in [METRICS_FILE, TIMING_FILE, EVENTS_FILE] {
        let mut file = fs::OpenOptions::new().append(true).open(path.join(name)).unwrap();
        file.write_all(b"14,14").unwrap();
    }
    fs::write(path.join(".checkpoint.aqd.tmp"), "half").unwrap();
    fs::write(path.join(".archive.parquet.123.tmp"), "half").unwrap();
    let folder = RunFolder::open(&path).unwrap();
    assert!(!path.join(".archive.parquet.123.tmp").exists());
    let LoadedCheckpoint { mut checkpoint, config: stored, notice } =
        folder.load_checkpoint().unwrap().unwrap();
    assert_eq!((checkpoint.header.iteration, &stored, &notice), (10, &config, &None));
    let parts = &mut checkpoint.parts;
    assert_eq!(parts.require("names", 1).unwrap().value::<[String; 2]>().unwrap(), ["a", "b"]);
    assert_eq!(parts.require("solutions", 1).unwrap().value::<Vec<f64>>().unwrap(), solutions(10));
    work(&folder, &config, 10, 20);
    for name in [METRICS_FILE, TIMING_FILE] {
        assert_eq!(fs::read(path.join(name)).unwrap(), fs::read(straight.join(name)).unwrap(), "{name}");
    }
    let lengths = [&path, &straight].map(|p| fs::metadata(p.join(EVENTS_FILE)).unwrap().len());
    assert_eq!(lengths[0], lengths[1]);
    assert_eq!(read_metrics(&path).unwrap().len(), 20);
}

#[test]
fn a_run_killed_before_its_first_checkpoint_starts_again() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let config = config(&[]);
    work(&RunFolder::create(&path, &config).unwrap(), &config, 0, 3);
    let folder = RunFolder::open(&path).unwrap();
    assert!(folder.load_checkpoint().unwrap().is_none());
    drop(folder.logs(0).unwrap());
    assert_eq!(read_metrics(&path).unwrap(), []);
}

#[test]
fn a_kill_between_the_two_renames_falls_back_without_loss() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let config = config(&[]);
    let folder = RunFolder::create(&path, &config).unwrap();
    work(&folder, &config, 0, 10);
    fs::rename(path.join(CHECKPOINT_FILE), path.join(PREVIOUS_CHECKPOINT_FILE)).unwrap();
    assert_eq!(folder.load_checkpoint().unwrap().unwrap().checkpoint.header.iteration, 10);
    save(&folder, &config, 11).unwrap();
    assert_eq!(Checkpoint::read(&path.join(PREVIOUS_CHECKPOINT_FILE)).unwrap().header.iteration, 10);
}

#[test]
fn a_bad_checkpoint_is_set_aside_and_the_previous_one_used() {
    type Damage = fn(&mut Vec<u8>);
    let cases: [(&str, Damage); 5] = [
        ("ends too early", |b| b.truncate(9)),
        ("checksum", |b| b.truncate(b.len() - 1)),
        ("checksum", |b| b[100] ^= 1),
        ("does not start like a checkpoint", |b| b[3] ^= 0x20),
        ("format version 3, but this program reads up to 2; update autoqd", |b| b[8] = 3),
    ];
    for (reason, damage) in cases {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let config = config(&[]);
        let folder = RunFolder::create(&path, &config).unwrap();
        work(&folder, &config, 0, 10);
        let mut bytes = fs::read(path.join(CHECKPOINT_FILE)).unwrap();
        damage(&mut bytes);
        fs::write(path.join(CHECKPOINT_FILE), &bytes).unwrap();
        let loaded = folder.load_checkpoint().unwrap().unwrap();
        assert_eq!(loaded.checkpoint.header.iteration, 5);
        let notice = loaded.notice.unwrap();
        assert!(notice.contains(reason) && notice.contains("iteration 5"), "{notice}");
        assert_eq!(fs::read(path.join(REJECTED_CHECKPOINT_FILE)).unwrap(), bytes, "nothing is lost");
        work(&folder, &config, 5, 10);
        assert_eq!(folder.load_checkpoint().unwrap().unwrap().checkpoint.header.iteration, 10);
    }
}

#[test]
fn two_bad_checkpoints_are_an_error_that_names_both_and_changes_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let config = config(&[]);
    let folder = RunFolder::create(&path, &config).unwrap();
    work(&folder, &config, 0, 10);
    fs::write(path.join(CHECKPOINT_FILE), "junk").unwrap();
    fs::write(path.join(PREVIOUS_CHECKPOINT_FILE), "junk").unwrap();
    let message = folder.load_checkpoint().unwrap_err().to_string();
    assert!(
        message.contains("checkpoint.aqd is damaged") && message.contains("checkpoint.prev.aqd"),
        "{message}"
    );
    assert!(path.join(CHECKPOINT_FILE).exists());
    assert_eq!(read_metrics(&path).unwrap().len(), 10);
}

#[test]
fn a_part_that_is_missing_newer_or_of_another_type_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let config = config(&[]);
    let folder = RunFolder::create(&path, &config).unwrap();
    save(&folder, &config, 1).unwrap();
    let sound = Checkpoint::read(&path.join(CHECKPOINT_FILE)).unwrap().parts;
    assert_eq!(sound.names().collect::<Vec<_>>(), ["encoded", "names", "solutions"]);
    let message = |e: autoqd::Error| e.to_string();
    let mut parts = sound.clone();
    assert_eq!(parts.require("encoded", 3).unwrap().bytes, b"any bytes");
    let again = parts.require("encoded", 3).map_err(message).unwrap_err();
    assert!(again.contains("'encoded'") && again.contains("it is missing"), "taken already: {again}");
    assert_eq!(parts.optional("encoded", 3).map_err(message), Ok(None));
    let newer = sound.clone().optional("encoded", 2).map_err(message).unwrap_err();
    assert!(newer.contains("version 3, but this program reads up to 2; update autoqd"), "{newer}");
    let longer = parts.require("names", 1).unwrap().value::<u8>().map_err(message).unwrap_err();
    assert!(longer.contains("'names'") && longer.contains("longer than expected"), "{longer}");
}

#[test]
fn a_failed_write_leaves_the_old_file_and_no_trace() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("file");
    write_atomic(&path, |f| Ok(f.write_all(b"old")?)).unwrap();
    let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
    let error = write_atomic(&path, |f| {
        f.write_all(b"new")?;
        Err(full().into())
    });
    let message = error.unwrap_err().to_string();
    assert!(message.contains("Free some space") && !message.contains("autoqd resume"), "{message}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
}

/// A small file system in memory, unmounted at the end; `None` where that is not permitted.
struct Tmpfs(tempfile::TempDir);

impl Tmpfs {
    fn mount(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let done =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder.path()).output();
        if done.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        assert!(
            std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"),
            "mounting a tmpfs is not permitted"
        );
        eprintln!("skipped: mounting a tmpfs is not permitted");
        None
    }

    fn remount(&self, options: &str) {
        let mut command = Command::new("mount");
        assert!(
            command
                .args(["-o", &format!("remount,{options}")])
                .arg(self.0.path())
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_a_clear_error_and_the_last_checkpoint_still_works() {
    let Some(disk) = Tmpfs::mount("size=256k") else { return };
    let path = disk.0.path().join("run");
    let config = config(&[]);
    let folder = RunFolder::create(&path, &config).unwrap();
    work(&folder, &config, 0, 5);
    let noise: Vec<f64> =
        (0..40_000u64).map(|i| f64::from_bits(i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2)).collect();
    let error = folder.save_checkpoint(&config, 6, |parts| put_value(parts, "noise", 1, &noise)).unwrap_err();
    assert!(
        matches!(&error, RunFolderError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull)
    );
    assert!(error.to_string().contains("Free some space"), "{error}");
    let error = ArchiveTable { parameters: Block { width: 20_000, values: vec![0.0; 60_000] }, ..table() };
    let noisy =
        ArchiveTable { parameters: Block { width: 13_333, values: noise[..39_999].to_vec() }, ..error };
    let error = folder.write_archive(&noisy).unwrap_err();
    assert!(
        matches!(&error, RunFolderError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull),
        "{error}"
    );
    let mut logs = folder.logs(5).unwrap();
    let failed = (6..20_000).find_map(|i| logs.append(&metrics(i), &[], &timing(i)).err()).unwrap();
    assert!(failed.to_string().contains("Free some space"), "{failed}");
    drop(logs);
    assert_eq!(folder.load_checkpoint().unwrap().unwrap().checkpoint.header.iteration, 5);
    disk.remount("size=4m");
    work(&folder, &config, 5, 10);
    assert_eq!(read_metrics(&path).unwrap().len(), 10);
    assert!(verify(&path).unwrap().ok);
}

#[test]
fn a_read_only_folder_is_a_clear_error_and_can_still_be_read() {
    let Some(disk) = Tmpfs::mount("size=1m") else { return };
    let path = disk.0.path().join("run");
    let config = config(&[]);
    work(&RunFolder::create(&path, &config).unwrap(), &config, 0, 5);
    disk.remount("ro");
    for message in [
        RunFolder::open(&path).unwrap_err().to_string(),
        RunFolder::create(&disk.0.path().join("new"), &config).unwrap_err().to_string(),
    ] {
        assert!(message.contains("Read-only") && message.contains("--out"), "{message}");
    }
    assert_eq!(status(&path, &Registry::default()).unwrap().iteration, 5);
    assert!(verify(&path).unwrap().ok);
    disk.remount("rw");
    assert_eq!(
        RunFolder::open(&path).unwrap().load_checkpoint().unwrap().unwrap().checkpoint.header.iteration,
        5
    );
}

#[test]
fn logs_have_their_documented_columns_and_read_back_exactly() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let folder = RunFolder::create(&path, &config(&[])).unwrap();
    let mut logs = folder.logs(0).unwrap();
    for iteration in 1..=3 {
        let (metrics, timing) = (metrics(iteration), timing(iteration));
        logs.on_iteration(&IterationReport { metrics, timing, ..IterationReport::default() }).unwrap();
    }
    logs.sync().unwrap();
    let text = fs::read_to_string(path.join(METRICS_FILE)).unwrap();
    assert!(text.starts_with("iteration,evaluations,env_steps,elites,coverage,qd_score,"));
    assert!(text.contains("\n3,30,3000,6,0.30000000000000004,0.3333333333333333,"), "{text}");
    let rows = read_metrics(&path).unwrap();
    assert_eq!((rows[2].qd_score, rows[2].best_objective), (1.0 / 3.0, -1e-7));
    assert!(rows[2].refit_angle.is_nan());
    assert!(IterationRow::COLUMNS.iter().all(|(_, doc)| !doc.is_empty()));
    fs::write(path.join(METRICS_FILE), "\n1,2\n").unwrap();
    assert!(folder.logs(1).unwrap_err().to_string().contains("columns"));
}

/// The lines of a log, each split into its cells.
fn cells(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_log_of_an_older_version_is_read_and_gets_the_new_columns_when_it_is_continued() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let folder = RunFolder::create(&path, &config(&[])).unwrap();
    fs::write(path.join(METRICS_FILE), "iteration,elites,qd_score\n1,4,0.5\n2,5,\n3,6,1.5\n").unwrap();
    let rows = read_metrics(&path).unwrap();
    assert_eq!((rows[2].elites, rows[2].qd_score, rows[2].evaluations), (6, 1.5, 0));
    assert!(rows[1].qd_score.is_nan() && rows[0].outside.is_nan(), "missing numbers are not numbers");
    assert_eq!(status(&path, &Registry::default()).unwrap().iteration, 3);
    let mut logs = folder.logs(2).unwrap();
    logs.append(&metrics(3), &[], &timing(3)).unwrap();
    let cells = cells(&path.join(METRICS_FILE));
    assert_eq!(
        cells[0][..4],
        ["iteration", "elites", "qd_score", "evaluations"],
        "the old columns stay first"
    );
    assert_eq!(cells[0].len(), IterationRow::COLUMNS.len());
    assert_eq!(
        (&cells[1][..4], &cells[2][..4]),
        (&["1", "4", "0.5", ""].map(String::from)[..], &["2", "5", "", ""].map(String::from)[..])
    );
    assert_eq!(cells[3][..4], ["3", "6", "0.3333333333333333", "30"]);
    assert_eq!(read_metrics(&path).unwrap()[2].evaluations, 30);
}

#[test]
fn a_log_of_a_later_version_keeps_its_columns_when_it_is_continued() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let config = config(&[]);
    let folder = RunFolder::create(&path, &config).unwrap();
    work(&folder, &config, 0, 4);
    // Another order, and a column that this version does not know.
    let mut table = cells(&path.join(METRICS_FILE));
    for (i, row) in table.iter_mut().enumerate() {
        row.swap(1, 2);
        row.insert(1, if i == 0 { "regret".to_owned() } else { format!("{i}.25") });
    }
    let text: String = table.iter().map(|row| row.join(",") + "\n").collect();
    fs::write(path.join(METRICS_FILE), &text).unwrap();
    let mut logs = folder.logs(3).unwrap();
    logs.append(&metrics(4), &[], &timing(4)).unwrap();
    let kept = fs::read_to_string(path.join(METRICS_FILE)).unwrap();
    assert_eq!(kept, text.replace("\n4,4.25,", "\n4,,"));
    assert_eq!(read_metrics(&path).unwrap()[3].env_steps, 4000);
}

#[test]
fn one_bad_byte_in_the_middle_of_a_log_does_not_cut_the_rows_after_it() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let config = config(&[]);
    let folder = RunFolder::create(&path, &config).unwrap();
    work(&folder, &config, 0, 12);
    let log = path.join(METRICS_FILE);
    let sound = fs::read(&log).unwrap();
    let row = |n: &str| sound.windows(n.len()).position(|w| w == n.as_bytes()).unwrap() + 1;
    // Not text, not a number, a comma too many, another iteration: row 5 is line 6 of the file.
    for (at, byte) in
        [(row("\n5,") + 3, 0xFF), (row("\n5,") + 3, b'x'), (row("\n5,") + 3, b','), (row("\n5,"), b'9')]
    {
        let mut bytes = sound.clone();
        bytes[at] = byte;
        fs::write(&log, &bytes).unwrap();
        let message = folder.logs(8).unwrap_err().to_string();
        let line = if byte == b'9' { "line 6 " } else { "line 6 cannot be read" };
        assert!(message.contains(line) && message.contains("--accept-logs"), "{message}");
        assert_eq!(fs::read(&log).unwrap(), bytes, "nothing is cut");
    }
    // The remedy works, and nothing is lost.
    let accepted = folder.accept_logs().unwrap();
    assert!(accepted[0].contains("metrics.csv was changed"), "{accepted:?}");
    drop(folder.logs(8).unwrap());
    assert_eq!(read_metrics(&path).unwrap().len(), 7);
    assert_eq!(fs::read(path.join("metrics.csv.rejected")).unwrap()[row("\n5,")], b'9');
    assert_eq!(folder.accept_logs().unwrap(), [""; 0]);
    // What was written after the checkpoint may be anything: it is computed again.
    drop(folder);
    let path = parent.path().join("again");
    let folder = RunFolder::create(&path, &config).unwrap();
    work(&folder, &config, 0, 12);
    let mut bytes = sound.clone();
    bytes[row("\n11,") + 2] = b'?';
    fs::write(path.join(METRICS_FILE), &bytes).unwrap();
    assert!(read_metrics(&path).unwrap_err().to_string().contains("line 12"));
    drop(folder.logs(10).unwrap());
    assert_eq!(read_metrics(&path).unwrap().len(), 10);
}

#[test]
fn a_digit_changed_in_a_log_of_a_run_that_was_killed_is_noticed_and_never_certified() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let config = config(&[]);
    let folder = RunFolder::create(&path, &config).unwrap();
    work(&folder, &config, 0, 12);
    let registry = Registry::default();
    for name in [METRICS_FILE, TIMING_FILE, EVENTS_FILE] {
        let sound = fs::read(path.join(name)).unwrap();
        let mut bytes = sound.clone();
        // A digit of a number in row 2, a byte of an event.
        let at = sound.windows(3).position(|w| w == b"\n2,").map_or(sound.len() / 2, |at| at + 3);
        bytes[at] ^= 1;
        fs::write(path.join(name), &bytes).unwrap();
        let message = folder.logs(10).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains("--accept-logs"), "{message}");
        assert_eq!(fs::read(path.join(name)).unwrap(), bytes, "nothing is cut");
        let found = verify(&path).unwrap();
        assert!(found.files.iter().any(|f| f.file == name && !f.ok), "{found:#?}");
        assert_eq!(status(&path, &registry).is_ok(), name == EVENTS_FILE);
        fs::remove_file(path.join(name)).unwrap();
        assert!(folder.logs(10).is_err() && !verify(&path).unwrap().ok, "{name} is missing");
        fs::write(path.join(name), &sound).unwrap();
        assert!(verify(&path).unwrap().ok);
    }
    assert!(status(&path, &registry).is_ok());
    // A rest of a line and whole rows after the checkpoint are a kill's, and are cut.
    fs::OpenOptions::new().append(true).open(path.join(METRICS_FILE)).unwrap().write_all(b"13,1").unwrap();
    drop(folder.logs(10).unwrap());
    assert_eq!(read_metrics(&path).unwrap().len(), 10);
    // The checksums follow a log that is cut back.
    drop(folder.logs(5).unwrap());
    assert_eq!(read_metrics(&path).unwrap().len(), 5);
    let text = fs::read_to_string(path.join(METRICS_FILE)).unwrap();
    fs::write(path.join(METRICS_FILE), text.replace("\n5,", "\n6,")).unwrap();
    assert!(folder.logs(5).is_err());
}

#[test]
fn a_changed_byte_of_the_manifest_is_noticed() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let config = config(&[]);
    let folder = RunFolder::create(&path, &config).unwrap();
    work(&folder, &config, 0, 5);
    folder.write_manifest(5).unwrap();
    let sound = fs::read(path.join(MANIFEST_FILE)).unwrap();
    for at in (0..sound.len()).step_by(7) {
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        fs::write(path.join(MANIFEST_FILE), &bytes).unwrap();
        assert!(!verify(&path).unwrap().ok, "byte {at}");
    }
}

#[test]
fn status_says_what_a_run_did_without_loading_it() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let config = config(&[]);
    let folder = RunFolder::create(&path, &config).unwrap();
    let fresh = status(&path, &Registry::default()).unwrap();
    assert_eq!((fresh.iteration, fresh.coverage, fresh.checkpoint_iteration), (0, None, None));
    work(&folder, &config, 0, 12);
    // Only the header of the checkpoint is needed.
    let short = fs::read(path.join(CHECKPOINT_FILE)).unwrap();
    fs::write(path.join(CHECKPOINT_FILE), &short[..short.len() / 2]).unwrap();
    drop(folder);
    let json = serde_json::to_value(status(&path, &Registry::default()).unwrap()).unwrap();
    for (key, value) in [
        ("iteration", 12.0),
        ("iterations", 30.0),
        ("elites", 15.0),
        ("env_steps", 12_000.0),
        ("env_steps_per_second", 2000.0),
        ("seconds", 6.0),
        ("checkpoint_iteration", 10.0),
        ("next_refit", 20.0),
    ] {
        assert_eq!(json[key].as_f64(), Some(value), "{key}");
    }
    assert_eq!((json["state"].as_str(), json["pid"].as_u64()), (Some("stopped"), None));
    assert!(json["coverage"].is_f64() && json["qd_score"].is_f64() && json["best_objective"].is_f64());
    let error = status(parent.path(), &Registry::default()).unwrap_err().to_string();
    assert!(error.contains("not a run folder"), "{error}");
}

#[test]
fn verify_finds_every_change() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let config = config(&[]);
    let folder = RunFolder::create(&path, &config).unwrap();
    work(&folder, &config, 0, 30);
    folder.write_archive(&table()).unwrap();
    let tensors =
        TensorFile { tensors: vec![Tensor::f32("phase", &[3], &[0.5, 1.0, 1.5])], ..TensorFile::default() };
    folder.write_descriptor(&tensors).unwrap();
    folder.write_manifest(30).unwrap();
    assert_eq!(status(&path, &Registry::default()).unwrap().state, RunState::Running);
    drop(folder);
    assert_eq!(status(&path, &Registry::default()).unwrap().state, RunState::Finished);
    let sound = verify(&path).unwrap();
    assert!(sound.ok, "{sound:#?}");
    assert_eq!((sound.iteration, sound.archive_digest), (Some(30), Some(table().digest())));
    assert_eq!(sound.files.len(), 9);
    for file in &sound.files {
        let target = path.join(&file.file);
        let original = fs::read(&target).unwrap();
        let mut changed = original.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        fs::write(&target, &changed).unwrap();
        let found = verify(&path).unwrap();
        assert!(!found.ok, "{} {found:#?}", file.file);
        fs::write(&target, &original).unwrap();
    }
    fs::remove_file(path.join("archive.parquet")).unwrap();
    let found = verify(&path).unwrap();
    assert!(found.files.iter().any(|f| f.file == "archive.parquet" && f.detail == "it is missing"));
    drop(RunFolder::open(&path).unwrap().logs(30).unwrap());
    assert!(!path.join(MANIFEST_FILE).exists(), "a resumed run has no manifest until it ends");
}
