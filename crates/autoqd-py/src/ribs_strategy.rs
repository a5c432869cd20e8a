//! Evolution strategies for `autoqd.ribs`: the arithmetic here, the random numbers from a NumPy generator.

use autoqd_qd::{
    AnyStrategy, Bounds, Error, EvolutionStrategy, NormalSource, OpenAiOptions, RankOne, StrategyConfig,
};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Standard normal numbers of a `numpy.random.Generator`: a seed draws the numbers that it draws in pyribs.
struct Generator<'a> {
    generator: &'a Py<PyAny>,
    /// Blocks drawn; every block after the first is a round of drawing again within bounds.
    blocks: usize,
    error: Option<PyErr>,
}

impl Generator<'_> {
    fn draw(&self, out: &mut [f64]) -> PyResult<()> {
        Python::attach(|py| {
            let drawn = self.generator.bind(py).call_method1("standard_normal", (out.len(),))?;
            let drawn: PyReadonlyArray1<'_, f64> = drawn.extract()?;
            out.copy_from_slice(drawn.as_slice()?);
            Ok(())
        })
    }
}

impl NormalSource for Generator<'_> {
    fn fill_normal(&mut self, out: &mut [f64]) {
        self.blocks += 1;
        if let Err(error) = self.draw(out) {
            // Zeros end the drawing at once; the caller raises the error.
            out.fill(0.0);
            self.error.get_or_insert(error);
        }
    }
}

fn raise(error: Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn config(kind: &str, vectors: Option<usize>, adam: Option<OpenAi>) -> PyResult<StrategyConfig> {
    Ok(match kind {
        "cma_es" => StrategyConfig::CmaEs { rank_one: RankOne::Pyribs },
        "sep_cma_es" => StrategyConfig::SepCmaEs { rank_one: RankOne::Pyribs },
        "lm_ma_es" => StrategyConfig::LmMaEs { vectors },
        "openai_es" => StrategyConfig::OpenAiEs(adam.map_or_else(OpenAiOptions::default, OpenAi::options)),
        _ => return Err(PyValueError::new_err(format!("{kind:?} is no evolution strategy"))),
    })
}

/// `mirror_sampling`, `lr`, `beta1`, `beta2`, `epsilon` and `l2_coeff`.
#[derive(FromPyObject)]
struct OpenAi(bool, f64, f64, f64, f64, f64);

impl OpenAi {
    fn options(self) -> OpenAiOptions {
        let Self(mirror_sampling, lr, beta1, beta2, epsilon, l2_coeff) = self;
        OpenAiOptions { mirror_sampling, lr, beta1, beta2, epsilon, l2_coeff }
    }
}

/// A search distribution around a point.
#[pyclass(module = "autoqd._native", name = "Strategy")]
pub struct Strategy {
    inner: AnyStrategy,
}

#[pymethods]
impl Strategy {
    #[new]
    #[pyo3(signature = (kind, x0, sigma0, batch_size, bounds=None, vectors=None, adam=None))]
    fn new(
        kind: &str,
        x0: Vec<f64>,
        sigma0: f64,
        batch_size: usize,
        bounds: Option<(Vec<f64>, Vec<f64>)>,
        vectors: Option<usize>,
        adam: Option<OpenAi>,
    ) -> PyResult<Self> {
        let bounds = bounds.map(|(lower, upper)| Bounds::new(lower, upper)).transpose().map_err(raise)?;
        let config = config(kind, vectors, adam)?;
        Ok(Self { inner: config.build(&x0, sigma0, batch_size, bounds).map_err(raise)? })
    }

    /// Starts again around another point.
    fn reset(&mut self, x0: Vec<f64>) -> PyResult<()> {
        self.inner.reset(&x0).map_err(raise)
    }

    /// Candidates, and how many rounds of drawing they took.
    fn ask<'py>(
        &mut self,
        py: Python<'py>,
        generator: Py<PyAny>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, usize)> {
        let mut source = Generator { generator: &generator, blocks: 0, error: None };
        let inner = &mut self.inner;
        let solutions = py.detach(|| inner.ask(&mut source).as_slice().to_vec());
        if let Some(error) = source.error {
            return Err(error);
        }
        let shape = (self.inner.batch_size(), self.inner.dim());
        let solutions = Array2::from_shape_vec(shape, solutions)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((solutions.into_pyarray(py), source.blocks))
    }

    /// Learns from a ranking of the candidates, the best first.
    fn tell(&mut self, py: Python<'_>, ranking: Vec<usize>, num_parents: usize) -> PyResult<()> {
        let inner = &mut self.inner;
        py.detach(|| inner.tell(&ranking, num_parents)).map_err(raise)
    }

    /// Whether to start again; `flat` says whether all candidates ranked the same.
    fn check_stop(&self, flat: bool) -> bool {
        self.inner.check_stop(flat).is_some()
    }

    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.inner.mean())
    }

    #[getter]
    fn sigma(&self) -> f64 {
        self.inner.sigma()
    }

    #[getter]
    fn evaluations(&self) -> u64 {
        self.inner.evaluations()
    }

    /// The evolution path of the step size; none for OpenAI-ES.
    #[getter]
    fn step_size_path<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let path = match &self.inner {
            AnyStrategy::CmaEs(es) => es.step_size_path(),
            AnyStrategy::SepCmaEs(es) => es.step_size_path(),
            AnyStrategy::LmMaEs(es) => es.step_size_path(),
            _ => return None,
        };
        Some(PyArray1::from_slice(py, path))
    }

    /// The evolution path of the covariance; none without one.
    #[getter]
    fn covariance_path<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let path = match &self.inner {
            AnyStrategy::CmaEs(es) => es.covariance_path(),
            AnyStrategy::SepCmaEs(es) => es.covariance_path(),
            _ => return None,
        };
        Some(PyArray1::from_slice(py, path))
    }

    /// The covariance matrix, or its diagonal where it has no more, row after row; the directions of LM-MA-ES.
    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let n = self.inner.dim();
        let numbers = match &self.inner {
            AnyStrategy::CmaEs(es) => (0..n * n).map(|i| es.covariance(i / n, i % n)).collect(),
            AnyStrategy::SepCmaEs(es) => es.variances().to_vec(),
            AnyStrategy::LmMaEs(es) => es.directions().as_slice().to_vec(),
            _ => return None,
        };
        Some(numbers.into_pyarray(py))
    }

    /// The length of OpenAI-ES' last step relative to its mean.
    #[getter]
    fn update_ratio(&self) -> Option<f64> {
        match &self.inner {
            AnyStrategy::OpenAiEs(es) => es.update_ratio(),
            _ => None,
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = postcard::to_stdvec(&self.inner)
            .map_err(|error| PyValueError::new_err(format!("the strategy cannot be stored: {error}")))?;
        let load = py.get_type::<Self>().getattr("load")?;
        Ok((load, (PyBytes::new(py, &bytes),)))
    }

    /// A strategy as `pickle` stored it.
    #[staticmethod]
    fn load(bytes: &[u8]) -> PyResult<Self> {
        let inner = postcard::from_bytes(bytes)
            .map_err(|error| PyValueError::new_err(format!("these bytes are no strategy: {error}")))?;
        Ok(Self { inner })
    }
}
