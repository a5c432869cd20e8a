//! Environments of Gymnasium as tasks.
//!
//! The name of such a task, `gym:ID?argument=value&...`, is all that it is built from; `python/autoqd/_gym.py` reads it and
//! makes the environment. Here it becomes an [`Environment`], so that rollouts, probes, measuring and everything else work
//! on it as on any task.

use std::sync::Arc;

use autoqd::Error;
use autoqd_env::{
    Action, EnvError, EnvSpec, Environment, MeasureSpec, Perturbation, Picture, Seed, Task, Transition,
};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::raised;

/// How names of these tasks start.
pub const PREFIX: &str = "gym:";

/// The task of a name.
pub fn task(name: &str, perturbation: &Perturbation) -> Result<Arc<dyn Task>, Error> {
    perturbation.refuse_all(name)?;
    // The exception itself, which says what is wrong with the name.
    let spec = Python::attach(|py| describe(py, name)).map_err(raised)?;
    Ok(Arc::new(GymTask { spec }))
}

/// The task of a name with a spec that is known already, as workers get it.
pub fn task_of(spec: EnvSpec) -> Arc<dyn Task> {
    Arc::new(GymTask { spec })
}

fn describe(py: Python<'_>, name: &str) -> PyResult<EnvSpec> {
    let facts = PyModule::import(py, "autoqd._gym")?.call_method1("describe", (name,))?;
    spec_of(name, &facts)
}

/// The spec that a mapping describes.
pub fn spec_of(name: &str, facts: &Bound<'_, PyAny>) -> PyResult<EnvSpec> {
    let bounds: Vec<(String, f64, f64)> = facts.get_item("measures")?.extract()?;
    Ok(EnvSpec {
        name: name.to_owned(),
        observation_size: facts.get_item("observation_size")?.extract()?,
        action_size: facts.get_item("action_size")?.extract()?,
        action_low: facts.get_item("action_low")?.extract()?,
        action_high: facts.get_item("action_high")?.extract()?,
        max_episode_steps: facts.get_item("max_episode_steps")?.extract()?,
        reward_terms: Vec::new(),
        measures: bounds.into_iter().map(|(name, low, high)| MeasureSpec { name, low, high }).collect(),
        objective_min: facts.get_item("objective_min")?.extract()?,
    })
}

/// An exception in the words of the task it belongs to.
fn failed(task: &str) -> impl FnOnce(PyErr) -> EnvError + '_ {
    |error| {
        let message = Python::attach(|py| {
            let said = PyModule::import(py, "autoqd._gym")
                .and_then(|module| module.call_method1("explain", (error.value(py), error.traceback(py))))
                .and_then(|text| text.extract::<String>());
            said.unwrap_or_else(|_| error.to_string())
        });
        EnvError::TaskValue { task: task.to_owned(), message }
    }
}

struct GymTask {
    spec: EnvSpec,
}

impl Task for GymTask {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn make(&self) -> Result<Box<dyn Environment>, EnvError> {
        let name = &self.spec.name;
        let world = Python::attach(|py| {
            let world = PyModule::import(py, "autoqd._gym")?.call_method1("make_world", (name,))?;
            GymWorld::new(&self.spec, &world)
        });
        Ok(Box::new(world.map_err(failed(name))?))
    }

    fn make_pictured(&self) -> Result<Option<Box<dyn Environment>>, EnvError> {
        let name = &self.spec.name;
        let world = Python::attach(|py| {
            let world = PyModule::import(py, "autoqd._gym")?.call_method1("make_pictured", (name,))?;
            if world.is_none() { Ok(None) } else { GymWorld::new(&self.spec, &world).map(Some) }
        });
        Ok(world.map_err(failed(name))?.map(|world| Box::new(world) as Box<dyn Environment>))
    }

    fn physics_note(&self, _physics: autoqd_env::Physics) -> String {
        "Gymnasium, in processes of their own".to_owned()
    }
}

/// One environment.
struct GymWorld {
    spec: EnvSpec,
    reset: Py<PyAny>,
    step: Py<PyAny>,
    /// From an observation to a vector, where it is not one.
    flatten: Option<Py<PyAny>>,
    /// From a policy's output to an action, where it is not one.
    to_action: Option<Py<PyAny>>,
    close: Py<PyAny>,
    /// Draws the world.
    render: Py<PyAny>,
    steps_per_second: f64,
    /// Steps of the episode.
    steps: usize,
}

impl GymWorld {
    /// One that `autoqd._gym.World` describes.
    fn new(spec: &EnvSpec, world: &Bound<'_, PyAny>) -> PyResult<Self> {
        let optional = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            let found = world.getattr(name)?;
            Ok((!found.is_none()).then(|| found.unbind()))
        };
        Ok(Self {
            spec: spec.clone(),
            reset: world.getattr("reset")?.unbind(),
            step: world.getattr("step")?.unbind(),
            flatten: optional("flatten")?,
            to_action: optional("to_action")?,
            close: world.getattr("close")?.unbind(),
            render: world.getattr("render")?.unbind(),
            steps_per_second: world.getattr("rate")?.extract()?,
            steps: 0,
        })
    }

    fn draw(&self) -> PyResult<Picture> {
        Python::attach(|py| {
            let drawn: PyReadonlyArray3<'_, u8> = self.render.bind(py).call0()?.extract()?;
            let [height, width, colours] = *drawn.shape() else { unreachable!("an array of three axes") };
            if colours != 3 || height * width == 0 {
                let message = format!("a picture of shape {:?}, not (height, width, 3)", drawn.shape());
                return Err(pyo3::exceptions::PyValueError::new_err(message));
            }
            let rgb = drawn.as_array().iter().copied().collect();
            Ok(Picture { width, height, rgb, steps_per_second: self.steps_per_second })
        })
    }

    fn observe(&self, given: &Bound<'_, PyAny>, observation: &mut [f64]) -> PyResult<()> {
        let py = given.py();
        match &self.flatten {
            Some(flatten) => read(&flatten.bind(py).call1((given,))?, observation),
            None => read(given, observation),
        }
    }

    fn restart(&self, seed: Option<&Seed>, observation: &mut [f64]) -> PyResult<()> {
        Python::attach(|py| {
            let seed = seed.map(|seed| seed.to_string());
            let first = self.reset.bind(py).call1((seed,))?;
            self.observe(&first, observation)
        })
    }

    fn advance(&self, action: Action<'_>, observation: &mut [f64]) -> PyResult<Transition> {
        Python::attach(|py| {
            let given = match action {
                Action::F32(action) => PyArray1::from_slice(py, action).into_any(),
                Action::F64(action) => PyArray1::from_iter(py, action.iter().map(|a| *a as f32)).into_any(),
            };
            let given = match &self.to_action {
                Some(to_action) => to_action.bind(py).call1((given,))?,
                None => given,
            };
            let (next, reward, terminated, truncated, _): (
                Bound<'_, PyAny>,
                f64,
                Bound<'_, PyAny>,
                Bound<'_, PyAny>,
                Bound<'_, PyAny>,
            ) = self.step.bind(py).call1((given,))?.extract()?;
            self.observe(&next, observation)?;
            Ok(Transition {
                reward,
                terminated: terminated.is_truthy()?,
                truncated: truncated.is_truthy()?,
                diverged: false,
            })
        })
    }
}

/// Copies a vector of single or double precision; anything else as numpy converts it.
fn read(given: &Bound<'_, PyAny>, observation: &mut [f64]) -> PyResult<()> {
    // A short copy takes less time than lending the array to Rust, which is written down in a table of all arrays lent.
    if let Ok(Ok(values)) = given.cast::<PyArray1<f32>>().map(|vector| vector.to_vec()) {
        check_length(values.len(), observation.len())?;
        observation.iter_mut().zip(values).for_each(|(to, from)| *to = f64::from(from));
        return Ok(());
    }
    if let Ok(Ok(values)) = given.cast::<PyArray1<f64>>().map(|vector| vector.to_vec()) {
        check_length(values.len(), observation.len())?;
        observation.copy_from_slice(&values);
        return Ok(());
    }
    let numpy = PyModule::import(given.py(), "numpy")?;
    let plain = numpy.call_method1("asarray", (given, "float64"))?.call_method0("ravel")?;
    let vector: PyReadonlyArray1<'_, f64> = plain.extract()?;
    let values = vector.as_array();
    check_length(values.len(), observation.len())?;
    observation.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
    Ok(())
}

fn check_length(got: usize, expected: usize) -> PyResult<()> {
    if got == expected {
        return Ok(());
    }
    let message = format!("an observation of {got} numbers, but its observation space has {expected}");
    Err(pyo3::exceptions::PyValueError::new_err(message))
}

impl Environment for GymWorld {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn reset(&mut self, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        self.steps = 0;
        self.restart(seed, observation).map_err(failed(&self.spec.name))
    }

    fn step(&mut self, action: Action<'_>, observation: &mut [f64]) -> Result<Transition, EnvError> {
        let mut transition = self.advance(action, observation).map_err(failed(&self.spec.name))?;
        self.steps += 1;
        transition.truncated |= !transition.terminated && self.steps >= self.spec.max_episode_steps;
        Ok(transition)
    }

    fn measures(&self, out: &mut [f64]) {
        out.fill(0.0);
    }

    fn picture(&mut self) -> Result<Option<Picture>, EnvError> {
        self.draw().map(Some).map_err(failed(&self.spec.name))
    }
}

impl Drop for GymWorld {
    fn drop(&mut self) {
        // At the end of a process there may be no interpreter left to close anything.
        let _ = Python::try_attach(|py| self.close.bind(py).call0().map(|_| ()));
    }
}
