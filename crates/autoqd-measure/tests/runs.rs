//! The evaluation protocol on real run folders of a small task.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use autoqd::config::{Layers, PartFacts};
use autoqd::embedding::Normalizer;
use autoqd::evaluator::{Candidates, Evaluation, Evaluator, LocalEvaluator, Probe};
use autoqd::observer::{IterationReport, Observer, ObserverError};
use autoqd::policy::{PolicySpec, Weights};
use autoqd::registry::Registry;
use autoqd::run_folder::{ArchiveTable, RunFolder};
use autoqd::runner::{Limits, Runner};
use autoqd::search::thread_pool;
use autoqd_env::Physics;
use autoqd_measure::{
    Bench, LoadedRun, MeasureError, Progress, Protocol, Reference, Round, Selection, TaskEvaluation,
    descriptor_stability, evaluate, name_variants, round_seeds, save_json,
};
use tempfile::TempDir;

struct Silent;

impl Observer for Silent {
    fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
        Ok(())
    }
}

fn make_run(folder: &Path, task: &str, settings: &[&str]) -> PathBuf {
    make_run_of(&Registry::default(), folder, task, settings)
}

fn make_run_of(registry: &Registry, folder: &Path, task: &str, settings: &[&str]) -> PathBuf {
    let path = folder.join(settings.join(",").replace(['[', ']'], ""));
    let mut layers = Layers::new(registry).preset("quick").unwrap();
    for setting in ["iterations=4", "batch_size=3", "update_schedule=[2]", "threads=1"].iter().chain(settings)
    {
        layers = layers.set(setting).unwrap();
    }
    let facts = registry.task(task, &Default::default()).unwrap();
    let config = layers
        .flag("task", task, "test")
        .unwrap()
        .build()
        .unwrap()
        .resolve(&facts.spec().into(), registry)
        .unwrap();
    let mut runner = Runner::create(&path, config, registry).unwrap();
    runner.run(Limits::default(), &|| false, &mut Silent).unwrap();
    path
}

/// Two methods, the first with two seeds.
fn runs(folder: &TempDir) -> Vec<PathBuf> {
    [&["seed=1"][..], &["seed=2"], &["seed=1", "method=regular"]]
        .map(|settings| make_run(folder.path(), "point-maze", settings))
        .into()
}

fn load(paths: &[PathBuf]) -> Vec<LoadedRun> {
    let mut populations: Vec<LoadedRun> = paths.iter().map(|path| LoadedRun::open(path).unwrap()).collect();
    name_variants(&mut populations);
    populations
}

fn bench(threads: usize) -> Bench {
    Bench::new(Registry::default(), thread_pool(Some(threads)).unwrap())
}

fn small() -> Protocol {
    Protocol {
        episodes: 2,
        recheck_episodes: 4,
        features: 50,
        normalizer_policies: 10,
        ..Protocol::default()
    }
}

fn measure(populations: &[LoadedRun], threads: usize, reference: Option<&Reference>) -> TaskEvaluation {
    let bench = bench(threads);
    evaluate(populations, &small(), reference, &bench, &mut ()).unwrap()
}

fn forget(paths: &[PathBuf]) {
    for path in paths {
        let _ = std::fs::remove_dir_all(path.join("eval"));
    }
}

#[test]
fn an_evaluation_depends_neither_on_threads_nor_on_the_order_nor_on_what_was_kept() {
    let folder = tempfile::tempdir().unwrap();
    let paths = runs(&folder);
    let populations = load(&paths);
    let first = measure(&populations, 1, None);
    assert!(first.local);
    assert_eq!(measure(&populations, 1, None), first, "from what was kept");
    forget(&paths);
    assert_eq!(measure(&populations, 3, None), first, "with more threads");
    let turned: Vec<LoadedRun> = populations.iter().rev().cloned().collect();
    let mut again = measure(&turned, 2, None);
    again.runs.reverse();
    assert_eq!((again.reference, again.runs), (first.reference, first.runs), "in another order");
}

#[test]
fn metrics_of_small_runs_are_consistent() {
    let folder = tempfile::tempdir().unwrap();
    let populations = load(&runs(&folder));
    let found = measure(&populations, 2, None);
    let best = found.runs.iter().filter_map(|run| run.mean_objective).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(found.reference.best_mean, Some(best));
    for (run, population) in found.runs.iter().zip(&populations) {
        assert_eq!(run.policies + run.left_out, population.len());
        assert!(run.vendi.value >= 1.0 - 1e-9 && run.vendi.value <= run.policies as f64 + 1e-9);
        assert!(run.mean_objective <= run.max_objective);
        let [fine, coarse] = run.gt[..] else { panic!("two resolutions") };
        assert!(coarse.coverage <= fine.coverage && fine.coverage <= run.policies);
        let weight =
            (run.mean_objective.unwrap() - found.reference.qd_offset) / (best - found.reference.qd_offset);
        assert_eq!(run.quality_vendi, Some(weight * run.vendi.value));
        assert_eq!(run.max_rechecked.unwrap().count, 4);
        let budget = run.budget.unwrap();
        assert_eq!(budget.episodes, budget.evaluations * 2);
    }
    assert_eq!(found.runs[0].variant, "autoqd");
    assert_eq!(found.runs[2].variant, "regular");
}

#[test]
fn results_are_of_the_reference_simulator_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let mut populations =
        load(&[make_run(folder.path(), "swimmer", &["iterations=2", "episodes=1", "emitters=1"])]);
    let reference = measure(&populations, 1, None);
    assert_eq!(reference.notices.iter().filter(|n| n.contains("measured on")).count(), 0);
    populations[0].physics = Physics::Lanes;
    let lanes = measure(&populations, 1, None);
    assert!(lanes.notices.iter().any(|n| n.contains("measured on: lanes")), "{:?}", lanes.notices);
    let returns = |found: &TaskEvaluation| found.runs[0].mean_objective.unwrap();
    assert_ne!(returns(&lanes), returns(&reference), "not what was kept of the reference");
    assert!(
        (returns(&lanes) - returns(&reference)).abs() < 1.0,
        "Swimmer has no contacts to amplify rounding"
    );
}

#[test]
fn the_stored_objective_is_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    let paths = runs(&folder);
    let mut populations = load(&paths[..1]);
    let before = measure(&populations, 1, None);
    populations[0].table.objective.fill(1e9);
    assert_eq!(measure(&populations, 1, None).runs[0].mean_objective, before.runs[0].mean_objective);
}

#[test]
fn a_reference_makes_runs_comparable_that_were_evaluated_apart() {
    let folder = tempfile::tempdir().unwrap();
    let populations = load(&runs(&folder));
    let together = measure(&populations, 1, None);
    let file = folder.path().join("reference.json");
    together.reference.write(&file).unwrap();
    let reference = Reference::read(&file).unwrap();
    assert_eq!(reference, together.reference);
    for (population, expected) in populations.iter().zip(&together.runs) {
        let alone = measure(std::slice::from_ref(population), 1, Some(&reference));
        assert!(!alone.local);
        assert_eq!(&alone.runs[0], expected);
    }
}

#[test]
fn a_reference_of_another_task_or_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let populations = load(&runs(&folder)[..1]);
    let file = folder.path().join("reference.json");
    measure(&populations, 1, None).reference.write(&file).unwrap();
    let arm = autoqd_env::load_task("planar-arm", &Default::default()).unwrap();
    let refused = Reference::read(&file).unwrap().check(&file, arm.spec()).unwrap_err().to_string();
    assert!(refused.contains("point-maze") && refused.contains("planar-arm"), "{refused}");
    let text = std::fs::read_to_string(&file).unwrap().replace("\"version\": 2", "\"version\": 99");
    std::fs::write(&file, text).unwrap();
    assert!(Reference::read(&file).unwrap_err().to_string().contains("update autoqd"));
    std::fs::write(&file, "{}").unwrap();
    assert!(Reference::read(&file).unwrap_err().to_string().contains("not a reference"));
}

#[test]
fn a_reference_with_numbers_that_mean_nothing_is_refused_with_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let populations = load(&runs(&folder)[..1]);
    let sound = measure(&populations, 1, None).reference;
    let file = folder.path().join("reference.json");
    type Spoil = fn(&mut Reference);
    let spoilt: [(&str, Spoil); 12] = [
        ("episodes", |r| r.protocol.episodes = 0),
        ("recheck_episodes", |r| r.protocol.recheck_episodes = 0),
        ("features", |r| r.protocol.features = 0),
        ("normalizer_policies", |r| r.protocol.normalizer_policies = 0),
        ("gamma", |r| r.protocol.gamma = 1e300),
        ("bandwidth", |r| r.bandwidth = Some(0.0)),
        ("bandwidth", |r| r.bandwidth = Some(-1e300)),
        ("bandwidth_length_normalized", |r| r.bandwidth_length_normalized = Some(1e-320)),
        ("qd_offset", |r| r.qd_offset = -1e300),
        ("best_mean", |r| r.best_mean = Some(1e300)),
        ("normalizer", |r| r.normalizer = Normalizer::new(vec![0.0; 8], vec![-1.0; 8])),
        ("mean and the std", |r| r.normalizer = Normalizer::new(vec![0.0; 8], vec![1.0; 3])),
    ];
    for (name, spoil) in spoilt {
        let mut reference = sound.clone();
        spoil(&mut reference);
        reference.write(&file).unwrap();
        let error = Reference::read(&file).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("reference.json"), "{name}: {error}");
        assert!(error.len() < 250, "{error}");
    }
}

#[test]
fn a_reference_for_other_observations_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let populations = load(&runs(&folder)[..1]);
    let mut reference = measure(&populations, 1, None).reference;
    reference.normalizer = Normalizer::identity(3);
    let task = autoqd_env::load_task("point-maze", &Default::default()).unwrap();
    let error = reference.check(Path::new("reference.json"), task.spec()).unwrap_err().to_string();
    assert!(error.contains("observations of 3 numbers"), "{error}");
}

#[test]
fn an_interrupted_evaluation_goes_on_and_a_damaged_part_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let paths = runs(&folder);
    let populations = load(&paths);
    let complete = measure(&populations, 1, None);
    let parts: Vec<PathBuf> = paths.iter().flat_map(|path| files_under(&path.join("eval"))).collect();
    assert!(!parts.is_empty());
    std::fs::remove_file(&parts[0]).unwrap();
    std::fs::write(parts.last().unwrap(), b"damaged").unwrap();
    assert_eq!(measure(&populations, 1, None), complete);
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_under(&path) } else { vec![path] }).collect()
}

/// A run whose archive holds chosen policies of another one.
fn with_archive(folder: &Path, name: &str, source: &Path, rows: &[usize]) -> PathBuf {
    let table = ArchiveTable::read(source).unwrap().select(rows);
    let path = folder.join(name);
    let config = autoqd::run_folder::read_config(source).unwrap();
    RunFolder::create(&path, &config).unwrap().write_archive(&table).unwrap();
    path
}

#[test]
fn none_one_and_a_repeated_policy_have_defined_scores() {
    let folder = tempfile::tempdir().unwrap();
    let source = make_run(folder.path(), "point-maze", &["seed=1"]);
    for (name, rows, vendi) in [("none", vec![], 0.0), ("one", vec![0], 1.0), ("repeated", vec![0; 7], 1.0)] {
        let path = with_archive(folder.path(), name, &source, &rows);
        let found = measure(&load(&[path]), 1, None);
        let run = &found.runs[0];
        assert!((run.vendi.value - vendi).abs() < 1e-9, "{name}: {:?}", run.vendi);
        assert_eq!(run.policies, rows.len());
        assert_eq!(run.gt[0].coverage, usize::from(!rows.is_empty()));
        assert_eq!(run.mean_objective.is_some(), !rows.is_empty());
        assert_eq!(run.quality_vendi.is_some(), !rows.is_empty());
        assert_eq!(found.reference.bandwidth, None, "{name}");
    }
}

#[test]
fn policies_whose_returns_are_no_numbers_are_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut populations = load(&[make_run(folder.path(), "point-maze", &["seed=1"])]);
    let width = populations[0].table.parameters.width;
    let whole = measure(&populations, 1, None);
    populations[0].table.parameters.values[..2 * width].fill(f64::NAN);
    let found = measure(&populations, 1, None);
    let (run, before) = (&found.runs[0], &whole.runs[0]);
    assert_eq!((run.left_out, run.policies), (2, before.policies - 2));
    assert!(run.mean_objective.unwrap().is_finite() && run.vendi.value.is_finite());
    assert!(found.reference.bandwidth.unwrap().is_finite());
    assert!(found.notices.iter().any(|notice| notice.contains("2 policies left out")), "{:?}", found.notices);
    populations[0].table.parameters.values.fill(f64::NAN);
    let none = measure(&populations, 1, None);
    assert_eq!(
        (none.runs[0].policies, none.runs[0].vendi.value, none.runs[0].mean_objective),
        (0, 0.0, None)
    );
}

/// A local evaluator that counts what is asked of it.
struct Counting(LocalEvaluator, Arc<AtomicUsize>);

impl Evaluator for Counting {
    fn evaluate(
        &self,
        candidates: Candidates<'_>,
        probes: &[Probe],
    ) -> Result<Vec<Evaluation>, autoqd::Error> {
        self.1.fetch_add(candidates.len() * candidates.episodes, Ordering::Relaxed);
        self.0.evaluate(candidates, probes)
    }

    fn physics_note(&self) -> String {
        self.0.physics_note()
    }
}

#[test]
fn every_rollout_goes_through_the_evaluators_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let paths = runs(&folder);
    let populations = load(&paths);
    let expected = measure(&populations, 1, None);
    forget(&paths);
    let (asked, loaded) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counter, loads) = (asked.clone(), loaded.clone());
    let mut registry = Registry::default();
    registry.register_evaluator("counting", PartFacts::new("Counts."), move |context| {
        Ok(Arc::new(Counting(context.local()?, counter.clone())))
    });
    registry.register_task("point-maze", move |perturbation| {
        loads.fetch_add(1, Ordering::Relaxed);
        Ok(autoqd_env::load_task("point-maze", perturbation)?)
    });
    let bench = Bench::new(registry, thread_pool(Some(1)).unwrap()).with_evaluator("counting");
    let found = evaluate(&populations, &small(), None, &bench, &mut ()).unwrap();
    assert_eq!(found, expected);
    let policies: usize = populations.iter().map(LoadedRun::len).sum();
    let normalizer: usize = populations.iter().map(|p| p.len().min(10)).sum();
    assert_eq!(asked.load(Ordering::Relaxed), normalizer + 2 * policies + 4 * populations.len());
    assert_eq!(loaded.load(Ordering::Relaxed), 1);
    descriptor_stability(&populations, &Registry::default(), 2, 3, &bench, &mut ()).unwrap();
    let stability: usize = populations.iter().map(|p| p.len().min(2) * 3).sum();
    assert_eq!(asked.load(Ordering::Relaxed), normalizer + 2 * policies + 4 * populations.len() + stability);
}

#[test]
fn a_list_of_a_list_and_of_a_table_names_where_the_policies_are() {
    let folder = tempfile::tempdir().unwrap();
    let run = LoadedRun::open(&make_run(folder.path(), "point-maze", &["seed=1"])).unwrap();
    let inside = run.folder.join("selected.json");
    run.selection(&[3, 1, 2], &inside).unwrap().write(&inside).unwrap();
    let first = LoadedRun::open(&inside).unwrap();
    assert_eq!(first.folder, run.folder.join("selected.results"));
    let list = folder.path().join("fewer.json");
    first.selection(&[1], &list).unwrap().write(&list).unwrap();
    let fewer = LoadedRun::open(&list).unwrap();
    assert_eq!(fewer.table.id, [run.table.id[1]]);
    assert_eq!(fewer.run_folder().unwrap(), run.folder.canonicalize().unwrap());
    assert_eq!(fewer.budget, run.budget);

    let moved = folder.path().join("moved");
    std::fs::rename(&run.folder, &moved).unwrap();
    assert_eq!(LoadedRun::open(&moved.join("selected.json")).unwrap().len(), 3);

    let table = folder.path().join("table.parquet");
    run.table.write_parquet(&table).unwrap();
    let of_table = LoadedRun::open(&table).unwrap();
    of_table.selection(&[0], &list).unwrap().write(&list).unwrap();
    let one = LoadedRun::open(&list).unwrap();
    assert_eq!((one.table.id.as_slice(), one.run_folder()), (&run.table.id[..1], None));
    assert!(one.need_folder("descriptor").unwrap_err().to_string().contains("has no descriptor"));
}

#[test]
fn chosen_policies_are_a_population_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let run = make_run(folder.path(), "point-maze", &["seed=1"]);
    let all = LoadedRun::open(&run).unwrap();
    let list = folder.path().join("list.json");
    save_json(&list, &Selection { run: run.clone(), policies: vec![all.table.id[2], all.table.id[0]] })
        .unwrap();
    let chosen = LoadedRun::open(&list).unwrap();
    assert_eq!(chosen.len(), 2);
    assert_eq!(chosen.parameters(0), all.parameters(2));
    assert_eq!(measure(&[chosen], 1, None).runs[0].policies, 2);
    save_json(&list, &Selection { run, policies: vec![u64::MAX] }).unwrap();
    assert!(LoadedRun::open(&list).unwrap_err().to_string().contains("choose again"));
}

#[test]
fn other_tasks_other_sizes_and_other_files_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let maze = make_run(folder.path(), "point-maze", &["seed=1"]);
    let arm = make_run(folder.path(), "planar-arm", &["seed=2"]);
    let bench = bench(1);
    let error = evaluate(&load(&[maze.clone(), arm]), &small(), None, &bench, &mut ()).unwrap_err();
    assert!(matches!(&error, MeasureError::Tasks { .. }), "{error}");
    assert!(evaluate(&[], &small(), None, &bench, &mut ()).is_err());

    let mut wrong = LoadedRun::open(&maze).unwrap();
    let other = PolicySpec::new(Weights::Dense, vec![3], 8, vec![-1.0; 2], vec![1.0; 2]).unwrap();
    wrong.table.set_policy(&other);
    let error = evaluate(&[wrong], &small(), None, &bench, &mut ()).unwrap_err().to_string();
    assert!(error.contains("parameters"), "{error}");

    assert!(LoadedRun::open(folder.path()).unwrap_err().to_string().contains("not a run folder"));
    assert!(
        LoadedRun::open(&folder.path().join("nothing")).unwrap_err().to_string().contains("check the path")
    );
    let unfinished = with_archive(folder.path(), "unfinished", &maze, &[]);
    std::fs::remove_file(unfinished.join("archive.parquet")).unwrap();
    assert!(LoadedRun::open(&unfinished).unwrap_err().to_string().contains("no archive yet"));
}

#[test]
fn policies_of_different_sizes_are_measured_together() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [&["seed=1"][..], &["seed=1", "policy.hidden=[8]"]]
        .map(|settings| make_run(folder.path(), "point-maze", settings));
    let found = measure(&load(&paths), 1, None);
    assert_eq!(found.runs[0].variant, "autoqd policy.hidden=[128, 128]");
    assert!(found.runs.iter().all(|run| run.policies > 0));
}

#[test]
fn seeds_of_an_evaluation_are_none_of_the_search() {
    let folder = tempfile::tempdir().unwrap();
    let run = make_run(folder.path(), "point-maze", &["seed=0"]);
    let searched = LoadedRun::open(&run).unwrap().table.seeds.values;
    let rounds = [
        Round::Normalizer,
        Round::Evaluation,
        Round::Recheck,
        Round::Stability,
        Round::Screening,
        Round::Final,
    ];
    let mut all: Vec<u64> = rounds.iter().flat_map(|round| round_seeds(0, *round, 100)).collect();
    assert!(all.iter().all(|seed| !searched.contains(seed)));
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 600, "no two rounds share a seed");
}

#[test]
fn every_descriptor_sees_the_policies_of_all_runs() {
    let folder = tempfile::tempdir().unwrap();
    let populations = load(&runs(&folder));
    let study = |threads| {
        let bench = bench(threads);
        descriptor_stability(&populations, &Registry::default(), 5, 3, &bench, &mut ()).unwrap()
    };
    let found = study(1);
    let policies: usize = populations.iter().map(|p| p.len().min(5)).sum();
    assert_eq!(found.len(), 3);
    assert!(
        found.iter().all(|own| own.variances.len() == policies && own.variances.iter().all(Option::is_some))
    );
    assert_eq!(study(2), found);
    for population in &populations {
        std::fs::remove_dir_all(population.folder.join("eval")).unwrap();
    }
    assert_eq!(study(2), found);
}

/// Counts rollouts.
#[derive(Default)]
struct Counted(u64, u64);

impl Progress for Counted {
    fn start(&mut self, _stage: &str, total: u64) {
        self.0 += total;
    }

    fn advance(&mut self, rollouts: u64) {
        self.1 += rollouts;
    }
}

#[test]
fn progress_adds_up_to_what_was_announced() {
    let folder = tempfile::tempdir().unwrap();
    let populations = load(&runs(&folder));
    let mut counted = Counted::default();
    let bench = bench(1);
    evaluate(&populations, &small(), None, &bench, &mut counted).unwrap();
    assert!(counted.0 > 0);
    assert_eq!(counted.0, counted.1);
}

#[test]
fn variants_are_named_by_what_they_change() {
    let folder = tempfile::tempdir().unwrap();
    let names = |variants: &[&[&str]]| -> Vec<String> {
        let runs: Vec<PathBuf> =
            variants.iter().map(|settings| make_run(folder.path(), "point-maze", settings)).collect();
        load(&runs).into_iter().map(|population| population.variant.clone()).collect()
    };
    assert_eq!(
        names(&[&["reserve=0", "seed=21"], &["reserve=100", "seed=22"]]),
        ["autoqd reserve=0", "autoqd reserve=100"],
        "one setting: every value is said"
    );
    assert_eq!(
        names(&[&["seed=23"], &["seed=24", "reserve=0"], &["seed=25", "first_map=random"]]),
        ["autoqd", "autoqd reserve=0", "autoqd first_map=random"],
        "changes of one default: only the changes"
    );
    assert_eq!(
        names(&[
            &["seed=26"],
            &["seed=27", "reserve=0"],
            &["seed=28", "first_map=random"],
            &["seed=29", "first_map=random", "reserve=0"]
        ])
        .iter()
        .collect::<std::collections::BTreeSet<_>>()
        .len(),
        4,
        "a grid: all are told apart"
    );
}

#[test]
fn a_task_of_ones_own_is_measured_like_a_built_in_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut registry = Registry::default();
    registry.register_task("my-maze", |_| {
        Ok(Arc::new(autoqd_env::PointMazeTask::default()) as Arc<dyn autoqd_env::Task>)
    });
    let own = make_run_of(&registry, folder.path(), "my-maze", &["seed=1"]);
    let built_in = make_run(folder.path(), "point-maze", &["seed=1", "episodes=2"]);
    let bench = Bench::new(registry, thread_pool(Some(1)).unwrap());
    let scores = [own.clone(), built_in].map(|path| {
        let run = LoadedRun::open(&path).unwrap();
        let measured = evaluate(&[run], &small(), None, &bench, &mut ()).unwrap();
        (measured.runs[0].policies, measured.runs[0].mean_objective)
    });
    assert_eq!(scores[0], scores[1]);
    let run = LoadedRun::open(&own).unwrap();
    let unknown = run.task(&Registry::default()).err().unwrap().to_string();
    assert!(unknown.contains("my-maze") && unknown.contains("point-maze"), "{unknown}");
}
