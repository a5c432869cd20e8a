//! `physics check`: how far single steps of the lanes engine are from libmujoco's, and how fast both are.

use super::super::Recipe;
use super::side_by_side::{SideBySide, stream};
use super::speed::{Speed, measure_speed};
use crate::mujoco::Object;
use crate::{EnvError, LocomotionTask, Task};
use autoqd_lanes::{Backend, LANES, LanesError};
use std::time::Duration;

/// How much to check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckOptions {
    /// Steps of single worlds per kind of state.
    pub lane_steps: usize,
    /// Seed of the random states and controls.
    pub seed: u64,
    /// Turns of the speed measurement; 0 leaves it out.
    pub speed_rounds: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { lane_steps: 40_000, seed: 0, speed_rounds: 5 }
    }
}

/// A policy to visit states with: writes the action for an observation.
pub type Policy<'a> = dyn FnMut(&[f64], &mut [f32]) + 'a;

/// Deviations by decade: entry 0 counts those below 1e-17, entry `k` those from 1e-(18-k) to 1e-(17-k).
pub const DECADES: usize = 18;

/// Agreement over one kind of state.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// The kind of state.
    pub states: String,
    /// Steps compared.
    pub steps: usize,
    /// Deviations by decade, see [`DECADES`].
    pub histogram: [usize; DECADES],
    /// The largest deviation.
    pub worst: Option<WorstStep>,
}

/// The step with the largest deviation.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstStep {
    /// Its size.
    pub deviation: f64,
    /// Its place, for instance `velocity of joint 'bthigh'`.
    pub place: String,
    /// What is special about the state.
    pub explanation: String,
    /// The state before the step.
    pub qpos: Vec<f64>,
    /// The velocities before the step.
    pub qvel: Vec<f64>,
    /// The controls of the step.
    pub control: Vec<f64>,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckReport {
    /// Name of the task.
    pub task: String,
    /// The back end that was checked.
    pub backend: Backend,
    /// By kind of state.
    pub agreement: Vec<Agreement>,
    /// The speed of both, if it was measured.
    pub speed: Option<Speed>,
}

impl CheckReport {
    /// The largest deviation overall.
    pub fn worst(&self) -> f64 {
        let worst = |a: &Agreement| a.worst.as_ref().map_or(0.0, |w| w.deviation);
        self.agreement.iter().map(worst).fold(0.0, f64::max)
    }
}

/// Compares single steps from random, resting and, with policies, visited states, and the speed of both simulators.
///
/// # Errors
/// If the lanes engine does not support the model.
pub fn check(
    task: &LocomotionTask,
    options: &CheckOptions,
    policies: &mut [Box<Policy<'_>>],
) -> Result<CheckReport, EnvError> {
    let refused = |e: LanesError| EnvError::World {
        task: task.spec().name.clone(),
        message: format!("{e}; libmujoco is used for it"),
    };
    let backend = Backend::best().ok_or_else(|| EnvError::World {
        task: task.spec().name.clone(),
        message: format!("{}; libmujoco is used", Backend::why_none()),
    })?;
    let mut checker = Checker::new(task.recipe(), backend).map_err(refused)?;
    let rounds = options.lane_steps.div_ceil(LANES);
    let mut agreement = Vec::new();
    for (name, amplitude, settle) in
        [("random actions", 1.0, 0), ("small random actions", 0.3, 0), ("resting, hardly moved", 0.05, 300)]
    {
        agreement.push(checker.random(name, amplitude, settle, rounds, options.seed));
    }
    if !policies.is_empty() {
        agreement.extend(super::visited::visited(&mut checker, policies, options));
    }
    let speed = match options.speed_rounds {
        0 => None,
        rounds => Some(measure_speed(task, rounds, Duration::from_millis(200))?),
    };
    Ok(CheckReport { task: task.spec().name.clone(), backend, agreement, speed })
}

pub(super) struct Checker<'a> {
    pub(super) recipe: &'a Recipe,
    pub(super) pair: SideBySide,
}

impl<'a> Checker<'a> {
    fn new(recipe: &'a Recipe, backend: Backend) -> Result<Self, LanesError> {
        Ok(Self { recipe, pair: SideBySide::new(&recipe.model, backend)? })
    }

    /// Puts a world into a start state of an episode.
    pub(super) fn start(&mut self, lane: usize, rng: &mut crate::NumpyRng) {
        let (start, world) = (&self.recipe.start, &mut self.pair.worlds[lane]);
        world.reset();
        let which = start.draw_positions(rng, world.qpos_mut());
        start.draw_velocities(which, rng, world.qvel_mut());
    }

    /// Random controls, new starts now and then so that falls and upright states both occur.
    fn random(&mut self, name: &str, amplitude: f64, settle: usize, rounds: usize, seed: u64) -> Agreement {
        let mut rng = stream(seed);
        let mut agreement = Agreement::new(name);
        for round in 0..rounds {
            if round % 1000 == 0 {
                (0..LANES).for_each(|lane| self.start(lane, &mut rng));
                for world in &mut self.pair.worlds {
                    (0..settle).for_each(|_| world.step());
                }
            }
            self.pair.random_controls(amplitude, &mut rng);
            self.compare(std::slice::from_mut(&mut agreement), [0; LANES]);
        }
        agreement
    }

    /// One step of all worlds; world `lane` counts to `agreement[kind[lane]]`.
    pub(super) fn compare(&mut self, agreement: &mut [Agreement], kind: [usize; LANES]) {
        let before: Vec<_> =
            self.pair.worlds.iter().map(|w| (w.qpos().to_vec(), w.qvel().to_vec())).collect();
        let deviations = self.pair.step();
        for (lane, deviation) in deviations.iter().enumerate() {
            // Where both give up on a state there is nothing left to compare.
            if self.pair.gave_up(lane) == [true; 2] {
                continue;
            }
            let agreement = &mut agreement[kind[lane]];
            let known = agreement.worst.as_ref().map_or(-1.0, |w| w.deviation);
            agreement.count(deviation.state);
            if deviation.state > known {
                agreement.worst = Some(self.describe(lane, deviation.state, &before[lane]));
            }
        }
    }

    fn describe(&self, lane: usize, deviation: f64, before: &(Vec<f64>, Vec<f64>)) -> WorstStep {
        let world = &self.pair.worlds[lane];
        let mut contacts = 0;
        self.pair.batch().contact_pairs(lane, |_| contacts += 1);
        let theirs = world.contact().len();
        let iterations = plural(world.solver_niter()[0] as usize, "solver iteration");
        let explanation = if contacts == theirs {
            format!("{} in both, {iterations} in libmujoco", plural(theirs, "contact"))
        } else {
            let contacts = plural(contacts, "contact");
            format!("{contacts} in lanes, {theirs} in libmujoco: a contact at the edge of its margin")
        };
        WorstStep {
            deviation,
            place: self.place(lane),
            explanation,
            qpos: before.0.clone(),
            qvel: before.1.clone(),
            control: world.ctrl().to_vec(),
        }
    }

    /// The coordinate or velocity that differs most.
    fn place(&self, lane: usize) -> String {
        let (world, model) = (&self.pair.worlds[lane], &self.recipe.model);
        let (mut qpos, mut qvel) = (world.qpos().to_vec(), world.qvel().to_vec());
        self.pair.batch().qpos(lane, &mut qpos);
        self.pair.batch().qvel(lane, &mut qvel);
        let largest = |a: &[f64], b: &[f64], relative: bool| {
            let size = |i: usize| (a[i] - b[i]).abs() / if relative { 1.0 + b[i].abs() } else { 1.0 };
            (0..a.len()).map(|i| (size(i), i)).fold((0.0, 0), |x, y| if y.0 > x.0 { y } else { x })
        };
        let (q, v) = (largest(&qpos, world.qpos(), false), largest(&qvel, world.qvel(), true));
        let (what, joint) = if q.0 > v.0 {
            let after = |&&address: &&i32| address as usize <= q.1;
            ("coordinate", model.jnt_qposadr().iter().filter(after).count() - 1)
        } else {
            ("velocity", model.dof_jntid()[v.1] as usize)
        };
        match model.id_to_name(Object::mjOBJ_JOINT, joint) {
            Some(name) => format!("{what} of joint '{name}'"),
            None => format!("{what} of joint {joint}"),
        }
    }
}

impl Agreement {
    pub(super) fn new(states: &str) -> Self {
        Self { states: states.to_string(), steps: 0, histogram: [0; DECADES], worst: None }
    }

    fn count(&mut self, deviation: f64) {
        self.steps += 1;
        let decade = if deviation <= 1e-17 { 0.0 } else { deviation.log10().floor() + 18.0 };
        self.histogram[(decade.max(0.0) as usize).min(DECADES - 1)] += 1;
    }
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
