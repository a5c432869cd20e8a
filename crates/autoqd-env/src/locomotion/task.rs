//! From a task file to the recipe that worlds are built from.

use super::Locomotion;
use super::action::ActionPlan;
use super::disturbance::Disturbance;
use super::dot::Blas;
use super::health::Rule;
use super::info;
use super::measure::{Definition, What};
use super::names::Names;
use super::observation::{Part, Past};
use super::reward::Term;
use super::state::{Needs, State};
use super::task_file::{Noise, Placed, Range, Reset, RewardOrder, TaskFile};
use crate::mujoco::{self, Model, Source};
use crate::{
    EnvError, EnvSpec, Environment, InfoSpec, NumpyRng, Perturbation, Physics, Task, TaskDigest, TaskFiles,
    Worlds,
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
    pub reward_order: RewardOrder,
    pub blas: Blas,
    /// What worlds tell besides observation and reward.
    pub infos: &'static [InfoSpec],
    pub action: Option<ActionPlan>,
    pub disturbance: Disturbance,
    /// Number of products of reward terms.
    pub products: usize,
    pub notices: Vec<String>,
    /// The same model on the lanes engine, made when first asked for.
    pub lanes: super::lanes::Choice,
}

impl Recipe {
    /// Whether every rule of health holds.
    pub fn healthy(&self, state: &impl State) -> bool {
        self.health.iter().all(|rule| rule.holds(state))
    }

    pub(super) fn observe(&self, state: &impl State, past: &Past<'_>, mut out: &mut [f64]) {
        for part in &self.observation {
            out = part.write(state, past, out);
        }
    }
}

/// State and noise from which episodes start.
#[derive(Clone)]
pub(crate) struct Start {
    pub qpos: Vec<f64>,
    pub qvel: Vec<f64>,
    pub position_noise: Option<f64>,
    pub velocity_noise: Option<f64>,
    pub velocity_noise_kind: Noise,
    pub placed: Vec<PlacedJoints>,
}

/// Joints that a draw of their own puts somewhere, at rest.
#[derive(Clone)]
pub(crate) struct PlacedJoints {
    coordinates: Vec<usize>,
    freedoms: Vec<usize>,
    low: Vec<f64>,
    high: Vec<f64>,
    length: Range,
}

/// Draws of a point before it is taken as it is: a range of lengths that nearly no point of the box has.
const MOST_DRAWS: usize = 10_000;

impl PlacedJoints {
    fn draw(&self, rng: &mut NumpyRng, qpos: &mut [f64]) {
        for _ in 0..MOST_DRAWS {
            for ((&q, &low), &high) in self.coordinates.iter().zip(&self.low).zip(&self.high) {
                qpos[q] = if low == high { low } else { rng.uniform(low, high) };
            }
            let at = |i: usize| qpos[self.coordinates[i]];
            if self.length.contains((0..self.coordinates.len()).map(|i| at(i) * at(i)).sum::<f64>().sqrt()) {
                return;
            }
        }
    }
}

impl Start {
    /// First the positions of a start, in numpy's order of draws.
    pub fn draw_positions(&self, rng: &mut NumpyRng, qpos: &mut [f64]) {
        match self.position_noise {
            Some(scale) => {
                for (value, base) in qpos.iter_mut().zip(&self.qpos) {
                    *value = base + rng.uniform(-scale, scale);
                }
            }
            None => qpos.copy_from_slice(&self.qpos),
        }
        for placed in &self.placed {
            placed.draw(rng, qpos);
        }
    }

    /// Then its velocities.
    pub fn draw_velocities(&self, rng: &mut NumpyRng, qvel: &mut [f64]) {
        match self.velocity_noise {
            Some(scale) => {
                for (value, base) in qvel.iter_mut().zip(&self.qvel) {
                    *value = base
                        + match self.velocity_noise_kind {
                            Noise::Uniform => rng.uniform(-scale, scale),
                            Noise::Normal => scale * rng.standard_normal(),
                        };
                }
            }
            None => qvel.copy_from_slice(&self.qvel),
        }
        for placed in &self.placed {
            placed.freedoms.iter().for_each(|&k| qvel[k] = 0.0);
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
        let mut task = Self::build(builtin.toml, file, &source, perturbation, None)?;
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
        Self::build(&text, file, &source, perturbation, Some(LOAD_CHECK))
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

    fn build(
        text: &str,
        file: TaskFile,
        source: &Source,
        perturbation: &Perturbation,
        check: Option<(u64, usize)>,
    ) -> Result<Self, EnvError> {
        let perturbation = perturbation.and(&file.perturbation);
        perturbation.check_scales(&file.name)?;
        perturbation.refuse_friction(&file.name)?;
        let (mut spec, untuned) = mujoco::load(source, &perturbation, file.floor.as_deref())?;
        let untuned = Arc::new(untuned);
        let tuned = mujoco::tuned(&mut spec, &untuned).map(Arc::new);
        let (model, mut notices) = choose(&file.name, tuned, &untuned, check);
        notices.extend(mujoco::library_notice().map(str::to_owned));
        let recipe = Arc::new(resolve(&file, model, untuned, notices)?);
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

pub(super) fn parse(text: &str, shown: &str) -> Result<TaskFile, EnvError> {
    toml::from_str(text)
        .map_err(|error| EnvError::TaskFile { path: shown.to_string(), message: locate(text, &error) })
}

/// The parser's message on one line, with the place in the file.
fn locate(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    format!("line {line}, column {column}: {message}")
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
) -> Result<Recipe, EnvError> {
    let names = Names { model: &model, task: &file.name };
    check_counts(file, &names)?;
    let seconds_per_step = model.opt().timestep * file.frame_skip as f64;
    let observation = all(&file.observation, |part| Part::resolve(part, &names))?;
    let start = start(&file.reset, &names)?;
    let mut products = Vec::new();
    let mut rewards = Vec::new();
    for term in &file.reward {
        rewards.push(Term::resolve(term, &start.qpos, &mut products, &names)?);
    }
    let action = file.action.as_ref().map(|map| ActionPlan::resolve(map, &start.qpos, &names)).transpose()?;
    let observation_size = observation.iter().map(Part::size).sum();
    let disturbance = Disturbance::resolve(&file.randomisation, observation_size, seconds_per_step, &names)?;
    let health = all(&file.health, |rule| Rule::resolve(rule, &names))?;
    let measures = all(&file.measure, |measure| Definition::resolve(measure, seconds_per_step, &names))?;
    let floor = file.floor.as_deref().map(|name| names.geom(name)).transpose()?;
    let foot_of_geom = feet(&measures, floor, &names)?;
    let needs = observation
        .iter()
        .map(Part::needs)
        .chain(rewards.iter().map(Term::needs))
        .chain(health.iter().map(Rule::needs))
        .chain(measures.iter().map(Definition::needs))
        .fold(Needs::default(), Needs::and);
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
        reward_order: file.reward_order,
        blas: Blas::Plain,
        infos: &[],
        action,
        disturbance,
        products: products.len(),
        notices,
        model,
        untuned,
        lanes: super::lanes::Choice::default(),
    })
}

fn all<A, B>(items: &[A], resolve: impl Fn(&A) -> Result<B, EnvError>) -> Result<Vec<B>, EnvError> {
    items.iter().map(resolve).collect()
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
) -> Result<Vec<Option<usize>>, EnvError> {
    let mut foot_of_geom = vec![None; names.model.geom_bodyid().len()];
    for (i, measure) in measures.iter().enumerate() {
        if let What::Foot { geom } = measure.what {
            if floor.is_none() {
                return Err(names.invalid("foot-contact measures need `floor`, the name of the ground geom"));
            }
            if foot_of_geom[geom].replace(i).is_some() {
                return Err(
                    names.invalid(format!("two foot-contact measures name the same geom ({})", measure.name))
                );
            }
        }
    }
    Ok(foot_of_geom)
}

fn start(reset: &Reset, names: &Names<'_>) -> Result<Start, EnvError> {
    let noise_ok = |scale: Option<f64>| scale.is_none_or(|scale| scale.is_finite() && scale >= 0.0);
    if !noise_ok(reset.position_noise) || !noise_ok(reset.velocity_noise) {
        return Err(names.invalid("position_noise and velocity_noise must be finite and not negative"));
    }
    let model = names.model;
    let (nq, nv) = (model.nq() as usize, model.nv() as usize);
    let (qpos, qvel) = match &reset.keyframe {
        None => (model.qpos0().to_vec(), vec![0.0; nv]),
        Some(name) => {
            let key = names.keyframe(name)?;
            (model.key_qpos()[key * nq..][..nq].to_vec(), model.key_qvel()[key * nv..][..nv].to_vec())
        }
    };
    let placed = all(&reset.place, |placed| place(placed, names))?;
    let Reset { position_noise, velocity_noise, velocity_noise_kind, .. } = *reset;
    Ok(Start { qpos, qvel, position_noise, velocity_noise, velocity_noise_kind, placed })
}

fn place(placed: &Placed, names: &Names<'_>) -> Result<PlacedJoints, EnvError> {
    let Placed { joints, low, high, length } = placed;
    let coordinates = all(joints, |joint| names.single(joint))?;
    if joints.is_empty() || low.len() != joints.len() || high.len() != joints.len() {
        return Err(
            names.invalid("[[reset.place]] needs joints, and one number of `low` and `high` for each")
        );
    }
    let interval = |(a, b): (&f64, &f64)| a.is_finite() && b.is_finite() && a <= b;
    if !low.iter().zip(high).all(interval) {
        return Err(names.invalid(format!("[[reset.place]]: low = {low:?} must not exceed high = {high:?}")));
    }
    let freedoms = names.freedoms(joints)?;
    Ok(PlacedJoints { coordinates, freedoms, low: low.clone(), high: high.clone(), length: *length })
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
