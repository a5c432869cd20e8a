//! The report as a file: what is in it and how large it gets. `browser.rs` looks at it in Chromium.

mod common;

use autoqd::registry::Registry;
use autoqd_view::RunView;
use autoqd_view::report::{ReportOptions, report};
use serde_json::json;

fn behaviours(page: &str) -> usize {
    page.matches("data-replay=\"").count()
}

#[test]
fn a_report_of_many_runs_keeps_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<RunView> = (0..3)
        .map(|i| {
            let path = folder.path().join(format!("run-{i}"));
            common::run::filled(&path, "hopper", 30);
            RunView::open(&path, &Registry::default()).unwrap()
        })
        .collect();
    let free = report(&runs, ReportOptions { behaviours: 4, ..ReportOptions::default() }).unwrap();
    assert_eq!(behaviours(&free), 12);
    let bytes = free.len() - 20_000;
    let small = report(&runs, ReportOptions { behaviours: 4, bytes, ..ReportOptions::default() }).unwrap();
    assert!(small.len() < bytes, "{} of {bytes}", small.len());
    assert_eq!(behaviours(&small), 6);
}

#[test]
fn runs_without_an_archive_and_measured_runs_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, measured) = (folder.path().join("empty"), folder.path().join("measured"));
    common::run::filled(&empty, "hopper", 0);
    common::run::filled(&measured, "hopper", 5);
    let metrics = json!({"version": 1, "local": true, "reference": {"version": 1, "task": "hopper", "protocol": {},
        "normalizer": {"mean": [], "std": []}, "bandwidth": null, "bandwidth_length_normalized": null,
        "offset": 100.0, "best_mean": null}, "metrics": {
        "path": "run", "task": "hopper", "variant": "autoqd", "seed": 0, "policies": 5, "left_out": 0,
        "mean_objective": 12.5, "max_objective": 25.0, "max_rechecked": null, "best_policy": 3, "gt": [],
        "vendi": {"value": 3.25, "lower": 3.0, "upper": 3.5, "rank": 3, "policies": 5},
        "vendi_length_normalized": 3.0, "quality_vendi": null, "budget": null, "evaluation_steps": 100}});
    std::fs::create_dir(measured.join("eval")).unwrap();
    std::fs::write(measured.join("eval/metrics.json"), metrics.to_string()).unwrap();
    let runs = [empty, measured].map(|path| RunView::open(&path, &Registry::default()).unwrap());
    let page = report(&runs, ReportOptions { behaviours: 1, ..ReportOptions::default() }).unwrap();
    assert!(page.contains("The archive has no elite yet"));
    assert!(page.contains("Vendi score") && page.contains("<td>3.25</td>"));
    assert_eq!(behaviours(&page), 1);
}

#[test]
fn a_run_of_a_task_of_ones_own_is_opened_replayed_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    common::run::filled(&path, "point-maze", 5);
    let config = std::fs::read_to_string(path.join("config.toml")).unwrap();
    // Without its checksum, as a folder of an older version.
    let (settings, _) = config.rsplit_once("\n# checksum").unwrap();
    std::fs::write(path.join("config.toml"), settings.replace("point-maze", "my-maze")).unwrap();
    let mut registry = Registry::default();
    assert!(RunView::open(&path, &registry).err().unwrap().to_string().contains("my-maze"));
    registry.register_task("my-maze", |_| {
        Ok(std::sync::Arc::new(autoqd_env::PointMazeTask::default()) as std::sync::Arc<dyn autoqd_env::Task>)
    });
    let run = RunView::open(&path, &registry).unwrap();
    let archive = run.archive().unwrap();
    assert!(run.replay(&archive, 0, autoqd_view::Change::default()).is_ok());
    let page = report(&[run], ReportOptions { behaviours: 1, ..ReportOptions::default() }).unwrap();
    assert_eq!(behaviours(&page), 1);
}
