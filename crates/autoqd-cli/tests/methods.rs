//! The commands that lay methods beside each other, with the real program, on folders of every kind of method.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Methods and settings for runs of a second on Hopper, whose untrained policies soon fall.
const METHODS: [(&str, &[&str]); 6] = [
    ("dvd-es", &["dvd.agents=3", "dvd.pairs=2"]),
    ("pga-me", &["pg.random_start=1", "pg.critic_steps=20", "pg.critic_hidden=[16]", "policy.hidden=[8]"]),
    ("regular", &["emitters=2", "policy.hidden=[8]"]),
    ("sac", &["sac.hidden=[16,16]", "sac.iteration_steps=150"]),
    (
        "smerl",
        &["sac.hidden=[16,16]", "sac.iteration_steps=150", "smerl.optimum_steps=200", "smerl.skills=3"],
    ),
    ("td3", &["td3.hidden=[16,16]", "td3.iteration_steps=150", "td3.critic_layer_norm=true"]),
];

fn autoqd(args: &[&str], paths: &[&Path]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_autoqd"));
    let output = command.args(args).args(paths).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// A short run of each method.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let run = |(name, settings): &(&str, &[&str])| {
        let path = folder.join(name);
        let method = format!("--method={name}");
        let start = ["run", "hopper", &method, "--preset=quick", "--seed=3", "--iterations=3"];
        let sets = settings.iter().chain(&["batch_size=8", "episodes=2"]).flat_map(|set| ["--set", *set]);
        autoqd(&start.into_iter().chain(sets).chain(["--out"]).collect::<Vec<_>>(), &[&path]);
        path
    };
    METHODS.iter().map(run).collect()
}

/// Ended when the test ends, however it does.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ask(address: &str, request: &str, body: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let kind = "Content-Type: application/json";
    let head = format!("{request} HTTP/1.1\r\nHost: {address}\r\n{kind}\r\nContent-Length: {length}\r\n");
    write!(stream, "{head}Connection: close\r\n\r\n{body}").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

/// The explorer serves the archive of every run, and plays a policy of it.
fn explore(paths: &[&Path]) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_autoqd"));
    program.args(["explore", "--port=0"]).args(paths).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = Server(program.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let Some(address) = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()) else {
        let mut said = String::new();
        server.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        // A program built without Node has no page, and says so.
        assert!(said.contains("make web"), "{line}{said}");
        return;
    };
    for (name, _) in METHODS {
        let archive = ask(address, &format!("GET /api/runs/{name}/archive"), "");
        let text = String::from_utf8_lossy(&archive);
        let best = text.split("\"show\":[").nth(1).and_then(|rest| rest.split([',', ']']).next());
        let best = best.unwrap_or_else(|| panic!("{name}: {text}"));
        let replay = ask(address, &format!("POST /api/runs/{name}/replay"), &format!("{{\"id\":{best}}}"));
        assert!(replay.starts_with(b"HTTP/1.1 200"), "{name}: {}", String::from_utf8_lossy(&replay));
    }
}

#[test]
fn compare_adapt_and_explore_work_on_all_methods_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let runs = runs(folder.path());
    let paths: Vec<&Path> = runs.iter().map(PathBuf::as_path).collect();
    let compared = autoqd(&["compare"], &paths);
    assert!(METHODS.iter().all(|(name, _)| compared.contains(name)), "{compared}");
    assert!(compared.contains("Gradient steps") && compared.contains("Wall time (s)"), "{compared}");
    let steps = |path: &Path| {
        let run = autoqd_measure::Run::open(path).unwrap().load().unwrap();
        let budget = run.budget.unwrap();
        assert!(budget.seconds.unwrap() > 0.0 && budget.env_steps > 0);
        budget.gradient_steps
    };
    let spent: Vec<Option<u64>> = paths.iter().map(|path| steps(path)).collect();
    // An update per step after the first hundred; critics' updates and the steps of candidates.
    assert_eq!((spent[0], spent[2], spent[3], spent[5]), (None, None, Some(350), Some(350)));
    assert!(spent[1] > Some(3 * 20) && spent[4].is_some(), "{spent:?}");
    for path in &paths {
        autoqd(&["adapt", "--vary=mass-scale=1:1.5:0.5", "--episodes=1"], &[path]);
    }
    explore(&paths);
}
