//! The mathematics of the descriptors and scores, on numpy arrays: embeddings, cwPCA, the Vendi score.
//!
//! `python/autoqd/_mathematics.py` has checked what arrives here: arrays are contiguous, finite and of matching shapes.

use std::sync::Arc;

use autoqd::cwpca::{self, CwPcaOptions};
use autoqd::embedding::{
    Embedding, FeatureMap, FeatureOptions, Normalizer, PsiAccumulator, PsiOptions, RunningStatistics,
    Sampling,
};
use autoqd::policy::{PolicySpec, Weights};
use autoqd_measure::{Points, Pooling, VendiScore};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::errors::exception;
use crate::policy::NativePolicy;
use crate::threads;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativeEmbedding>()?;
    module.add_class::<AffineMap>()?;
    module.add_function(wrap_pyfunction!(sample_features, module)?)?;
    module.add_function(wrap_pyfunction!(statistics, module)?)?;
    module.add_function(wrap_pyfunction!(distances, module)?)?;
    module.add_function(wrap_pyfunction!(fit_cwpca, module)?)?;
    module.add_function(wrap_pyfunction!(vendi, module)?)?;
    module.add_function(wrap_pyfunction!(vendi_cosine, module)?)?;
    module.add_function(wrap_pyfunction!(vendi_kernel, module)?)?;
    module.add_function(wrap_pyfunction!(vendi_bandwidth, module)?)?;
    module.add_function(wrap_pyfunction!(toeplitz_policy, module)?)
}

type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;

fn unusable(reason: impl std::fmt::Display) -> PyErr {
    PyTypeError::new_err(format!("an array cannot be used: {reason}"))
}

fn matrix(py: Python<'_>, values: Vec<f64>, columns: usize) -> PyResult<Matrix<'_>> {
    let rows = values.len().checked_div(columns).unwrap_or(0);
    PyArray1::from_vec(py, values).reshape([rows, columns])
}

fn points<'a>(array: &'a PyReadonlyArray2<'_, f64>) -> PyResult<Points<'a>> {
    if array.shape()[1] == 0 {
        return Err(unusable("it has no columns"));
    }
    Ok(Points::new(array.as_slice().map_err(unusable)?, array.shape()[1]))
}

/// Weights and phases of random Fourier features.
#[pyfunction]
fn sample_features<'py>(
    py: Python<'py>,
    inputs: usize,
    dimension: usize,
    bandwidth: Option<f64>,
    orthogonal: bool,
    scales: Vec<f64>,
    seed: u64,
) -> PyResult<(Matrix<'py>, Vector<'py>)> {
    let sampling = if orthogonal { Sampling::Orthogonal } else { Sampling::Independent };
    let options = FeatureOptions { dimension, bandwidth, sampling, scales };
    let map = FeatureMap::sample(&options, inputs, seed).map_err(exception)?;
    Ok((matrix(py, map.weights().to_vec(), inputs)?, PyArray1::from_slice(py, map.phases())))
}

/// Mean and standard deviation of the rows of all arrays, episode by episode as a search takes them in.
#[pyfunction]
fn statistics<'py>(
    py: Python<'py>,
    episodes: Vec<PyReadonlyArray2<'py, f64>>,
    size: usize,
) -> PyResult<(Vector<'py>, Vector<'py>)> {
    let slices = episodes.iter().map(|e| e.as_slice().map_err(unusable)).collect::<PyResult<Vec<_>>>()?;
    let normalizer = py.detach(|| {
        let mut all = RunningStatistics::new(size);
        for episode in slices {
            let mut own = RunningStatistics::new(size);
            episode.chunks_exact(size).for_each(|row| own.push(row));
            all.merge(&own);
        }
        all.normalizer()
    });
    Ok((PyArray1::from_slice(py, normalizer.mean()), PyArray1::from_slice(py, normalizer.std())))
}

/// From episodes to psi.
#[pyclass(frozen, name = "Embedding", module = "autoqd._native")]
struct NativeEmbedding(Arc<Embedding>);

#[pymethods]
impl NativeEmbedding {
    #[new]
    fn new(
        weights: PyReadonlyArray2<'_, f64>,
        phases: PyReadonlyArray1<'_, f64>,
        mean: PyReadonlyArray1<'_, f64>,
        std: PyReadonlyArray1<'_, f64>,
        gamma: f64,
        length_normalized: bool,
    ) -> PyResult<Self> {
        let inputs = weights.shape()[1];
        let vector = |array: &PyReadonlyArray1<'_, f64>| array.as_array().to_vec();
        let weights = weights.as_array().iter().copied().collect();
        let features = FeatureMap::from_parts(inputs, weights, vector(&phases)).map_err(exception)?;
        let normalizer = Normalizer::new(vector(&mean), vector(&std));
        let options = PsiOptions { gamma, length_normalized };
        let embedding = Embedding::new(Arc::new(features), normalizer, options).map_err(exception)?;
        Ok(Self(Arc::new(embedding)))
    }

    /// psi of each episode, given as its observations and actions: one row per episode.
    fn psi<'py>(
        &self,
        py: Python<'py>,
        episodes: Vec<(PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f32>)>,
    ) -> PyResult<Matrix<'py>> {
        let size = self.0.normalizer().size();
        let action_size = self.0.features().inputs() - size;
        let mut slices = Vec::with_capacity(episodes.len());
        for (observations, actions) in &episodes {
            if (observations.shape()[1], actions.shape()[1]) != (size, action_size) {
                return Err(unusable("its rows do not have the lengths the embedding was made for"));
            }
            slices.push((
                observations.as_slice().map_err(unusable)?,
                actions.as_slice().map_err(unusable)?,
                observations.shape()[0].min(actions.shape()[0]),
            ));
        }
        let psi = |(observations, actions, steps): &(&[f64], &[f32], usize)| {
            let mut episode = PsiAccumulator::new(Arc::clone(&self.0));
            for t in 0..*steps {
                let action = &actions[t * action_size..][..action_size];
                episode.push(&observations[t * size..][..size], action);
            }
            episode.finish()
        };
        let rows: Vec<Vec<f64>> = py.detach(|| threads::install(|| slices.par_iter().map(psi).collect()));
        matrix(py, rows.concat(), self.0.dimension())
    }
}

/// Euclidean distances between the rows of two matrices.
#[pyfunction]
fn distances<'py>(
    py: Python<'py>,
    a: PyReadonlyArray2<'py, f64>,
    b: PyReadonlyArray2<'py, f64>,
) -> PyResult<Matrix<'py>> {
    let (a, b) = (points(&a)?, points(&b)?);
    if a.dim() != b.dim() {
        return Err(unusable(format!("rows of {} and of {} numbers", a.dim(), b.dim())));
    }
    let row = |i: usize| {
        (0..b.len()).map(|j| autoqd_measure::squared_distance(a.row(i), b.row(j)).sqrt()).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<f64>> =
        py.detach(|| threads::install(|| (0..a.len()).into_par_iter().map(row).collect()));
    matrix(py, rows.concat(), b.len())
}

/// desc(pi) = A psi + b, with the parts it was built from.
#[pyclass(frozen, module = "autoqd._native")]
struct AffineMap(cwpca::AffineMap);

/// The arrays of a map, in the order of the constructor.
type Parts<'py> =
    (Matrix<'py>, Vector<'py>, Vector<'py>, Matrix<'py>, Vector<'py>, Vector<'py>, Vector<'py>, f64);

#[pymethods]
impl AffineMap {
    #[new]
    #[allow(clippy::too_many_arguments)] // The parts of the map, only for pickling.
    fn new(
        a: PyReadonlyArray2<'_, f64>,
        b: PyReadonlyArray1<'_, f64>,
        mean: PyReadonlyArray1<'_, f64>,
        components: PyReadonlyArray2<'_, f64>,
        scale: PyReadonlyArray1<'_, f64>,
        offset: PyReadonlyArray1<'_, f64>,
        variance: PyReadonlyArray1<'_, f64>,
        total_variance: f64,
    ) -> PyResult<Self> {
        let vector = |array: &PyReadonlyArray1<'_, f64>| array.as_array().to_vec();
        let (measures, dimension) = (a.shape()[0], a.shape()[1]);
        let vectors = [&b, &scale, &offset, &variance];
        if components.shape() != a.shape()
            || mean.len() != dimension
            || vectors.iter().any(|v| v.len() != measures)
        {
            return Err(unusable("the parts of a map have different sizes"));
        }
        Ok(Self(cwpca::AffineMap {
            measures,
            dimension,
            a: a.as_array().iter().copied().collect(),
            b: vector(&b),
            mean: vector(&mean),
            components: components.as_array().iter().copied().collect(),
            scale: vector(&scale),
            offset: vector(&offset),
            variance: vector(&variance),
            total_variance,
        }))
    }

    /// Everything, as new arrays.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py>> {
        let map = &self.0;
        let vector = |values: &[f64]| PyArray1::from_slice(py, values);
        Ok((
            matrix(py, map.a.clone(), map.dimension)?,
            vector(&map.b),
            vector(&map.mean),
            matrix(py, map.components.clone(), map.dimension)?,
            vector(&map.scale),
            vector(&map.offset),
            vector(&map.variance),
            map.total_variance,
        ))
    }

    /// The measures of embeddings, one row each.
    fn map<'py>(&self, py: Python<'py>, embeddings: PyReadonlyArray2<'py, f64>) -> PyResult<Matrix<'py>> {
        let points = points(&embeddings)?;
        if points.dim() != self.0.dimension {
            return Err(unusable(format!(
                "embeddings of {} numbers, expected {}",
                points.dim(),
                self.0.dimension
            )));
        }
        let measures = (0..points.len()).flat_map(|i| self.0.map(points.row(i))).collect();
        matrix(py, measures, self.0.measures)
    }

    /// The same map with its axes reordered and their signs changed to follow another map.
    fn aligned(&self, previous: &Self) -> PyResult<Self> {
        let mut map = self.0.clone();
        map.align(&previous.0, Default::default()).map_err(exception)?;
        Ok(Self(map))
    }
}

/// Fits a map to embeddings and objectives.
#[pyfunction]
fn fit_cwpca(
    py: Python<'_>,
    embeddings: PyReadonlyArray2<'_, f64>,
    objectives: PyReadonlyArray1<'_, f64>,
    measures: usize,
    weighted: bool,
    quantiles: (f64, f64),
    flat_range: f64,
) -> PyResult<AffineMap> {
    let points = points(&embeddings)?;
    let objectives = objectives.as_slice().map_err(unusable)?;
    let options = CwPcaOptions {
        weighted,
        low_quantile: quantiles.0,
        high_quantile: quantiles.1,
        flat_range,
        ..Default::default()
    };
    let fit = || {
        let rows: Vec<&[f64]> = (0..points.len()).map(|i| points.row(i)).collect();
        cwpca::fit(&rows, objectives, measures, &options)
    };
    Ok(AffineMap(py.detach(|| threads::install(fit)).map_err(exception)?))
}

/// The Vendi score under exp(-gamma d^2), with its bracket.
#[pyfunction]
fn vendi(py: Python<'_>, embeddings: PyReadonlyArray2<'_, f64>, gamma: f64) -> PyResult<(f64, f64, f64)> {
    let points = points(&embeddings)?;
    let score = py.detach(|| threads::install(|| autoqd_measure::vendi_score(points, gamma)));
    let VendiScore { value, lower, upper, .. } = score;
    Ok((value, lower, upper))
}

/// The Vendi score under the cosine of the embeddings.
#[pyfunction]
fn vendi_cosine(py: Python<'_>, embeddings: PyReadonlyArray2<'_, f64>) -> PyResult<f64> {
    let points = points(&embeddings)?;
    Ok(py.detach(|| threads::install(|| autoqd_measure::vendi_cosine(points))))
}

/// The Vendi score of a similarity matrix.
#[pyfunction]
fn vendi_kernel(py: Python<'_>, kernel: PyReadonlyArray2<'_, f64>) -> PyResult<f64> {
    let (rows, columns) = (kernel.shape()[0], kernel.shape()[1]);
    if rows != columns {
        return Err(unusable(format!("a kernel of {rows} rows and {columns} columns is not square")));
    }
    let kernel = kernel.as_slice().map_err(unusable)?;
    Ok(py.detach(|| threads::install(|| autoqd_measure::vendi_of_kernel(kernel, rows))))
}

/// gamma = ln 2 / median squared distance over pooled populations; None without two different embeddings.
#[pyfunction]
fn vendi_bandwidth(
    py: Python<'_>,
    populations: Vec<PyReadonlyArray2<'_, f64>>,
    seed: u64,
) -> PyResult<Option<f64>> {
    let methods =
        populations.iter().map(|p| points(p).map(|points| vec![points])).collect::<PyResult<Vec<_>>>()?;
    if methods.iter().flatten().any(|points| points.dim() != methods[0][0].dim()) {
        return Err(unusable("the populations have embeddings of different lengths"));
    }
    let shared = || autoqd_measure::shared_bandwidth(&methods, Pooling::Equal, seed);
    Ok(py.detach(|| threads::install(shared)))
}

/// The paper's policy: Toeplitz layers with tanh; without parameters only their number is found out.
#[pyfunction]
fn toeplitz_policy(
    observation_size: usize,
    action_low: Vec<f64>,
    action_high: Vec<f64>,
    hidden: Vec<usize>,
    parameters: Option<Vec<f64>>,
) -> PyResult<(usize, Option<NativePolicy>)> {
    let spec = PolicySpec::new(Weights::Toeplitz, hidden, observation_size, action_low, action_high)
        .map_err(exception)?;
    let count = spec.parameter_count();
    Ok((count, parameters.map(|parameters| NativePolicy::of(spec, parameters)).transpose()?))
}
