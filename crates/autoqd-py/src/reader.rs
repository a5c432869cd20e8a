//! Runs as they are read: their table of elites, their policies, their behaviour as frames.

use std::path::PathBuf;

use autoqd::policy::PolicySpec;
use autoqd::run_folder::{ArchiveTable, ColumnData};
use autoqd_measure::Run;
use autoqd_view::plot::Mode;
use autoqd_view::render::{FrameStyle, Renderer, gif_of};
use autoqd_view::{Change, Image, RunView};
use numpy::{PyArrayDyn, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::exception;
use crate::interruptible::look_for_signals;
use crate::policy::{NativePolicy, array};
use crate::registry::registry;
use crate::values;

/// Bytes of the frames of a film at most.
const LARGEST_FILM: f64 = 8e9;

/// Adds what is in this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Reader>()?;
    module.add_function(wrap_pyfunction!(gif, module)?)
}

/// The columns of a table of elites by name: numbers of every elite, or rows of numbers.
pub fn columns<'py>(py: Python<'py>, table: &ArchiveTable) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let rows = table.len();
    for column in table.columns() {
        let shape = column.width.map_or(vec![rows], |width| vec![rows, width]);
        match column.data {
            ColumnData::U64(values) => {
                columns.set_item(column.name, array(py, values.into_owned(), &shape)?)?
            }
            ColumnData::F64(values) => {
                columns.set_item(column.name, array(py, values.into_owned(), &shape)?)?
            }
        }
    }
    if table.is_empty() {
        // Files of empty archives have no lists; in Python the parameters of no elites are an array of no rows.
        let policy = table.policy().map_err(exception)?;
        let width = policy.map_or(table.parameters.width, |policy| policy.parameter_count());
        columns.set_item("parameters", array(py, Vec::<f64>::new(), &[0, width])?)?;
    }
    Ok(columns)
}

/// Frames, of shape (frames, height, width, 3), as an animated GIF of so many per second.
#[pyfunction]
fn gif<'py>(
    py: Python<'py>,
    frames: PyReadonlyArrayDyn<'py, u8>,
    rate: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let shape = frames.shape().to_vec();
    let [count, height @ 1..=65_535, width @ 1..=65_535, 3] = *shape else {
        let message = format!("frames of shape {shape:?}: expected (frames, height, width, 3)");
        return Err(PyValueError::new_err(message));
    };
    if !(rate > 0.0) {
        return Err(PyValueError::new_err(format!(
            "rate={rate}: expected a positive number of frames per second"
        )));
    }
    let pixels: Vec<u8> = frames.as_array().iter().copied().collect();
    let bytes = py.detach(|| {
        let size = width * height;
        let picture = |frame: &[u8]| Image {
            width,
            height,
            rgba: frame.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect(),
        };
        let pictures: Vec<Image> = pixels.chunks_exact(3 * size).take(count).map(picture).collect();
        gif_of(&pictures, rate).map_err(exception)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// A run folder, list of chosen policies or table of policies, opened for reading.
#[pyclass(frozen, module = "autoqd._native")]
struct Reader {
    run: Run,
}

#[pymethods]
impl Reader {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        Ok(Self { run: Run::open(&path).map_err(exception)? })
    }

    /// The task by name or path.
    #[getter]
    fn task(&self) -> &str {
        &self.run.task
    }

    /// The method.
    #[getter]
    fn method(&self) -> &str {
        &self.run.method
    }

    /// The seed, where it is known.
    #[getter]
    fn seed(&self) -> Option<u64> {
        self.run.seed
    }

    /// The run folder, where there is one.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.run.run_folder().map(ToOwned::to_owned)
    }

    /// The complete configuration, where there is one.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(config) = &self.run.config else { return Ok(None) };
        let table: toml::Table =
            config.to_toml().parse().map_err(|error: toml::de::Error| exception(error))?;
        values::dict(py, &table).map(Some)
    }

    /// The columns of the archive by name: numbers of every elite, or rows of numbers.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = py.detach(|| self.table())?;
        columns(py, &table)
    }

    /// The policy with an id; the best one without.
    #[pyo3(signature = (id=None))]
    fn policy(&self, py: Python<'_>, id: Option<u64>) -> PyResult<(u64, NativePolicy)> {
        py.detach(|| {
            let table = self.table()?;
            let row = self.row(&table, id)?;
            let policy = NativePolicy::of(self.spec(&table)?, table.parameters.row(row).to_vec())?;
            Ok((table.id[row], policy))
        })
    }

    /// Frames of a policy's episode, one every so many seconds, as an array of frames, rows, columns and colours; and
    /// the return.
    #[pyo3(signature = (id, rate, seconds, width, height, dark, friction_scale, mass_scale))]
    #[allow(clippy::too_many_arguments)]
    fn frames<'py>(
        &self,
        py: Python<'py>,
        id: Option<u64>,
        rate: f64,
        seconds: f64,
        width: usize,
        height: usize,
        dark: bool,
        friction_scale: f64,
        mass_scale: f64,
    ) -> PyResult<(Bound<'py, PyArrayDyn<u8>>, f64)> {
        let mode = if dark { Mode::Dark } else { Mode::Light };
        let (pixels, count, total) = py.detach(|| {
            let view = RunView::open(&self.run.path, &registry()).map_err(exception)?;
            let table = self.table()?;
            let row = self.row(&table, id)?;
            let replay =
                view.replay(&table, row, Change { friction_scale, mass_scale }).map_err(exception)?;
            let renderer = Renderer::new(&replay, FrameStyle { width, height, mode }).map_err(exception)?;
            let length = (replay.frames() as f64 * replay.seconds_per_frame()).min(seconds);
            let count = (length * rate).ceil().max(1.0) as usize;
            let mut pixels = Vec::new();
            let bytes = count as f64 * (width * height * 3) as f64;
            if bytes > LARGEST_FILM || pixels.try_reserve_exact(bytes as usize).is_err() {
                let gigabytes = bytes / 1e9;
                return Err(crate::errors::setting(format!(
                    "{count} frames of {width} by {height} pixels are {gigabytes:.1} GB; make the film shorter, smaller or of \
                     fewer frames per second"
                )));
            }
            for i in 0..count {
                look_for_signals().map_err(exception)?;
                let frame = (i as f64 / rate / replay.seconds_per_frame()) as usize;
                let picture = renderer.frame(frame).map_err(exception)?;
                pixels.extend(picture.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]));
            }
            Ok::<_, PyErr>((pixels, count, replay.total_reward()))
        })?;
        Ok((array(py, pixels, &[count, height, width, 3])?, total))
    }
}

impl Reader {
    fn table(&self) -> PyResult<ArchiveTable> {
        Ok(self.run.clone().load().map_err(exception)?.table)
    }

    fn row(&self, table: &ArchiveTable, id: Option<u64>) -> PyResult<usize> {
        let best = || {
            let better = |a: &usize, b: &usize| table.objective[*a].total_cmp(&table.objective[*b]);
            (0..table.len()).max_by(better)
        };
        match id {
            Some(id) => self.run.row_of(table, id).map_err(exception),
            None => best().ok_or_else(|| crate::errors::failure("the archive has no elite yet")),
        }
    }

    fn spec(&self, table: &ArchiveTable) -> PyResult<PolicySpec> {
        let stored = table.policy().map_err(exception)?;
        match stored {
            Some(spec) => Ok(spec),
            None => {
                let task = self.run.task(&registry()).map_err(exception)?;
                self.run.policy_spec(task.spec()).map_err(exception)
            }
        }
    }
}
