//! Policies as callables from observations to actions.

use autoqd::policy::{Policy, PolicySpec};
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::exception;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativePolicy>()
}

/// A policy with its parameters; what it computes has the same bits as in a search.
#[pyclass(frozen, name = "Policy", module = "autoqd._native")]
pub struct NativePolicy {
    spec: PolicySpec,
    parameters: Vec<f64>,
    ready: Policy,
}

impl NativePolicy {
    /// A policy of a shape.
    pub fn of(spec: PolicySpec, parameters: Vec<f64>) -> PyResult<Self> {
        let ready = Policy::new(&spec, &parameters).map_err(exception)?;
        Ok(Self { spec, parameters, ready })
    }
}

#[pymethods]
impl NativePolicy {
    /// A policy from the JSON form of its shape and its parameters.
    #[new]
    fn new(spec: &str, parameters: Vec<f64>) -> PyResult<Self> {
        Self::of(PolicySpec::from_json(spec).map_err(exception)?, parameters)
    }

    /// The shape as JSON.
    #[getter]
    fn spec(&self) -> String {
        self.spec.to_json().to_string()
    }

    /// The parameters.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.parameters)
    }

    /// Length of an observation.
    #[getter]
    fn observation_size(&self) -> usize {
        self.spec.observation_size
    }

    /// Length of an action.
    #[getter]
    fn action_size(&self) -> usize {
        self.spec.action_low.len()
    }

    /// Bounds of the actions.
    #[getter]
    fn action_bounds<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        (PyArray1::from_slice(py, &self.spec.action_low), PyArray1::from_slice(py, &self.spec.action_high))
    }

    /// Actions of one observation, or of a batch of them, one per row. `observations` is a float64 array.
    fn act<'py>(
        &self,
        py: Python<'py>,
        observations: PyReadonlyArrayDyn<'py, f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (size, actions) = (self.spec.observation_size, self.spec.action_low.len());
        let shape = observations.shape().to_vec();
        let (rows, single) = match shape.as_slice() {
            [width] if *width == size => (1, true),
            [rows, width] if *width == size => (*rows, false),
            _ => {
                let message = format!(
                    "observations of shape {shape:?}: expected ({size},) for one observation or (n, {size}) for several"
                );
                return Err(PyValueError::new_err(message));
            }
        };
        let values: Vec<f64> = observations.as_array().iter().copied().collect();
        // A copy, because acting needs buffers of its own and several threads may share a policy.
        let mut policy = self.ready.clone();
        let mut out = vec![0.0_f32; rows * actions];
        py.detach(|| {
            for (observation, action) in values.chunks_exact(size).zip(out.chunks_exact_mut(actions)) {
                policy.act(observation, action);
            }
        });
        if single {
            return Ok(PyArray1::from_vec(py, out).into_any());
        }
        let array: Bound<'py, PyArray2<f32>> = PyArray1::from_vec(py, out).reshape([rows, actions])?;
        Ok(array.into_any())
    }

    fn __getnewargs__(&self) -> (String, Vec<f64>) {
        (self.spec(), self.parameters.clone())
    }
}

/// An array of any shape from a flat vector.
pub fn array<'py, T: numpy::Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray1::from_vec(py, values).reshape(shape.to_vec())
}
