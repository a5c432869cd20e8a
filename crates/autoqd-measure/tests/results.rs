//! The committed page of results is that of the committed data, and only runs that can be compared get there.

use std::path::{Path, PathBuf};

use autoqd::config::Layers;
use autoqd::observer::{IterationReport, Observer, ObserverError};
use autoqd::registry::Registry;
use autoqd::runner::{Limits, Runner};
use autoqd::search::thread_pool;
use autoqd_measure::{
    Bench, LoadedRun, Origin, Paper, Protocol, Reference, RunEvaluation, Stored, collect, evaluate,
    read_records, results_page,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_page_matches_the_data() {
    let page = results_page(&root().join("results")).unwrap();
    let path = root().join("docs/results.md");
    if std::env::var_os("AUTOQD_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(committed == page, "docs/results.md is not what results/ gives: run `make results`");
}

#[test]
fn every_task_of_the_paper_has_its_numbers() {
    let paper = Paper::read(&root().join("results")).unwrap();
    assert_eq!((paper.tasks.len(), paper.methods.len(), paper.names.len()), (6, 7, 7));
    for task in &paper.tasks {
        assert_eq!([task.qd.len(), task.qvs.len()], [6, 6], "{}: Table 1 has no PGA-ME", task.task);
        assert_eq!(
            [task.vs.len(), task.mean.len(), task.max.len(), task.coverage.len()],
            [7; 4],
            "{}",
            task.task
        );
    }
    let hopper = paper.tasks.iter().find(|task| task.task == "hopper").unwrap();
    let vs = paper.estimate(&hopper.vs, "autoqd").unwrap();
    assert_eq!((vs.mean, vs.standard_error), (4.5, Some(0.2)));
}

struct Silent;

impl Observer for Silent {
    fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
        Ok(())
    }
}

/// A small run of the point maze.
fn small_run(path: &Path, limits: Limits) {
    let registry = Registry::default();
    let mut layers = Layers::new(&registry).preset("paper").unwrap();
    for setting in ["iterations=4", "batch_size=3", "update_schedule=[2]", "threads=1", "seed=7"] {
        layers = layers.set(setting).unwrap();
    }
    let config = layers.flag("task", "point-maze", "test").unwrap().build().unwrap();
    let facts = registry.task("point-maze", &Default::default()).unwrap();
    let config = config.resolve(&facts.spec().into(), &registry).unwrap();
    let mut runner = Runner::create(path, config, &registry).unwrap();
    runner.run(limits, &|| false, &mut Silent).unwrap();
}

fn evaluate_run(path: &Path, reference: Option<&Reference>) -> Reference {
    let run = [LoadedRun::open(path).unwrap()];
    let protocol = Protocol { episodes: 2, recheck_episodes: 4, features: 50, ..Protocol::default() };
    let bench = Bench::new(Registry::default(), thread_pool(Some(1)).unwrap());
    let found = evaluate(&run, &protocol, reference, &bench, &mut ()).unwrap();
    Stored::new(&run[0], found.of_run(0)).write(&run[0].folder).unwrap();
    found.reference
}

#[test]
fn a_run_is_kept_once_it_is_finished_and_comparable() {
    let folder = tempfile::tempdir().unwrap();
    let (run, results) = (folder.path().join("run"), folder.path().join("results"));
    let origin = Origin { commit: "abc".to_owned(), command: "autoqd run point-maze".to_owned() };
    let add = || collect(&run, &results, &origin, &Registry::default());
    let refusal = || add().unwrap_err().to_string();

    small_run(&run, Limits { max_env_steps: Some(1), ..Limits::default() });
    assert!(refusal().contains("iteration 1 of 4"), "{}", refusal());
    Runner::resume(&run, Default::default(), &Registry::default())
        .unwrap()
        .run(Limits::default(), &|| false, &mut Silent)
        .unwrap();
    assert!(refusal().contains("is not evaluated"), "{}", refusal());
    let reference = evaluate_run(&run, None);
    assert!(refusal().contains("reference"), "{}", refusal());
    let shared = results.join("references/point-maze.json");
    std::fs::create_dir_all(shared.parent().unwrap()).unwrap();
    let other = Reference { bandwidth: Some(123.0), ..reference.clone() };
    other.write(&shared).unwrap();
    assert!(refusal().contains("another scale"), "{}", refusal());
    // The best mean may differ: it is taken from all runs when the page is made.
    Reference { best_mean: Some(1e6), ..reference.clone() }.write(&shared).unwrap();

    let kept = add().unwrap();
    assert!(kept.starts_with(results.join("runs/point-maze")) && kept.ends_with("seed-7"), "{kept:?}");
    let curve = std::fs::read_to_string(kept.join("curve.csv")).unwrap();
    assert_eq!(curve.lines().count(), 5, "{curve}");
    let text = std::fs::read_to_string(kept.join("eval/metrics.json")).unwrap();
    assert!(!text.contains(&*folder.path().to_string_lossy()), "no path of this machine");
    let records = read_records(&results).unwrap();
    assert_eq!(records.len(), 1);
    assert!(!records[0].is_paper() && records[0].own_budget, "fewer iterations than the paper");
    assert_eq!(records[0].differs.get("batch_size").map(String::as_str), Some("3"));
    assert_eq!(records[0].origin, origin);

    let stored = Stored::<RunEvaluation>::read(&run).unwrap().unwrap();
    Stored { archive: Some("an archive of before".to_owned()), ..stored }.write(&run).unwrap();
    assert!(refusal().contains("another archive"), "{}", refusal());
}
