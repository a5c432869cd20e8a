//! One world of a task: the native part of `autoqd.make`.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use autoqd_env::{Action, EnvError, Environment, Task, load_task};
use autoqd_view::Replay;
use autoqd_view::render::{FrameStyle, Renderer};
use numpy::{PyArray1, PyArray3, PyArrayMethods, PyReadwriteArray1};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{closed, setting};
use crate::task_facts::{facts, seed_of};
use crate::threads;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SingleWorld>()
}

/// One world on the reference simulator.
#[pyclass(module = "autoqd._native", frozen)]
struct SingleWorld {
    task: Arc<dyn Task>,
    infos: Vec<(String, bool)>,
    seconds_per_step: f64,
    /// None once closed.
    open: Mutex<Option<Open>>,
}

struct Open {
    world: Box<dyn Environment>,
    /// The frames of this episode that were drawn so far: the camera is chosen for all of them.
    replay: Option<Replay>,
}

/// Reward, terminated, truncated, diverged and infos.
type Stepped = (f64, bool, bool, bool, Vec<f64>);

fn runtime_error(error: EnvError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl SingleWorld {
    #[new]
    fn new(py: Python<'_>, task: &str) -> PyResult<Self> {
        let build = || -> Result<Self, EnvError> {
            let task = load_task(task, &Default::default())?;
            let world = task.make_gymnasium()?;
            let own = world.infos().iter().map(|info| (info.name.to_owned(), info.at_reset));
            let terms = task.spec().reward_terms.iter().map(|term| (format!("reward_{term}"), false));
            let infos = own.chain(terms).collect();
            let seconds_per_step = world.scene().map_or(0.05, |scene| scene.seconds_per_step);
            Ok(Self { infos, seconds_per_step, open: Mutex::new(Some(Open { world, replay: None })), task })
        };
        py.detach(build).map_err(|error| setting(error.to_string()))
    }

    /// Sizes, bounds and names of the task.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = facts(py, self.task.spec(), &self.infos, "reference simulator")?;
        facts.set_item("seconds_per_step", self.seconds_per_step)?;
        Ok(facts)
    }

    /// Starts an episode, fills in its first observation and returns the infos.
    fn reset(
        &self,
        seed: Option<&Bound<'_, PyAny>>,
        mut observation: PyReadwriteArray1<'_, f64>,
    ) -> PyResult<Vec<f64>> {
        let seed = seed.map(seed_of).transpose()?;
        let mut open = self.open()?;
        let open = open.as_mut().ok_or_else(|| self.closed())?;
        open.replay = None;
        let observation = observation.as_slice_mut().map_err(unusable)?;
        open.world.reset(seed.as_ref(), observation).map_err(runtime_error)?;
        Ok(self.infos(open))
    }

    /// Advances one step and fills in the new observation.
    fn step(
        &self,
        py: Python<'_>,
        action: &Bound<'_, PyAny>,
        mut observation: PyReadwriteArray1<'_, f64>,
    ) -> PyResult<Stepped> {
        let mut open = self.open()?;
        let open = open.as_mut().ok_or_else(|| self.closed())?;
        let observation = observation.as_slice_mut().map_err(unusable)?;
        let stepped = if let Ok(action) = action.cast::<PyArray1<f32>>() {
            let action = action.try_readonly().map_err(unusable)?;
            let action = Action::F32(action.as_slice().map_err(unusable)?);
            py.detach(|| open.world.step(action, observation))
        } else {
            let action = action.cast::<PyArray1<f64>>().map_err(unusable)?;
            let action = action.try_readonly().map_err(unusable)?;
            let action = Action::F64(action.as_slice().map_err(unusable)?);
            py.detach(|| open.world.step(action, observation))
        };
        let transition = stepped.map_err(|error| match error {
            EnvError::NotReset { .. } => runtime_error(error),
            error => PyValueError::new_err(error.to_string()),
        })?;
        let infos = self.infos(open);
        let terminated = transition.terminated || transition.diverged;
        Ok((transition.reward, terminated, transition.truncated, transition.diverged, infos))
    }

    /// The world as it is now, as rows of pixels.
    fn render<'py>(
        &self,
        py: Python<'py>,
        width: usize,
        height: usize,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let mut open = self.open()?;
        let open = open.as_mut().ok_or_else(|| self.closed())?;
        let pixels = py.detach(|| threads::install(|| open.draw(width, height)));
        let pixels = pixels.map_err(PyRuntimeError::new_err)?;
        PyArray1::from_vec(py, pixels).reshape([height, width, 3])
    }

    /// Gives the world back.
    fn close(&self) -> PyResult<()> {
        *self.open()? = None;
        Ok(())
    }
}

fn unusable(reason: impl std::fmt::Display) -> PyErr {
    PyTypeError::new_err(format!("an array cannot be used: {reason}"))
}

impl SingleWorld {
    fn open(&self) -> PyResult<MutexGuard<'_, Option<Open>>> {
        match self.open.try_lock() {
            Ok(open) => Ok(open),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "another thread is in a step of this environment; give each thread its own",
            )),
        }
    }

    fn closed(&self) -> PyErr {
        closed(&self.task.spec().name)
    }

    fn infos(&self, open: &Open) -> Vec<f64> {
        let terms = self.task.spec().reward_terms.len();
        let mut values = vec![0.0; self.infos.len() - terms];
        open.world.info(&mut values);
        values.extend_from_slice(open.world.reward_terms());
        values
    }
}

impl Open {
    /// Red, green and blue of every pixel.
    fn draw(&mut self, width: usize, height: usize) -> Result<Vec<u8>, String> {
        let scene = || self.world.scene().ok_or("this task cannot be drawn");
        let mut replay = match self.replay.take() {
            Some(replay) => replay,
            None => Replay::new(scene()?, 1),
        };
        let mut poses = Vec::new();
        self.world.poses(&mut poses);
        replay.push(&poses, 0.0);
        let style = FrameStyle { width, height, ..FrameStyle::default() };
        let last = replay.frames() - 1;
        let image = match Renderer::new(&replay, style) {
            Ok(renderer) => renderer.frame(last).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        self.replay = Some(replay);
        let image = image?;
        Ok(image.rgba.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
    }
}
