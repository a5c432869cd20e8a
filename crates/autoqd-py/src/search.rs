//! A search that is advanced from outside: ask for candidates, evaluate them anywhere, tell what happened.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autoqd::config::{Layers, Normalizer, RunConfig};
use autoqd::evaluator::{ToldEpisode, ToldEvaluator};
use autoqd::parts::{Part, Parts};
use autoqd::run_folder::Row;
use autoqd::search::{Search, thread_pool};
use autoqd::trainer::Trainer;
use autoqd_env::EnvSpec;
use autoqd_qd::Archive;
use numpy::{PyArrayDyn, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{exception, setting};
use crate::policy::{NativePolicy, array};
use crate::registry::registry;
use crate::{reader, values};

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativeSearch>()
}

/// Magic word of a saved search, with its version.
const MAGIC: &[u8; 8] = b"AQDSCH01";

/// A search with evaluations from outside.
#[pyclass(frozen, name = "Search", module = "autoqd._native")]
struct NativeSearch {
    search: Mutex<Search>,
    evaluator: Arc<ToldEvaluator>,
    observation_size: usize,
    action_size: usize,
    measures: usize,
}

/// An episode as Python gives it: observations, actions, rewards, terminated.
type Given<'py> = (PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f32>, PyReadonlyArray1<'py, f64>, bool);

#[pymethods]
impl NativeSearch {
    /// A search at its start; `facts` describe the problem as those of a task do.
    #[new]
    fn new(
        py: Python<'_>,
        facts: &Bound<'_, PyAny>,
        preset: Option<String>,
        config: Option<PathBuf>,
        settings: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let spec = crate::gym::spec_of("told", facts)?;
        let settings = values::table(settings)?;
        py.detach(|| {
            let registry = registry();
            let mut layers =
                Layers::new(&registry).preset(preset.as_deref().unwrap_or("paper")).map_err(exception)?;
            if let Some(file) = config {
                layers = layers.file(&file).map_err(exception)?;
            }
            for (key, value) in settings {
                layers = layers.flag(&key, value, "settings").map_err(exception)?;
            }
            let config =
                layers.flag("task", "told", "settings").map_err(exception)?.build().map_err(exception)?;
            let config = config.resolve(&(&spec).into(), &registry).map_err(exception)?;
            Self::build(config, spec)
        })
    }

    /// Restores what `save` returned.
    #[staticmethod]
    fn load(py: Python<'_>, facts: &Bound<'_, PyAny>, state: &[u8]) -> PyResult<Self> {
        let spec = crate::gym::spec_of("told", facts)?;
        py.detach(|| {
            let wrong = || {
                exception(autoqd::Error::Wire { reason: "it is not a saved search of this version".into() })
            };
            let payload = state.strip_prefix(MAGIC).ok_or_else(wrong)?;
            let (config, stored): (String, Vec<(String, u32, Vec<u8>)>) =
                postcard::from_bytes(payload).map_err(|_| wrong())?;
            let own = Self::build(RunConfig::from_toml(&config, "saved search").map_err(exception)?, spec)?;
            let mut parts = Parts::default();
            for (name, version, bytes) in stored {
                parts.insert(Part { name, version, bytes });
            }
            own.lock().load(&mut parts).map_err(exception)?;
            Ok(own)
        })
    }

    /// The complete state. Between ask and tell there is none that could be continued.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            let search = self.lock();
            if search.is_asked() {
                let message = "a search is saved after tell, not between ask and tell";
                return Err(PyRuntimeError::new_err(message));
            }
            let mut parts = Parts::default();
            search.save(&mut parts).map_err(exception)?;
            let names: Vec<String> = parts.names().map(ToOwned::to_owned).collect();
            let stored = names.iter().map(|name| {
                let part = parts.require(name, u32::MAX).map_err(exception)?;
                Ok((part.name, part.version, part.bytes))
            });
            let stored = stored.collect::<PyResult<Vec<_>>>()?;
            let payload = postcard::to_allocvec(&(search.config().to_toml(), stored))
                .map_err(|error| exception(autoqd::Error::Wire { reason: error.to_string() }))?;
            Ok([&MAGIC[..], &payload].concat())
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The candidates of this iteration, one per row.
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (values, width) = py.detach(|| {
            let mut search = self.lock();
            let width = search.policy().parameter_count();
            Ok::<_, PyErr>((search.ask().map_err(exception)?.to_vec(), width))
        })?;
        let rows = values.len() / width;
        array(py, values, &[rows, width])
    }

    /// Seeds of the episodes of these candidates, one row each.
    fn seeds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
        let search = self.lock();
        let (seeds, episodes) = (search.asked_seeds(), search.config().episodes);
        let rows = seeds.len() / episodes;
        array(py, seeds, &[rows, episodes])
    }

    /// Ends the iteration; returns its numbers.
    fn tell<'py>(
        &self,
        py: Python<'py>,
        objectives: Option<Vec<f64>>,
        measures: Option<Vec<Vec<f64>>>,
        episodes: Vec<Vec<Given<'py>>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let told = self.told(objectives, measures, &episodes)?;
        drop(episodes);
        let iteration = py.detach(|| {
            let mut search = self.lock();
            if !search.is_asked() {
                return Err(PyRuntimeError::new_err("tell without ask; call ask first"));
            }
            let expected = search.asked_seeds().len() / search.config().episodes;
            if told.len() != expected {
                let message = format!("{} candidates were told, but {expected} were asked for", told.len());
                return Err(setting(message));
            }
            self.evaluator.tell(told).map_err(exception)?;
            search.step().map_err(exception)
        })?;
        let facts = PyDict::new(py);
        for (name, number) in iteration.metrics.numbers() {
            facts.set_item(name, number)?;
        }
        facts.set_item("refitted", iteration.refit.is_some())?;
        Ok(facts)
    }

    /// The policy with these parameters.
    fn policy(&self, parameters: Vec<f64>) -> PyResult<NativePolicy> {
        NativePolicy::of(self.lock().policy().clone(), parameters)
    }

    /// The columns of the result archive.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = py.detach(|| self.lock().population());
        reader::columns(py, &table)
    }

    /// Numbers of the result archive.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.lock().result().stats();
        let facts = PyDict::new(py);
        facts.set_item("num_elites", stats.num_elites)?;
        facts.set_item("coverage", stats.coverage)?;
        facts.set_item("qd_score", stats.qd_score)?;
        facts.set_item("obj_max", stats.obj_max)?;
        facts.set_item("obj_mean", stats.obj_mean)?;
        Ok(facts)
    }

    /// Iterations done.
    #[getter]
    fn iteration(&self) -> u64 {
        self.lock().iteration()
    }

    /// The complete configuration.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let text = self.lock().config().to_toml();
        values::dict(py, &text.parse().map_err(|error: toml::de::Error| exception(error))?)
    }
}

impl NativeSearch {
    fn build(config: RunConfig, spec: EnvSpec) -> PyResult<Self> {
        if config.normalizer == Normalizer::Frozen {
            let message = "normalizer = \"frozen\" rolls all elites out again, which is not possible here; use \"running\" or \"none\"";
            return Err(setting(message));
        }
        let registry = registry();
        let (observation_size, action_size) = (spec.observation_size, spec.action_size);
        let measures = spec.measures.len();
        let kinds = registry.probes().clone();
        let evaluator = Arc::new(ToldEvaluator::new(observation_size, action_size, kinds));
        let pool = thread_pool(config.threads()).map_err(exception)?;
        let search =
            Search::with_evaluator(config, spec, evaluator.clone(), pool, &registry).map_err(exception)?;
        Ok(Self { search: Mutex::new(search), evaluator, observation_size, action_size, measures })
    }

    fn lock(&self) -> MutexGuard<'_, Search> {
        self.search.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(
        &self,
        objectives: Option<Vec<f64>>,
        measures: Option<Vec<Vec<f64>>>,
        episodes: &[Vec<Given<'_>>],
    ) -> PyResult<Vec<Vec<ToldEpisode>>> {
        let missing =
            |what: &str, got: usize| setting(format!("{got} {what} for {} candidates", episodes.len()));
        if let Some(objectives) = objectives.as_ref().filter(|own| own.len() != episodes.len()) {
            return Err(missing("objectives", objectives.len()));
        }
        if let Some(measures) = measures.as_ref().filter(|own| own.len() != episodes.len()) {
            return Err(missing("rows of measures", measures.len()));
        }
        let told = episodes.iter().enumerate().map(|(i, own)| {
            let measures = measures.as_ref().map_or_else(|| vec![0.0; self.measures], |rows| rows[i].clone());
            if measures.len() != self.measures {
                let message =
                    format!("{} measures of candidate {i}, expected {}", measures.len(), self.measures);
                return Err(setting(message));
            }
            own.iter()
                .map(|given| self.episode(i, given, objectives.as_ref().map(|own| own[i]), &measures))
                .collect()
        });
        told.collect()
    }

    fn episode(
        &self,
        candidate: usize,
        (observations, actions, rewards, terminated): &Given<'_>,
        objective: Option<f64>,
        measures: &[f64],
    ) -> PyResult<ToldEpisode> {
        let (observations, actions) = (observations.as_array(), actions.as_array());
        if observations.ncols() != self.observation_size || actions.ncols() != self.action_size {
            return Err(setting(format!(
                "candidate {candidate}: observations of {} numbers and actions of {}, expected {} and {}",
                observations.ncols(),
                actions.ncols(),
                self.observation_size,
                self.action_size
            )));
        }
        Ok(ToldEpisode {
            observations: observations.iter().copied().collect(),
            actions: actions.iter().copied().collect(),
            rewards: rewards.as_array().iter().copied().collect(),
            objective,
            terminated: *terminated,
            measures: measures.to_vec(),
        })
    }
}
