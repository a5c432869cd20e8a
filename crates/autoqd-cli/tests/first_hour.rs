//! The commands that the README gives a newcomer, in its order, on a model that is not built in.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The lines of the block after the mark `first-hour`.
fn lines() -> Vec<String> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let block = readme.split("<!-- first-hour -->").nth(1).and_then(|rest| rest.split("```").nth(1)).unwrap();
    block.lines().skip(1).map(str::to_owned).collect()
}

/// The commands in it, without the program's name.
fn commands() -> Vec<Vec<String>> {
    let words =
        |line: &String| line.strip_prefix("autoqd ").map(|l| l.split(' ').map(str::to_owned).collect());
    lines().iter().filter_map(words).collect()
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ask(address: &str, request: &str, body: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let length = body.len();
    write!(
        stream,
        "{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

/// The explorer serves the run, and its best elite moves.
fn watch(words: &[String], folder: &Path) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_autoqd"));
    program.args(words).args(["--port", "0"]).current_dir(folder);
    let mut server = Killed(program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let Some(address) = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()) else {
        let mut said = String::new();
        server.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        // A program built without Node has no page, and says so.
        assert!(said.contains("make web"), "{line}{said}");
        return;
    };
    let archive = ask(address, "GET /api/runs/my-robot/archive", "");
    let text = String::from_utf8_lossy(&archive);
    let best = text.split("\"show\":[").nth(1).and_then(|rest| rest.split([',', ']']).next()).unwrap();
    let replay = ask(address, "POST /api/runs/my-robot/replay", &format!("{{\"id\":{best}}}"));
    assert!(replay.starts_with(b"HTTP/1.1 200") && replay.len() > 20_000, "{} bytes", replay.len());
}

#[test]
fn a_newcomer_gets_from_a_model_to_watching_it_walk() {
    let folder = tempfile::tempdir().unwrap();
    let example = folder.path().join("examples/quadruped");
    std::fs::create_dir_all(&example).unwrap();
    // The model alone: the task file is the program's own.
    std::fs::copy(root().join("examples/quadruped/quadruped.xml"), example.join("quadruped.xml")).unwrap();
    let before: Vec<String> = lines().into_iter().take_while(|line| !line.starts_with("autoqd ")).collect();
    assert!(before[0].starts_with("git clone ") && before[0].ends_with("&& cd autoqd"), "{before:?}");
    assert_eq!(before[1], "make run", "what builds the program; CI runs it from a fresh clone");
    assert_eq!(before[2], "export PATH=\"$PWD/target/release:$PATH\"");
    let commands = commands();
    let names: Vec<&str> = commands.iter().map(|words| words[0].as_str()).collect();
    assert_eq!(names, ["init", "env", "run", "status", "report", "render", "eval", "explore"]);
    for words in &commands {
        if words[0] == "explore" {
            watch(words, folder.path());
            continue;
        }
        let mut program = Command::new(env!("CARGO_BIN_EXE_autoqd"));
        program.args(words).current_dir(folder.path());
        // The commands as they are, but a search of seconds.
        if words[0] == "run" {
            program.args(["--iterations", "3", "--set", "batch_size=8", "--set", "emitters=2"]);
        }
        let output = program.output().unwrap();
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{words:?}: {}{}", said(&output.stdout), said(&output.stderr));
        if ["run", "status"].contains(&words[0].as_str()) {
            assert!(said(&output.stdout).contains("fresh seeds: the best elite"), "{}", said(&output.stdout));
        }
    }
    assert!(folder.path().join("runs/my-robot/report/report.html").exists());
}
