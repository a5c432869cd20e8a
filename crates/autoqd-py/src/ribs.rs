//! The arithmetic behind `autoqd.ribs`: evolution strategies, and the decisions of archives on whole batches.
//!
//! Fields of any type, the dictionaries and the checks of arguments are in `python/autoqd/ribs`.

use autoqd_qd::{Centroids, Cvt, Tessellation};
use numpy::ndarray::Array2;
use numpy::{AllowTypeChange, IntoPyArray, PyArray1, PyArray2, PyArrayLike1, PyArrayLike2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::ribs_strategy::Strategy;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Strategy>()?;
    module.add_class::<NearestPoint>()?;
    module.add_function(wrap_pyfunction!(best_of_groups, module)?)?;
    module.add_function(wrap_pyfunction!(sums_of_groups, module)?)?;
    module.add_function(wrap_pyfunction!(nearest_neighbors, module)?)?;
    module.add_function(wrap_pyfunction!(dominated_novelty, module)?)
}

/// One number per row, of any numeric type.
type Column<'py> = PyArrayLike1<'py, f64, AllowTypeChange>;
/// The number of each row's group.
type Groups<'py> = PyArrayLike1<'py, i64, AllowTypeChange>;
/// Rows of numbers of any numeric type.
type Points<'py> = PyArrayLike2<'py, f64, AllowTypeChange>;

/// Rows of numbers, one after the other.
struct Table {
    data: Vec<f64>,
    rows: usize,
    columns: usize,
}

impl Table {
    fn new(array: &Points<'_>) -> Self {
        let view = array.as_array();
        let (rows, columns) = view.dim();
        Self { data: view.iter().copied().collect(), rows, columns }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }
}

/// Finds the nearest of fixed points, the first on ties.
#[pyclass(frozen, module = "autoqd._native")]
struct NearestPoint {
    cells: Cvt,
}

#[pymethods]
impl NearestPoint {
    #[new]
    fn new(points: Points<'_>) -> PyResult<Self> {
        let points = Table::new(&points);
        // The cells ask for a range, which a search for the nearest point does not need.
        let end = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
            let column = |axis: usize| points.data.iter().skip(axis).step_by(points.columns.max(1));
            (0..points.columns).map(|axis| column(axis).copied().fold(0.0, pick)).collect()
        };
        let lower: Vec<f64> = end(f64::min).iter().map(|x| x - 1.0 - x.abs()).collect();
        let upper: Vec<f64> = end(f64::max).iter().map(|x| x + 1.0 + x.abs()).collect();
        let cells = Cvt::new(&lower, &upper, Centroids::Given(points.data));
        Ok(Self { cells: cells.map_err(|error| PyValueError::new_err(error.to_string()))? })
    }

    /// The number of the point nearest to each row.
    fn find<'py>(&self, py: Python<'py>, queries: Points<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let queries = Table::new(&queries);
        check_columns(self.cells.measure_dim(), queries.columns)?;
        let found: Vec<i32> =
            py.detach(|| (0..queries.rows).map(|i| self.cells.cell(queries.row(i)) as i32).collect());
        Ok(found.into_pyarray(py))
    }
}

fn check_columns(expected: usize, got: usize) -> PyResult<()> {
    if expected == got {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("expected rows of {expected} numbers, got rows of {got}")))
}

fn check_rows(expected: usize, got: usize) -> PyResult<()> {
    if expected == got {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("expected {expected} values, one per row, got {got}")))
}

/// Rows sorted by group, and by position within a group.
fn by_group(groups: &[i64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_unstable_by_key(|&i| (groups[i], i));
    order
}

/// The position of the largest value of each group, the first on ties, in ascending order of the groups.
#[pyfunction]
fn best_of_groups<'py>(
    py: Python<'py>,
    groups: Groups<'py>,
    values: Column<'py>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (groups, values) = (groups.as_array().to_vec(), values.as_array().to_vec());
    check_rows(groups.len(), values.len())?;
    let order = by_group(&groups);
    let same_group = order.chunk_by(|&a, &b| groups[a] == groups[b]);
    let best = |rows: &[usize]| rows.iter().copied().reduce(|a, b| if values[b] > values[a] { b } else { a });
    let winners: Vec<i64> = same_group.filter_map(best).map(|i| i as i64).collect();
    Ok(winners.into_pyarray(py))
}

/// For each row, how many rows its group has and the sum of their values.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
fn sums_of_groups<'py>(
    py: Python<'py>,
    groups: Groups<'py>,
    values: Column<'py>,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
    let (groups, values) = (groups.as_array().to_vec(), values.as_array().to_vec());
    check_rows(groups.len(), values.len())?;
    let (mut sizes, mut sums) = (vec![0.0; groups.len()], vec![0.0; groups.len()]);
    let order = by_group(&groups);
    for rows in order.chunk_by(|&a, &b| groups[a] == groups[b]) {
        let sum: f64 = rows.iter().map(|&i| values[i]).sum();
        for &i in rows {
            (sizes[i], sums[i]) = (rows.len() as f64, sum);
        }
    }
    Ok((sizes.into_pyarray(py), sums.into_pyarray(py)))
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Keeps the `k` smallest of the pairs offered to it, in ascending order; the first offered wins ties.
struct Smallest {
    k: usize,
    kept: Vec<(f64, usize)>,
}

impl Smallest {
    fn new(k: usize) -> Self {
        Self { k, kept: Vec::with_capacity(k + 1) }
    }

    fn offer(&mut self, value: f64, number: usize) {
        if self.kept.len() == self.k && self.kept.last().is_none_or(|worst| value >= worst.0) {
            return;
        }
        let place = self.kept.partition_point(|kept| kept.0 <= value);
        self.kept.insert(place, (value, number));
        self.kept.truncate(self.k);
    }
}

/// Distances and numbers of the `k` points nearest to each query, the nearest first; at most as many as there are
/// points.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
fn nearest_neighbors<'py>(
    py: Python<'py>,
    points: Points<'py>,
    queries: Points<'py>,
    k: usize,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<i64>>)> {
    let (points, queries) = (Table::new(&points), Table::new(&queries));
    check_columns(points.columns, queries.columns)?;
    let k = k.min(points.rows);
    let found = py.detach(|| {
        let nearest = |query: usize| {
            let mut smallest = Smallest::new(k);
            (0..points.rows)
                .for_each(|i| smallest.offer(squared_distance(queries.row(query), points.row(i)), i));
            smallest.kept
        };
        (0..queries.rows).flat_map(nearest).collect::<Vec<_>>()
    });
    let shape = |_| PyValueError::new_err("the neighbours do not form a table");
    let distances = found.iter().map(|pair| pair.0.sqrt()).collect();
    let numbers = found.iter().map(|pair| pair.1 as i64).collect();
    let distances = Array2::from_shape_vec((queries.rows, k), distances).map_err(shape)?;
    let numbers = Array2::from_shape_vec((queries.rows, k), numbers).map_err(shape)?;
    Ok((distances.into_pyarray(py), numbers.into_pyarray(py)))
}

/// The mean distance of each row to its `k` nearest rows that are at least as good; infinite where none is.
#[pyfunction]
fn dominated_novelty<'py>(
    py: Python<'py>,
    measures: Points<'py>,
    objective: Column<'py>,
    k: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (measures, objective) = (Table::new(&measures), objective.as_array().to_vec());
    check_rows(measures.rows, objective.len())?;
    let k = k.min(measures.rows.saturating_sub(1));
    let score = |i: usize| {
        let mut smallest = Smallest::new(k);
        for j in (0..measures.rows).filter(|&j| j != i && objective[j] >= objective[i]) {
            smallest.offer(squared_distance(measures.row(i), measures.row(j)), j);
        }
        let distances = smallest.kept.iter().map(|pair| pair.0.sqrt());
        if smallest.kept.is_empty() {
            f64::INFINITY
        } else {
            distances.sum::<f64>() / smallest.kept.len() as f64
        }
    };
    let scores: Vec<f64> = py.detach(|| (0..measures.rows).map(score).collect());
    Ok(scores.into_pyarray(py))
}
