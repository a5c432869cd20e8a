//! Tasks by name.

use crate::{EnvError, Perturbation, Task, TaskFiles};
use std::path::Path;
use std::sync::Arc;

/// A built-in task.
struct Entry {
    name: &'static str,
    /// Gymnasium's id of the same task.
    gymnasium: Option<&'static str>,
    /// What it needs, if anything.
    simulator: Option<Simulator>,
    build: Build,
}

/// A simulator that a build may lack.
struct Simulator {
    name: &'static str,
    /// The cargo feature that brings it.
    feature: &'static str,
    is_built: bool,
}

const MUJOCO: Simulator = Simulator { name: "MuJoCo", feature: "mujoco", is_built: cfg!(feature = "mujoco") };
const BOX2D: Simulator = Simulator { name: "Box2D", feature: "box2d", is_built: cfg!(feature = "box2d") };

type Build = fn(&'static str, &Perturbation) -> Result<Arc<dyn Task>, EnvError>;

const fn mujoco(name: &'static str, gymnasium: &'static str) -> Entry {
    Entry { name, gymnasium: Some(gymnasium), simulator: Some(MUJOCO), build: locomotion }
}

const ENTRIES: &[Entry] = &[
    mujoco("ant", "Ant-v5"),
    mujoco("half-cheetah", "HalfCheetah-v5"),
    mujoco("hopper", "Hopper-v5"),
    mujoco("humanoid", "Humanoid-v5"),
    mujoco("humanoid-standup", "HumanoidStandup-v5"),
    mujoco("inverted-double-pendulum", "InvertedDoublePendulum-v5"),
    mujoco("inverted-pendulum", "InvertedPendulum-v5"),
    mujoco("pusher", "Pusher-v5"),
    mujoco("reacher", "Reacher-v5"),
    mujoco("swimmer", "Swimmer-v5"),
    mujoco("walker2d", "Walker2d-v5"),
    Entry {
        name: "bipedal-walker",
        gymnasium: Some("BipedalWalker-v3"),
        simulator: Some(BOX2D),
        build: bipedal_walker,
    },
    Entry {
        name: "point-maze",
        gymnasium: None,
        simulator: None,
        build: unperturbed::<crate::PointMazeTask>,
    },
    Entry {
        name: "planar-arm",
        gymnasium: None,
        simulator: None,
        build: unperturbed::<crate::PlanarArmTask>,
    },
];

/// Names of the built-in tasks whose simulator is part of this build.
pub fn task_names() -> Vec<&'static str> {
    ENTRIES.iter().filter(|entry| missing(entry).is_none()).map(|entry| entry.name).collect()
}

/// The simulator that an entry needs and this build does not have.
fn missing(entry: &Entry) -> Option<&Simulator> {
    entry.simulator.as_ref().filter(|simulator| !simulator.is_built)
}

fn not_built(task: &str, simulator: &Simulator) -> EnvError {
    let (simulator, feature) = (simulator.name, simulator.feature);
    EnvError::SimulatorNotBuilt { task: task.to_string(), simulator, feature }
}

/// The built-in name of a task given by its name or Gymnasium id, ignoring case.
pub fn canonical_name(name: &str) -> Option<&'static str> {
    find(name).map(|entry| entry.name)
}

/// Gymnasium's id of a built-in task, if it is one of Gymnasium's.
pub fn gymnasium_id(name: &str) -> Option<&'static str> {
    find(name)?.gymnasium
}

/// A built-in task by name or Gymnasium id, or the task of a TOML file.
///
/// ```
/// use autoqd_env::{Perturbation, load_task};
///
/// let error = load_task("half-cheeta", &Perturbation::default()).err().unwrap();
/// assert!(error.to_string().contains("did you mean"));
/// ```
pub fn load_task(name_or_path: &str, perturbation: &Perturbation) -> Result<Arc<dyn Task>, EnvError> {
    if let Some(entry) = find(name_or_path) {
        if let Some(simulator) = missing(entry) {
            return Err(not_built(entry.name, simulator));
        }
        return (entry.build)(entry.name, perturbation);
    }
    if name_or_path.to_lowercase().ends_with(".xml") {
        return Err(EnvError::TaskFile {
            path: name_or_path.to_string(),
            message: format!(
                "this is a model, not a task; write a task file for it with: autoqd init {name_or_path}"
            ),
        });
    }
    if name_or_path.ends_with(".toml") || Path::new(name_or_path).is_file() {
        return from_file(name_or_path, perturbation);
    }
    Err(unknown(name_or_path))
}

/// The files of a task that is given by a task file; `None` for a built-in one.
pub fn task_files(name_or_path: &str) -> Result<Option<TaskFiles>, EnvError> {
    match find(name_or_path) {
        Some(_) => Ok(None),
        None => files_of(name_or_path).map(Some),
    }
}

#[cfg(feature = "mujoco")]
fn files_of(path: &str) -> Result<TaskFiles, EnvError> {
    crate::LocomotionTask::files(path)
}

#[cfg(not(feature = "mujoco"))]
fn files_of(path: &str) -> Result<TaskFiles, EnvError> {
    Err(not_built(path, &MUJOCO))
}

fn find(name: &str) -> Option<&'static Entry> {
    let same = |other: &str| other.eq_ignore_ascii_case(name);
    ENTRIES.iter().find(|entry| same(entry.name) || entry.gymnasium.is_some_and(same))
}

fn unknown(name: &str) -> EnvError {
    let all = || ENTRIES.iter().flat_map(|entry| std::iter::once(entry.name).chain(entry.gymnasium));
    let lower = name.to_lowercase();
    let score = |candidate: &str| strsim::normalized_damerau_levenshtein(&candidate.to_lowercase(), &lower);
    let nearest = all().map(|candidate| (score(candidate), candidate)).max_by(|a, b| a.0.total_cmp(&b.0));
    let suggestion = match nearest {
        Some((score, candidate)) if score > 0.4 => format!("; did you mean '{candidate}'?"),
        _ => String::new(),
    };
    EnvError::UnknownTask { name: name.to_string(), suggestion, known: task_names().join(", ") }
}

#[cfg(feature = "mujoco")]
fn from_file(path: &str, perturbation: &Perturbation) -> Result<Arc<dyn Task>, EnvError> {
    Ok(Arc::new(crate::LocomotionTask::from_file(path, perturbation)?))
}

#[cfg(not(feature = "mujoco"))]
fn from_file(path: &str, _perturbation: &Perturbation) -> Result<Arc<dyn Task>, EnvError> {
    Err(not_built(path, &MUJOCO))
}

#[cfg(feature = "mujoco")]
fn locomotion(name: &'static str, perturbation: &Perturbation) -> Result<Arc<dyn Task>, EnvError> {
    Ok(Arc::new(crate::LocomotionTask::builtin(name, perturbation)?))
}

#[cfg(not(feature = "mujoco"))]
fn locomotion(name: &'static str, _perturbation: &Perturbation) -> Result<Arc<dyn Task>, EnvError> {
    Err(not_built(name, &MUJOCO))
}

#[cfg(not(feature = "box2d"))]
fn bipedal_walker(name: &'static str, _perturbation: &Perturbation) -> Result<Arc<dyn Task>, EnvError> {
    Err(not_built(name, &BOX2D))
}

#[cfg(feature = "box2d")]
fn bipedal_walker(name: &'static str, perturbation: &Perturbation) -> Result<Arc<dyn Task>, EnvError> {
    use crate::BipedalWalkerTask as Walker;
    perturbation.check_scales(name)?;
    perturbation.refuse_mujoco(name)?;
    let friction = perturbation.friction.unwrap_or(Walker::FRICTION) * perturbation.friction_scale;
    Ok(Arc::new(Walker::new(friction, perturbation.mass_scale)?))
}

/// Tasks in pure Rust have no physics to perturb.
fn unperturbed<T: Task + Default + 'static>(
    name: &'static str,
    perturbation: &Perturbation,
) -> Result<Arc<dyn Task>, EnvError> {
    perturbation.refuse_all(name)?;
    Ok(Arc::new(T::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_gets_the_nearest_known_one() {
        for (given, nearest) in [("hoper", "hopper"), ("walker", "walker2d"), ("Ant-v4", "Ant-v5")] {
            let message = unknown(given).to_string();
            if canonical_name(nearest).is_some() {
                assert!(message.contains(&format!("did you mean '{nearest}'")), "{message}");
            }
        }
        assert!(!unknown("zzzzzzzz").to_string().contains("did you mean"));
    }

    #[test]
    fn a_task_without_its_simulator_says_which_feature_brings_it() {
        for entry in ENTRIES {
            let loaded = load_task(entry.name, &Perturbation::default());
            assert_eq!(loaded.is_ok(), task_names().contains(&entry.name), "{}", entry.name);
            if let (Err(error), Some(simulator)) = (loaded, &entry.simulator) {
                let remedy = format!("--features {}", simulator.feature);
                assert!(error.to_string().contains(&remedy), "{error}");
            }
        }
    }

    #[test]
    fn names_and_gymnasium_ids_mean_the_same_task() {
        for name in task_names() {
            assert_eq!(canonical_name(&name.to_uppercase()), Some(name));
            if let Some(id) = gymnasium_id(name) {
                assert_eq!(canonical_name(id), Some(name));
            }
        }
    }
}
