//! Many worlds of a task as one object: the native part of `autoqd.make_vec`.

mod block;
mod crew;

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use autoqd_env::{Action, EnvError, Physics, Seed, Task, load_task};
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyReadwriteArray1, PyReadwriteArray2,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use block::{Autoreset, Block};
use crew::{Command, Crew};

use crate::errors::{closed, setting};
use crate::task_facts::{facts, seed_of};

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<VectorWorlds>()
}

/// Something happened in a step that is not in every step's arrays.
const ANY_FRESH: u8 = 1;
const ALL_FRESH: u8 = 2;
const ANY_ENDED: u8 = 4;
const ANY_DIVERGED: u8 = 8;

/// Worlds of one task that are stepped together on several threads.
#[pyclass(module = "autoqd._native", frozen)]
struct VectorWorlds {
    task: Arc<dyn Task>,
    num_envs: usize,
    mode: Autoreset,
    /// None once closed.
    crew: Mutex<Option<Crew>>,
    infos: Vec<(String, bool)>,
    physics_note: String,
}

/// The arrays that a step or reset fills in.
struct Rows<'a> {
    observations: ObservationRows<'a>,
    /// One row per info.
    infos: &'a mut [f64],
    fresh: &'a mut [bool],
}

enum ObservationRows<'a> {
    F32(&'a mut [f32]),
    F64(&'a mut [f64]),
}

impl ObservationRows<'_> {
    /// Writes rows from row `first` on.
    fn write(&mut self, first: usize, size: usize, rows: &[f64]) {
        let range = first * size..first * size + rows.len();
        match self {
            Self::F32(all) => all[range].iter_mut().zip(rows).for_each(|(to, from)| *to = *from as f32),
            Self::F64(all) => all[range].copy_from_slice(rows),
        }
    }
}

/// Observations of the caller, in one of two precisions.
enum ObservationArray<'py> {
    F32(PyReadwriteArray2<'py, f32>),
    F64(PyReadwriteArray2<'py, f64>),
}

impl<'py> ObservationArray<'py> {
    fn of(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = array.cast::<PyArray2<f64>>() {
            return Ok(Self::F64(array.try_readwrite().map_err(unusable)?));
        }
        let array = array.cast::<PyArray2<f32>>().map_err(|_| unusable("neither float32 nor float64"))?;
        Ok(Self::F32(array.try_readwrite().map_err(unusable)?))
    }

    fn rows(&mut self) -> PyResult<ObservationRows<'_>> {
        Ok(match self {
            Self::F32(array) => ObservationRows::F32(array.as_slice_mut().map_err(unusable)?),
            Self::F64(array) => ObservationRows::F64(array.as_slice_mut().map_err(unusable)?),
        })
    }
}

/// Actions of the caller, in one of two precisions.
enum ActionArray<'py> {
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
}

impl ActionArray<'_> {
    fn rows(&self) -> PyResult<Action<'_>> {
        Ok(match self {
            Self::F32(array) => Action::F32(array.as_slice().map_err(unusable)?),
            Self::F64(array) => Action::F64(array.as_slice().map_err(unusable)?),
        })
    }
}

fn unusable(reason: impl std::fmt::Display) -> PyErr {
    PyTypeError::new_err(format!("an array cannot be used: {reason}"))
}

fn runtime_error(error: EnvError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl VectorWorlds {
    #[new]
    #[pyo3(signature = (task, physics, num_envs, num_threads, autoreset, max_episode_steps))]
    fn new(
        py: Python<'_>,
        task: &str,
        physics: &str,
        num_envs: usize,
        num_threads: usize,
        autoreset: &str,
        max_episode_steps: Option<usize>,
    ) -> PyResult<Self> {
        let mode = match autoreset {
            "NextStep" => Autoreset::NextStep,
            "SameStep" => Autoreset::SameStep,
            _ => Autoreset::Disabled,
        };
        py.detach(|| Self::build(task, physics, num_envs, num_threads, mode, max_episode_steps))
            .map_err(|error| setting(error.to_string()))
    }

    /// Sizes, bounds and names of the task.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        facts(py, self.task.spec(), &self.infos, &self.physics_note)
    }

    /// Starts episodes and fills in the arrays. `seeds` has one entry per environment: an integer, None to go on with
    /// the random stream, or False to leave the environment alone.
    fn reset(
        &self,
        py: Python<'_>,
        seeds: Vec<Bound<'_, PyAny>>,
        observations: &Bound<'_, PyAny>,
        infos: &Bound<'_, PyArray2<f64>>,
        fresh: &Bound<'_, PyArray1<bool>>,
    ) -> PyResult<()> {
        let seeds = seeds.iter().map(asked_seed).collect::<PyResult<Vec<_>>>()?;
        let (mut observations, mut infos, mut fresh) = arrays(observations, infos, fresh)?;
        let mut rows = self.rows(&mut observations, &mut infos, &mut fresh)?;
        if seeds.len() != self.num_envs {
            return Err(unusable(format!("{} seeds for {} environments", seeds.len(), self.num_envs)));
        }
        let mut crew = self.crew()?;
        let crew = crew.as_mut().ok_or_else(|| self.closed())?;
        py.detach(|| {
            crew.run(|command| *command = Command::Reset(seeds))?;
            self.collect(crew, &mut rows);
            Ok(())
        })
        .map_err(runtime_error)
    }

    /// Advances all environments and fills in the arrays; returns what happened as a sum of flags.
    #[allow(clippy::too_many_arguments)] // One per array of a step, each written in place.
    fn step(
        &self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        observations: &Bound<'_, PyAny>,
        rewards: PyReadwriteArray1<'_, f64>,
        terminated: PyReadwriteArray1<'_, bool>,
        truncated: PyReadwriteArray1<'_, bool>,
        infos: &Bound<'_, PyArray2<f64>>,
        fresh: &Bound<'_, PyArray1<bool>>,
    ) -> PyResult<u8> {
        let (mut rewards, mut terminated, mut truncated) = (rewards, terminated, truncated);
        let (mut observations, mut infos, mut fresh) = arrays(observations, infos, fresh)?;
        let mut rows = self.rows(&mut observations, &mut infos, &mut fresh)?;
        let rewards = self.one_each(rewards.as_slice_mut())?;
        let terminated = self.one_each(terminated.as_slice_mut())?;
        let truncated = self.one_each(truncated.as_slice_mut())?;
        let actions = self.actions(actions)?;
        let actions = actions.rows()?;
        let mut crew = self.crew()?;
        let crew = crew.as_mut().ok_or_else(|| self.closed())?;
        py.detach(|| {
            self.check_over(crew)?;
            crew.run(|command| fill(command, self.mode, actions))?;
            self.collect(crew, &mut rows);
            Ok(collect_outcomes(crew, rewards, terminated, truncated))
        })
        .map_err(runtime_error)
    }

    /// Fills in how the episodes ended that the last step ended; the rest of the arrays is left alone.
    fn last(
        &self,
        observations: &Bound<'_, PyAny>,
        infos: &Bound<'_, PyArray2<f64>>,
        ended: &Bound<'_, PyArray1<bool>>,
    ) -> PyResult<()> {
        let (mut observations, mut infos, mut ended) = arrays(observations, infos, ended)?;
        let mut rows = self.rows(&mut observations, &mut infos, &mut ended)?;
        let crew = self.crew()?;
        let crew = crew.as_ref().ok_or_else(|| self.closed())?;
        let size = self.task.spec().observation_size;
        let mut first = 0;
        for block in crew.blocks() {
            for lane in 0..block.count {
                let env = first + lane;
                rows.fresh[env] = block.outcomes[lane].ended;
                if rows.fresh[env] {
                    rows.observations.write(env, size, &block.last_observations[lane * size..][..size]);
                    self.spread(&block.last_infos, lane, env, rows.infos);
                }
            }
            first += block.count;
        }
        Ok(())
    }

    /// Fills in which environments diverged in the last step.
    fn diverged(&self, mut out: PyReadwriteArray1<'_, bool>) -> PyResult<()> {
        let out = self.one_each(out.as_slice_mut())?;
        let crew = self.crew()?;
        let crew = crew.as_ref().ok_or_else(|| self.closed())?;
        let all = crew.blocks().flat_map(|b| b.outcomes[..b.count].to_vec());
        out.iter_mut().zip(all).for_each(|(to, outcome)| *to = outcome.diverged);
        Ok(())
    }

    /// Gives worlds and threads back.
    fn close(&self) -> PyResult<()> {
        *self.crew()? = None;
        Ok(())
    }
}

type Arrays<'py> = (ObservationArray<'py>, PyReadwriteArray2<'py, f64>, PyReadwriteArray1<'py, bool>);

fn arrays<'py>(
    observations: &Bound<'py, PyAny>,
    infos: &Bound<'py, PyArray2<f64>>,
    flags: &Bound<'py, PyArray1<bool>>,
) -> PyResult<Arrays<'py>> {
    Ok((
        ObservationArray::of(observations)?,
        infos.try_readwrite().map_err(unusable)?,
        flags.try_readwrite().map_err(unusable)?,
    ))
}

/// What `reset` is asked for an environment: nothing, to go on, or a seed.
fn asked_seed(seed: &Bound<'_, PyAny>) -> PyResult<Option<Option<Seed>>> {
    if seed.is_none() {
        return Ok(Some(None));
    }
    if seed.is_exact_instance_of::<pyo3::types::PyBool>() {
        return Ok(None);
    }
    Ok(Some(Some(seed_of(seed)?)))
}

/// The command of a step, in the buffer of the last one where it has the same type.
fn fill(command: &mut Command, mode: Autoreset, actions: Action<'_>) {
    match (&mut *command, actions) {
        (Command::StepF32(_, buffer), Action::F32(actions)) => buffer.copy_from_slice(actions),
        (Command::StepF64(_, buffer), Action::F64(actions)) => buffer.copy_from_slice(actions),
        (_, Action::F32(actions)) => *command = Command::StepF32(mode, actions.to_vec()),
        (_, Action::F64(actions)) => *command = Command::StepF64(mode, actions.to_vec()),
    }
}

fn collect_outcomes(crew: &Crew, rewards: &mut [f64], terminated: &mut [bool], truncated: &mut [bool]) -> u8 {
    let (mut flags, mut first) = (ALL_FRESH, 0);
    for block in crew.blocks() {
        for (env, outcome) in (first..).zip(&block.outcomes[..block.count]) {
            rewards[env] = outcome.reward;
            terminated[env] = outcome.terminated;
            truncated[env] = outcome.truncated;
            flags |= if outcome.fresh { ANY_FRESH } else { 0 };
            flags &= if outcome.fresh { u8::MAX } else { !ALL_FRESH };
            flags |= if outcome.ended { ANY_ENDED } else { 0 };
            flags |= if outcome.diverged { ANY_DIVERGED } else { 0 };
        }
        first += block.count;
    }
    flags
}

impl VectorWorlds {
    fn build(
        task: &str,
        physics: &str,
        num_envs: usize,
        num_threads: usize,
        mode: Autoreset,
        max_episode_steps: Option<usize>,
    ) -> Result<Self, EnvError> {
        let task = load_task(task, &Default::default())?;
        let make = || match physics {
            "reference" => task.make_gymnasium_worlds(),
            "lanes" => task.make_worlds(Physics::Lanes),
            _ => task.make_worlds(Physics::Auto),
        };
        let limit = max_episode_steps.unwrap_or(usize::MAX);
        let first = make()?;
        let (lanes, action_size) = (first.lanes(), first.spec().action_size);
        let mut blocks = vec![Block::new(first, num_envs, limit)];
        while blocks.len() * lanes < num_envs {
            let count = num_envs - blocks.len() * lanes;
            blocks.push(Block::new(make()?, count, limit));
        }
        let of_task = blocks[0].task_infos().iter().map(|info| (info.name.to_owned(), info.at_reset));
        let terms = task.spec().reward_terms.iter().map(|term| (format!("reward_{term}"), false));
        let infos = of_task.chain(terms).collect();
        let physics_note = match physics {
            "reference" => task.physics_note(Physics::Reference),
            "lanes" => task.physics_note(Physics::Lanes),
            _ => task.physics_note(Physics::Auto),
        };
        let crew = Mutex::new(Some(Crew::new(blocks, lanes, action_size, num_threads)));
        Ok(Self { task, num_envs, mode, crew, infos, physics_note })
    }

    /// The crew, if no other thread works with it. Waiting for that thread could take forever: a forked process has only
    /// the lock, not the thread.
    fn crew(&self) -> PyResult<MutexGuard<'_, Option<Crew>>> {
        match self.crew.try_lock() {
            Ok(crew) => Ok(crew),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "another thread is in a step or reset of this environment; give each thread its own",
            )),
        }
    }

    fn closed(&self) -> PyErr {
        closed(&self.task.spec().name)
    }

    fn actions<'py>(&self, actions: &Bound<'py, PyAny>) -> PyResult<ActionArray<'py>> {
        let expected = [self.num_envs, self.task.spec().action_size];
        let wrong = || unusable(format!("actions must be float32 or float64 of shape {expected:?}"));
        let array = if let Ok(array) = actions.cast::<PyArray2<f32>>() {
            ActionArray::F32(array.try_readonly().map_err(unusable)?)
        } else {
            let array = actions.cast::<PyArray2<f64>>().map_err(|_| wrong())?;
            ActionArray::F64(array.try_readonly().map_err(unusable)?)
        };
        let shape = match &array {
            ActionArray::F32(array) => array.shape(),
            ActionArray::F64(array) => array.shape(),
        };
        if shape == expected { Ok(array) } else { Err(wrong()) }
    }

    fn one_each<'a, T>(&self, slice: Result<&'a mut [T], numpy::AsSliceError>) -> PyResult<&'a mut [T]> {
        let slice = slice.map_err(unusable)?;
        if slice.len() == self.num_envs {
            return Ok(slice);
        }
        Err(unusable(format!("{} numbers for {} environments", slice.len(), self.num_envs)))
    }

    fn rows<'a>(
        &self,
        observations: &'a mut ObservationArray<'_>,
        infos: &'a mut PyReadwriteArray2<'_, f64>,
        fresh: &'a mut PyReadwriteArray1<'_, bool>,
    ) -> PyResult<Rows<'a>> {
        let infos = infos.as_slice_mut().map_err(unusable)?;
        let observations = observations.rows()?;
        let length = match &observations {
            ObservationRows::F32(rows) => rows.len(),
            ObservationRows::F64(rows) => rows.len(),
        };
        let expected = self.num_envs * self.task.spec().observation_size;
        if length != expected || infos.len() != self.infos.len() * self.num_envs {
            return Err(unusable(format!("{length} numbers for {expected} observations")));
        }
        Ok(Rows { observations, infos, fresh: self.one_each(fresh.as_slice_mut())? })
    }

    /// Without automatic resets an episode that is over must be reset before the next step.
    fn check_over(&self, crew: &Crew) -> Result<(), EnvError> {
        if self.mode != Autoreset::Disabled {
            return Ok(());
        }
        let over = crew.blocks().flat_map(|b| b.outcomes[..b.count].to_vec()).position(|o| o.over);
        over.map_or(Ok(()), |env| {
            let message = format!(
                "the episode of environment {env} is over; call reset with options={{\"reset_mask\": ...}} first"
            );
            Err(EnvError::World { task: self.task.spec().name.clone(), message })
        })
    }

    /// Copies what the blocks have into the caller's arrays.
    fn collect(&self, crew: &Crew, rows: &mut Rows<'_>) {
        let size = self.task.spec().observation_size;
        let mut first = 0;
        for block in crew.blocks() {
            rows.observations.write(first, size, &block.observations[..block.count * size]);
            for lane in 0..block.count {
                rows.fresh[first + lane] = block.outcomes[lane].fresh;
                self.spread(&block.infos, lane, first + lane, rows.infos);
            }
            first += block.count;
        }
    }

    /// Copies one lane's infos into the rows of the caller, of which there is one per info.
    fn spread(&self, infos: &[f64], lane: usize, env: usize, rows: &mut [f64]) {
        let own = &infos[lane * self.infos.len()..][..self.infos.len()];
        own.iter().enumerate().for_each(|(i, value)| rows[i * self.num_envs + env] = *value);
    }
}
