//! The exchangeable parts of a run, by name: methods, emitters, evaluators, tasks.
//!
//! A program fills one [`Registry`] and gives it to everything that starts, resumes, measures or shows runs. A part of
//! another crate is one `register` call away from all that the built-in ones have: configuration file, help, run
//! folder, resume, measuring and the explorer.

mod emitters;
mod engines;
mod evaluators;
mod methods;
mod tasks;

pub use emitters::{EmitterContext, IsoLineSection, OpenaiSection};
pub use engines::{Engine, EngineOptions, RunsElsewhere, RunsOptions};
pub use evaluators::EvaluatorContext;
pub use methods::{DescriptorContext, MethodKind, TrainerContext};

use std::collections::BTreeMap;
use std::sync::Arc;

use autoqd_env::{LoadedTask, Perturbation, Task, TaskFiles, TaskOrigin};

use crate::Error;
use crate::config::{Catalog, MethodFacts, PartFacts, RunConfig, Section};
use crate::descriptor::Descriptor;
use crate::emitter::SearchEmitter;
use crate::evaluator::{Evaluator, ProbeKind, ProbeKinds};
use emitters::BuildEmitter;
use engines::BuildEngine;
use evaluators::BuildEvaluator;
use tasks::{BuildTask, BuildTaskOf};

/// The parts that a program knows. A clone shares them.
///
/// ```
/// use autoqd::config::PartFacts;
/// use autoqd::registry::Registry;
/// use autoqd_qd::{AnyEmitter, GaussianConfig};
/// let mut registry = Registry::default();
/// registry.register_emitter("mutant", PartFacts::new("Gaussian mutation with a tenth of the step."), |context| {
///     let mut gaussian = GaussianConfig::new(context.x0, 0.1 * context.sigma0, context.seed);
///     gaussian.batch_size = context.batch_size;
///     Ok(Box::new(AnyEmitter::from(gaussian.build()?)))
/// });
/// assert!(registry.catalog().emitter_names().any(|name| name == "mutant"));
/// let message = registry.task("hoper", &Default::default()).err().unwrap().to_string();
/// assert!(message.contains("did you mean 'hopper'"), "{message}");
/// ```
#[derive(Clone)]
pub struct Registry {
    catalog: Catalog,
    methods: BTreeMap<String, MethodKind>,
    emitters: BTreeMap<String, BuildEmitter>,
    evaluators: BTreeMap<String, BuildEvaluator>,
    tasks: BTreeMap<String, BuildTask>,
    task_prefixes: BTreeMap<String, BuildTaskOf>,
    probes: ProbeKinds,
    engines: BTreeMap<String, BuildEngine>,
    /// Where `local` evaluations happen, if not in this process.
    engine: Option<Arc<dyn Engine>>,
}

impl Default for Registry {
    /// What this crate has: AutoQD and hand-designed measures, all emitters of `autoqd-qd`, rollouts in this process,
    /// and the tasks of `autoqd-env`.
    fn default() -> Self {
        let mut registry = Self::empty();
        methods::register(&mut registry);
        emitters::register(&mut registry);
        evaluators::register(&mut registry);
        registry
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry")
            .field("methods", &self.methods.keys())
            .field("emitters", &self.emitters.keys())
            .field("evaluators", &self.evaluators.keys())
            .field("tasks", &self.tasks.keys())
            .finish()
    }
}

impl AsRef<Catalog> for Registry {
    fn as_ref(&self) -> &Catalog {
        &self.catalog
    }
}

impl Registry {
    /// Nothing but the tasks of `autoqd-env`.
    pub fn empty() -> Self {
        Self {
            catalog: Catalog::default(),
            methods: BTreeMap::new(),
            emitters: BTreeMap::new(),
            evaluators: BTreeMap::new(),
            tasks: BTreeMap::new(),
            task_prefixes: BTreeMap::new(),
            probes: ProbeKinds::default(),
            engines: BTreeMap::new(),
            engine: None,
        }
    }

    /// What the configuration knows about the registered parts.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Adds, or replaces, a method.
    pub fn register_method(&mut self, name: &str, facts: MethodFacts, kind: MethodKind) {
        self.catalog.add_method(name, facts);
        self.methods.insert(name.to_owned(), kind);
    }

    /// Adds, or replaces, an emitter.
    pub fn register_emitter(
        &mut self,
        name: &str,
        facts: PartFacts,
        build: impl Fn(EmitterContext<'_>) -> Result<Box<dyn SearchEmitter>, Error> + Send + Sync + 'static,
    ) {
        self.catalog.add_emitter(name, facts);
        self.emitters.insert(name.to_owned(), Arc::new(build));
    }

    /// Adds, or replaces, an evaluator.
    pub fn register_evaluator(
        &mut self,
        name: &str,
        facts: PartFacts,
        build: impl Fn(EvaluatorContext<'_>) -> Result<Arc<dyn Evaluator>, Error> + Send + Sync + 'static,
    ) {
        self.catalog.add_evaluator(name, facts);
        self.evaluators.insert(name.to_owned(), Arc::new(build));
    }

    /// Adds, or replaces, a task. It may have the name of a built-in one, which is hidden then.
    pub fn register_task(
        &mut self,
        name: &str,
        build: impl Fn(&Perturbation) -> Result<Arc<dyn Task>, Error> + Send + Sync + 'static,
    ) {
        self.tasks.insert(name.to_owned(), Arc::new(build));
    }

    /// Adds, or replaces, all tasks whose names start with a prefix, for instance `gym:`. `build` gets the whole name,
    /// which is what a run folder stores: it must say everything that is needed to build the task again.
    ///
    /// ```
    /// use autoqd::registry::Registry;
    /// let mut registry = Registry::default();
    /// registry.register_tasks_of("again:", |name, perturbation| {
    ///     Ok(autoqd_env::load_task(&name["again:".len()..], perturbation)?)
    /// });
    /// assert_eq!(registry.task("again:point-maze", &Default::default())?.spec().name, "point-maze");
    /// assert!(registry.task_files("again:point-maze")?.is_none());
    /// # Ok::<(), autoqd::Error>(())
    /// ```
    pub fn register_tasks_of(
        &mut self,
        prefix: &str,
        build: impl Fn(&str, &Perturbation) -> Result<Arc<dyn Task>, Error> + Send + Sync + 'static,
    ) {
        self.task_prefixes.insert(prefix.to_owned(), Arc::new(build));
    }

    /// Adds, or replaces, a section of the configuration, for the settings of a registered part.
    pub fn register_section<S: Section>(&mut self) {
        self.catalog.add_section::<S>();
    }

    /// What a method is.
    pub fn method(&self, name: &str) -> Result<&MethodKind, Error> {
        self.catalog.method(name)?;
        Ok(&self.methods[name])
    }

    /// Builds the descriptor of a run.
    pub fn descriptor(&self, context: DescriptorContext<'_>) -> Result<Box<dyn Descriptor>, Error> {
        match self.method(&context.config.method)? {
            MethodKind::Descriptor(build) => build(context),
            MethodKind::Trainer(_) => Err(Error::NoDescriptor { method: context.config.method.clone() }),
        }
    }

    /// Builds one of the emitters of a run.
    pub fn emitter(&self, context: EmitterContext<'_>) -> Result<Box<dyn SearchEmitter>, Error> {
        let name = context.config.emitter.clone();
        self.emitter_named(&name, context)
    }

    /// Builds an emitter by its name, for one that has others beside it.
    pub fn emitter_named(
        &self,
        name: &str,
        context: EmitterContext<'_>,
    ) -> Result<Box<dyn SearchEmitter>, Error> {
        self.catalog.emitter(name)?;
        self.emitters[name](context)
    }

    /// Adds, or replaces, a kind of probe, so that evaluators can make its watchers.
    pub fn register_probe<K: ProbeKind>(&mut self) {
        self.probes.register::<K>();
    }

    /// The kinds of probes there are.
    pub fn probes(&self) -> &ProbeKinds {
        &self.probes
    }

    /// Builds an evaluator by its name.
    pub fn evaluator(&self, name: &str, context: EvaluatorContext<'_>) -> Result<Arc<dyn Evaluator>, Error> {
        self.catalog.evaluator(name)?;
        match &self.engine {
            Some(engine) if name == "local" => engine.evaluator(context),
            _ => self.evaluators[name](context),
        }
    }

    /// A registered or built-in task by name, or the task of a file.
    pub fn task(&self, name: &str, perturbation: &Perturbation) -> Result<Arc<dyn Task>, Error> {
        let task = tasks::find(&self.tasks, &self.task_prefixes, name, perturbation)?;
        let origin = TaskOrigin { name: name.to_owned(), perturbation: *perturbation };
        Ok(Arc::new(LoadedTask { task, origin }))
    }

    /// The task of a run, perturbed as its configuration says.
    pub fn task_of(&self, config: &RunConfig) -> Result<Arc<dyn Task>, Error> {
        self.task(&config.task, &config.perturbation)
    }

    /// The files of a task that is given by a task file; `None` for a registered or built-in one.
    pub fn task_files(&self, name: &str) -> Result<Option<TaskFiles>, Error> {
        let of_prefix = self.task_prefixes.keys().any(|prefix| name.starts_with(prefix));
        match of_prefix || self.tasks.contains_key(name) {
            true => Ok(None),
            false => Ok(autoqd_env::task_files(name)?),
        }
    }

    /// Names of all tasks that need no file: registered ones first.
    pub fn task_names(&self) -> Vec<&str> {
        tasks::names(&self.tasks)
    }
}
