//! The search as a library: the same bytes for any number of threads, and after any interruption.

use std::path::Path;
use std::sync::Arc;

use autoqd::config::{Layers, RunConfig};
use autoqd::observer::{EndReason, IterationReport, Observer, ObserverError};
use autoqd::parts::{Parts, PutParts};
use autoqd::policy;
use autoqd::registry::Registry;
use autoqd::run_folder::{ARCHIVE_FILE, DESCRIPTOR_FILE, METRICS_FILE, RunFolder};
use autoqd::runner::{Changes, Limits, Runner};
use autoqd::search::Search;
use autoqd::seeds::{Purpose, derive};
use autoqd_env::{Perturbation, Task, load_task};
use autoqd_qd::Archive;

fn maze() -> Arc<dyn Task> {
    load_task("point-maze", &Perturbation::default()).expect("a built-in task")
}

fn config(settings: &[&str]) -> RunConfig {
    let base = ["batch_size=6", "episodes=2", "iterations=12", "update_schedule=[4,8]", "checkpoint_every=3"];
    resolved(&maze(), &[&base[..], &["task=point-maze"], settings].concat())
}

fn resolved(task: &Arc<dyn Task>, settings: &[&str]) -> RunConfig {
    let registry = Registry::default();
    let mut layers = Layers::new(&registry).preset("quick").expect("a preset");
    for setting in settings {
        layers = layers.set(setting).expect("a valid setting");
    }
    let config = layers.build().expect("a configuration");
    config.resolve(&task.spec().into(), &registry).expect("a valid configuration")
}

fn finish(config: RunConfig) -> Search {
    let mut search = Search::new(config, maze()).expect("a search");
    while !search.finished() {
        search.step().expect("an iteration");
    }
    search
}

struct Silent;

impl Observer for Silent {
    fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
        Ok(())
    }
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    let read = |name: &str| std::fs::read(folder.join(name)).expect("a file of the run");
    [ARCHIVE_FILE, DESCRIPTOR_FILE, METRICS_FILE].map(read).to_vec()
}

/// Runs to the end in one go or, with `stop_at`, stopping after those iterations and resuming.
fn run_in_folder(config: RunConfig, stop_at: &[u64], threads: usize) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run");
    let mut runner = Runner::create(&path, config, &Registry::default()).expect("a run");
    for stop in stop_at {
        run_until(&mut runner, *stop);
        drop(runner);
        let changes = Changes { threads: std::num::NonZeroUsize::new(threads), ..Changes::default() };
        runner = Runner::resume(&path, changes, &Registry::default()).expect("a resumed run");
        assert_eq!(runner.trainer().iteration(), *stop);
    }
    let reason = runner.run(Limits::default(), &|| false, &mut Silent).expect("the rest of the run");
    assert_eq!(reason, EndReason::Finished);
    files(&path)
}

fn run_until(runner: &mut Runner, iteration: u64) {
    struct Until(u64, std::rc::Rc<std::cell::Cell<bool>>);
    impl Observer for Until {
        fn on_iteration(&mut self, report: &IterationReport) -> Result<(), ObserverError> {
            self.1.set(report.metrics.iteration >= self.0);
            Ok(())
        }
    }
    let reached = std::rc::Rc::new(std::cell::Cell::new(false));
    let mut observer = Until(iteration, reached.clone());
    let reason = runner.run(Limits::default(), &|| reached.get(), &mut observer).expect("a part of the run");
    assert_eq!(reason, EndReason::Interrupted);
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let one = run_in_folder(config(&["threads=1"]), &[], 1);
    for threads in ["threads=2", "threads=7"] {
        assert!(run_in_folder(config(&[threads]), &[], 1) == one, "{threads}");
    }
}

#[test]
fn resuming_gives_the_bytes_of_never_stopping() {
    for emitter in ["csa", "cma", "sep", "lm-ma", "openai", "iso-line", "gaussian"] {
        let setting = format!("emitter={emitter}");
        let whole = run_in_folder(config(&[&setting]), &[], 1);
        let pieces = run_in_folder(config(&[&setting]), &[1, 4, 9], 3);
        assert!(whole == pieces, "{emitter}");
    }
}

/// Candidates are stopped after two of five episodes, judged sharply enough that this happens in a short search.
const RACING: [&str; 5] =
    ["episodes=5", "racing.after=2", "racing.margin=0.5", "racing.reach=0", "learning_rate=1.0"];

#[test]
fn racing_saves_episodes_and_every_elite_has_all_of_its_own() {
    let mut search = Search::new(config(&RACING), maze()).expect("a search");
    let mut stopped = 0.0;
    while !search.finished() {
        let iteration = search.step().expect("an iteration");
        let (name, count) = &iteration.figures[0];
        assert_eq!(name, "stopped");
        assert!(iteration.metrics.iteration > 1 || *count == 0.0, "nothing to compare with at first");
        stopped += count;
    }
    assert!(stopped > 20.0, "{stopped} of 360 candidates were stopped");
    let elites = search.result().elites();
    for elite in elites.iter() {
        let (evaluation, _) = search.describe_elite(elite.id, elite.solution).expect("an evaluation");
        assert_eq!(evaluation.episodes.len(), 5);
        assert_eq!(evaluation.objective(), elite.objective, "an elite was stopped early");
    }
    let whole = finish(config(&["episodes=5", "learning_rate=1.0"]));
    assert!(search.totals().env_steps < whole.totals().env_steps);
    assert_eq!(search.totals().evaluations, whole.totals().evaluations);
}

#[test]
fn racing_keeps_the_bytes_for_any_threads_and_when_resumed() {
    let one = run_in_folder(config(&[&RACING[..], &["threads=1"]].concat()), &[], 1);
    assert!(run_in_folder(config(&[&RACING[..], &["threads=3"]].concat()), &[], 1) == one);
    assert!(run_in_folder(config(&[&RACING[..], &["threads=1"]].concat()), &[1, 4, 9], 2) == one);
}

#[test]
fn without_anyone_stopped_racing_changes_nothing_but_the_settings() {
    let plain = finish(config(&["episodes=5"]));
    let raced = finish(config(&["episodes=5", "racing.after=3", "racing.margin=1e9"]));
    let objectives = |search: &Search| search.result().elites().objectives().to_vec();
    assert_eq!(objectives(&plain), objectives(&raced));
    assert_eq!(plain.totals().env_steps, raced.totals().env_steps);
}

#[test]
fn every_archive_and_option_runs() {
    for settings in [
        &["archive=cvt", "cvt.cells=200", "cvt.samples=2000"][..],
        &["archive=dns", "dns.size=60"],
        &["archive=dns", "dns.size=60", "dns.space=psi"],
        &["method=regular"],
        &["normalizer=frozen"],
        &["normalizer=none", "first_map=random", "weighting=false"],
        &["embedding.orthogonal=true", "embedding.scales=[0.5,1.0,2.0]", "embedding.length_normalized=true"],
        &["first_map=uncalibrated", "bounds=follow"],
        &["refit_emitters=restart"],
        &["refit_emitters=new", "policy.initial=positive"],
        &["policy.kind=dense", "policy.hidden=[8]"],
        &["policy.initial=uniform", "emitter=iso-line"],
        &["episode_seeds=common", "add_mode=single", "reserve=0"],
    ] {
        let search = finish(config(settings));
        let stats = search.result().stats();
        assert!(stats.num_elites > 5, "{settings:?}: {stats:?}");
        assert!(stats.obj_max.is_some_and(f64::is_finite), "{settings:?}");
        assert_eq!(search.totals().evaluations, 12 * 30);
    }
}

#[test]
fn emitters_start_again_at_a_refit_if_the_setting_says_so() {
    // One refit, three emitters.
    let search = |setting| finish(config(&[setting, "emitters=3", "iterations=5"]));
    let [kept, restarted, new] =
        ["refit_emitters=keep", "refit_emitters=restart", "refit_emitters=new"].map(search);
    assert_eq!(restarted.totals().restarts, kept.totals().restarts + 3);
    assert_eq!(new.totals().restarts, kept.totals().restarts + 3);
    assert!(restarted.result().elites() != new.result().elites(), "they start at different policies");
}

#[test]
fn emitters_start_from_the_policies_that_the_setting_names() {
    let near = |policy: &[f64], start: &[f64]| policy.iter().zip(start).all(|(a, b)| (a - b).abs() < 1e-6);
    let one_step = |setting| config(&[setting, "sigma0=1e-9", "emitters=3", "iterations=1"]);

    let zeros = finish(one_step("policy.initial=zeros"));
    let start = vec![0.0; zeros.policy().parameter_count()];
    assert!(zeros.result().elites().iter().all(|elite| near(elite.solution, &start)));

    let random = finish(one_step("policy.initial=uniform"));
    let start = |emitter| {
        let seed = derive(random.config().seed, Purpose::InitialPolicy, [emitter, 0, 0]);
        policy::uniform(random.policy(), seed)
    };
    let starts = [start(0), start(1), start(2)];
    assert!(!near(&starts[0], &starts[1]) && !near(&starts[1], &starts[2]));
    for elite in random.result().elites().iter() {
        assert!(starts.iter().any(|start| near(elite.solution, start)));
    }
}

#[test]
fn episode_seeds_are_shared_as_far_as_the_setting_says() {
    let batch = 30;
    // Two candidates of one iteration, and one of the next.
    let seeds = |setting| {
        let search = finish(config(&[setting, "iterations=1"]));
        [0, 1, batch].map(|id| search.evaluation_seeds(id))
    };
    let [first, second, later] = seeds("episode_seeds=derived");
    assert!(first != second && first != later && second != later);
    let [first, second, later] = seeds("episode_seeds=common");
    assert!(first == second && first != later);
    let [first, second, later] = seeds("episode_seeds=fixed");
    assert!(first == second && first == later);
    assert!(first.windows(2).all(|pair| pair[0] != pair[1]), "its episodes still differ");
}

#[test]
fn an_elite_can_be_evaluated_again_exactly() {
    let search = finish(config(&["normalizer=frozen"]));
    for elite in (0..search.result().len()).step_by(7) {
        let elite = search.result().elites().get(elite).expect("an elite");
        let seeds = search.evaluation_seeds(elite.id);
        let (evaluation, measures) = search.describe(elite.solution, &seeds).expect("a description");
        assert_eq!(evaluation.objective(), elite.objective);
        assert_eq!(measures, elite.measures);
    }
}

#[cfg(feature = "mujoco")]
#[test]
fn bounds_that_follow_bring_the_best_elites_back_inside() {
    let task = || load_task("hopper", &Perturbation::default()).expect("a built-in task");
    let outside = |bounds: &str| {
        let settings = ["task=hopper", "iterations=21", "update_schedule=[3]", "batch_size=12", bounds];
        let config = resolved(&task(), &settings);
        let mut search = Search::new(config, task()).expect("a search");
        let (mut outside, mut fits) = (f64::NAN, 0);
        while !search.finished() {
            let iteration = search.step().expect("an iteration");
            outside = iteration.metrics.outside;
            fits += usize::from(iteration.refit.is_some());
        }
        (outside, fits)
    };
    let ((fixed, once), (followed, more)) = (outside("bounds=auto"), outside("bounds=follow"));
    assert_eq!((once, more), (1, 3), "the refit, then iterations 10 and 20");
    assert!(fixed > 0.3 && followed < 0.2, "share of the best outside: {fixed} fixed, {followed} followed");
    let refused = Search::new(config(&["bounds=follow", "method=regular"]), maze()).err().expect("a refusal");
    assert!(refused.to_string().contains("cannot follow"), "{refused}");
}

#[test]
fn nothing_at_or_below_the_floor_enters_the_result_archive() {
    let free = finish(config(&["floor=none"]));
    let objectives = free.result().elites().objectives();
    let middle = objectives.iter().sum::<f64>() / objectives.len() as f64;
    assert!(objectives.iter().any(|f| *f < middle));
    let floored = finish(config(&[&format!("floor={middle}")]));
    assert!(!floored.result().is_empty());
    assert!(floored.result().elites().objectives().iter().all(|f| *f > middle));
}

#[test]
fn a_refit_loses_no_elite_that_the_reserve_can_hold() {
    let mut search = Search::new(config(&[]), maze()).expect("a search");
    let mut refits = 0;
    while !search.finished() {
        let iteration = search.step().expect("an iteration");
        if let Some(refit) = iteration.refit {
            refits += 1;
            assert_eq!(refit.archives.dropped, 0);
            assert!(refit.archives.pool >= refit.elites_before);
            assert!(
                refit.archives.pool <= refit.archives.stored.iter().sum::<usize>() + refit.archives.reserved
            );
        }
    }
    assert_eq!(refits, 2);
}

fn saved(search: &Search) -> Parts {
    let mut parts = Parts::default();
    search.save(&mut parts).expect("a state");
    parts
}

#[test]
fn a_state_has_named_parts_of_which_later_ones_may_be_missing_or_unknown() {
    let search = finish(config(&["iterations=5", "emitters=2"]));
    let whole = saved(&search);
    let names =
        ["archive", "descriptor", "emitter/0", "emitter/1", "reserve", "result", "scheduler", "search"];
    assert_eq!(whole.names().collect::<Vec<_>>(), names);
    let fresh = || Search::new(search.config().clone(), maze()).expect("a search");
    // What a later version added is ignored.
    let mut later = whole.clone();
    later.bytes("novelty", 9, b"of another version").expect("a new part");
    let mut loaded = fresh();
    loaded.load(&mut later).expect("a usable state");
    assert_eq!(later.names().collect::<Vec<_>>(), ["novelty"]);
    assert!(saved(&loaded) == whole, "the same state, byte for byte");
    // Without a reserve nothing but the reserve is lost; everything else is needed.
    for name in names {
        let mut parts = whole.clone();
        parts.require(name, u32::MAX).expect("one of the names");
        let mut loaded = fresh();
        match loaded.load(&mut parts) {
            Ok(()) => assert_eq!(name, "reserve"),
            Err(e) => assert!(e.to_string().contains(&format!("part '{name}'")), "{e}"),
        }
    }
}

#[test]
fn a_run_of_a_later_version_goes_on_and_says_which_parts_it_leaves_out() {
    struct Notices(Vec<String>);
    impl Observer for Notices {
        fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
            Ok(())
        }

        fn on_notice(&mut self, text: &str) -> Result<(), ObserverError> {
            self.0.push(text.to_owned());
            Ok(())
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run");
    let mut runner = Runner::create(&path, config(&[]), &Registry::default()).expect("a run");
    run_until(&mut runner, 5);
    drop(runner);
    let later = RunFolder::open(&path).expect("the run's folder");
    let mut stored = later.load_checkpoint().expect("a usable checkpoint").expect("a checkpoint");
    let names: Vec<String> = stored.checkpoint.parts.names().map(str::to_owned).collect();
    let put = |parts: &mut dyn PutParts| {
        for name in &names {
            let part = stored.checkpoint.parts.require(name, u32::MAX)?;
            parts.bytes(name, part.version, &part.bytes)?;
        }
        parts.bytes("novelty", 1, b"of a later version")
    };
    later.save_checkpoint(&stored.config, 5, put).expect("a checkpoint with one part more");
    drop(later);
    let mut runner = Runner::resume(&path, Changes::default(), &Registry::default()).expect("a resumed run");
    let mut notices = Notices(Vec::new());
    runner.run(Limits::default(), &|| false, &mut notices).expect("the rest of the run");
    assert!(
        matches!(&notices.0[..], [notice] if notice.contains("does not know") && notice.ends_with("novelty"))
    );
    assert!(files(&path) == run_in_folder(config(&[]), &[], 1), "the part left out changed nothing");
}
