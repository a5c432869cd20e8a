//! A task, a method with settings of its own, an emitter and an evaluator that the crate does not have: one `register`
//! call each, and they have all that the built-in ones have.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use autoqd::Error;
use autoqd::config::{
    Layers, MeasuresOf, MethodFacts, PartFacts, RunConfig, Section, fields, reference_page, rules,
    settings_help,
};
use autoqd::descriptor::{Descriptor, Elites, RefitReport};
use autoqd::evaluator::{Evaluation, Probe};
use autoqd::observer::{IterationReport, Observer, ObserverError};
use autoqd::registry::{DescriptorContext, MethodKind, Registry};
use autoqd::run_folder::{Tensor, read_config, status};
use autoqd::runner::{Changes, Limits, Runner, load_search};
use autoqd_env::{PointMazeTask, Task};
use autoqd_qd::{AnyEmitter, Archive, GaussianConfig};

autoqd::settings! {
    /// Settings of `method = "stretched"`.
    pub struct StretchSection as "stretch" {
        /// Factor on every measure.
        factor: f64 = 2.0 => rules::positive;
        /// Names of the axes.
        axes: Vec<String> = vec!["x".to_owned(), "y".to_owned()];
    }
}

impl Section for StretchSection {}

/// The task's measures, stretched.
struct Stretched {
    factor: f64,
    dimension: usize,
}

impl Stretched {
    fn new(context: DescriptorContext<'_>) -> Result<Self, Error> {
        let StretchSection { factor, .. } = context.config.section()?;
        Ok(Self { factor, dimension: context.spec.measures.len() })
    }
}

impl Descriptor for Stretched {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn feature_size(&self) -> usize {
        self.dimension
    }

    fn probes(&self) -> Result<Vec<Probe>, Error> {
        Ok(Vec::new())
    }

    fn features(&self, evaluation: &Evaluation) -> Vec<f64> {
        evaluation.measures()
    }

    fn first_fit(&mut self, _elites: Elites<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn refit(&mut self, _iteration: u64, _elites: Elites<'_>) -> Result<RefitReport, Error> {
        Ok(RefitReport::default())
    }

    fn refits(&self) -> bool {
        false
    }

    fn measures(&self, _id: u64, features: &[f64]) -> Vec<f64> {
        features.iter().map(|x| self.factor * x).collect()
    }

    fn describe(&self, evaluation: &Evaluation) -> Vec<f64> {
        self.measures(0, &self.features(evaluation))
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        Ok(Vec::new())
    }

    fn load(&mut self, _state: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn tensors(&self) -> Vec<Tensor> {
        vec![Tensor::f64("factor", &[1], &[self.factor])]
    }
}

static EVALUATORS: AtomicUsize = AtomicUsize::new(0);

fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.register_task("my-maze", |perturbation| {
        perturbation.refuse_all("my-maze")?;
        Ok(Arc::new(PointMazeTask::default()) as Arc<dyn Task>)
    });
    registry.register_section::<StretchSection>();
    let facts = MethodFacts {
        measures: MeasuresOf::Task,
        refits: false,
        check: |config| rules::require(config.episodes < 9, "episodes", config.episodes, "few", "take fewer"),
        ..MethodFacts::learned("The task's measures, stretched.")
    };
    registry.register_method("stretched", facts, MethodKind::descriptor(Stretched::new));
    registry.register_emitter("mutant", PartFacts::new("Gaussian mutation, half as far."), |context| {
        let mut gaussian = GaussianConfig::new(context.x0, 0.5 * context.sigma0, context.seed);
        gaussian.batch_size = context.batch_size;
        Ok(Box::new(AnyEmitter::from(gaussian.build()?)))
    });
    registry.register_evaluator("counted", PartFacts::new("Counts how often it is built."), |context| {
        EVALUATORS.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(context.local()?))
    });
    registry
}

fn config(registry: &Registry, settings: &[&str]) -> Result<RunConfig, Error> {
    let mut layers = Layers::new(registry).preset("quick")?;
    for setting in [
        "task=my-maze",
        "method=stretched",
        "emitter=mutant",
        "evaluator=counted",
        "iterations=6",
        "batch_size=4",
        "bounds=[[-30, 30], [-30, 30]]",
    ]
    .iter()
    .chain(settings)
    {
        layers = layers.set(setting)?;
    }
    let config = layers.build()?;
    let task = registry.task(&config.task, &config.perturbation)?;
    Ok(config.resolve(&task.spec().into(), registry)?)
}

struct Nobody;

impl Observer for Nobody {
    fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
        Ok(())
    }
}

#[test]
fn parts_from_outside_run_resume_and_load() {
    let (registry, folder) = (registry(), tempfile::tempdir().unwrap());
    let (whole, halves) = (folder.path().join("whole"), folder.path().join("halves"));
    let built = EVALUATORS.load(Ordering::Relaxed);
    for (path, iterations) in [(&whole, 6), (&halves, 3)] {
        let config = config(&registry, &["stretch.factor=3", &format!("iterations={iterations}")]).unwrap();
        let mut runner = Runner::create(path, config, &registry).unwrap();
        runner.run(Limits::default(), &|| false, &mut Nobody).unwrap();
    }
    let changes = Changes { iterations: Some(6), ..Changes::default() };
    let mut runner = Runner::resume(&halves, changes, &registry).unwrap();
    runner.run(Limits::default(), &|| false, &mut Nobody).unwrap();
    assert!(EVALUATORS.load(Ordering::Relaxed) >= built + 3, "other tests build some too");
    let bytes = |path: &std::path::Path| std::fs::read(path.join("archive.parquet")).unwrap();
    assert_eq!(bytes(&whole), bytes(&halves));

    let stored = read_config(&whole).unwrap();
    assert_eq!(stored.section::<StretchSection>().unwrap().factor, 3.0);
    assert_eq!(status(&whole, &registry).unwrap().next_refit, None);
    let search = load_search(&whole, Some(1), &registry).unwrap();
    let elites = search.result().elites();
    assert!(!elites.is_empty());
    for (measures, fields) in elites.measures().iter().zip(elites.fields().iter()) {
        assert_eq!(measures, [3.0 * fields[0], 3.0 * fields[1]]);
    }
}

#[test]
fn a_program_without_the_parts_reads_the_configuration_but_says_what_is_missing() {
    let (registry, folder) = (registry(), tempfile::tempdir().unwrap());
    let path = folder.path().join("run");
    let config = config(&registry, &["iterations=1"]).unwrap();
    Runner::create(&path, config, &registry).unwrap().run(Limits::default(), &|| false, &mut Nobody).unwrap();
    let bare = Registry::default();
    assert_eq!(read_config(&path).unwrap().method, "stretched");
    assert_eq!(status(&path, &bare).unwrap().iteration, 1);
    let message = load_search(&path, Some(1), &bare).err().unwrap().to_string();
    assert!(message.contains("stretched") && message.contains("regular"), "{message}");
}

#[test]
fn errors_name_the_registered_parts() {
    let registry = registry();
    for (setting, expected) in [
        ("emitter=mutand", "--set emitter: emitter = \"mutand\" is not possible; expected one of \"cma\", "),
        ("emitter=mutand", "\"gaussian\", \"mutant\"; did you mean \"mutant\"?"),
        (
            "method=stretch",
            "expected one of \"autoqd\", \"regular\", \"stretched\"; did you mean \"stretched\"?",
        ),
        ("evaluator=remote", "expected one of \"local\", \"counted\""),
        ("task=my-maize", "did you mean 'my-maze'?"),
        ("stretch.factor=0", "stretch.factor = 0.0 is not allowed: it must be a finite number above 0"),
        ("stretch.factor=far", "stretch.factor = \"far\" is not possible; expected a number"),
        ("stretch.faktor=1", "there is no key 'stretch.faktor'; did you mean 'stretch.factor'?"),
        ("stretch=1", "expected a section with the keys stretch.factor, stretch.axes"),
        ("episodes=9", "episodes = 9 is not allowed: few; take fewer"),
    ] {
        let message = config(&registry, &[setting]).unwrap_err().to_string();
        assert!(message.contains(expected), "{setting}: {message}");
    }
}

#[test]
fn help_reference_page_and_key_list_cover_registered_parts() {
    let registry = registry();
    let factor = fields(&registry).iter().find(|field| field.key == "stretch.factor").unwrap();
    assert_eq!((factor.default.as_str(), factor.doc.as_str()), ("2.0", "Factor on every measure."));
    let (help, page) = (settings_help(&registry), reference_page(&registry));
    assert!(
        help.contains("  stretch.factor = 2.0\n")
            && help.contains("\"mutant\": Gaussian mutation, half as far.")
    );
    assert!(page.contains("## [stretch]\n\nSettings of `method = \"stretched\"`.\n"), "{page}");
    assert!(page.contains("* `\"stretched\"`: The task's measures, stretched."));
}

/// A program whose `auto` means some physics for the pendulum.
#[cfg(feature = "mujoco")]
fn program(auto: autoqd_env::Physics) -> Registry {
    let mut registry = Registry::default();
    registry.register_task("my-pendulum", move |perturbation| {
        let task = Arc::new(autoqd_env::LocomotionTask::builtin("inverted-pendulum", perturbation)?);
        Ok(Arc::new(autoqd_env::KeptSimulator { task, auto }) as Arc<dyn Task>)
    });
    registry
}

#[cfg(feature = "mujoco")]
#[test]
fn a_run_begun_on_libmujoco_goes_on_there_when_auto_has_come_to_mean_lanes() {
    use autoqd_env::Physics;
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    for (name, stop) in [("whole", 4), ("halves", 2)] {
        let (path, before) = (folder.path().join(name), program(Physics::Reference));
        let settings = [
            "task=my-pendulum",
            "method=autoqd",
            "emitter=csa",
            "evaluator=local",
            "update_schedule=[2]",
            "bounds=auto",
            &format!("iterations={stop}"),
        ];
        let mut layers = Layers::new(&before).preset("quick").unwrap();
        for setting in settings.iter().chain(&["batch_size=4", "episodes=1"]) {
            layers = layers.set(setting).unwrap();
        }
        let config = layers.build().unwrap();
        let task = before.task(&config.task, &config.perturbation).unwrap();
        let config = config.resolve(&task.spec().into(), &before).unwrap();
        let mut runner = Runner::create(&path, config, &before).unwrap();
        runner.run(Limits::default(), &|| false, &mut Nobody).unwrap();
        drop(runner);
        if stop < 4 {
            let changes = Changes { iterations: Some(4), ..Changes::default() };
            let mut runner = Runner::resume(&path, changes, &program(Physics::Lanes)).unwrap();
            assert_eq!(runner.trainer().physics_note(), "libmujoco");
            runner.run(Limits::default(), &|| false, &mut Nobody).unwrap();
        }
        bytes.push(std::fs::read(path.join("archive.parquet")).unwrap());
    }
    assert_eq!(bytes[0], bytes[1]);
}
