//! The explorer's server: what it serves, what it rejects, and that it drops work nobody waits for.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use autoqd::registry::Registry;
use autoqd_measure::LoadedRun;
use autoqd_view::RunView;
use autoqd_view::server::{Server, ServerConfig};
use common::run::filled;
use serde_json::Value;

/// A server on a free port, stopped when dropped.
struct Running {
    address: SocketAddr,
    _runtime: tokio::runtime::Runtime,
}

fn serve(runs: &[&Path], config: ServerConfig) -> Running {
    serve_views(runs.iter().map(|path| RunView::open(path, &Registry::default()).unwrap()).collect(), config)
}

fn serve_views(runs: Vec<RunView>, config: ServerConfig) -> Running {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(Server::bind(runs, config)).unwrap();
    let address = server.address();
    runtime.spawn(server.serve(std::future::pending()));
    Running { address, _runtime: runtime }
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Sends bytes as they are and reads to the end.
fn raw(address: SocketAddr, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // A server that has seen enough may close before everything is written.
    let _ = stream.write_all(request);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").map_or(bytes.len(), |i| i + 4);
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let mut body = bytes[end..].to_vec();
    if head.to_lowercase().contains("transfer-encoding: chunked") {
        body = unchunk(&body);
    }
    Answer { status, head, body }
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|w| w == b"\r\n") {
        let size = usize::from_str_radix(&String::from_utf8_lossy(&bytes[..end]), 16).unwrap_or(0);
        let from = end + 2;
        if size == 0 || bytes.len() < from + size + 2 {
            break;
        }
        whole.extend(&bytes[from..from + size]);
        bytes = &bytes[from + size + 2..];
    }
    whole
}

fn request(address: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    raw(address, text.as_bytes())
}

fn get(address: SocketAddr, path: &str) -> Answer {
    request(address, "GET", path, "", "")
}

fn replay(address: SocketAddr, run: &str, body: &str) -> Answer {
    request(address, "POST", &format!("/api/runs/{run}/replay"), "content-type: application/json\r\n", body)
}

/// Header and the rest of an answer with a leading header.
fn split(body: &[u8]) -> (Value, &[u8]) {
    let length = u32::from_le_bytes(body[..4].try_into().unwrap()) as usize;
    (serde_json::from_slice(&body[4..4 + length]).unwrap(), &body[4 + length..])
}

#[test]
fn a_task_is_shown_at_work_before_any_search() {
    for task in ["point-maze", "hopper"] {
        let view = RunView::of_task(task, &Registry::default()).unwrap();
        let server = serve_views(vec![view], ServerConfig::default());
        let archive = request(server.address, "GET", &format!("/api/runs/{task}/archive"), "", "");
        let (header, _) = split(&archive.body);
        assert_eq!(header["labels"], serde_json::json!(["zero", "sine", "random"]), "{task}");
        assert_eq!(header["show"].as_array().unwrap().len(), 3);
        let frames = |id: u32| {
            let answer = replay(server.address, task, &format!("{{\"id\": {id}}}"));
            assert_eq!(answer.status, 200, "{task} {id}");
            split(&answer.body).1.to_vec()
        };
        let all = [1, 2, 3].map(frames);
        assert!(all[0] != all[1] && all[1] != all[2], "{task}: every hand acts in its own way");
        assert_eq!(frames(3), all[2], "random actions are the same again");
        assert_eq!(replay(server.address, task, "{\"id\": 4}").status, 404);
    }
    assert!(RunView::of_task("nowhere.toml", &Registry::default()).is_err());
}

fn hopper(elites: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    filled(&folder.path().join("Hopper run 1"), "hopper", elites);
    folder
}

#[test]
fn runs_archive_and_metrics_are_those_of_the_folder() {
    let folder = hopper(300);
    let server = serve(&[&folder.path().join("Hopper run 1")], ServerConfig::default());
    let runs = get(server.address, "/api/runs").json();
    assert_eq!(runs[0]["id"], "hopper-run-1");
    assert_eq!(runs[0]["elites"], 300);
    assert_eq!(runs[0]["changeable"], true);
    let answer = get(server.address, "/api/runs/hopper-run-1/archive");
    let (header, rest) = split(&answer.body);
    assert_eq!(header["elites"], 300);
    assert_eq!(header["cells"], serde_json::json!([100, 100]));
    let columns = header["columns"].as_array().unwrap();
    assert_eq!(rest.len(), 8 * 300 * columns.len());
    let objective = columns.iter().position(|c| c == "objective").unwrap();
    let first = f64::from_le_bytes(rest[8 * 300 * objective..][..8].try_into().unwrap());
    assert_eq!(
        first,
        RunView::open(&folder.path().join("Hopper run 1"), &Registry::default())
            .unwrap()
            .archive()
            .unwrap()
            .objective[0]
    );
    let metrics = get(server.address, "/api/runs/hopper-run-1/metrics").json();
    assert_eq!(metrics["qd_score"].as_array().unwrap().len(), 500);
    let tag = format!("if-none-match: \"{}\"\r\n", header["version"].as_str().unwrap());
    assert_eq!(request(server.address, "GET", "/api/runs/hopper-run-1/archive", &tag, "").status, 304);
}

#[test]
fn a_replay_holds_every_pose_of_the_episode() {
    let folder = hopper(10);
    let path = folder.path().join("Hopper run 1");
    let server = serve(&[&path], ServerConfig::default());
    let answer = replay(server.address, "hopper-run-1", r#"{"id": 1003}"#);
    assert_eq!(answer.status, 200, "{}", answer.head);
    let (header, rest) = split(&answer.body);
    let shapes = header["scene"]["shapes"].as_array().unwrap().len();
    let run = RunView::open(&path, &Registry::default()).unwrap();
    let want = run.replay(&run.archive().unwrap(), 3, Default::default()).unwrap();
    let width = 4 * (12 * shapes + 2);
    assert_eq!(rest.len(), width * want.frames());
    let number = |at: usize| f64::from(f32::from_le_bytes(rest[at..at + 4].try_into().unwrap()));
    for frame in [0, want.frames() / 2, want.frames() - 1] {
        for (s, pose) in want.poses(frame).iter().enumerate() {
            for (i, value) in pose.position.iter().chain(&pose.rotation).enumerate() {
                assert!((number(frame * width + 4 * (12 * s + i)) - value).abs() < 1e-5);
            }
        }
    }
    let other =
        replay(server.address, "hopper-run-1", r#"{"id": 1003, "friction_scale": 0.3, "mass_scale": 1.5}"#);
    assert_ne!(other.body, answer.body, "changed physics changes the episode");
}

#[test]
fn only_the_named_runs_can_be_reached() {
    let folder = hopper(5);
    filled(&folder.path().join("secret"), "hopper", 5);
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("Hopper run 1/link")).unwrap();
    let server = serve(&[&folder.path().join("Hopper run 1")], ServerConfig::default());
    let odd = [
        "/api/runs/secret/archive",
        "/api/runs/..%2Fsecret/archive",
        "/api/runs/%2e%2e/archive",
        "/api/runs/../secret/archive",
        "/api/runs/hopper-run-1/link",
        "/api/runs/hopper-run-1/config.toml",
        "/api/runs/hopper-run-1/../../../../etc/passwd",
        "/api/runs/%00/metrics",
        "/api/runs//archive",
        "/etc/passwd",
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/assets/../../../Cargo.toml",
        "//etc/passwd",
        "/index.html%00",
        "/.git/config",
    ];
    for path in odd {
        let answer = get(server.address, path);
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.head);
        assert!(!String::from_utf8_lossy(&answer.body).contains("root:"), "{path}");
    }
}

#[test]
fn malformed_and_huge_requests_are_refused() {
    let folder = hopper(5);
    let server = serve(&[&folder.path().join("Hopper run 1")], ServerConfig::default());
    let bodies = [
        "",
        "{",
        "null",
        "[]",
        "{}",
        r#"{"id": -1}"#,
        r#"{"id": 1.5}"#,
        r#"{"id": 1e99}"#,
        r#"{"id": "1000"}"#,
        r#"{"id": 1000, "mass_scale": 0}"#,
        r#"{"id": 1000, "mass_scale": -1}"#,
        r#"{"id": 1000, "friction_scale": 1e9}"#,
        r#"{"id": 1000, "mass_scale": null}"#,
        r#"{"id": 1000, "path": "/etc/passwd"}"#,
    ];
    for body in bodies {
        let answer = replay(server.address, "hopper-run-1", body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.head);
    }
    assert_eq!(replay(server.address, "hopper-run-1", r#"{"id": 77}"#).status, 404);
    assert_eq!(replay(server.address, "nobody", r#"{"id": 1000}"#).status, 404);
    let huge = format!("{{\"id\": 1000, \"x\": \"{}\"}}", "a".repeat(100_000));
    assert!(matches!(replay(server.address, "hopper-run-1", &huge).status, 0 | 400 | 413));
    let long = get(server.address, &format!("/{}", "a".repeat(200_000)));
    assert!(matches!(long.status, 0 | 400 | 404 | 414 | 431), "{}", long.status);
    for bytes in [&b"\x00\x01\x02\x03\r\n\r\n"[..], b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"] {
        assert!(matches!(raw(server.address, bytes).status, 0 | 400 | 505));
    }
    // After all that it still answers.
    assert_eq!(get(server.address, "/api/runs").status, 200);
}

#[test]
fn nothing_can_be_written_and_other_origins_are_turned_away() {
    let folder = hopper(5);
    let server = serve(&[&folder.path().join("Hopper run 1")], ServerConfig::default());
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        assert_eq!(
            request(server.address, method, "/api/runs/hopper-run-1/archive", "", "").status,
            405,
            "{method}"
        );
    }
    for path in ["/", "/api/runs", "/api/runs/hopper-run-1/archive", "/api/runs/hopper-run-1/metrics"] {
        assert!(matches!(request(server.address, "POST", path, "", "").status, 404 | 405), "{path}");
    }
    let port = server.address.port();
    let host = |name: &str| {
        raw(
            server.address,
            format!("GET /api/runs HTTP/1.1\r\nhost: {name}\r\nconnection: close\r\n\r\n").as_bytes(),
        )
    };
    assert_eq!(host(&format!("localhost:{port}")).status, 200);
    assert_eq!(host(&format!("evil.example:{port}")).status, 421);
    assert_eq!(host("").status, 421);
    let foreign = request(
        server.address,
        "POST",
        "/api/runs/hopper-run-1/replay",
        "origin: http://evil.example\r\ncontent-type: application/json\r\n",
        r#"{"id": 1000}"#,
    );
    assert_eq!(foreign.status, 403);
}

#[test]
fn every_answer_carries_the_security_headers() {
    let folder = hopper(5);
    let server = serve(&[&folder.path().join("Hopper run 1")], ServerConfig::default());
    for path in ["/", "/api/runs", "/nothing", "/api/runs/nobody/archive"] {
        let head = get(server.address, path).head.to_lowercase();
        for wanted in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
        ] {
            assert!(head.contains(wanted), "{path}: no {wanted} in {head}");
        }
        assert!(!head.contains("access-control-allow-origin"), "{path}");
    }
}

#[test]
fn simulations_are_bounded_in_number_and_time() {
    let folder = tempfile::tempdir().unwrap();
    filled(&folder.path().join("ant"), "ant", 5);
    let config = ServerConfig {
        simulations: 1,
        waiting: 1,
        simulation_time: Duration::from_millis(1),
        ..ServerConfig::default()
    };
    let server = serve(&[&folder.path().join("ant")], config);
    let address = server.address;
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let one = || scope.spawn(move || replay(address, "ant", r#"{"id": 1000}"#));
        let threads: Vec<_> = (0..8).map(|_| one()).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(answers.iter().any(|a| a.status == 200));
    assert!(answers.iter().all(|a| matches!(a.status, 200 | 503)));
    // The last frame of what was cut off says so.
    let cut = answers.iter().filter(|a| a.status == 200).any(|a| {
        let rest = split(&a.body).1;
        f32::from_le_bytes(rest[rest.len() - 4..].try_into().unwrap()) == 4.0
    });
    assert!(cut, "an episode of 1000 steps of Ant does not fit into a millisecond");
}

#[test]
fn a_page_that_is_closed_frees_its_place() {
    let folder = tempfile::tempdir().unwrap();
    filled(&folder.path().join("ant"), "ant", 3);
    let config = ServerConfig {
        followers: 2,
        simulations: 1,
        poll: Duration::from_millis(20),
        ..ServerConfig::default()
    };
    let server = serve(&[&folder.path().join("ant")], config);
    let follow = || {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let text = format!("GET /api/runs/ant/live HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
        stream.write_all(text.as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        (stream, String::from_utf8_lossy(&first[9..]).into_owned())
    };
    let pages = [follow(), follow()];
    assert_eq!([&pages[0].1, &pages[1].1], ["200", "200"]);
    assert_eq!(follow().1, "429");
    drop(pages);
    // A replay whose reader goes away in the middle must not keep the only place either.
    let mut stream = TcpStream::connect(server.address).unwrap();
    let body = r#"{"id": 1000}"#;
    let text = format!(
        "POST /api/runs/ant/replay HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    stream.write_all(text.as_bytes()).unwrap();
    stream.read_exact(&mut [0; 20]).unwrap();
    drop(stream);
    let deadline = Instant::now() + Duration::from_secs(20);
    while follow().1 != "200" {
        assert!(Instant::now() < deadline, "the places of closed pages are still taken");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(replay(server.address, "ant", r#"{"id": 1001}"#).status, 200);
}

#[test]
fn the_live_stream_tells_of_a_new_archive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hopper");
    filled(&path, "hopper", 5);
    let server = serve(&[&path], ServerConfig { poll: Duration::from_millis(20), ..ServerConfig::default() });
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let text = format!("GET /api/runs/hopper/live HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    stream.write_all(text.as_bytes()).unwrap();
    let mut seen = String::new();
    let mut wait_for = |wanted: &str| {
        let mut bytes = [0; 4096];
        while !seen.contains(wanted) {
            let n = stream.read(&mut bytes).unwrap();
            assert!(n > 0, "the stream ended before {wanted}");
            seen.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
    };
    wait_for("\"elites\":5");
    let run = RunView::open(&path, &Registry::default()).unwrap();
    common::run::random_archive(run.config().unwrap(), 9).write_parquet(&run.archive_path()).unwrap();
    wait_for("\"elites\":9");
}

#[test]
fn a_task_without_physics_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("maze");
    filled(&path, "point-maze", 3);
    let server = serve(&[&path], ServerConfig::default());
    assert_eq!(get(server.address, "/api/runs").json()[0]["changeable"], false);
    assert_eq!(replay(server.address, "maze", r#"{"id": 1000}"#).status, 200);
    let answer = replay(server.address, "maze", r#"{"id": 1000, "mass_scale": 2.0}"#);
    assert_eq!(answer.status, 422, "{}", answer.head);
}

#[test]
fn a_list_and_a_table_are_explored_like_their_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hopper");
    filled(&path, "hopper", 5);
    let run = LoadedRun::open(&path).unwrap();
    let (list, table) = (folder.path().join("few.json"), folder.path().join("table.parquet"));
    run.selection(&[4, 1], &list).unwrap().write(&list).unwrap();
    let mut other = run.table.clone();
    other.metadata.insert("task".to_owned(), "hopper".to_owned());
    other.write_parquet(&table).unwrap();
    let server = serve(&[&list, &table], ServerConfig::default());
    let runs = get(server.address, "/api/runs").json();
    assert_eq!((&runs[0]["elites"], &runs[0]["seed"]), (&2.into(), &0.into()));
    assert_eq!((&runs[1]["elites"], &runs[1]["seed"]), (&5.into(), &Value::Null));
    assert_eq!(runs[1]["state"], "finished");
    let (chosen, other) = (run.table.id[4], run.table.id[0]);
    assert_eq!(replay(server.address, "few-json", &format!(r#"{{"id": {chosen}}}"#)).status, 200);
    assert_eq!(replay(server.address, "few-json", &format!(r#"{{"id": {other}}}"#)).status, 404);
    assert_eq!(replay(server.address, "table-parquet", &format!(r#"{{"id": {other}}}"#)).status, 200);
    assert_eq!(get(server.address, "/api/runs/table-parquet/metrics").status, 200);
    assert_eq!(get(server.address, "/api/runs/table-parquet/archive").status, 200);
}

#[test]
fn a_film_and_a_policy_can_be_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("films");
    filled(&path, "hopper", 3);
    let server = serve(&[&path], ServerConfig::default());
    let get = |what: &str| request(server.address, "GET", &format!("/api/runs/films/{what}"), "", "");
    let film = get("film?id=1001&mass_scale=2&seconds=0.2");
    assert_eq!((film.status, &film.body[..4]), (200, &b"GIF8"[..]));
    assert!(film.head.contains("filename=\"films-elite-1001.gif\""), "{}", film.head);
    let policy = get("policy?id=1001");
    let run = LoadedRun::open(&path).unwrap();
    let spec = run.policy_spec(run.task(&Registry::default()).unwrap().spec()).unwrap();
    let model = autoqd::export::policy_to_onnx(&spec, run.parameters(run.row(1001).unwrap())).unwrap();
    assert_eq!((policy.status, policy.body), (200, model));
    assert_eq!(get("film?id=99").status, 404);
    for wrong in
        ["film", "film?id=x", "film?id=1001&seconds=60", "film?id=1001&mass_scale=0", "policy?id=1&a=b"]
    {
        assert_eq!(get(wrong).status, 400, "{wrong}");
    }
}

#[test]
fn a_page_of_another_site_gets_no_answer_without_an_origin_header() {
    let folder = hopper(3);
    let server = serve(&[&folder.path().join("Hopper run 1")], ServerConfig::default());
    let asked = |path: &str, headers: &str| request(server.address, "GET", path, headers, "").status;
    for site in ["cross-site", "same-site"] {
        assert_eq!(asked("/api/runs", &format!("sec-fetch-site: {site}\r\n")), 403);
        let link =
            format!("sec-fetch-site: {site}\r\nsec-fetch-mode: navigate\r\nsec-fetch-dest: document\r\n");
        assert_eq!(asked("/api/runs", &link), 403);
        assert_ne!(asked("/", &link), 403);
    }
    for site in ["same-origin", "none"] {
        assert_eq!(asked("/api/runs", &format!("sec-fetch-site: {site}\r\n")), 200);
    }
}

#[test]
fn half_requests_do_not_stay_open_whether_head_or_body_is_missing() {
    let folder = hopper(3);
    let config = ServerConfig { request_time: Duration::from_millis(300), ..ServerConfig::default() };
    let server = serve(&[&folder.path().join("Hopper run 1")], config);
    let mut half: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    let head = format!(
        "POST /api/runs/hopper-run-1/replay HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n",
        server.address
    );
    let halves = [
        "GET /api/runs HTTP/1.1\r\nhost: ".to_owned(),
        format!("{head}content-length: 50\r\n\r\n{{\"id\""),
        format!("{head}transfer-encoding: chunked\r\n\r\n5\r\n"),
    ];
    for (stream, text) in half.iter_mut().zip(halves.iter().cycle()) {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
    }
    for mut stream in half {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).expect("the server closes the connection");
    }
    assert_eq!(get(server.address, "/api/runs").status, 200);
}

#[test]
fn a_server_for_other_machines_asks_for_a_token() {
    let folder = hopper(3);
    let address = std::net::IpAddr::from([0, 0, 0, 0]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let run = RunView::open(&folder.path().join("Hopper run 1"), &Registry::default()).unwrap();
    let config = ServerConfig { address, ..ServerConfig::default() };
    let server = runtime.block_on(Server::bind(vec![run], config)).unwrap();
    let (url, port) = (server.url(), server.address().port());
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    runtime.spawn(server.serve(std::future::pending()));
    let (_, token) = url.split_once("?token=").unwrap();
    assert_eq!(token.len(), 32);
    let asked = |path: &str, headers: &str| request(address, "GET", path, headers, "");
    for (path, cookie) in
        [("/api/runs", ""), ("/", ""), ("/?token=0", ""), ("/", "cookie: autoqd-token=0\r\n")]
    {
        assert_eq!(asked(path, cookie).status, 401, "{path} {cookie}");
    }
    let let_in = asked(&format!("/?token={token}"), "");
    assert_eq!(let_in.status, 303);
    assert!(let_in.head.contains(&format!("autoqd-token={token}; Path=/; HttpOnly; SameSite=Strict")));
    assert_eq!(asked("/api/runs", &format!("cookie: a=b; autoqd-token={token}\r\n")).status, 200);
}
