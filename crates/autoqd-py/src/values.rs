//! Python values as settings.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use toml::{Table, Value};

/// A setting as the configuration reads it. numpy's numbers and arrays, paths, tuples and mappings are as good as Python's own.
pub fn value(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if given.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(given.extract()?));
    }
    if given.is_instance_of::<PyInt>() {
        return Ok(Value::Integer(given.extract().map_err(|_| unusable(name, given))?));
    }
    if given.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(given.extract()?));
    }
    if given.is_instance_of::<PyString>() {
        return Ok(Value::String(given.extract()?));
    }
    if let Ok(dict) = given.cast::<PyDict>() {
        return Ok(Value::Table(table(dict)?));
    }
    // Arrays and scalars of numpy know their own Python form.
    if given.hasattr("tolist")? {
        return value(name, &given.call_method0("tolist")?);
    }
    if given.hasattr("__fspath__")? {
        return Ok(Value::String(given.call_method0("__fspath__")?.extract()?));
    }
    let items = given.try_iter().map_err(|_| unusable(name, given))?;
    Ok(Value::Array(items.map(|item| value(name, &item?)).collect::<PyResult<_>>()?))
}

/// A mapping from names to settings.
pub fn table(given: &Bound<'_, PyDict>) -> PyResult<Table> {
    let mut table = Table::new();
    for (key, item) in given {
        let name: String = key.extract()?;
        let item = value(&name, &item)?;
        table.insert(name, item);
    }
    Ok(table)
}

/// Settings as a Python dict.
pub fn dict<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in table {
        dict.set_item(name, object(py, value)?)?;
    }
    Ok(dict)
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Boolean(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => PyFloat::new(py, *value).into_any(),
        Value::String(value) => PyString::new(py, value).into_any(),
        Value::Datetime(value) => PyString::new(py, &value.to_string()).into_any(),
        Value::Table(value) => dict(py, value)?.into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| object(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
    })
}

fn unusable(name: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let shown = given.repr().map_or_else(|_| String::new(), |text| text.to_string());
    PyTypeError::new_err(format!(
        "{name} = {shown}: a setting is a number, a word, a list or a mapping of these"
    ))
}
