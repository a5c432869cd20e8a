//! The explorer in a real Chromium: `web/tests/explore.mjs` drives the page, this file gives it something to show.
//!
//! Needs Node, Chromium and the installed packages of `web/`; skips with a message without them, and fails instead
//! if `AUTOQD_REQUIRE_ALL` is 1.

mod common;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use autoqd::policy::Policy;
use autoqd::registry::Registry;
use autoqd::runner::{Limits, Runner};
use autoqd_env::{Action, Environment, LocomotionTask, Perturbation, Seed, Task};
use autoqd_view::report::{ReportOptions, report};
use autoqd_view::server::{Server, ServerConfig, page_is_built};
use autoqd_view::{Change, RunView};
use serde_json::{Value, json};

/// Where Chromium is, if everything needed is there.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("AUTOQD_CHROMIUM").map(PathBuf::from);
    let places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let found = named.or_else(|| places.iter().map(PathBuf::from).find(|p| p.exists()));
    let packages = web().join("node_modules/playwright-core").is_dir();
    let missing = match (&found, packages, page_is_built()) {
        (None, _, _) => "Chromium (Debian package `chromium`)",
        (_, false, _) => "the packages of web/ (`npm ci` in web/)",
        (_, _, false) => "the explorer's page (`make web`, then build again)",
        _ => return found,
    };
    let strict = std::env::var("AUTOQD_REQUIRE_ALL").is_ok_and(|v| v == "1");
    assert!(!strict, "missing: {missing}");
    eprintln!("skipped: {missing} is missing");
    None
}

fn web() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web")
}

/// One browser at a time: two at once would measure each other.
static BROWSER: Mutex<()> = Mutex::new(());

/// Runs one scenario of the driver; its messages are this test's messages.
fn drive(chromium: &Path, scenario: &str, url: &str, facts: &Value) {
    let _alone = BROWSER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let output = Command::new("node")
        .arg(web().join("tests/explore.mjs"))
        .args([scenario, url, &facts.to_string()])
        .env("AUTOQD_CHROMIUM", chromium)
        .output()
        .expect("node can be started");
    let words =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{scenario}: {words}");
    println!("{words}");
}

struct Running {
    address: SocketAddr,
    _runtime: tokio::runtime::Runtime,
}

fn serve(paths: &[&Path]) -> Running {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let runs = paths.iter().map(|path| RunView::open(path, &Registry::default()).unwrap()).collect();
    // One place for a page that follows: a page that is closed must give it back.
    let config = ServerConfig { poll: Duration::from_millis(200), followers: 1, ..ServerConfig::default() };
    let server = runtime.block_on(Server::bind(runs, config)).unwrap();
    let address = server.address();
    runtime.spawn(server.serve(std::future::pending()));
    Running { address, _runtime: runtime }
}

fn elites(path: &Path) -> usize {
    RunView::open(path, &Registry::default()).unwrap().archive().unwrap().len()
}

#[test]
fn the_archive_of_a_real_run_can_be_explored() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (swimmer, walker) = (folder.path().join("swimmer"), folder.path().join("walker"));
    common::run::search(&swimmer, "swimmer", 3);
    common::run::search(&walker, "bipedal-walker", 2);
    let server = serve(&[&swimmer, &walker]);
    let facts = json!({ "elites": [elites(&swimmer), elites(&walker)] });
    drive(&chromium, "explore", &format!("http://{}/", server.address), &facts);
}

/// A finished real run with further settings.
fn search_with(path: &Path, task: &str, iterations: u64, settings: &[&str]) {
    let config = common::run::config(task, iterations, &[&["threads=1"], settings].concat());
    let mut runner = Runner::create(path, config, &Registry::default()).unwrap();
    runner.run(Limits::default(), &|| false, &mut common::run::Silent).unwrap();
}

#[test]
fn elites_outside_the_bounds_are_shown_where_they_are() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("narrow");
    search_with(&path, "hopper", 3, &["bounds=0.4"]);
    let server = serve(&[&path]);
    let facts = json!({ "elites": elites(&path) });
    drive(&chromium, "outside", &format!("http://{}/", server.address), &facts);
}

#[test]
fn runs_are_compared_side_by_side() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let paths = ["first", "second", "walker"].map(|name| folder.path().join(name));
    search_with(&paths[0], "swimmer", 3, &["seed=1"]);
    search_with(&paths[1], "swimmer", 3, &["seed=2"]);
    common::run::search(&paths[2], "bipedal-walker", 1);
    let server = serve(&[&paths[0], &paths[1], &paths[2]]);
    drive(&chromium, "runs", &format!("http://{}/", server.address), &json!({ "runs": 3 }));
}

#[test]
fn a_run_that_is_still_going_is_followed() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("going");
    let config = common::run::config("swimmer", 1000, &["threads=1", "checkpoint_every=1"]);
    let mut runner = Runner::create(&path, config, &Registry::default()).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let going = scope.spawn(|| {
            let stop = || stop.load(Ordering::Relaxed);
            runner.run(Limits::default(), &stop, &mut common::run::Silent).unwrap();
        });
        let server = serve(&[&path]);
        let result = std::panic::catch_unwind(|| {
            drive(&chromium, "live", &format!("http://{}/", server.address), &Value::Null);
        });
        stop.store(true, Ordering::Relaxed);
        going.join().unwrap();
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn ten_thousand_elites_stay_at_interactive_speed() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many");
    common::run::filled(&path, "hopper", 10_000);
    let server = serve(&[&path]);
    drive(&chromium, "many", &format!("http://{}/", server.address), &json!({ "elites": 10_000 }));
}

/// `geom_xpos` and `geom_xmat` after this many steps of an elite, computed by MuJoCo from the unmodified model.
fn geoms(run: &RunView, name: &str, row: usize, steps: usize) -> Vec<Value> {
    let archive = run.archive().unwrap();
    let task = LocomotionTask::builtin(name, &Perturbation::default()).unwrap();
    let spec = run.config().unwrap().policy.shape(task.spec()).unwrap();
    let mut policy = Policy::new(&spec, archive.parameters.row(row)).unwrap();
    let mut world = task.world().unwrap();
    let mut observation = vec![0.0; world.spec().observation_size];
    let mut action = vec![0.0; world.spec().action_size];
    world.reset(Some(&Seed::from(archive.seeds.row(row)[0])), &mut observation).unwrap();
    let mut beside = common::mujoco::Beside::new(&task, &world);
    for _ in 0..steps {
        policy.act(&observation, &mut action);
        beside.step(&action.iter().map(|a| f64::from(*a)).collect::<Vec<f64>>());
        world.step(Action::F32(&action), &mut observation).unwrap();
    }
    beside.geoms().iter().map(|pose| json!([pose.position, pose.rotation])).collect()
}

#[test]
fn meshes_stand_where_the_simulator_says() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    for task in common::mujoco::TASKS {
        let path = folder.path().join(task);
        common::run::filled(&path, task, 4);
        let run = RunView::open(&path, &Registry::default()).unwrap();
        let replay = run.replay(&run.archive().unwrap(), 2, Change::default()).unwrap();
        let frame = replay.frames() / 3;
        assert!(frame > 1, "{task}: an episode of {} frames shows nothing", replay.frames());
        let time = frame as f64 * replay.seconds_per_frame();
        let server = serve(&[&path]);
        let poses = geoms(&run, task, 2, frame);
        let facts = json!({ "id": 1002, "time": time, "frame": frame, "poses": poses });
        drive(&chromium, "matrices", &format!("http://{}/", server.address), &facts);
    }
}

#[test]
fn the_report_plays_without_a_server() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let paths = [("swimmer", 3), ("bipedal-walker", 1)].map(|(task, iterations)| {
        let path = folder.path().join(task);
        common::run::search(&path, task, iterations);
        path
    });
    let runs: Vec<RunView> =
        paths.iter().map(|path| RunView::open(path, &Registry::default()).unwrap()).collect();
    let page = report(&runs, ReportOptions { behaviours: 3, seconds: 4.0, ..Default::default() }).unwrap();
    assert!(page.len() < 20_000_000);
    let links = page.matches("href=\"").count();
    assert_eq!(links, page.matches("href=\"#").count(), "links lead to places in the report alone");
    assert!(links >= 4, "a report of two runs has a table of contents");
    for reference in ["http://", "https://", "src=\"/"] {
        let allowed = page.matches("http://www.w3.org/2000/svg").count();
        let found = page.matches(reference).count();
        assert_eq!(
            found,
            if reference == "http://" { allowed } else { 0 },
            "the report refers to {reference}"
        );
    }
    let behaviours = page.matches("data-replay=\"").count();
    assert!(behaviours >= 4);
    let file = folder.path().join("report.html");
    std::fs::write(&file, page).unwrap();
    drive(&chromium, "report", &format!("file://{}", file.display()), &json!({ "behaviours": behaviours }));
}
