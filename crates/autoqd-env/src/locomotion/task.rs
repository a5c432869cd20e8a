//! From a task file to the recipe that worlds are built from.

use super::Locomotion;
use super::action::ActionPlan;
use super::disturbance::Disturbance;
use super::dot::Blas;
use super::health::Rule;
use super::info;
use super::located::{Located, at_field, each, in_table, unreadable_table};
use super::measure::{Definition, What};
use super::memory::{Followed, Memory};
use super::names::Names;
use super::observation::{Part, Past};
use super::physics::RandomPhysics;
use super::reward::Term;
use super::start::{self, Start};
use super::state::{Needs, State};
use super::task_file::{RewardOrder, TaskFile};
use crate::mujoco::{self, Model, Source};
use crate::{
    EnvError, EnvSpec, Environment, InfoSpec, Perturbation, Physics, Task, TaskDigest, TaskFiles, Worlds,
};
use std::path::Path;
use std::sync::Arc;

/// Everything that the worlds of a task share.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub spec: EnvSpec,
    pub model: Arc<Model>,
    /// The model as MuJoCo loads it, before tuning.
    pub untuned: Arc<Model>,
    pub frame_skip: usize,
    pub seconds_per_step: f64,
    pub terminate_when_unhealthy: bool,
    pub start: Start,
    pub(super) observation: Vec<Part>,
    pub(super) rewards: Vec<Term>,
    pub(super) health: Vec<Rule>,
    pub(super) measures: Vec<Definition>,
    /// Geom of the ground, as contacts name it.
    pub floor: Option<i32>,
    /// Per geom: the measure whose foot it is.
    pub foot_of_geom: Vec<Option<usize>>,
    pub needs: Needs,
    /// Contacts and places that episodes follow.
    pub followed: Followed,
    pub reward_order: RewardOrder,
    pub blas: Blas,
    /// What worlds tell besides observation and reward.
    pub infos: &'static [InfoSpec],
    pub action: Option<ActionPlan>,
    pub disturbance: Disturbance,
    /// Physics that are drawn for every episode.
    pub physics: Option<RandomPhysics>,
    /// Number of products of reward terms.
    pub products: usize,
    pub notices: Vec<String>,
    /// The same model on the lanes engine, made when first asked for.
    pub lanes: super::lanes::Choice,
}

impl Recipe {
    /// Whether every rule of health holds.
    pub fn healthy(&self, state: &impl State, memory: &Memory) -> bool {
        self.health.iter().all(|rule| rule.holds(state, memory))
    }

    pub(super) fn observe(&self, state: &impl State, past: &Past<'_>, mut out: &mut [f64]) {
        for part in &self.observation {
            out = part.write(state, past, out);
        }
    }
}

/// A MuJoCo task described by data: one of Gymnasium's, or the user's own task file.
///
/// ```
/// use autoqd_env::{Action, LocomotionTask, Perturbation, Seed, Task};
///
/// let task = LocomotionTask::builtin("hopper", &Perturbation::default())?;
/// let mut hopper = task.make()?;
/// let mut observation = vec![0.0; task.spec().observation_size];
/// hopper.reset(Some(&Seed::from(0_u64)), &mut observation)?;
/// let transition = hopper.step(Action::F32(&[0.1, 0.0, -0.1]), &mut observation)?;
/// assert!(transition.reward > 0.0 && !transition.done());
/// # Ok::<(), autoqd_env::EnvError>(())
/// ```
#[derive(Clone)]
pub struct LocomotionTask {
    recipe: Arc<Recipe>,
    file_digest: blake3::Hash,
}

/// Episodes and simulator steps of the check that tuning changed nothing, when a user's model is loaded.
const LOAD_CHECK: (u64, usize) = (4, 100);

impl LocomotionTask {
    /// One of the built-in tasks.
    pub fn builtin(name: &str, perturbation: &Perturbation) -> Result<Self, EnvError> {
        let builtin = super::builtin::find(name)?;
        let file = parse(builtin.toml, builtin.name)?;
        let source = Source::Text { name: builtin.xml_name, xml: builtin.xml };
        let mut task = Self::build((builtin.toml, builtin.name), file, &source, perturbation, None)?;
        Arc::make_mut(&mut task.recipe).infos = info::of_builtin(builtin.name);
        Ok(task)
    }

    /// A task file; its model is found relative to it.
    pub fn from_file(path: impl AsRef<Path>, perturbation: &Perturbation) -> Result<Self, EnvError> {
        let path = path.as_ref();
        let (text, shown) = read(path)?;
        let file = parse(&text, &shown)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let source = Source::File(folder.join(&file.model));
        let task = Self::build((&text, &shown), file, &source, perturbation, Some(LOAD_CHECK));
        task.map_err(|error| match error {
            EnvError::Model { .. } => at_field("model", &error, &text, &shown),
            other => other,
        })
    }

    /// The files that a task file needs: itself, its model, and what that includes or loads.
    pub fn files(path: impl AsRef<Path>) -> Result<TaskFiles, EnvError> {
        super::files::files_of(path.as_ref())
    }

    /// One world, with access to its inner state.
    pub fn world(&self) -> Result<Locomotion, EnvError> {
        Locomotion::new(Arc::clone(&self.recipe))
    }

    pub(crate) fn recipe(&self) -> &Arc<Recipe> {
        &self.recipe
    }

    /// The compiled model that worlds step.
    #[doc(hidden)]
    pub fn model(&self) -> &Arc<Model> {
        &self.recipe.model
    }

    /// The compiled model as MuJoCo loads it, without tuning.
    #[doc(hidden)]
    pub fn untuned_model(&self) -> &Arc<Model> {
        &self.recipe.untuned
    }

    /// The same task on the untuned model.
    #[doc(hidden)]
    pub fn untuned(&self) -> Self {
        let recipe = Recipe { model: Arc::clone(&self.recipe.untuned), ..(*self.recipe).clone() };
        Self { recipe: Arc::new(recipe), ..*self }
    }

    /// The same task with the distances of another kind of machine.
    #[doc(hidden)]
    pub fn with_blas(&self, blas: Blas) -> Self {
        Self { recipe: Arc::new(Recipe { blas, ..(*self.recipe).clone() }), ..*self }
    }

    /// Simulator steps per step of the task.
    pub fn frame_skip(&self) -> usize {
        self.recipe.frame_skip
    }

    /// Ids of the feet's geoms, in the order of the measures.
    pub(crate) fn feet_geoms(&self) -> Vec<f64> {
        let feet = self.recipe.measures.iter().filter_map(|measure| match measure.what {
            What::Foot { geom } => Some(geom as f64),
            _ => None,
        });
        feet.collect()
    }

    /// Whether the tuned model gives the bits of the untuned one over `episodes` of `steps` simulator steps each.
    pub fn tuning_is_exact(&self, episodes: u64, steps: usize) -> bool {
        mujoco::agree(&self.recipe.untuned, &self.recipe.model, episodes, steps)
    }

    /// `text` is that of the task file, with the name that errors show.
    fn build(
        (text, shown): (&str, &str),
        file: TaskFile,
        source: &Source,
        perturbation: &Perturbation,
        check: Option<(u64, usize)>,
    ) -> Result<Self, EnvError> {
        let perturbation = perturbation.and(&file.perturbation);
        let at = |table, error| in_table(table)(error).at(text, shown);
        let whole = |error| if file.perturbation.is_none() { error } else { at("[perturbation]", error) };
        perturbation.check_scales(&file.name).map_err(whole)?;
        perturbation.refuse_friction(&file.name).map_err(whole)?;
        let (mut spec, untuned) = mujoco::load(source, &perturbation, file.floor.as_deref())?;
        let untuned = Arc::new(untuned);
        let tuned = mujoco::tuned(&mut spec, &untuned, &perturbation).map(Arc::new);
        let (model, mut notices) = choose(&file.name, tuned, &untuned, check);
        notices.extend(mujoco::library_notice().map(str::to_owned));
        let recipe =
            Arc::new(resolve(&file, model, untuned, notices).map_err(|error| error.at(text, shown))?);
        Ok(Self { recipe, file_digest: blake3::hash(text.as_bytes()) })
    }
}

impl Task for LocomotionTask {
    fn spec(&self) -> &EnvSpec {
        &self.recipe.spec
    }

    fn make(&self) -> Result<Box<dyn Environment>, EnvError> {
        Ok(Box::new(self.world()?))
    }

    fn make_worlds(&self, physics: Physics) -> Result<Box<dyn Worlds>, EnvError> {
        super::lanes::make_worlds(&self.recipe, physics)
    }

    fn notices(&self) -> &[String] {
        &self.recipe.notices
    }

    fn digests(&self) -> Vec<TaskDigest> {
        let model = format!("model as compiled by libmujoco {}", mujoco::version());
        vec![
            TaskDigest::new("task file", self.file_digest),
            TaskDigest::new(model, mujoco::digest(&self.recipe.untuned)),
        ]
    }

    fn physics_note(&self, physics: Physics) -> String {
        super::lanes::physics_note(&self.recipe, physics)
    }
}

pub(super) fn read(path: &Path) -> Result<(String, String), EnvError> {
    let shown = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => Ok((text, shown)),
        Err(reason) => Err(EnvError::ReadFile { path: shown, reason }),
    }
}

/// Reads a task file; messages have the place in it.
pub(super) fn parse(text: &str, shown: &str) -> Result<TaskFile, EnvError> {
    TaskFile::parse(text, shown).map_err(|error| match unreadable_table(text) {
        Some(message) => EnvError::TaskFile { path: shown.to_string(), message },
        None => error,
    })
}

/// The tuned model, unless a check finds that it differs.
fn choose(
    task: &str,
    tuned: Option<Arc<Model>>,
    untuned: &Arc<Model>,
    check: Option<(u64, usize)>,
) -> (Arc<Model>, Vec<String>) {
    let Some(tuned) = tuned else { return (Arc::clone(untuned), Vec::new()) };
    match check {
        Some((episodes, steps)) if !mujoco::agree(untuned, &tuned, episodes, steps) => {
            let notice =
                format!("task '{task}': explicit contact pairs change this model's results; not used");
            (Arc::clone(untuned), vec![notice])
        }
        _ => (tuned, Vec::new()),
    }
}

fn resolve(
    file: &TaskFile,
    model: Arc<Model>,
    untuned: Arc<Model>,
    notices: Vec<String>,
) -> Result<Recipe, Located> {
    let names = Names::new(&model, file).map_err(|error| match error {
        // The ground; all else that names are about is goals.
        EnvError::UnknownName { kind: "geom", .. } => Located::from(error),
        error => in_table("[reset]")(error),
    })?;
    check_counts(file, &names)?;
    let seconds_per_step = model.opt().timestep * file.frame_skip as f64;
    let observation = each("[[observation]]", &file.observation, |part| Part::resolve(part, &names))?;
    let start = start::start(&file.reset, &names).map_err(in_table("[reset]"))?;
    let mut products = Vec::new();
    let rewards =
        each("[[reward]]", &file.reward, |term| Term::resolve(term, &start.qpos, &mut products, &names))?;
    let action = file.action.as_ref().map(|map| ActionPlan::resolve(map, &start.qpos, &names));
    let action = action.transpose().map_err(in_table("[action]"))?;
    let observation_size = observation.iter().map(Part::size).sum();
    let disturbance = Disturbance::resolve(&file.randomisation, observation_size, seconds_per_step, &names)
        .map_err(in_table("[randomisation]"))?;
    let health = each("[[health]]", &file.health, |rule| Rule::resolve(rule, &names))?;
    let measures =
        each("[[measure]]", &file.measure, |measure| Definition::resolve(measure, seconds_per_step, &names))?;
    let floor = names.floor;
    let foot_of_geom = feet(&measures, floor, &names)?;
    let needs = observation
        .iter()
        .map(Part::needs)
        .chain(rewards.iter().map(Term::needs))
        .chain(health.iter().map(Rule::needs))
        .chain(measures.iter().map(Definition::needs))
        .fold(Needs::default(), Needs::and);
    let physics = RandomPhysics::resolve(&file.randomisation, &names).map_err(in_table("[randomisation]"))?;
    let followed = names.into_followed();
    let needs = needs.and(followed.needs());
    Ok(Recipe {
        spec: env_spec(file, &model, &observation, &rewards, &measures),
        frame_skip: file.frame_skip,
        seconds_per_step,
        terminate_when_unhealthy: file.terminate_when_unhealthy,
        floor: floor.map(|geom| geom as i32),
        start,
        observation,
        rewards,
        health,
        measures,
        foot_of_geom,
        needs,
        followed,
        reward_order: file.reward_order,
        blas: Blas::Plain,
        infos: &[],
        action,
        disturbance,
        physics,
        products: products.len(),
        notices,
        model,
        untuned,
        lanes: super::lanes::Choice::default(),
    })
}

fn check_counts(file: &TaskFile, names: &Names<'_>) -> Result<(), EnvError> {
    let limit = |field: &str, value: usize, high: usize| match value {
        1.. if value <= high => Ok(()),
        _ => Err(names.invalid(format!("{field} = {value}; give a number from 1 to {high}"))),
    };
    limit("frame_skip", file.frame_skip, 10_000)?;
    limit("max_episode_steps", file.max_episode_steps, 10_000_000)?;
    if file.name.is_empty() {
        return Err(names.invalid("name is empty"));
    }
    if file.observation.is_empty() || file.reward.is_empty() {
        return Err(names.invalid("a task needs at least one [[observation]] and one [[reward]]"));
    }
    if !file.objective_min.is_finite() {
        return Err(names.invalid("objective_min is not finite"));
    }
    Ok(())
}

fn feet(
    measures: &[Definition],
    floor: Option<usize>,
    names: &Names<'_>,
) -> Result<Vec<Option<usize>>, Located> {
    let mut foot_of_geom = vec![None; names.model.geom_bodyid().len()];
    let mut number = 0..;
    each("[[measure]]", measures, |measure| {
        let (What::Foot { geom }, Some(i)) = (&measure.what, number.next()) else { return Ok(()) };
        if floor.is_none() {
            return Err(names.invalid("foot-contact measures need `floor`, the name of the ground geom"));
        }
        match foot_of_geom[*geom].replace(i) {
            None => Ok(()),
            Some(_) => {
                let name = &measure.name;
                Err(names.invalid(format!("two foot-contact measures name the same geom ({name})")))
            }
        }
    })?;
    Ok(foot_of_geom)
}

fn env_spec(
    file: &TaskFile,
    model: &Model,
    observation: &[Part],
    rewards: &[Term],
    measures: &[Definition],
) -> EnvSpec {
    // Without a control range MuJoCo takes any number; policies then stay within the unit box.
    let bounds: Vec<_> = model
        .actuator_ctrlrange()
        .iter()
        .zip(model.actuator_ctrllimited())
        .map(|(&range, &limited)| if limited && file.action.is_none() { range } else { [-1.0, 1.0] })
        .collect();
    EnvSpec {
        name: file.name.clone(),
        observation_size: observation.iter().map(Part::size).sum(),
        action_size: bounds.len(),
        action_low: bounds.iter().map(|b| b[0]).collect(),
        action_high: bounds.iter().map(|b| b[1]).collect(),
        max_episode_steps: file.max_episode_steps,
        reward_terms: rewards.iter().map(|term| term.name.clone()).collect(),
        measures: measures.iter().map(Definition::spec).collect(),
        objective_min: file.objective_min,
    }
}
