//! A run, opened for viewing: its elites, its log, and its policies at work.

use std::collections::VecDeque;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use autoqd::config::{ArchiveLayout, RunConfig};
use autoqd::policy::{Policy, PolicySpec};
use autoqd::registry::Registry;
use autoqd::run_folder::{ArchiveTable, Block, IterationRow, Status};
use autoqd_env::{Action, Environment, Perturbation, Pose, Scene, Seed, Task};
use autoqd_measure::Run;

use crate::film::{Film, film};
use crate::hand::{Hand, HandAtWork, USUAL_MEASURES, table_of_hands};
use crate::selection::best_and_different;
use crate::{Replay, ViewError};

/// Perturbed copies of the task that are kept for the next replay.
const KEPT_TASKS: usize = 6;

/// A run with everything needed to show its policies at work.
pub struct RunView {
    run: Run,
    name: String,
    registry: Registry,
    task: Arc<dyn Task>,
    perturbed: Mutex<VecDeque<(Change, Arc<dyn Task>)>>,
    /// For a task without a run: what actions without a policy do in it.
    hands: Option<ArchiveTable>,
}

/// Changes to the task for a replay, on top of those of the run itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Factor on every friction.
    pub friction_scale: f64,
    /// Factor on every mass.
    pub mass_scale: f64,
}

impl Default for Change {
    fn default() -> Self {
        Self { friction_scale: 1.0, mass_scale: 1.0 }
    }
}

impl Change {
    /// Whether both factors are within what a page or a command may ask for.
    pub(crate) fn is_allowed(&self) -> bool {
        let allowed = |scale: f64| scale.is_finite() && (0.05..=20.0).contains(&scale);
        allowed(self.friction_scale) && allowed(self.mass_scale)
    }
}

impl RunView {
    /// Opens runs that are viewed together. Folders of the same name, as sweeps make them, are told apart by as much
    /// of their paths as it takes.
    pub fn open_all(paths: &[PathBuf], registry: &Registry) -> Result<Vec<Self>, ViewError> {
        let mut runs = paths.iter().map(|path| Self::open(path, registry)).collect::<Result<Vec<_>, _>>()?;
        let names = names_apart(&runs.iter().map(|run| parts(&run.run.path)).collect::<Vec<_>>());
        runs.iter_mut().zip(names).for_each(|(run, name)| run.name = name);
        Ok(runs)
    }

    /// Opens a run folder, a list of chosen policies or a table; the archive is read when it is asked for.
    pub fn open(path: &Path, registry: &Registry) -> Result<Self, ViewError> {
        let run = Run::open(path)?;
        let task = run.task(registry)?;
        let name = parts(path).pop().unwrap_or_else(|| "run".to_owned());
        Ok(Self { run, name, registry: registry.clone(), task, perturbed: Mutex::default(), hands: None })
    }

    /// A task before anything was searched in it: its elites are zero, sine and random actions.
    pub fn of_task(task: &str, registry: &Registry) -> Result<Self, ViewError> {
        let run = Run::of_task(task);
        let task = run.task(registry)?;
        let hands = Some(table_of_hands(&*task)?);
        let name = task.spec().name.clone();
        Ok(Self { run, name, registry: registry.clone(), task, perturbed: Mutex::default(), hands })
    }

    /// What the elites are called, where they are not policies of a search.
    pub fn labels(&self) -> Option<Vec<&'static str>> {
        self.hands.as_ref().map(|_| Hand::ALL.map(Hand::name).to_vec())
    }

    /// The run itself.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Last part of the folder's path, or as many as tell the run from others.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The configuration of the run; a table has none.
    pub fn config(&self) -> Option<&RunConfig> {
        self.run.config.as_ref()
    }

    /// The task, with the changes of the run.
    pub fn task(&self) -> &Arc<dyn Task> {
        &self.task
    }

    /// The progress of the run; a table has none.
    pub fn status(&self) -> Result<Option<Status>, ViewError> {
        Ok(self.run.status(&self.registry)?)
    }

    /// The metrics so far; none before the first iteration.
    pub fn metrics(&self) -> Result<Vec<IterationRow>, ViewError> {
        Ok(self.run.log()?)
    }

    /// The result archive without its features, which no picture needs; empty before it is first written.
    pub fn archive(&self) -> Result<ArchiveTable, ViewError> {
        if let Some(hands) = &self.hands {
            return Ok(hands.clone());
        }
        let mut table = self.run.archive()?.unwrap_or_default();
        table.features = Block::default();
        Ok(table)
    }

    /// Where the archive is, to see when it changes.
    pub fn archive_path(&self) -> PathBuf {
        self.run.archive_path()
    }

    /// The layout of the archive's cells; without a configuration, a range around the stored measures.
    pub(crate) fn layout(&self, table: &ArchiveTable) -> Layout {
        match self.config() {
            Some(config) => Layout::of_archive(config.layout()),
            None => Layout::around(table),
        }
    }

    /// What the measures are called: by the task where a person designed them, else by number.
    pub fn measure_names(&self, count: usize) -> Vec<String> {
        let designed = &self.task.spec().measures;
        if self.hands.is_some() && designed.len() < 2 {
            return USUAL_MEASURES.map(str::to_owned).to_vec();
        }
        match (self.run.method == "regular" || self.hands.is_some()) && designed.len() == count {
            true => designed.iter().map(|measure| measure.name.clone()).collect(),
            false => (1..=count).map(|i| format!("measure {i}")).collect(),
        }
    }

    /// The shape of the policies, as stored in the current archive.
    pub fn policy(&self) -> Result<PolicySpec, ViewError> {
        Ok(self.run.policy_spec(self.task.spec())?)
    }

    /// Lets a policy act in a world of its own, from the start state of `seed`.
    pub fn play(&self, parameters: &[f64], seed: u64, change: Change) -> Result<Player, ViewError> {
        let task = self.task_with(change)?;
        if self.hands.is_some() {
            let hand = parameters.first().and_then(|number| Hand::ALL.get(*number as usize));
            return Player::start(task.make()?, Driver::Hand(*hand.unwrap_or(&Hand::Zero)), seed);
        }
        let policy = Policy::new(&self.policy()?, parameters)?;
        Player::start(task.make()?, Driver::Policy(policy), seed)
    }

    /// Records the whole episode of the elite in one row of the archive, from the first seed it was evaluated with.
    pub fn replay(&self, archive: &ArchiveTable, row: usize, change: Change) -> Result<Replay, ViewError> {
        let seed = archive.seeds.row(row).first().copied().unwrap_or(0);
        let mut player = self.play(archive.parameters.row(row), seed, change)?;
        let mut replay = Replay::new(player.scene().clone(), 1);
        replay.push(player.poses(), 0.0);
        while let Some(step) = player.step()? {
            replay.push(player.poses(), step.reward);
        }
        Ok(replay)
    }

    /// The first seconds of the same episode as the task draws it itself; `None` for a task that does not.
    pub fn film(&self, archive: &ArchiveTable, row: usize, seconds: f64) -> Result<Option<Film>, ViewError> {
        let Some(world) = self.task.make_pictured()? else { return Ok(None) };
        let policy = Policy::new(&self.policy()?, archive.parameters.row(row))?;
        film(world, policy, archive.seeds.row(row).first().copied().unwrap_or(0), seconds)
    }

    /// Rows of the elites to show first: those of a list in its order, all hands, else the best and the most different.
    pub fn to_show(&self, archive: &ArchiveTable, count: usize) -> Vec<usize> {
        match self.run.is_selection() || self.hands.is_some() {
            true => (0..archive.len().min(count)).collect(),
            false => best_and_different(archive, count),
        }
    }

    /// What stands under a film or a strip: which return it shows, which the search found, and the measures.
    pub fn caption(&self, archive: &ArchiveTable, row: usize, replay: &Replay, change: Change) -> String {
        let measures: Vec<String> =
            archive.measures.row(row).iter().take(6).map(|m| format!("{m:.2}")).collect();
        let mut text = format!(
            "return {:.0} in this episode, found {:.0} · measures {}",
            replay.total_reward(),
            archive.objective[row],
            measures.join(", ")
        );
        if change != Change::default() {
            text += &format!(" · friction ×{}, mass ×{}", change.friction_scale, change.mass_scale);
        }
        text.replace('-', "\u{2212}")
    }

    /// Whether friction and mass of the task can be changed.
    pub fn can_change(&self) -> bool {
        self.task_with(Change { friction_scale: 2.0, mass_scale: 2.0 }).is_ok()
    }

    fn task_with(&self, change: Change) -> Result<Arc<dyn Task>, ViewError> {
        if change == Change::default() {
            return Ok(self.task.clone());
        }
        let kept = |tasks: &VecDeque<(Change, Arc<dyn Task>)>| {
            tasks.iter().find(|(c, _)| *c == change).map(|(_, task)| task.clone())
        };
        // A thread that panicked while holding the lock cannot have left a task half built.
        let lock = || self.perturbed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(task) = kept(&lock()) {
            return Ok(task);
        }
        let task = self.run.task_with(&perturbation(&self.run.perturbation, change), &self.registry)?;
        let mut tasks = lock();
        tasks.push_back((change, task.clone()));
        while tasks.len() > KEPT_TASKS {
            tasks.pop_front();
        }
        Ok(task)
    }
}

/// The run's own perturbation and a further change.
fn perturbation(own: &Perturbation, change: Change) -> Perturbation {
    Perturbation {
        friction_scale: own.friction_scale * change.friction_scale,
        mass_scale: own.mass_scale * change.mass_scale,
        ..*own
    }
}

/// The space of measures as it is drawn.
pub(crate) struct Layout {
    /// Range of each measure.
    pub bounds: Vec<[f64; 2]>,
    /// Cells per measure of a grid.
    pub cells: Option<Vec<usize>>,
    /// Elites that fit.
    pub capacity: usize,
}

impl Layout {
    fn of_archive(layout: &ArchiveLayout) -> Self {
        let cells = match layout {
            ArchiveLayout::Grid { cells, .. } => Some(cells.clone()),
            _ => None,
        };
        Self { bounds: layout.bounds().to_vec(), cells, capacity: layout.capacity() }
    }

    fn around(table: &ArchiveTable) -> Self {
        let range = |m: usize| {
            let values = (0..table.len()).map(|i| table.measures.row(i)[m]);
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            if low < high { [low, high] } else { [low - 0.5, low + 0.5] }
        };
        let measures = if table.is_empty() { 0 } else { table.measures.width };
        Self { bounds: (0..measures).map(range).collect(), cells: None, capacity: table.len() }
    }
}

/// How a step of a [`Player`] went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Reward of the step.
    pub reward: f64,
    /// The task ended the episode.
    pub terminated: bool,
    /// The step limit ended the episode.
    pub truncated: bool,
}

/// Who acts in an episode that is to begin.
enum Driver {
    Policy(Policy),
    Hand(Hand),
}

/// Who acts.
enum Actor {
    Policy(Policy),
    Hand(HandAtWork),
}

/// A policy at work, step by step.
pub struct Player {
    world: Box<dyn Environment>,
    actor: Actor,
    scene: Scene,
    observation: Vec<f64>,
    action: Vec<f32>,
    poses: Vec<Pose>,
    over: bool,
}

impl Player {
    fn start(mut world: Box<dyn Environment>, driver: Driver, seed: u64) -> Result<Self, ViewError> {
        let mut observation = vec![0.0; world.spec().observation_size];
        let action = vec![0.0; world.spec().action_size];
        world.reset(Some(&Seed::from(seed)), &mut observation)?;
        let scene = world.scene().ok_or(ViewError::NothingToDraw)?;
        let mut poses = Vec::with_capacity(scene.shapes.len());
        world.poses(&mut poses);
        let actor = match driver {
            Driver::Policy(policy) => Actor::Policy(policy),
            Driver::Hand(hand) => {
                Actor::Hand(HandAtWork::new(hand, world.spec(), seed, scene.seconds_per_step))
            }
        };
        Ok(Self { world, actor, scene, observation, action, poses, over: false })
    }

    /// What the world looks like.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Where everything is now.
    pub fn poses(&self) -> &[Pose] {
        &self.poses
    }

    /// Acts once; `None` when the episode was over before or the simulation diverged.
    pub fn step(&mut self) -> Result<Option<Step>, ViewError> {
        if self.over {
            return Ok(None);
        }
        match &mut self.actor {
            Actor::Policy(policy) => policy.act(&self.observation, &mut self.action),
            Actor::Hand(hand) => hand.act(&mut self.action),
        }
        let transition = self.world.step(Action::F32(&self.action), &mut self.observation)?;
        self.over = transition.done();
        if transition.diverged || !transition.reward.is_finite() {
            self.over = true;
            return Ok(None);
        }
        self.world.poses(&mut self.poses);
        Ok(Some(Step {
            reward: transition.reward,
            terminated: transition.terminated,
            truncated: transition.truncated,
        }))
    }
}

/// The parts of a folder's whole path.
fn parts(path: &Path) -> Vec<String> {
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let normal = absolute.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    normal.collect()
}

/// For each path the shortest end that no other path has, its parts joined by dashes.
fn names_apart(paths: &[Vec<String>]) -> Vec<String> {
    let end = |path: &[String], parts: usize| path[path.len().saturating_sub(parts)..].join("-");
    let name = |path: &Vec<String>| {
        let alone = |parts: &usize| paths.iter().all(|p| p == path || end(p, *parts) != end(path, *parts));
        end(path, (1..path.len()).find(alone).unwrap_or(path.len()))
    };
    paths.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::names_apart;

    #[test]
    fn runs_of_a_sweep_are_told_apart_by_the_shortest_ends_of_their_paths() {
        let names = |paths: &[&str]| {
            let parts = |path: &&str| path.split('/').map(str::to_owned).collect();
            names_apart(&paths.iter().map(parts).collect::<Vec<Vec<String>>>())
        };
        assert_eq!(
            names(&["runs/hopper-autoqd-1", "runs/ant-autoqd-1"]),
            ["hopper-autoqd-1", "ant-autoqd-1"]
        );
        assert_eq!(
            names(&[
                "s/ant/method=aurora/seed-1",
                "s/ant/method=regular/seed-1",
                "s/ant/method=regular/seed-2"
            ]),
            ["method=aurora-seed-1", "method=regular-seed-1", "seed-2"]
        );
        assert_eq!(names(&["s/ant/x/seed-1", "s/hopper/x/seed-1"]), ["ant-x-seed-1", "hopper-x-seed-1"]);
        assert_eq!(names(&["a/run", "a/run", "run"]), ["a-run", "a-run", "run"], "the same run twice");
    }
}
