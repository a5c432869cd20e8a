//! The program of this example, used as a user would: run, killed, resumed, evaluated, reported, explored.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_own-parts");

fn call(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).current_dir(folder).output().expect("the program")
}

fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = call(folder, arguments);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {out}{err}");
    out.into_owned()
}

const SETTINGS: [&str; 15] = [
    "run",
    "glider",
    "--method",
    "path",
    "--preset",
    "quick",
    "--set",
    "emitter=climb",
    "--set",
    "path.room=1.5",
    "--set",
    "checkpoint_every=2",
    "--set",
    "batch_size=6",
    "--iterations",
];

fn run<'a>(out: &'a str, iterations: &'a str) -> Vec<&'a str> {
    SETTINGS.into_iter().chain([iterations, "--out", out]).collect()
}

fn digest(folder: &Path, run: &str) -> String {
    let text = succeed(folder, &["verify", run, "--json"]);
    let (_, rest) = text.split_once("\"archive_digest\": \"").expect("a digest");
    rest.split('"').next().expect("a digest").to_owned()
}

#[test]
fn a_killed_run_goes_on_to_the_same_archive() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    succeed(folder, &run("whole", "24"));
    let mut child = Command::new(PROGRAM)
        .args(run("killed", "24"))
        .current_dir(folder)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program");
    let begun = Instant::now();
    // Killed once it has a checkpoint to continue from, or after the end on a very fast machine: the result is the
    // same.
    while !folder.join("killed/checkpoint.aqd").exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("a kill");
    child.wait().expect("an end");
    succeed(folder, &["resume", "killed"]);
    assert_eq!(digest(folder, "whole"), digest(folder, "killed"));
}

#[test]
fn what_works_on_built_in_parts_works_on_these() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    succeed(folder, &run("gliders", "12"));
    assert!(succeed(folder, &["env", "list"]).contains("glider"));
    assert!(succeed(folder, &["status", "gliders"]).contains("path"));
    assert!(succeed(folder, &["eval", "gliders", "--episodes", "2"]).contains("path seed 0"));
    assert!(succeed(folder, &["select", "gliders", "--count", "3"]).contains("measures"));
    succeed(folder, &["adapt", "gliders", "--vary", "mass-scale=0.8:1.2:0.2"]);
    succeed(folder, &["export", "gliders", "-o", "gliders.csv"]);
    succeed(folder, &["report", "gliders"]);
    let help = succeed(folder, &["run", "--help"]);
    assert!(help.contains("path.room = 1.1") && help.contains("\"climb\": Hill climbing"), "{help}");
    let refused = call(folder, &["run", "glider", "--method", "pathe"]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && message.contains("did you mean \"path\""), "{message}");
}

#[test]
fn the_explorer_shows_the_task() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    succeed(folder, &run("gliders", "6"));
    // A program built without Node has no page to serve.
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist/index.html");
    if !Path::new(page).exists() {
        assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "{page} is missing");
        return;
    }
    let mut server = Command::new(PROGRAM)
        .args(["explore", "gliders", "--port", "0"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program");
    let mut lines = BufReader::new(server.stdout.take().expect("its output")).lines();
    let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let (_, rest) = line.split_once("http://")?;
        Some(rest.split(['/', ' ']).next()?.to_owned())
    });
    let address = address.expect("an address");
    let answer = get(&address, "/api/runs");
    server.kill().expect("a kill");
    server.wait().expect("an end");
    assert!(answer.contains("200 OK") && answer.contains("glider"), "{answer}");
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("a request");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}
