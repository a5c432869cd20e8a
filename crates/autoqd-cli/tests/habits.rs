//! What every command has in common: options, folders of several runs, output that nobody reads; and `runs`, `config`,
//! `completions` and `man`. End to end with the real program.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_autoqd");

/// A run of a second or less.
const SMALL: [&str; 7] = [
    "--preset=quick",
    "--threads=1",
    "--set=iterations=4",
    "--set=batch_size=4",
    "--set=episodes=1",
    "--set=update_schedule=[2]",
    "--set=policy.hidden=[8]",
];

fn autoqd(args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(args).stdin(Stdio::null());
    command
}

fn output(args: &[&str]) -> Output {
    autoqd(args).output().expect("the program starts")
}

fn succeeds(args: &[&str]) -> String {
    let output = output(args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}, exit {:?}: {error}", output.status.code());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&succeeds(args)).expect("JSON")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn small_run(path: &Path, seed: u64) -> String {
    let seed = format!("--seed={seed}");
    succeeds(&[&["run", "point-maze", "-o", text(path), &seed][..], &SMALL].concat())
}

/// A folder as a sweep leaves it, with two runs in folders of folders.
fn two_runs(folder: &Path) -> [PathBuf; 2] {
    let runs = [0, 1].map(|seed| folder.join("point-maze/autoqd").join(format!("seed-{seed}")));
    for (seed, run) in runs.iter().enumerate() {
        small_run(run, seed as u64);
    }
    runs
}

#[test]
fn progress_that_cannot_be_written_does_not_end_a_search() {
    let folder = tempfile::tempdir().unwrap();
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    let silent = folder.path().join("silent");
    small_run(&silent, 0);
    let unread: [(&str, Stdio, Stdio); 3] =
        [("full", Stdio::null(), full()), ("closed", Stdio::null(), closed()), ("both", closed(), closed())];
    for (name, stdout, stderr) in unread {
        let path = folder.path().join(name);
        let mut run = autoqd(&["run", "point-maze", "--seed=0", "--out", text(&path)]);
        let status = run.args(SMALL).stdout(stdout).stderr(stderr).status().unwrap();
        assert_eq!(status.code(), Some(0), "{name}");
        assert!(path.join("checkpoint.aqd").is_file(), "{name}");
        let [expected, found] = [&silent, &path].map(|run| fs::read(run.join("archive.parquet")).unwrap());
        assert!(expected == found, "{name}: another archive");
    }
}

#[test]
fn a_run_started_with_nohup_survives_the_hang_up() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    // What nohup does, without its file for the output.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_autoqd")]);
    command.args(["run", "point-maze", "--out", text(&run)]).args(SMALL).arg("--set=iterations=300");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !run.join("checkpoint.aqd").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let hang_up = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
    assert!(child.wait().unwrap().success());
    assert!(hang_up.success(), "the run was over too early for this test");
    assert_eq!(json(&["status", "--json", text(&run)])["state"], "finished");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    for args in [&["run", "--help"][..], &["env", "list"], &["completions", "bash"], &["man"]] {
        let mut child = autoqd(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_run_ends_with_what_can_be_done_next() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("my run");
    let said = small_run(&run, 0);
    for command in ["report", "explore", "eval"] {
        assert!(said.contains(&format!("autoqd {command} '{}'", run.display())), "{said}");
    }
}

#[test]
fn a_folder_of_several_runs_stands_for_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let runs = two_runs(folder.path());
    let sweep = text(folder.path());

    let table = succeeds(&["status", sweep]);
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.lines().next().unwrap().contains("outside") && table.contains(" %"), "{table}");
    assert!(runs.iter().all(|run| table.contains(text(run))), "{table}");
    assert_eq!(json(&["status", sweep, "--json"]).as_array().unwrap().len(), 2);
    assert_eq!(json(&["status", text(&runs[0]), "--json"])["state"], "finished");

    let verified = json(&["verify", sweep, "--json"]);
    assert_eq!(verified.as_array().unwrap().len(), 2);
    assert!(succeeds(&["verify", text(&runs[0]), text(&runs[1])]).contains(text(&runs[1])));

    let evaluated = json(&["eval", sweep, "--episodes=1", "--json"]);
    assert_eq!(evaluated[0]["runs"].as_array().unwrap().len(), 2);
    let compared = json(&["compare", sweep, "--episodes=1", "--json"]);
    assert_eq!(compared["evaluations"][0]["runs"].as_array().unwrap().len(), 2);
    let page = folder.path().join("all.html");
    succeeds(&["report", sweep, "--count=1", "--seconds=0.2", "-o", text(&page)]);
    assert!(page.is_file());
    succeeds(&["report", sweep, "--count=1", "--seconds=0.2"]);
    assert!(
        folder.path().join("report/report.html").is_file(),
        "what is made of all runs is in no single one"
    );
    assert_eq!(json(&["status", sweep, "--json"]).as_array().unwrap().len(), 2);

    // One that has only begun is left out, and said to be.
    let begun = folder.path().join("begun");
    fs::create_dir(&begun).unwrap();
    fs::copy(runs[0].join("config.toml"), begun.join("config.toml")).unwrap();
    let output = output(&["eval", sweep, "--episodes=1", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("left out") && said.contains("begun"), "{said}");
}

#[test]
fn a_sweep_ends_with_what_can_be_done_next() {
    let folder = tempfile::tempdir().unwrap();
    let (sweep, out) = (folder.path().join("two.toml"), folder.path().join("runs of two"));
    let settings = "iterations = 2\nbatch_size = 4\nepisodes = 1\npolicy.hidden = [8]\n";
    let text_of_sweep = format!(
        "about = \"\"\npreset = \"quick\"\ntasks = [\"point-maze\"]\nseeds = [1, 2]\n[set]\n{settings}"
    );
    fs::write(&sweep, text_of_sweep).unwrap();
    let args = ["sweep", text(&sweep), "--out", text(&out)];
    assert!(!succeeds(&[&args[..], &["--dry-run"]].concat()).contains("next:"));
    let said = succeeds(&args);
    for command in ["eval", "compare", "report", "explore"] {
        assert!(said.contains(&format!("autoqd {command} '{}'", out.display())), "{said}");
    }
    succeeds(&["eval", text(&out), "--episodes=1"]);
    // What the shell makes of `runs/*`.
    let below: Vec<String> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| text(&path).to_owned())
        .collect();
    let below: Vec<&str> = below.iter().map(String::as_str).collect();
    succeeds(&[&["eval", "--episodes=1"], &below[..]].concat());
}

#[test]
fn mistakes_with_paths_are_told_apart_and_have_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("notes.txt"), "").unwrap();
    fs::write(at("task.toml"), "").unwrap();
    let (empty, nowhere, file, task) = (at("empty"), at("nowhere"), at("notes.txt"), at("task.toml"));
    let mistakes: [(&[&str], &str); 8] = [
        (&["status", text(&nowhere)], "does not exist; `autoqd runs FOLDER` lists the runs"),
        (&["status", text(&empty)], "is not a run folder: it has no config.toml; `autoqd runs FOLDER`"),
        (&["status", text(&file)], "is a file, not a run folder"),
        (&["verify", text(&file)], "is a file, not a run folder"),
        (&["resume", text(&nowhere)], "does not exist"),
        (&["init", text(&task)], "is a task file already, and init wants a model"),
        (&["explore", text(&nowhere), "--host", "192.0.2.1"], "nowhere"),
        (&["describe", text(&nowhere)], "--parameters <FILE>|--policy <ID>"),
    ];
    for (args, message) in mistakes {
        let output = output(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(message), "{args:?}: {said}");
    }

    let run = at("run");
    small_run(&run, 0);
    // An address that no machine has: the remedy is not another port.
    let listening = output(&["explore", text(&run), "--host", "192.0.2.1"]);
    let said = String::from_utf8_lossy(&listening.stderr).into_owned();
    assert!(said.contains("choose another with --host") || said.contains("make web"), "{said}");
    succeeds(&["report", text(&run), "--count=1", "--seconds=0.2", "-o", text(&empty)]);
    assert!(empty.join("report.html").is_file(), "a report goes into the folder that was named");
    assert!(succeeds(&["--help"]).contains("autoqd run swimmer --preset quick"));
}

#[test]
fn one_damaged_file_fails_the_check_of_several_runs() {
    let folder = tempfile::tempdir().unwrap();
    let runs = two_runs(folder.path());
    fs::write(runs[1].join("archive.parquet"), "rubbish").unwrap();
    let output = output(&["verify", text(folder.path())]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("BAD archive.parquet"));
}

#[test]
fn runs_lists_sound_and_damaged_folders_alike() {
    let folder = tempfile::tempdir().unwrap();
    let [sound, damaged] = two_runs(folder.path());
    fs::write(damaged.join("config.toml"), "task = [").unwrap();
    let without_config = folder.path().join("without-config");
    fs::create_dir(&without_config).unwrap();
    fs::copy(sound.join("checkpoint.aqd"), without_config.join("checkpoint.aqd")).unwrap();
    let bad_log = folder.path().join("bad-log");
    fs::create_dir(&bad_log).unwrap();
    fs::copy(sound.join("config.toml"), bad_log.join("config.toml")).unwrap();
    fs::write(bad_log.join("metrics.csv"), [0xff, 0x00, b'\n', b'7', b'\n']).unwrap();
    fs::create_dir_all(folder.path().join("nothing/at/all")).unwrap();

    let table = succeeds(&["runs", text(folder.path())]);
    let line = |path: &Path| table.lines().find(|line| line.starts_with(text(path))).unwrap().to_owned();
    assert_eq!(table.lines().count(), 5, "{table}");
    for word in ["point-maze", "autoqd", "finished", "4/4"] {
        assert!(line(&sound).contains(word), "{table}");
    }
    for (path, word) in
        [(&damaged, "config.toml"), (&without_config, "config.toml"), (&bad_log, "metrics.csv")]
    {
        assert!(line(path).contains("damaged") && line(path).contains(word), "{word}: {table}");
    }
    let rows = json(&["runs", text(folder.path()), "--json"]);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["error"].is_string()).count(), 3);
    let row = rows.iter().find(|row| row["path"] == text(&sound)).unwrap();
    assert!(row["age_seconds"].is_u64() && row["best_objective"].is_number(), "{row}");

    assert!(succeeds(&["runs", text(&folder.path().join("nothing"))]).contains("no runs"));
    assert_eq!(output(&["runs", "/nowhere"]).status.code(), Some(2));
    assert_eq!(output(&["status", text(folder.path())]).status.code(), Some(1), "one cannot be read");
}

#[test]
fn a_printed_configuration_gives_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.toml");
    let layers = [&["point-maze", "--seed=3", "--method=regular"][..], &SMALL].concat();
    let printed = succeeds(&[&["config"][..], &layers].concat());
    succeeds(&[&["config", "-o", text(&file)][..], &layers].concat());
    assert_eq!(fs::read_to_string(&file).unwrap(), printed);
    let mut registry = autoqd::registry::Registry::default();
    autoqd_learn::register(&mut registry);
    for field in autoqd::config::fields(&registry) {
        let name = field.key.rsplit('.').next().unwrap();
        assert!(printed.lines().any(|line| line.starts_with(&format!("{name} = "))), "{}", field.key);
        let first: Vec<&str> = field.doc.split_whitespace().take(3).collect();
        assert!(printed.contains(&format!("# {}", first.join(" "))), "{}", field.key);
    }
    let [direct, by_file] = ["direct", "file"].map(|name| folder.path().join(name));
    succeeds(&[&["run", "--out", text(&direct)][..], &layers].concat());
    succeeds(&["run", "--config", text(&file), "--out", text(&by_file)]);
    for name in ["config.toml", "archive.parquet"] {
        let [direct, by_file] = [&direct, &by_file].map(|run| fs::read(run.join(name)).unwrap());
        assert!(direct == by_file, "{name} differs");
    }
}

#[test]
fn a_setting_that_follows_from_others_still_does_in_a_printed_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.toml");
    succeeds(&["config", "point-maze", "-o", text(&file)]);
    let changed = fs::read_to_string(&file).unwrap().replace("\nemitters = 5\n", "\nemitters = 2\n");
    fs::write(&file, changed).unwrap();
    let again = succeeds(&["config", "--config", text(&file)]);
    assert!(again.contains("# In this run: [0.02, 0.04]\nsigma0 = \"auto\"\n"), "{again}");
}

#[test]
fn old_spellings_are_still_understood() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    small_run(&run, 0);
    let run = text(&run);
    let page = folder.path().join("page.html");
    let [old, new] =
        ["--eval-seed=5", "--seed=5"].map(|seed| json(&["eval", run, "--episodes=1", seed, "--json"]));
    assert_eq!(old, new);
    succeeds(&["report", run, "--behaviours=1", "--seconds=0.2", "--out", text(&page)]);
    succeeds(&["stability", run, "--policies=2", "--rollouts=2"]);
    succeeds(&["render", run, "--select=1", "--size=64x48", "--frames=1"]);
    succeeds(&["plot", run, "--scale=1"]);
    let help = succeeds(&["eval", "--help"]);
    assert!(help.contains("--seed <SEED>") && !help.contains("eval-seed"), "{help}");
}

#[test]
fn every_shell_gets_completions_and_every_command_a_page() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = succeeds(&["completions", shell]);
        assert!(script.contains("stability") && script.contains("max-env-steps"), "{shell}");
    }
    assert!(succeeds(&["man"]).contains(".TH autoqd 1"));
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let names = succeeds(&["man", "-o", text(&pages)]);
    assert_eq!(names.lines().count(), fs::read_dir(&pages).unwrap().count());
    for (page, word) in
        [("autoqd.1", "autoqd\\-run"), ("autoqd-run.1", "preset"), ("autoqd-env-show.1", "task")]
    {
        let text = fs::read_to_string(pages.join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
        assert!(text.contains(word), "{page}");
    }
}

#[test]
fn a_finished_run_that_is_resumed_does_not_announce_iterations_43_to_42() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    small_run(&run, 0);
    let said = String::from_utf8_lossy(&output(&["resume", text(&run)]).stderr).into_owned();
    assert!(said.contains("all 4 iterations are done already"), "{said}");
    assert!(!said.contains("5 to 4"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_whose_name_is_not_utf8_is_searched_and_measured_like_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join(std::ffi::OsStr::from_bytes(b"r\xff\xfen"));
    let on_run = |args: &[&str]| {
        let output = autoqd(args).arg(&run).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {error}");
        output.stdout
    };
    on_run(&[&["run", "point-maze"][..], &SMALL, &["--out"]].concat());
    on_run(&["resume", "--iterations=5"]);
    on_run(&["eval", "--episodes=2"]);
    assert!(run.join("eval/metrics.json").exists());
    on_run(&["report", "--behaviours=1", "--seconds=0.2"]);
    for command in ["status", "verify"] {
        let found: serde_json::Value = serde_json::from_slice(&on_run(&[command, "--json"])).unwrap();
        assert!(found["path"].as_str().unwrap().ends_with("r\u{fffd}\u{fffd}n"), "{found}");
    }
}
